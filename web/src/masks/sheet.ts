// The picture with the mask over it, and above both what is being drawn.
import { View } from "../compare/view.js";
import { fitted, loadImage, oncePerFrame } from "../shared/viewer.js";
import { css, pixel } from "./classes.js";
import type { Point, Region } from "./shapes.js";

export interface Click {
  at: Point;
  wanted: boolean;
}

const STILL_MS = 250;
/** In pixels of the page. */
const CLOSE = 9;
const TWICE = 3;
const DRAG = 4;

export class Sheet {
  view: View;
  opacity = 0.45;
  label = 3;
  /** Half the width of the brush in px of the picture; 0 for tools without one. */
  radius = 0;
  stroke: Point[] = [];
  corners: Point[] = [];
  clicks: Click[] = [];
  proposal: Region | null = null;
  pointer: Point | null = null;
  #image: HTMLImageElement | null = null;
  #piece: { image: HTMLImageElement; x: number; y: number; width: number; height: number } | null = null;
  #address = "";
  #timer = 0;
  readonly #overlay = document.createElement("canvas");
  #stale = true;
  readonly #below = oncePerFrame(() => this.#draw());
  readonly above = oncePerFrame(() => this.#drawAbove());

  constructor(readonly base: HTMLCanvasElement, readonly over: HTMLCanvasElement, readonly size: Point, readonly labels: Uint8Array) {
    this.view = new View(size[0], size[1]);
  }

  async show(name: string): Promise<void> {
    this.#address = `/masks/piece/${encodeURIComponent(name)}.jpg`;
    this.#image = await loadImage(`/masks/picture/${encodeURIComponent(name)}.jpg`);
    this.#piece = null;
    if (!this.view.sized) this.fit();
    this.changed();
  }

  fit(): void {
    fitted(this.base);
    this.view.fit(this.base.width, this.base.height);
    this.changed();
  }

  /** The mask, the view or the picture changed. */
  changed(): void {
    this.#stale = true;
    this.#below();
    this.above();
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#closer(), STILL_MS);
  }

  /** A place of the window in px of the picture; pixel centres are at whole numbers. */
  at(event: { clientX: number; clientY: number }): Point {
    const [x, y] = this.view.at(...this.middle(event));
    return [x - 0.5, y - 0.5];
  }

  /** A place of the window, from the canvas's middle, in its own pixels. */
  middle(event: { clientX: number; clientY: number }): Point {
    const box = this.base.getBoundingClientRect();
    return [(event.clientX - box.left - box.width / 2) * this.ratio, (event.clientY - box.top - box.height / 2) * this.ratio];
  }

  get ratio(): number {
    return this.base.width / Math.max(1, this.base.clientWidth);
  }

  /** Pixels of the page as pixels of the picture. */
  px(pagePixels: number): number {
    return (pagePixels * this.ratio) / this.view.zoom;
  }

  /** Whether a click closes the polygon: at its first corner, or the second of two at one place. */
  closes([x, y]: Point, twice: boolean): boolean {
    const near = (corner: Point | undefined, far: number): boolean => corner !== undefined && Math.hypot(corner[0] - x, corner[1] - y) < this.px(far);
    return (twice && near(this.corners.at(-1), TWICE)) || (this.corners.length > 2 && near(this.corners[0], CLOSE));
  }

  /** Whether a drag has come far enough from the last corner for another one. */
  drags([x, y]: Point): boolean {
    const last = this.corners.at(-1);
    return last !== undefined && Math.hypot(last[0] - x, last[1] - y) >= this.px(DRAG);
  }

  /** What is seen, in whole pixels of the picture: x, y, width, height. */
  window(): [number, number, number, number] {
    const [left, top] = this.view.at(-this.base.width / 2, -this.base.height / 2);
    const [right, bottom] = this.view.at(this.base.width / 2, this.base.height / 2);
    const x = Math.max(0, Math.floor(left));
    const y = Math.max(0, Math.floor(top));
    return [x, y, Math.max(1, Math.min(this.size[0], Math.ceil(right)) - x), Math.max(1, Math.min(this.size[1], Math.ceil(bottom)) - y)];
  }

  /** Fetches what is seen in all detail, where the picture that is there has less. */
  async #closer(): Promise<void> {
    const shown = this.#image?.naturalWidth ?? this.size[0];
    if (shown >= this.size[0] || (this.view.zoom * this.size[0]) / shown <= 1.01 || !this.base.isConnected) return;
    const [x, y, width, height] = this.window();
    if (this.#piece !== null && [x, y, width, height].join() === [this.#piece.x, this.#piece.y, this.#piece.width, this.#piece.height].join()) return;
    const address = `${this.#address}?x=${x}&y=${y}&width=${width}&height=${height}`;
    try {
      const image = await loadImage(address);
      if (!address.startsWith(this.#address)) return;
      this.#piece = { image, x, y, width, height };
      this.#below();
    } catch {
      // The coarser picture is there.
    }
  }

  #place(x: number, y: number): Point {
    return [this.base.width / 2 + (x - this.view.x) * this.view.zoom, this.base.height / 2 + (y - this.view.y) * this.view.zoom];
  }

  #draw(): void {
    const context = fitted(this.base);
    if (context === null) return;
    const { width, height } = this.base;
    context.clearRect(0, 0, width, height);
    if (this.#image === null) return;
    context.imageSmoothingEnabled = this.view.zoom < 3;
    const [left, top] = this.#place(0, 0);
    context.drawImage(this.#image, left, top, this.size[0] * this.view.zoom, this.size[1] * this.view.zoom);
    if (this.#piece !== null) {
      const { image, x, y, width: wide, height: high } = this.#piece;
      context.drawImage(image, ...this.#place(x, y), wide * this.view.zoom, high * this.view.zoom);
    }
    if (this.#stale || this.#overlay.width !== width || this.#overlay.height !== height) this.#sample(width, height);
    context.drawImage(this.#overlay, 0, 0);
  }

  /** The mask at the resolution of the screen: as fast for 50 million pixels as for one. */
  #sample(width: number, height: number): void {
    this.#stale = false;
    this.#overlay.width = width;
    this.#overlay.height = height;
    const context = this.#overlay.getContext("2d");
    if (context === null) return;
    const image = context.createImageData(width, height);
    const out = new Uint32Array(image.data.buffer);
    const colours = [0, pixel(1, this.opacity), pixel(2, this.opacity), pixel(3, this.opacity)];
    const columns = new Int32Array(width);
    for (let k = 0; k < width; k++) columns[k] = Math.floor(this.view.at(k + 0.5 - width / 2, 0)[0]);
    const proposed = this.proposal;
    const mark = pixel(this.label, Math.min(1, this.opacity + 0.25));
    for (let row = 0; row < height; row++) {
      const y = Math.floor(this.view.at(0, row + 0.5 - height / 2)[1]);
      if (y < 0 || y >= this.size[1]) continue;
      const start = y * this.size[0];
      const inner = proposed !== null && y >= proposed.y && y < proposed.y + proposed.height ? (y - proposed.y) * proposed.width : -1;
      for (let k = 0; k < width; k++) {
        const x = columns[k] ?? -1;
        if (x < 0 || x >= this.size[0]) continue;
        let colour = colours[this.labels[start + x] ?? 0] ?? 0;
        if (inner >= 0 && proposed !== null && x >= proposed.x && x < proposed.x + proposed.width && proposed.inside[inner + x - proposed.x]) {
          // Stripes tell what is proposed from what is painted.
          colour = (k + row) % 8 < 5 ? mark : colour;
        }
        out[row * width + k] = colour;
      }
    }
    context.putImageData(image, 0, 0);
  }

  #drawAbove(): void {
    const context = fitted(this.over);
    if (context === null) return;
    context.clearRect(0, 0, this.over.width, this.over.height);
    const at = ([x, y]: Point): Point => this.#place(x + 0.5, y + 0.5);
    if (this.stroke.length > 0) this.#drawStroke(context, this.stroke.map(at));
    const line = this.corners.length > 0 && this.pointer !== null ? [...this.corners, this.pointer] : this.corners;
    outline(context, line.map(at), false);
    for (const corner of this.corners) dot(context, at(corner), "#fff36b", this.ratio);
    for (const click of this.clicks) dot(context, at(click.at), click.wanted ? "#39d98a" : "#ff5c5c", 1.4 * this.ratio, click.wanted);
    if (this.pointer === null) return;
    const [x, y] = at(this.pointer);
    const arm = 7 * this.ratio;
    outline(context, [[x - arm, y], [x + arm, y]], false);
    outline(context, [[x, y - arm], [x, y + arm]], false);
    if (this.radius > 0) outline(context, circle(x, y, this.radius * this.view.zoom), true);
  }

  #drawStroke(context: CanvasRenderingContext2D, points: Point[]): void {
    context.save();
    context.lineCap = context.lineJoin = "round";
    context.lineWidth = 2 * this.radius * this.view.zoom;
    context.strokeStyle = css(this.label, Math.min(1, this.opacity + 0.15));
    context.beginPath();
    for (const [x, y] of points.length === 1 ? [points[0] as Point, points[0] as Point] : points) context.lineTo(x, y);
    context.stroke();
    context.restore();
  }
}

/** A line that can be seen on everything: dark below, bright above. */
function outline(context: CanvasRenderingContext2D, points: Point[], closed: boolean): void {
  if (points.length < 2) return;
  const ratio = window.devicePixelRatio || 1;
  for (const [colour, thick] of [["#0c0d0f", 3.5], ["#fff36b", 1.5]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = thick * ratio;
    context.beginPath();
    points.forEach(([x, y], k) => (k === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    if (closed) context.closePath();
    context.stroke();
  }
}

function circle(x: number, y: number, radius: number): Point[] {
  return Array.from({ length: 48 }, (_, k): Point => [x + radius * Math.cos((k * Math.PI) / 24), y + radius * Math.sin((k * Math.PI) / 24)]);
}

/** A round mark; without `round` a square one, so that colour is not all that tells them apart. */
function dot(context: CanvasRenderingContext2D, [x, y]: Point, colour: string, scale: number, round = true): void {
  context.beginPath();
  if (round) context.arc(x, y, 4 * scale, 0, 2 * Math.PI);
  else context.rect(x - 4 * scale, y - 4 * scale, 8 * scale, 8 * scale);
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = "#0c0d0f";
  context.lineWidth = 1.5 * scale;
  context.stroke();
}
