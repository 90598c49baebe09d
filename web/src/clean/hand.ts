// Lasso, brush and mark, by pointer and by keys, in the cloud and in the picture.
import { fitted } from "../shared/viewer.js";
import { strokeLine, strokeMark, type PictureView } from "./picture.js";
import { pixelOf, placeAt, type Piece } from "./piece.js";
import { hits, projected, type Removal } from "./removal.js";
import type { CleanScene } from "./scene.js";
import type { Settings } from "./settings.js";

const STEP = Math.PI / 36;
const TURNS: Record<string, [number, number, number]> = {
  ArrowLeft: [-STEP, 0, 1],
  ArrowRight: [STEP, 0, 1],
  ArrowUp: [0, STEP, 1],
  ArrowDown: [0, -STEP, 1],
  "+": [0, 0, 1.15],
  "=": [0, 0, 1.15],
  "-": [0, 0, 1 / 1.15],
};
const MOVES: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const MOST_CORNERS = 400;

type Pair = [number, number];
type Place = [number, number, number];

interface Found {
  piece: Piece;
  place: number;
}

interface Hooks {
  remove(shape: Removal["shape"], entry: object): void;
  /** What is under the mark, in words. */
  say(about: string): void;
}

export class Hand {
  #line: Pair[] = [];
  #centres: Place[] = [];
  #mark: Place | null = null;

  constructor(
    readonly cloud: HTMLCanvasElement,
    readonly sheet: HTMLCanvasElement,
    readonly over: HTMLCanvasElement,
    readonly scene: CleanScene,
    readonly picture: PictureView,
    readonly settings: Settings,
    readonly hooks: Hooks,
  ) {}

  /** Gives up what is being drawn. */
  drop(): void {
    this.picture.line = [];
    this.#line = [];
    this.draw();
  }

  // --- in the cloud

  cloudDown(event: PointerEvent): void {
    if (this.settings.tool === "turn" || event.button !== 0 || !event.isPrimary) return;
    event.preventDefault();
    this.cloud.setPointerCapture(event.pointerId);
    this.cloud.focus({ preventScroll: true });
    this.#line = [this.#place(event)];
    this.#centres = [];
    if (this.settings.tool === "brush") this.#dab(this.#place(event));
  }

  cloudMove(event: PointerEvent): void {
    const [u, v] = this.#place(event);
    if (this.#line.length === 0) {
      if (event.buttons === 0) this.#point(this.scene.pick(u, v, this.settings.least));
      return;
    }
    if (this.settings.tool === "brush") {
      this.#dab([u, v]);
      return;
    }
    const box = this.cloud.getBoundingClientRect();
    const [x, y] = this.#line.at(-1) ?? [u, v];
    if (Math.hypot(((u - x) * box.width) / 2, ((v - y) * box.height) / 2) >= 3) this.#line.push([u, v]);
    this.draw();
  }

  cloudUp(): void {
    const line = thinned(this.#line);
    if (this.settings.tool === "lasso" && line.length >= 3) this.#lasso(line);
    if (this.settings.tool === "brush" && this.#centres.length > 0) this.#brush(this.#centres);
    this.#line = [];
    this.#centres = [];
    this.draw();
  }

  cloudKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "0") this.scene.reset();
    if (event.key === "f" && this.#mark !== null) this.scene.lookAt(this.#mark);
    const turn = TURNS[event.key];
    if (turn === undefined) return;
    event.preventDefault();
    this.scene.turn(...turn);
    this.draw();
  }

  leave(): void {
    if (this.#line.length === 0) this.#point(null);
  }

  #place(event: PointerEvent): Pair {
    const box = this.cloud.getBoundingClientRect();
    return [(2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height];
  }

  #dab(at: Pair): void {
    const found = this.scene.pick(at[0], at[1], this.settings.least);
    this.#point(found);
    if (found !== null) this.#centre(pointOf(found));
  }

  /** Adds a ball of the brush, unless one is close. */
  #centre(point: Place): void {
    const close = this.#centres.some((other) => Math.hypot(other[0] - point[0], other[1] - point[1], other[2] - point[2]) < this.settings.radiusM / 2);
    if (!close) this.#centres.push(point);
    this.draw();
  }

