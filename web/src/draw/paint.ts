// Draws the photograph and everything on it.
import { gridOf, tipOf } from "./camera.js";
import type { Board } from "./board.js";
import type { Point, Stroke } from "./model.js";
import type { Preview } from "./preview.js";
import type { Here } from "./sender.js";

export const COLOURS = { sharp: "#f0424a", smooth: "#2fc04f", fold: "#ff9a1f", region: "#ffffff", normal: "#3d8bff", grid: "#3ddc84", mark: "#ffffff", focal: ["#ffd43b", "#66d9e8"] } as const;
const TINTS = ["#4da9e8", "#ff8a47", "#2fc79a", "#e493c0", "#f5b73d", "#9f8bff", "#c9a07a", "#7fd34e", "#ff6b81", "#45c4d4", "#d0d34a", "#b77be0", "#8aa2b8", "#f2a65a", "#5ad19a"];
const TICK = 8;
const TICKS_APART = 22;

export type Show = (point: Point) => Point;

export class Painter {
  #tint: { preview: Preview; canvas: HTMLCanvasElement } | null = null;

  constructor(readonly image: CanvasImageSource) {}

  paint(context: CanvasRenderingContext2D, board: Board, problems: (Point | null)[], others: Here[] = []): void {
    const { canvas } = context;
    const { view } = board;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = board.size;
    // Pixel centres are at integers, so the picture begins half a pixel before.
    const show: Show = ([x, y]) => [(x + 0.5 - view.x) * view.zoom + canvas.width / 2, (y + 0.5 - view.y) * view.zoom + canvas.height / 2];
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const [left, top] = show([-0.5, -0.5]);
    context.imageSmoothingEnabled = view.zoom < 4;
    context.drawImage(this.image, left, top, width * view.zoom, height * view.zoom);
    context.lineCap = "round";
    context.lineJoin = "round";
    if (board.tints && board.preview !== null) this.#tints(context, board.preview, [left, top, width * view.zoom, height * view.zoom]);
    const pen = new Pen(context, show, ratio);
    this.#region(pen, board);
    for (const [id, stroke] of board.shown.stroke) drawStroke(pen, stroke, board.chosen?.id === id ? board.chosen.corner : null);
    this.#relations(pen, board);
    for (const [id, mark] of board.shown.surface) pen.label(mark.at_px, mark.shape === "planar" ? "P" : "C", board.chosen?.id === id || board.firstPlane === id ? "#ffe066" : "#ffffff");
    for (const [id, mark] of board.shown.normal) {
      const reach = board.reachOf(id);
      for (const line of gridOf(board.camera, mark.at_px, mark.normal, reach)) pen.line(line, COLOURS.grid, board.chosen?.id === id ? 1.4 : 0.7);
      pen.arrow(mark.at_px, tipOf(board.camera, mark.at_px, mark.normal, reach), board.chosen?.id === id ? "#9cc4ff" : COLOURS.normal, board.chosen?.id === id ? 1 : 0.6);
    }
    this.#drawing(pen, board);
    problems.forEach((at, index) => {
      if (at !== null) pen.badge(at, String(index + 1));
    });
    for (const { own, at_px } of others) if (at_px !== null) pen.visitor(at_px, own ? "your other tab" : "somebody else");
    if (board.cursor !== null) pen.cross(board.cursor);
  }

  #tints(context: CanvasRenderingContext2D, preview: Preview, box: [number, number, number, number]): void {
    if (this.#tint?.preview !== preview) this.#tint = { preview, canvas: tinted(preview) };
    context.imageSmoothingEnabled = false;
    context.globalAlpha = 0.28;
    context.drawImage(this.#tint.canvas, ...box);
    context.globalAlpha = 1;
  }

  #region(pen: Pen, board: Board): void {
    const { region } = board.shown;
    if (region.length > 2) {
      pen.shade(region);
      pen.line([...region, region[0] as Point], COLOURS.region, 1.6, [6, 5]);
      for (const point of region) pen.dot(point, COLOURS.region, 3);
    }
    for (const point of board.header.must_contain_px) pen.target(point);
  }

