// The label of every pixel after some actions, and the actions as the server knows them.
import type { Back } from "../shared/history.js";
import type { SentEvent } from "../shared/outbox.js";
import { brushRegion, polygonRegion, type Point, type Region } from "./shapes.js";

export interface RegionEntry {
  box_px: [number, number, number, number];
  runs: string;
  made_by: string;
}
interface Painted extends SentEvent {
  kind: "paint";
  class: number;
}
export type Paint =
  | (Painted & { shape: "polygon"; entry: { points_px: Point[] } })
  | (Painted & { shape: "brush"; entry: { points_px: Point[]; radius_px: number } })
  | (Painted & { shape: "region"; entry: RegionEntry });
interface Whole extends SentEvent {
  kind: "labels";
  size_px: Point;
  runs: string;
  note: string;
}
export type MaskEvent = Paint | Whole;

const KEPT_BYTES = 256 * 2 ** 20;

/** The map that capture/masks/runs.py packed. */
export function unpacked(text: string, pixels: number): Uint8Array {
  const coded = atob(text);
  const out = new Uint8Array(pixels);
  let [at, number, shift] = [0, 0, 1];
  for (let k = 0; k < coded.length; k++) {
    const byte = coded.charCodeAt(k);
    // Not by bits: those are 32 at most.
    number += (byte & 127) * shift;
    shift *= 128;
    if (byte >= 128) continue;
    const length = Math.floor(number / 4);
    out.fill(number % 4, at, at + length);
    at += length;
    [number, shift] = [0, 1];
  }
  return out;
}

export function entryRegion({ box_px: [x, y, width, height], runs }: RegionEntry): Region {
  return { x, y, width, height, inside: unpacked(runs, width * height) };
}

function regionOf(event: Paint, size: Point): Region {
  if (event.shape === "region") return entryRegion(event.entry);
  if (event.shape === "brush") return brushRegion(event.entry.points_px, event.entry.radius_px, size);
  return polygonRegion(event.entry.points_px, size);
}

interface Layer {
  id: string;
  box: { x: number; y: number; width: number; height: number };
  before: Uint8Array | null;
}

/** As `MaskReplay` of capture/by_hand/mask_edits.py. */
export class LabelMap {
  readonly labels: Uint8Array;
  readonly #layers: Layer[] = [];

  constructor(readonly size: Point) {
    this.labels = new Uint8Array(size[0] * size[1]);
  }

  follow(actions: MaskEvent[]): void {
    let same = 0;
    while (same < this.#layers.length && same < actions.length && this.#layers[same]?.id === actions[same]?.id) same += 1;
    for (const event of actions.slice(this.#backTo(same))) this.#apply(event);
    let kept = 0;
    for (const layer of [...this.#layers].reverse()) {
      kept += layer.before?.length ?? 0;
      if (kept > KEPT_BYTES) layer.before = null;
    }
  }

  counts(): number[] {
    const found = [0, 0, 0, 0];
    for (const label of this.labels) found[label] = (found[label] ?? 0) + 1;
    return found;
  }

  #backTo(count: number): number {
    while (this.#layers.length > count) {
      const layer = this.#layers.pop();
      if (layer === undefined) break;
      if (layer.before === null) {
        this.#layers.length = 0;
        this.labels.fill(0);
        return 0;
      }
      this.#put(layer.box, layer.before);
    }
    return count;
  }

  #apply(event: MaskEvent): void {
    if (event.kind === "labels") {
      const box = { x: 0, y: 0, width: this.size[0], height: this.size[1] };
      this.#layers.push({ id: event.id, box, before: this.labels.slice() });
      this.labels.set(unpacked(event.runs, this.labels.length));
      return;
    }
    const region = regionOf(event, this.size);
    this.#layers.push({ id: event.id, box: region, before: this.#cut(region) });
    for (let row = 0; row < region.height; row++) {
      const from = (region.y + row) * this.size[0] + region.x;
      for (let x = 0; x < region.width; x++) if (region.inside[row * region.width + x]) this.labels[from + x] = event.class;
    }
  }

  #cut({ x, y, width, height }: Layer["box"]): Uint8Array {
    const out = new Uint8Array(width * height);
    for (let row = 0; row < height; row++) {
      const from = (y + row) * this.size[0] + x;
      out.set(this.labels.subarray(from, from + width), row * width);
    }
    return out;
  }

  #put({ x, y, width, height }: Layer["box"], values: Uint8Array): void {
    for (let row = 0; row < height; row++) this.labels.set(values.subarray(row * width, (row + 1) * width), (y + row) * this.size[0] + x);
  }
}

/** Events in the server's order, and after them those that it does not have yet: later ones paint over earlier ones. */
export class Story {
  readonly #served = new Map<string, MaskEvent | Back>();
  readonly #mine = new Map<string, MaskEvent | Back>();

  get all(): (MaskEvent | Back)[] {
    return [...this.#served.values(), ...this.#mine.values()];
  }

  /** How many events the server has, if it has all. */
  get complete(): number | null {
    return this.#mine.size === 0 ? this.#served.size : null;
  }

  make(event: MaskEvent | Back): void {
    this.#mine.set(event.id, event);
  }

  serve(events: (MaskEvent | Back)[]): void {
    for (const event of events) {
      this.#mine.delete(event.id);
      if (!this.#served.has(event.id)) this.#served.set(event.id, event);
    }
  }

  refuse(names: string[]): void {
    for (const name of names) this.#mine.delete(name);
  }
}
