// Pictures and maps that are compared: tiles of a folder (docs/web.md), or one image of the page.
import { paintSigned, paintValues, valuesOf, type Palette } from "./paint.js";

export interface TileRecord {
  version: number;
  width: number;
  height: number;
  tile: number;
  levels: number;
  kind: "picture" | "values";
  format: string;
  unit: string;
  low: number;
  high: number;
  shown: [number, number];
  colours: string[];
  signed: string[];
  missing: string;
  missing_signed: string;
}

/** Anything that can be drawn tile by tile; null while a tile is on its way. */
export interface Source {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly levels: number;
  readonly tile: number;
  draw(level: number, column: number, row: number): CanvasImageSource | null;
}

const MOST_TILES = 500;

/** Tiles by their place; the ones not used for longest are dropped. */
class Kept<T> {
  #tiles = new Map<string, T | Promise<void>>();

  constructor(readonly load: (path: string) => Promise<T>, readonly arrived: () => void) {}

  get(path: string): T | null {
    const found = this.#tiles.get(path);
    if (found === undefined) {
      this.#tiles.set(path, this.#fetch(path));
      return null;
    }
    if (found instanceof Promise) return null;
    this.#tiles.delete(path);
    this.#tiles.set(path, found);
    return found;
  }

  async #fetch(path: string): Promise<void> {
    try {
      this.#tiles.set(path, await this.load(path));
      for (const oldest of this.#tiles.keys()) {
        if (this.#tiles.size <= MOST_TILES) break;
        this.#tiles.delete(oldest);
      }
      this.arrived();
    } catch {
      // A tile that cannot be had stays empty; the others go on.
    }
  }
}

async function bitmap(url: string): Promise<ImageBitmap> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  // Codes must arrive as they were written.
  return createImageBitmap(await answer.blob(), { colorSpaceConversion: "none", premultiplyAlpha: "none" });
}

export class TiledPicture implements Source {
  readonly width: number;
  readonly height: number;
  readonly levels: number;
  readonly tile: number;
  #tiles: Kept<ImageBitmap>;

  constructor(readonly name: string, base: URL, record: TileRecord, arrived: () => void) {
    ({ width: this.width, height: this.height, levels: this.levels, tile: this.tile } = record);
    this.#tiles = new Kept((path) => bitmap(new URL(`${path}.${record.format}`, base).href), arrived);
  }

  draw(level: number, column: number, row: number): CanvasImageSource | null {
    return this.#tiles.get(`${level}/${column}_${row}`);
  }
}

interface ValueTile {
  values: Float32Array;
  width: number;
  picture: HTMLCanvasElement;
}

export class ValueMap implements Source {
  readonly width: number;
  readonly height: number;
  readonly levels: number;
  readonly tile: number;
  readonly palette: Palette;
  #tiles: Kept<ValueTile>;

  constructor(readonly name: string, base: URL, readonly record: TileRecord, arrived: () => void) {
    ({ width: this.width, height: this.height, levels: this.levels, tile: this.tile } = record);
    this.palette = { colours: record.colours, low: record.shown[0], high: record.shown[1], missing: record.missing };
    this.#tiles = new Kept(async (path) => {
      const tile = valuesOf(await bitmap(new URL(`${path}.${record.format}`, base).href), record.low, record.high);
      return { ...tile, picture: paintValues(tile.values, tile.width, this.palette) };
    }, arrived);
  }

  draw(level: number, column: number, row: number): CanvasImageSource | null {
    return this.tileAt(level, column, row)?.picture ?? null;
  }

  tileAt(level: number, column: number, row: number): ValueTile | null {
    return this.#tiles.get(`${level}/${column}_${row}`);
  }

  /** The value at a pixel, at the finest level up to a coarsest one; undefined until it is here. */
  valueAt(x: number, y: number, level: number): number | undefined {
    const [column, row] = [Math.floor(x / 2 ** level), Math.floor(y / 2 ** level)];
    const tile = this.tileAt(level, Math.floor(column / this.tile), Math.floor(row / this.tile));
    return tile?.values[(row % this.tile) * tile.width + (column % this.tile)];
  }
}

/** The first map minus the second, pixel by pixel. */
export class Difference implements Source {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly levels: number;
  readonly tile: number;
  readonly #painted = new Map<string, HTMLCanvasElement>();
  #limit = 0;

  constructor(readonly first: ValueMap, readonly second: ValueMap) {
    this.name = `${first.name} minus ${second.name}`;
    ({ width: this.width, height: this.height, levels: this.levels, tile: this.tile } = first);
  }

  /** The colours' range is symmetric: to the 98th percentile of the smallest level. */
  get palette(): Palette {
    const { signed, missing_signed } = this.first.record;
    return { colours: signed, low: -(this.#limit || 1), high: this.#limit || 1, missing: missing_signed };
  }

  draw(level: number, column: number, row: number): CanvasImageSource | null {
    const path = `${level}/${column}_${row}`;
    const known = this.#painted.get(path);
    if (known !== undefined) return known;
    const top = this.levels - 1;
    const [a, b] = [this.first.tileAt(top, 0, 0), this.second.tileAt(top, 0, 0)];
    if (a === null || b === null) return null;
    this.#limit ||= limitOf(a.values, b.values);
    const [mine, other] = [this.first.tileAt(level, column, row), this.second.tileAt(level, column, row)];
    if (mine === null || other === null) return null;
    const painted = paintSigned(mine.values, other.values, mine.width, this.palette);
    if (this.#painted.size > MOST_TILES) this.#painted.clear();
    this.#painted.set(path, painted);
    return painted;
  }
}

function limitOf(first: Float32Array, second: Float32Array): number {
  const sizes = [...first].map((value, place) => Math.abs(value - (second[place] ?? NaN))).filter(Number.isFinite);
  sizes.sort((a, b) => a - b);
  return sizes[Math.floor(0.98 * (sizes.length - 1))] || sizes[sizes.length - 1] || 1;
}

/** One image of the page, as a single tile. */
export class PlainPicture implements Source {
  readonly levels = 1;
  readonly tile: number;
  readonly width: number;
  readonly height: number;

  constructor(readonly name: string, readonly image: HTMLImageElement) {
    this.width = image.naturalWidth;
    this.height = image.naturalHeight;
    this.tile = Math.max(this.width, this.height);
  }

  draw(): CanvasImageSource {
    return this.image;
  }
}

/** What a figure shows: its tiles, or its image where there are none. */
export async function sourceOf(figure: HTMLElement, arrived: () => void): Promise<Source> {
  const image = figure.querySelector("img");
  const name = figure.querySelector("figcaption")?.textContent?.trim() || image?.alt || "picture";
  const tiles = figure.dataset["tiles"];
  if (tiles !== undefined) {
    const base = new URL(tiles, document.baseURI);
    const answer = await fetch(base.href);
    if (answer.ok) {
      const record = (await answer.json()) as TileRecord;
      return record.kind === "values" ? new ValueMap(name, base, record, arrived) : new TiledPicture(name, base, record, arrived);
    }
  }
  if (image === null) throw new Error(`${name}: no picture`);
  await image.decode();
  return new PlainPicture(name, image);
}