  #relations(pen: Pen, board: Board): void {
    const { surface, relation } = board.shown;
    for (const { first, second, kind } of relation.values()) {
      // Every pair of planes may have one: all of them are shown only to those who work on them.
      if (board.tool !== "relation" && board.chosen?.id !== first && board.chosen?.id !== second) continue;
      const [a, b] = [surface.get(first)?.at_px, surface.get(second)?.at_px];
      if (a === undefined || b === undefined) continue;
      pen.line([a, b], "#ffe066", 1.2, [2, 5]);
      pen.label([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], { parallel: "∥", orthogonal: "⟂", neither: "≠" }[kind], "#ffe066");
    }
  }

  #drawing(pen: Pen, board: Board): void {
    const colour = board.tool === "sharp" || board.tool === "smooth" || board.tool === "fold" ? COLOURS[board.tool] : COLOURS.region;
    board.focalLines.forEach((line, index) => pen.line(line, COLOURS.focal[index < 2 ? 0 : 1], 2.2));
    if (board.tool === "focal") pen.line(board.tail, COLOURS.focal[board.focalLines.length < 2 ? 0 : 1], 2.2);
    else {
      pen.line(board.line, colour, 2.4);
      const last = board.line[board.line.length - 1];
      pen.line(last === undefined ? board.tail : [last, ...board.tail], colour, 1.8, [5, 5]);
      for (const point of board.line) pen.dot(point, colour, 3.5);
    }
  }
}

function tinted(preview: Preview): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = preview.width;
  canvas.height = preview.height;
  const context = canvas.getContext("2d");
  if (context === null) return canvas;
  const data = context.createImageData(preview.width, preview.height);
  const colours = TINTS.map((text) => [1, 3, 5].map((place) => Number.parseInt(text.slice(place, place + 2), 16)));
  preview.labels.forEach((number, place) => {
    if (number === 0) return;
    const colour = colours[(number - 1) % colours.length] ?? [0, 0, 0];
    data.data.set([colour[0] ?? 0, colour[1] ?? 0, colour[2] ?? 0, 255], 4 * place);
  });
  context.putImageData(data, 0, 0);
  return canvas;
}

function drawStroke(pen: Pen, stroke: Stroke, chosen: number | null): void {
  const colour = stroke.kind === "fold" ? COLOURS.fold : stroke.smooth ? COLOURS.smooth : COLOURS.sharp;
  pen.line(stroke.points_px, colour, chosen === null ? 2.4 : 3.4);
  if (stroke.kind === "occlusion" && stroke.closer !== undefined) pen.ticks(stroke.points_px, stroke.closer === "right" ? 1 : -1, colour);
  if (stroke.points_px.length === 1 || chosen !== null) stroke.points_px.forEach((point, index) => pen.dot(point, index === chosen ? "#ffffff" : colour, 4.5));
}

/** Draws in pixels of the page, at places of the photograph; all but the finest lines have a dark rim, to be seen on any picture. */
class Pen {
  constructor(readonly context: CanvasRenderingContext2D, readonly show: Show, readonly ratio: number) {}

  line(points: Point[], colour: string, width: number, dashes: number[] = []): void {
    if (points.length < 2) return;
    this.#path(points);
    this.context.setLineDash(dashes.map((dash) => dash * this.ratio));
    if (width > 1) this.#stroke("rgb(0 0 0 / .55)", width + 2);
    this.#stroke(colour, width);
    this.context.setLineDash([]);
  }

  /** Darkens what is outside of a polygon. */
  shade(polygon: Point[]): void {
    this.#path(polygon);
    this.context.rect(this.context.canvas.width, 0, -this.context.canvas.width, this.context.canvas.height);
    this.context.fillStyle = "rgb(0 0 0 / .45)";
    this.context.fill("evenodd");
  }

  dot(at: Point, colour: string, radius: number): void {
    this.#circle(at, radius);
    this.context.fillStyle = colour;
    this.context.fill();
    this.#stroke("rgb(0 0 0 / .7)", 1);
  }

