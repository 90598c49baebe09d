// Pointer, pen, fingers, wheel and keys of the sheet. Keys move a cursor that presses where a pointer would.
import type { Board } from "./board.js";
import type { Point } from "./model.js";
import type { Tool } from "./tools.js";

const ARROWS: Record<string, Point> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const STEP = 4;
const LONG_STEP = 24;
const PAN = 60;

export class Input {
  readonly #fingers = new Map<number, PointerEvent>();
  #pressed = false;
  #panning = false;
  #held = false;
  /** Where the pointer was last. */
  at: Point | null = null;

  constructor(readonly canvas: HTMLCanvasElement, readonly board: Board, readonly tool: () => Tool, readonly changed: () => void) {
    canvas.addEventListener("pointerdown", this.#down);
    canvas.addEventListener("pointermove", this.#move);
    canvas.addEventListener("pointerup", this.#up);
    canvas.addEventListener("pointercancel", this.#gone);
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", this.#wheel, { passive: false });
  }

  /** Whether a key holds something that arrows move. */
  get held(): boolean {
    return this.#held;
  }

  get #ratio(): number {
    return this.canvas.width / Math.max(1, this.canvas.clientWidth);
  }

  /** A place of the window, from the canvas's middle, in its own pixels. */
  #middle(event: { clientX: number; clientY: number }): Point {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientX - box.left - box.width / 2) * this.#ratio, (event.clientY - box.top - box.height / 2) * this.#ratio];
  }

  #place(event: { clientX: number; clientY: number }): Point {
    const [x, y] = this.board.view.at(...this.#middle(event));
    return [x - 0.5, y - 0.5];
  }

  /** Whether a hand that holds a pen rests on the screen. */
  #palm(event: PointerEvent): boolean {
    return event.pointerType === "touch" && [...this.#fingers.values()].some((each) => each.pointerType === "pen");
  }

  #down = (event: PointerEvent): void => {
    if (this.#palm(event)) return;
    // The palm may have come first: the pen counts.
    if (event.pointerType === "pen") this.#fingers.clear();
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.focus({ preventScroll: true });
    this.#fingers.set(event.pointerId, event);
    this.board.cursor = null;
    if (this.#fingers.size > 1) {
      // A second finger moves the picture; what the first one began is given up.
      this.#pressed = false;
      this.board.trial = [];
      this.board.tail = [];
    } else if (event.button === 0) {
      this.#pressed = true;
      this.tool().down(this.#place(event), event.altKey);
    } else this.#panning = true;
    this.changed();
  };

  #move = (event: PointerEvent): void => {
    if (!this.#palm(event)) this.at = this.#place(event);
    const before = this.#fingers.get(event.pointerId);
    if (before === undefined) {
      if (!this.tool().drags && event.pointerType !== "touch") this.tool().move(this.#place(event), event.altKey);
      return;
    }
    const other = [...this.#fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    if (other !== undefined) {
      const factor = distance(event, other) / Math.max(1, distance(before, other));
      this.board.view.enlarge(factor, ...this.#middle(other));
      this.board.view.pan(((event.clientX - before.clientX) * this.#ratio) / 2, ((event.clientY - before.clientY) * this.#ratio) / 2);
      this.changed();
    } else if (this.#panning) {
      this.board.view.pan((event.clientX - before.clientX) * this.#ratio, (event.clientY - before.clientY) * this.#ratio);
      this.changed();
    } else if (this.#pressed) {
      const moves = event.getCoalescedEvents?.() ?? [];
      for (const each of moves.length > 0 && !this.tool().drags ? moves : [event]) this.tool().move(this.#place(each), event.altKey);
    }
    this.#fingers.set(event.pointerId, event);
  };

  #up = (event: PointerEvent): void => {
    const alone = this.#fingers.size === 1;
    if (!this.#fingers.delete(event.pointerId)) return;
    if (alone && this.#pressed) this.tool().up(this.#place(event), event.altKey);
    if (this.#fingers.size === 0) this.#pressed = this.#panning = false;
    this.changed();
  };

  #gone = (event: PointerEvent): void => {
    if (!this.#fingers.delete(event.pointerId)) return;
    this.#pressed = this.#panning = false;
    this.board.cancel();
  };

  #wheel = (event: WheelEvent): void => {
    // The page scrolls unless the sheet was chosen; Ctrl is also what a pinch on a touchpad sends.
    const chosen = (this.canvas.getRootNode() as Document | ShadowRoot).activeElement === this.canvas;
    if (!chosen && !event.ctrlKey) return;
    event.preventDefault();
    this.board.view.enlarge(Math.exp(-event.deltaY / 400), ...this.#middle(event));
    this.changed();
  };

  /** Moves the cursor, presses, zooms; whether the key meant anything. */
  key(event: KeyboardEvent): boolean {
    const { board } = this;
    const arrow = ARROWS[event.key];
    if (arrow !== undefined && (event.ctrlKey || event.metaKey)) board.view.pan(-arrow[0] * PAN * this.#ratio, -arrow[1] * PAN * this.#ratio);
    else if (arrow !== undefined) this.#step(arrow, event);
    else if (event.key === " ") this.#press(event.altKey);
    else if (event.key === "Enter" && this.#held) this.#press(event.altKey);
    else if (event.key === "+" || event.key === "=") board.view.enlarge(1.4, ...this.#aim());
    else if (event.key === "-") board.view.enlarge(1 / 1.4, ...this.#aim());
    else return false;
    this.changed();
    return true;
  }

  /** Lets go of what a key holds, without doing it. */
  release(): void {
    this.#held = false;
  }

  #aim(): Point {
    const { cursor, view } = this.board;
    return cursor === null ? [0, 0] : [(cursor[0] + 0.5 - view.x) * view.zoom, (cursor[1] + 0.5 - view.y) * view.zoom];
  }

  #step([dx, dy]: Point, event: KeyboardEvent): void {
    const { board } = this;
    const from: Point = board.cursor ?? [board.view.x - 0.5, board.view.y - 0.5];
    const length = event.altKey ? 1 : event.shiftKey ? LONG_STEP : STEP;
    const [width, height] = board.size;
    const to: Point = [Math.min(width, Math.max(-1, from[0] + dx * board.px(length))), Math.min(height, Math.max(-1, from[1] + dy * board.px(length)))];
    board.cursor = to;
    const [x, y] = this.#aim();
    const [wide, high] = [this.canvas.width / 2 - 30, this.canvas.height / 2 - 30];
    board.view.pan(x > wide ? wide - x : x < -wide ? -wide - x : 0, y > high ? high - y : y < -high ? -high - y : 0);
    if (this.#held || !this.tool().drags) this.tool().move(to, event.altKey);
  }

  #press(free: boolean): void {
    const { board } = this;
    board.cursor ??= [board.view.x - 0.5, board.view.y - 0.5];
    const tool = this.tool();
    if (this.#held) {
      this.#held = false;
      tool.up(board.cursor, free);
    } else {
      tool.down(board.cursor, free);
      if (tool.drags) {
        this.#held = true;
        board.hooks.say("Held: arrow keys move it, Space lets go, Escape gives it up.");
      } else tool.up(board.cursor, free);
    }
  }
}

function distance(a: PointerEvent, b: PointerEvent): number {
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}
