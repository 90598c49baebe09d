// Edges of the photograph: lines snap to them, and follow them between two clicks (live wire).
import { simplified } from "./geometry.js";
import type { Point } from "./model.js";

const MOST_SIDE = 1000;
const MOST_CELLS = 250_000;
const STRAIGHT = 0.12;

export class Edges {
  readonly #strength: Float32Array;
  readonly #width: number;
  readonly #height: number;
  /** Cells for each pixel of the photograph. */
  readonly #scale: number;

  constructor(image: CanvasImageSource, width: number, height: number) {
    this.#scale = Math.min(1, MOST_SIDE / Math.max(width, height));
    this.#width = Math.max(1, Math.round(width * this.#scale));
    this.#height = Math.max(1, Math.round(height * this.#scale));
    const canvas = document.createElement("canvas");
    canvas.width = this.#width;
    canvas.height = this.#height;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (context === null) throw new Error("this browser draws no pictures");
    context.drawImage(image, 0, 0, this.#width, this.#height);
    this.#strength = strength(context.getImageData(0, 0, this.#width, this.#height).data, this.#width, this.#height);
  }

  /** The strongest edge within reach, if there is one that stands out. */
  snapped(to: Point, reach: number): Point | null {
    const [cx, cy] = this.#cell(to);
    const radius = Math.max(1.5, reach * this.#scale);
    let [best, place]: [number, Point | null] = [0.15, null];
    for (let y = Math.max(0, Math.ceil(cy - radius)); y <= Math.min(this.#height - 1, cy + radius); y += 1) {
      for (let x = Math.max(0, Math.ceil(cx - radius)); x <= Math.min(this.#width - 1, cx + radius); x += 1) {
        const away = Math.hypot(x - cx, y - cy) / radius;
        if (away > 1) continue;
        const value = (this.#strength[y * this.#width + x] ?? 0) * (1 - 0.6 * away);
        if (value > best) [best, place] = [value, [x, y]];
      }
    }
    return place === null ? null : this.#pixel(place);
  }

  /** The cheapest way between two points, where edges cost little; the first point is left out. */
  followed(from: Point, to: Point): Point[] {
    const [a, b] = [this.#cell(from), this.#cell(to)];
    const margin = 12 + 0.35 * Math.hypot(a[0] - b[0], a[1] - b[1]);
    const x0 = Math.max(0, Math.floor(Math.min(a[0], b[0]) - margin));
    const y0 = Math.max(0, Math.floor(Math.min(a[1], b[1]) - margin));
    const width = Math.min(this.#width - 1, Math.ceil(Math.max(a[0], b[0]) + margin)) - x0 + 1;
    const height = Math.min(this.#height - 1, Math.ceil(Math.max(a[1], b[1]) + margin)) - y0 + 1;
    if (width * height > MOST_CELLS || width < 2 || height < 2) return [to];
    const cost = new Float32Array(width * height);
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) cost[y * width + x] = STRAIGHT + (1 - (this.#strength[(y + y0) * this.#width + x + x0] ?? 0)) ** 3;
    }
    const cell = ([x, y]: Point): number => within(Math.round(y) - y0, height) * width + within(Math.round(x) - x0, width);
    const way = cheapest(cost, width, height, cell(a), cell(b)).map((place): Point => this.#pixel([(place % width) + x0, Math.floor(place / width) + y0]));
    return [...simplified([from, ...way.slice(1, -1), to], 0.8 / this.#scale).slice(1)];
  }

  #cell([x, y]: Point): Point {
    return [(x + 0.5) * this.#scale - 0.5, (y + 0.5) * this.#scale - 0.5];
  }

  #pixel([x, y]: Point): Point {
    return [(x + 0.5) / this.#scale - 0.5, (y + 0.5) / this.#scale - 0.5];
  }
}

function within(value: number, length: number): number {
  return Math.min(length - 1, Math.max(0, value));
}

/** Slope of the brightness from 0 to 1, where 1 is what one pixel in fifty has. */
function strength(data: Uint8ClampedArray, width: number, height: number): Float32Array {
  const grey = new Float32Array(width * height);
  for (let place = 0; place < grey.length; place += 1) {
    grey[place] = 0.3 * (data[4 * place] ?? 0) + 0.59 * (data[4 * place + 1] ?? 0) + 0.11 * (data[4 * place + 2] ?? 0);
  }
  const slope = new Float32Array(width * height);
  for (let y = 1; y < height - 1; y += 1) {
    for (let x = 1; x < width - 1; x += 1) {
      const at = (dx: number, dy: number): number => grey[(y + dy) * width + x + dx] ?? 0;
      const across = at(1, -1) + 2 * at(1, 0) + at(1, 1) - at(-1, -1) - 2 * at(-1, 0) - at(-1, 1);
      const along = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - at(-1, -1) - 2 * at(0, -1) - at(1, -1);
      slope[y * width + x] = Math.hypot(across, along);
    }
  }
  const step = Math.max(1, Math.floor(slope.length / 20000));
  const sorted = slope.filter((_, place) => place % step === 0).sort();
  const high = Math.max(40, sorted[Math.floor(0.98 * sorted.length)] ?? 0);
  return slope.map((value) => Math.min(1, value / high));
}

/** Dijkstra's way over the cells of a grid. */
function cheapest(cost: Float32Array, width: number, height: number, from: number, to: number): number[] {
  const total = new Float32Array(cost.length).fill(Infinity);
  const before = new Int32Array(cost.length).fill(-1);
  const done = new Uint8Array(cost.length);
  const heap = new Heap();
  total[from] = 0;
  heap.push(0, from);
  for (let place = heap.pop(); place >= 0 && place !== to; place = heap.pop()) {
    if (done[place] === 1) continue;
    done[place] = 1;
    const [x, y] = [place % width, Math.floor(place / width)];
    for (let dy = -1; dy <= 1; dy += 1) {
      for (let dx = -1; dx <= 1; dx += 1) {
        if ((dx === 0 && dy === 0) || x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
        const next = place + dy * width + dx;
        const sum = (total[place] ?? 0) + (cost[next] ?? 1) * (dx !== 0 && dy !== 0 ? Math.SQRT2 : 1);
        if (sum < (total[next] ?? 0)) {
          total[next] = sum;
          before[next] = place;
          heap.push(sum, next);
        }
      }
    }
  }
  const way: number[] = [];
  for (let place = to; place >= 0; place = before[place] ?? -1) way.push(place);
  return way.reverse();
}

class Heap {
  readonly #keys: number[] = [];
  readonly #values: number[] = [];

  push(key: number, value: number): void {
    let place = this.#keys.length;
    this.#keys.push(key);
    this.#values.push(value);
    while (place > 0) {
      const above = (place - 1) >> 1;
      if ((this.#keys[above] ?? 0) <= key) break;
      this.#set(place, this.#keys[above] ?? 0, this.#values[above] ?? 0);
      place = above;
    }
    this.#set(place, key, value);
  }

  /** The value of the smallest key; -1 if there is none. */
  pop(): number {
    const found = this.#values[0] ?? -1;
    const [key, value] = [this.#keys.pop() ?? 0, this.#values.pop() ?? 0];
    const length = this.#keys.length;
    if (length === 0) return found;
    let place = 0;
    for (let below = 1; below < length; below = 2 * place + 1) {
      if (below + 1 < length && (this.#keys[below + 1] ?? 0) < (this.#keys[below] ?? 0)) below += 1;
      if ((this.#keys[below] ?? 0) >= key) break;
      this.#set(place, this.#keys[below] ?? 0, this.#values[below] ?? 0);
      place = below;
    }
    this.#set(place, key, value);
    return found;
  }

  #set(place: number, key: number, value: number): void {
    this.#keys[place] = key;
    this.#values[place] = value;
  }
}