  /** Short lines to one side: 1 is the right side as one walks along the line. */
  ticks(points: Point[], side: number, colour: string): void {
    const places = points.map(this.show);
    let rest = TICKS_APART / 2;
    this.context.beginPath();
    for (let index = 0; index + 1 < places.length; index += 1) {
      const [a, b] = [places[index] as Point, places[index + 1] as Point];
      const length = Math.hypot(b[0] - a[0], b[1] - a[1]) / this.ratio;
      if (length === 0) continue;
      const way: Point = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
      for (; rest <= length; rest += TICKS_APART) {
        const at: Point = [a[0] + way[0] * rest, a[1] + way[1] * rest];
        this.context.moveTo(...at);
        this.context.lineTo(at[0] - side * way[1] * TICK, at[1] + side * way[0] * TICK);
      }
      rest -= length;
    }
    this.#stroke("rgb(0 0 0 / .55)", 4);
    this.#stroke(colour, 2);
  }

  arrow(from: Point, to: Point, colour: string, scale: number): void {
    this.line([from, to], colour, 3 * scale);
    this.dot(from, colour, 4 * scale);
    const [a, b] = [this.show(from), this.show(to)];
    const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const size = 11 * scale * this.ratio;
    this.context.beginPath();
    if (length < 0.4 * size) this.context.arc(...b, 4 * scale * this.ratio, 0, 7);
    else {
      this.context.moveTo(b[0] + 0.4 * size * Math.cos(angle), b[1] + 0.4 * size * Math.sin(angle));
      for (const turn of [2.6, -2.6]) this.context.lineTo(b[0] + size * Math.cos(angle + turn), b[1] + size * Math.sin(angle + turn));
      this.context.closePath();
    }
    this.context.fillStyle = colour;
    this.#stroke("rgb(0 0 0 / .55)", 2);
    this.context.fill();
  }

  target(at: Point): void {
    for (const radius of [9, 2]) {
      this.#circle(at, radius);
      this.#stroke("rgb(0 0 0 / .8)", 4);
      this.#stroke("#ffffff", 2);
    }
  }

  label(at: Point, text: string, colour: string): void {
    this.#circle(at, 9);
    this.context.fillStyle = "rgb(0 0 0 / .7)";
    this.context.fill();
    this.#text(at, text, colour);
  }

  badge(at: Point, text: string): void {
    this.#circle(at, 10);
    this.context.fillStyle = "#b42318";
    this.context.fill();
    this.#stroke("#ffffff", 1.5);
    this.#text(at, text, "#ffffff");
  }

  cross(at: Point): void {
    const [x, y] = this.show(at);
    const size = 12 * this.ratio;
    this.context.beginPath();
    this.context.moveTo(x - size, y);
    this.context.lineTo(x + size, y);
    this.context.moveTo(x, y - size);
    this.context.lineTo(x, y + size);
    this.#stroke("rgb(0 0 0 / .8)", 4);
    this.#stroke("#ffffff", 1.6);
  }

  /** Where somebody else points. */
  visitor(at: Point, name: string): void {
    for (const [colour, width] of [["rgb(0 0 0 / .7)", 5], ["#ff7ae0", 2.5]] as const) {
      this.#circle(at, 8);
      this.#stroke(colour, width);
    }
    const [x, y] = this.show(at);
    this.context.font = `600 ${12 * this.ratio}px system-ui, sans-serif`;
    this.context.textAlign = "left";
    this.context.textBaseline = "middle";
    this.context.lineWidth = 4 * this.ratio;
    this.context.strokeStyle = "rgb(0 0 0 / .8)";
    this.context.strokeText(name, x + 12 * this.ratio, y);
    this.context.fillStyle = "#ff7ae0";
    this.context.fillText(name, x + 12 * this.ratio, y);
  }

  #text(at: Point, text: string, colour: string): void {
    const [x, y] = this.show(at);
    this.context.font = `600 ${12 * this.ratio}px system-ui, sans-serif`;
    this.context.textAlign = "center";
    this.context.textBaseline = "middle";
    this.context.fillStyle = colour;
    this.context.fillText(text, x, y + 0.5 * this.ratio);
  }

  #circle(at: Point, radius: number): void {
    this.context.beginPath();
    this.context.arc(...this.show(at), radius * this.ratio, 0, 2 * Math.PI);
  }

  #path(points: Point[]): void {
    this.context.beginPath();
    points.forEach((point, index) => (index === 0 ? this.context.moveTo(...this.show(point)) : this.context.lineTo(...this.show(point))));
  }

  #stroke(colour: string, width: number): void {
    this.context.strokeStyle = colour;
    this.context.lineWidth = width * this.ratio;
    this.context.stroke();
  }
}