  #brush(centres: Place[]): void {
    this.hooks.remove("balls", { centres_m: centres, radius_m: this.settings.radiusM, note: "brush" });
  }

  #lasso(points: Pair[]): void {
    const entry = { projection: this.scene.projection, points, note: "lasso" };
    const reach = Number(this.settings.reach) / 100;
    if (!(reach > 0)) {
      this.hooks.remove("lassos", entry);
      return;
    }
    const front = this.#front({ id: "", kind: "remove", shape: "lassos", entry } as Removal);
    if (Number.isFinite(front)) this.hooks.remove("lassos", { ...entry, depth_m: [0, front + reach] });
  }

  /** How far the nearest points in a lasso are. */
  #front(event: Removal): number {
    const rows = event.shape === "lassos" ? event.entry.projection : [];
    const { least } = this.settings;
    let front = Infinity;
    for (const piece of this.scene.pieces) {
      for (const place of hits(piece, event)) {
        if (!piece.removed[place] && (least === 0 || (piece.sigma[place] ?? NaN) >= least)) {
          front = Math.min(front, projected(rows, piece.points, place)[2]);
        }
      }
    }
    return front;
  }

  /** Shows one point in both views. */
  #point(found: Found | null): void {
    this.picture.mark = found === null ? null : pixelOf(found.piece, found.place);
    this.#show(found);
  }

  #show(found: Found | null): void {
    this.#mark = found === null ? null : pointOf(found);
    this.hooks.say(found === null ? "" : described(found));
    this.picture.draw();
    this.draw();
  }

  /** What is drawn over the cloud: the lasso, the brush, the point. */
  draw(): void {
    const canvas = this.over;
    const context = fitted(canvas);
    if (context === null) return;
    context.clearRect(0, 0, canvas.width, canvas.height);
    const at = ([u, v]: Pair): Pair => [((u + 1) / 2) * canvas.width, ((1 - v) / 2) * canvas.height];
    const { tool, radiusM } = this.settings;
    if (tool === "lasso" && this.#line.length > 1) strokeLine(context, [...this.#line, this.#line[0] ?? [0, 0]].map((p) => at(p as Pair)));
    const rows = this.scene.projection;
    for (const point of this.#mark === null ? this.#centres : [this.#mark, ...this.#centres]) {
      const [u, v, w] = projected(rows, Float32Array.from(point), 0);
      const wide = Math.hypot(rows[1][0] ?? 0, rows[1][1] ?? 0, rows[1][2] ?? 0);
      const radius = tool === "brush" ? (radiusM * wide * canvas.height) / 2 / w : 0;
      if (w > 0) strokeMark(context, at([u, v]), radius);
    }
  }

  // --- in the picture

  pictureDown(event: PointerEvent): void {
    if (event.button !== 0 || !event.isPrimary || this.settings.tool === "turn") return;
    event.preventDefault();
    this.sheet.setPointerCapture(event.pointerId);
    this.sheet.focus({ preventScroll: true });
    this.picture.line = [this.picture.at(event)];
    this.#centres = [];
    if (this.settings.tool === "brush") this.#pictureDab(this.picture.at(event));
  }

  pictureMove(event: PointerEvent): void {
    const { picture } = this;
    const at = picture.at(event);
    this.#look(at);
    if (picture.line.length === 0 || event.buttons === 0) return;
    if (this.settings.tool === "brush") this.#pictureDab(at);
    else picture.line.push(at);
    picture.draw();
  }

  pictureUp(): void {
    const { picture } = this;
    if (picture.line.length === 0) return;
    const line = thinned(picture.line);
    picture.line = [];
    if (this.settings.tool === "lasso" && line.length >= 3) this.#polygon(line);
    if (this.settings.tool === "brush" && this.#centres.length > 0) this.#brush(this.#centres);
    this.#centres = [];
    picture.draw();
    this.draw();
  }

  pictureKey(event: KeyboardEvent): void {
    const { picture, settings } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [width, height] = picture.size;
    const move = MOVES[event.key];
    const at = picture.mark ?? [Math.round(width / 2), Math.round(height / 2)];
    if (move !== undefined) {
      const far = event.shiftKey ? 1 : Math.max(1, Math.round(width / 60));
      this.#look([clamp(at[0] + far * move[0], width), clamp(at[1] + far * move[1], height)]);
    } else if (event.key === " " && settings.tool === "brush") {
      const found = this.#find(at);
      if (found !== null) this.#brush([pointOf(found)]);
    } else if (event.key === " " && settings.tool === "lasso") {
      picture.line.push([at[0], at[1]]);
    } else if (event.key === "Enter" && picture.line.length >= 3) {
      this.#polygon(picture.line);
      picture.line = [];
    } else if (event.key === "Escape") picture.line = [];
    else return;
    event.preventDefault();
    picture.draw();
  }

  #polygon(points: Pair[]): void {
    this.hooks.remove("polygons", { view: this.settings.side, points_px: points, note: "picture" });
  }

  #pictureDab(at: Pair): void {
    const found = this.#find(at);
    if (found !== null) this.#centre(pointOf(found));
  }

  #find([x, y]: Pair): Found | null {
    // The last piece has more detail.
    for (const piece of [...this.scene.pieces].reverse()) {
      const place = placeAt(piece, x, y);
      if (place >= 0) return { piece, place };
    }
    return null;
  }

  #look(at: Pair): void {
    const found = this.#find(at);
    this.picture.mark = at;
    this.picture.brushPx = 0;
    if (found !== null && this.settings.tool === "brush") {
      const { header, points } = found.piece;
      this.picture.brushPx = (this.settings.radiusM * header.focal_px[0]) / (points[3 * found.place + 2] ?? 1);
    }
    this.#show(found);
  }
}

function described({ piece, place }: Found): string {
  const [x, y] = pixelOf(piece, place);
  const sigma = piece.sigma[place] ?? NaN;
  const depth = piece.points[3 * place + 2] ?? NaN;
  const spread = Number.isNaN(sigma) ? "unknown" : `${sigma.toFixed(2)} px`;
  return `Pixel ${x}, ${y}: ${depth.toFixed(3)} m, standard deviation ${spread}`;
}

function pointOf({ piece, place }: Found): Place {
  return [piece.points[3 * place] ?? 0, piece.points[3 * place + 1] ?? 0, piece.points[3 * place + 2] ?? 0];
}

function clamp(value: number, size: number): number {
  return Math.max(0, Math.min(size - 1, value));
}

/** A drawn line with at most some hundred corners. */
function thinned(line: Pair[]): Pair[] {
  const step = Math.ceil(line.length / MOST_CORNERS);
  return line.filter((_, k) => k % Math.max(1, step) === 0);
}
