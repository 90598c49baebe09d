// Which part of a picture is seen, and how large: shared by all canvases of a comparison.

export class View {
  zoom = 1;
  x = 0;
  y = 0;
  /** Whether the size of the canvas is known; before, nothing is drawn, and no tile asked for. */
  sized = false;
  #fit = 1;

  constructor(readonly width: number, readonly height: number) {
    this.x = width / 2;
    this.y = height / 2;
  }

  /** The whole picture in a canvas of that many pixels. */
  fit(width: number, height: number): void {
    this.#fit = Math.min(width / this.width, height / this.height);
    this.zoom = this.#fit;
    this.sized = true;
    this.x = this.width / 2;
    this.y = this.height / 2;
  }

  /** Whether a part is seen larger than the whole would be. */
  get closer(): boolean {
    return this.zoom > 1.01 * this.#fit;
  }

  /** Moves the picture by pixels of the canvas. */
  pan(dx: number, dy: number): void {
    this.x = clamp(this.x - dx / this.zoom, 0, this.width);
    this.y = clamp(this.y - dy / this.zoom, 0, this.height);
  }

  /** Enlarges by a factor around a point, given by its distance from the canvas's middle. */
  enlarge(factor: number, dx = 0, dy = 0): void {
    const next = clamp(this.zoom * factor, Math.min(this.#fit, 1), 32);
    this.x = clamp(this.x + dx / this.zoom - dx / next, 0, this.width);
    this.y = clamp(this.y + dy / this.zoom - dy / next, 0, this.height);
    this.zoom = next;
  }

  /** The point of the picture under a place of the canvas, from its middle. */
  at(dx: number, dy: number): [number, number] {
    return [this.x + dx / this.zoom, this.y + dy / this.zoom];
  }
}

const KEYS: Record<string, (view: View) => void> = {
  ArrowLeft: (view) => view.pan(60, 0),
  ArrowRight: (view) => view.pan(-60, 0),
  ArrowUp: (view) => view.pan(0, 60),
  ArrowDown: (view) => view.pan(0, -60),
  "+": (view) => view.enlarge(1.5),
  "=": (view) => view.enlarge(1.5),
  "-": (view) => view.enlarge(1 / 1.5),
};

/** Pointer, wheel, pinch and keys of one canvas move the view; `changed` draws. */
export function steer(canvas: HTMLCanvasElement, view: () => View, changed: () => void, reset: () => void): void {
  const fingers = new Map<number, PointerEvent>();
  const ratio = (): number => canvas.width / Math.max(1, canvas.clientWidth);
  const middle = (event: { clientX: number; clientY: number }): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left - box.width / 2) * ratio(), (event.clientY - box.top - box.height / 2) * ratio()];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event);
  });
  for (const name of ["pointerup", "pointercancel"] as const) canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    if (other === undefined) view().pan((event.clientX - before.clientX) * ratio(), (event.clientY - before.clientY) * ratio());
    else view().enlarge(distance(event, other) / Math.max(1, distance(before, other)), ...middle(other));
    fingers.set(event.pointerId, event);
    changed();
  });
  canvas.addEventListener(
    "wheel",
    (event) => {
      // The page scrolls unless the picture was chosen; Ctrl is also what a pinch on a touchpad sends.
      const chosen = (canvas.getRootNode() as Document | ShadowRoot).activeElement === canvas;
      if (!chosen && !event.ctrlKey) return;
      event.preventDefault();
      view().enlarge(Math.exp(-event.deltaY / 400), ...middle(event));
      changed();
    },
    { passive: false },
  );
  canvas.addEventListener("dblclick", (event) => {
    view().enlarge(2, ...middle(event));
    changed();
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "0") reset();
    const act = KEYS[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act(view());
    changed();
  });
}

function distance(a: PointerEvent, b: PointerEvent): number {
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
