// The picture of the view, with what is uncertain and what is removed drawn over it.
import { fitted, loadImage, oncePerFrame } from "../shared/viewer.js";
import type { Piece } from "./piece.js";

export class PictureView {
  #image: HTMLImageElement | null = null;
  #piece: Piece | null = null;
  #overlay: HTMLCanvasElement | null = null;
  /** The place that both views show, in pixels of the view. */
  mark: [number, number] | null = null;
  /** A line that is being drawn, in pixels of the view. */
  line: [number, number][] = [];
  brushPx = 0;
  heat = false;
  least = 0;
  most = 1;
  readonly draw = oncePerFrame(() => this.#draw());

  constructor(readonly canvas: HTMLCanvasElement) {}

  async show(address: string, piece: Piece): Promise<void> {
    this.#piece = piece;
    this.#image = await loadImage(address);
    this.refresh();
  }

  /** Draws anew what is removed. */
  refresh(): void {
    const piece = this.#piece;
    if (piece === null) return;
    const { columns, rows } = piece.header;
    const overlay = this.#overlay ?? document.createElement("canvas");
    overlay.width = columns;
    overlay.height = rows;
    const pixels = new ImageData(columns, rows);
    const values = new Uint32Array(pixels.data.buffer);
    for (let place = 0; place < piece.count; place++) {
      const cell = piece.cells[place] ?? 0;
      const sigma = piece.sigma[place] ?? NaN;
      if (piece.removed[place]) values[cell] = 0xdde02fe8;
      else if (this.least > 0 && sigma >= this.least) values[cell] = 0xc01f33db;
      else if (this.heat && sigma > 0) values[cell] = heat(Math.min(1, sigma / this.most));
    }
    overlay.getContext("2d")?.putImageData(pixels, 0, 0);
    this.#overlay = overlay;
    this.draw();
  }

  /** Pixels of the view at a place of the page. */
  at(event: { clientX: number; clientY: number }): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    const [scale, left, top] = this.#fit(box.width, box.height);
    return [(event.clientX - box.left - left) / scale - 0.5, (event.clientY - box.top - top) / scale - 0.5];
  }

  get size(): [number, number] {
    return this.#piece === null ? [1, 1] : [this.#piece.header.width, this.#piece.header.height];
  }

  #fit(width: number, height: number): [number, number, number] {
    const [w, h] = this.size;
    const scale = Math.min(width / w, height / h);
    return [scale, (width - w * scale) / 2, (height - h * scale) / 2];
  }

  #draw(): void {
    const context = fitted(this.canvas);
    if (context === null || this.#image === null || this.#piece === null) return;
    const { width, height } = this.canvas;
    const [scale, left, top] = this.#fit(width, height);
    const [w, h] = this.size;
    context.clearRect(0, 0, width, height);
    context.imageSmoothingEnabled = true;
    context.drawImage(this.#image, left, top, w * scale, h * scale);
    if (this.#overlay !== null) {
      const { x, y, stride, columns, rows } = this.#piece.header;
      context.imageSmoothingEnabled = false;
      context.drawImage(this.#overlay, left + x * scale, top + y * scale, columns * stride * scale, rows * stride * scale);
    }
    const at = ([px, py]: [number, number]): [number, number] => [left + (px + 0.5) * scale, top + (py + 0.5) * scale];
    strokeLine(context, this.line.map(at));
    if (this.mark !== null) strokeMark(context, at(this.mark), this.brushPx * scale);
  }
}

function heat(share: number): number {
  const [r, g] = share < 0.5 ? [Math.round(510 * share), 200] : [235, Math.round(400 * (1 - share))];
  return ((0x50 + Math.round(0x90 * share)) << 24) | (40 << 16) | ((g ?? 0) << 8) | (r ?? 0);
}

/** A line that can be seen on everything: dark below, bright above. */
export function strokeLine(context: CanvasRenderingContext2D, points: [number, number][]): void {
  if (points.length < 2) return;
  for (const [colour, thick] of [["#0c0d0f", 4], ["#fff36b", 2]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = thick * (window.devicePixelRatio || 1);
    context.beginPath();
    points.forEach(([x, y], k) => (k === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
    context.stroke();
  }
}

export function strokeMark(context: CanvasRenderingContext2D, [x, y]: [number, number], radius: number): void {
  const arm = 8 * (window.devicePixelRatio || 1);
  strokeLine(context, [[x - arm, y], [x + arm, y]]);
  strokeLine(context, [[x, y - arm], [x, y + arm]]);
  if (radius < 2) return;
  const circle: [number, number][] = [];
  for (let k = 0; k <= 48; k++) circle.push([x + radius * Math.cos((k * Math.PI) / 24), y + radius * Math.sin((k * Math.PI) / 24)]);
  strokeLine(context, circle);
}
