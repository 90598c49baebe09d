// Mouse, pen, fingers, wheel and keys of the sheet. Keys move a mark that presses where a pointer would.
import type { Sheet } from "./sheet.js";
import type { Point } from "./shapes.js";

export interface Hand {
  /** Whether a drag moves the picture. */
  pans(): boolean;
  /** Whether something goes on between pressing and letting go. */
  drags(): boolean;
  down(at: Point, other: boolean): void;
  move(at: Point): void;
  up(): void;
  /** What was begun is given up. */
  cancel(): void;
}

const ARROWS: Record<string, Point> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const STEP = 4;
const LONG_STEP = 24;
const PAN = 60;

export class Pointer {
  readonly #fingers = new Map<number, PointerEvent>();
  #pressed = false;
  #panning = false;
  #held = false;

  constructor(readonly canvas: HTMLCanvasElement, readonly sheet: Sheet, readonly hand: Hand) {
    canvas.addEventListener("pointerdown", this.#down);
    canvas.addEventListener("pointermove", this.#move);
    canvas.addEventListener("pointerup", this.#up);
    canvas.addEventListener("pointercancel", this.#gone);
    canvas.addEventListener("pointerleave", this.#leave);
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", this.#wheel, { passive: false });
  }

  #down = (event: PointerEvent): void => {
    event.preventDefault();
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.#fingers.set(event.pointerId, event);
    if (this.#fingers.size > 1) {
      // A second finger moves the picture; what the first one began is given up.
      if (this.#pressed) this.hand.cancel();
      this.#pressed = false;
    } else if (event.button === 1 || this.hand.pans()) this.#panning = true;
    else if (event.button === 0 || event.button === 2) {
      this.#pressed = true;
      this.sheet.pointer = this.sheet.at(event);
      this.hand.down(this.sheet.pointer, event.button === 2 || event.altKey);
    }
  };

  #move = (event: PointerEvent): void => {
    const before = this.#fingers.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType !== "touch") this.#hover(this.sheet.at(event));
      return;
    }
    const other = [...this.#fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    const { view, ratio } = this.sheet;
    const moved: Point = [(event.clientX - before.clientX) * ratio, (event.clientY - before.clientY) * ratio];
    if (other !== undefined) {
      view.enlarge(distance(event, other) / Math.max(1, distance(before, other)), ...this.sheet.middle(other));
      view.pan(moved[0] / 2, moved[1] / 2);
      this.sheet.changed();
    } else if (this.#panning) {
      view.pan(...moved);
      this.sheet.changed();
    } else if (this.#pressed) {
      const moves = event.getCoalescedEvents?.() ?? [];
      for (const each of moves.length > 0 ? moves : [event]) this.hand.move(this.sheet.at(each));
      this.#hover(this.sheet.at(event));
    }
    this.#fingers.set(event.pointerId, event);
  };

  #hover(at: Point): void {
    this.sheet.pointer = at;
    this.sheet.above();
  }

  #up = (event: PointerEvent): void => {
    this.#fingers.delete(event.pointerId);
    if (this.#pressed && this.#fingers.size === 0) this.hand.up();
    if (this.#fingers.size === 0) this.#pressed = this.#panning = false;
    if (event.pointerType === "touch") this.#leave();
  };

  #gone = (event: PointerEvent): void => {
    this.#fingers.delete(event.pointerId);
    if (this.#pressed) this.hand.cancel();
    this.#pressed = this.#panning = false;
  };

  #leave = (): void => {
    if (this.#pressed || this.#held) return;
    this.sheet.pointer = null;
    this.sheet.above();
  };

  #wheel = (event: WheelEvent): void => {
    // The page scrolls unless the sheet was chosen; Ctrl is also what a pinch on a touchpad sends.
    const chosen = (this.canvas.getRootNode() as Document | ShadowRoot).activeElement === this.canvas;
    if (!chosen && !event.ctrlKey) return;
    event.preventDefault();
    this.sheet.view.enlarge(Math.exp(-event.deltaY / 400), ...this.sheet.middle(event));
    this.sheet.changed();
  };

  /** Moves the mark, presses, zooms; whether the key meant anything. */
  key(event: KeyboardEvent): boolean {
    const { sheet } = this;
    const arrow = ARROWS[event.key];
    if (arrow !== undefined && (event.ctrlKey || event.metaKey)) {
      sheet.view.pan(-arrow[0] * PAN * sheet.ratio, -arrow[1] * PAN * sheet.ratio);
      sheet.changed();
    } else if (event.ctrlKey || event.metaKey) return false;
    else if (arrow !== undefined) this.#step(arrow, event.altKey ? 1 : sheet.px(event.shiftKey ? LONG_STEP : STEP));
    else if (event.key === " ") this.#press(event.shiftKey);
    else if (event.key === "+" || event.key === "=") this.#zoom(1.4);
    else if (event.key === "-") this.#zoom(1 / 1.4);
    else if (event.key === "Home") sheet.fit();
    else return false;
    return true;
  }

  /** Lets go of what a key holds. */
  release(): void {
    this.#held = false;
  }

  #here(): Point {
    const { sheet } = this;
    sheet.pointer ??= [Math.round(sheet.view.x - 0.5), Math.round(sheet.view.y - 0.5)];
    return sheet.pointer;
  }

  #zoom(factor: number): void {
    const { sheet } = this;
    const [x, y] = sheet.pointer ?? [sheet.view.x - 0.5, sheet.view.y - 0.5];
    sheet.view.enlarge(factor, (x + 0.5 - sheet.view.x) * sheet.view.zoom, (y + 0.5 - sheet.view.y) * sheet.view.zoom);
    sheet.changed();
  }

  #step([dx, dy]: Point, length: number): void {
    const { sheet } = this;
    const [x, y] = this.#here();
    const to: Point = [clamp(x + dx * length, sheet.size[0] - 1), clamp(y + dy * length, sheet.size[1] - 1)];
    const [left, top, width, height] = sheet.window();
    const { zoom } = sheet.view;
    sheet.view.pan(zoom * (Math.max(0, left - to[0]) + Math.min(0, left + width - 1 - to[0])), zoom * (Math.max(0, top - to[1]) + Math.min(0, top + height - 1 - to[1])));
    if (this.#held) this.hand.move(to);
    sheet.pointer = to;
    sheet.changed();
  }

  #press(other: boolean): void {
    const at = this.#here();
    if (this.#held) {
      this.#held = false;
      this.hand.up();
      return;
    }
    this.hand.down(at, other);
    if (this.hand.drags()) this.#held = true;
    else this.hand.up();
  }
}

function distance(a: PointerEvent, b: PointerEvent): number {
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}

function clamp(value: number, most: number): number {
  return Math.min(most, Math.max(0, value));
}
