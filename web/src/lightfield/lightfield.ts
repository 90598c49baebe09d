// <dg-lightfield>: drag to move the viewpoint; the epipolar plane image of a line below.
import { LitElement, css, html, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { loadImage, oncePerFrame, viewer } from "../shared/viewer.js";

const EPI_PX = 10;

export class LightField extends LitElement {
  static override styles = [
    controls,
    viewer,
    css`
      .box { width: 100%; max-width: 60rem; }
      .box canvas { height: auto; }
      .epi { margin-top: .6rem; }
      .epi canvas { cursor: default; image-rendering: pixelated; touch-action: auto; }
    `,
  ];

  #rows = 1;
  #columns = 1;
  #row = 0;
  #column = 0;
  #line = 0.5;
  #size: [number, number] = [1, 1];
  readonly #views = new Map<string, HTMLImageElement>();
  #dragged: { x: number; y: number; row: number; column: number } | null = null;
  #loading = false;
  readonly #draw = oncePerFrame(() => this.#paint());

  override connectedCallback(): void {
    super.connectedCallback();
    this.#rows = Math.max(1, Number(this.dataset["rows"]) || 1);
    this.#columns = Math.max(1, Number(this.dataset["columns"]) || 1);
    this.#row = (this.#rows - 1) / 2;
    this.#column = (this.#columns - 1) / 2;
    void this.#start();
  }

  async #start(): Promise<void> {
    const centre = await this.#view(Math.round(this.#row), Math.round(this.#column));
    if (centre === null) return;
    this.#size = [centre.naturalWidth, centre.naturalHeight];
    this.requestUpdate();
    for (let column = 0; column < this.#columns; column += 1) void this.#view(Math.round(this.#row), column);
  }

  override updated(): void {
    this.#draw();
  }

  async #view(row: number, column: number): Promise<HTMLImageElement | null> {
    const key = `${row}_${column}`;
    const known = this.#views.get(key);
    if (known !== undefined) return known;
    const url = (this.dataset["views"] ?? "").replace("{row}", String(row)).replace("{column}", String(column));
    try {
      const image = await loadImage(url);
      this.#views.set(key, image);
      this.#draw();
      return image;
    } catch {
      return null;
    }
  }

  /** The views of other rows too, the nearest to the middle first, once the reader does something. */
  async #loadAll(): Promise<void> {
    if (this.#loading) return;
    this.#loading = true;
    const [middle, centre] = [(this.#rows - 1) / 2, (this.#columns - 1) / 2];
    const places = Array.from({ length: this.#rows * this.#columns }, (_, k) => [Math.floor(k / this.#columns), k % this.#columns] as const);
    places.sort((a, b) => Math.hypot(a[0] - middle, a[1] - centre) - Math.hypot(b[0] - middle, b[1] - centre));
    const next = async (): Promise<void> => {
      for (let place = places.shift(); place !== undefined; place = places.shift()) await this.#view(...place);
    };
    await Promise.all([next(), next(), next(), next()]);
  }

  /** The loaded view nearest to the viewpoint. */
  #nearest(): HTMLImageElement | undefined {
    const exact = this.#views.get(`${Math.round(this.#row)}_${Math.round(this.#column)}`);
    if (exact !== undefined) return exact;
    const far = (key: string): number => {
      const [row = 0, column = 0] = key.split("_").map(Number);
      return Math.hypot(row - this.#row, column - this.#column);
    };
    const keys = [...this.#views.keys()].sort((a, b) => far(a) - far(b));
    return this.#views.get(keys[0] ?? "");
  }

  #paint(): void {
    const [canvas, epi] = this.renderRoot.querySelectorAll("canvas");
    const view = this.#nearest();
    const context = canvas?.getContext("2d");
    if (canvas === undefined || epi === undefined || context == null || view === undefined) return;
    const [width, height] = this.#size;
    const y = Math.min(height - 1, Math.floor(this.#line * height));
    context.drawImage(view, 0, 0, width, height);
    context.fillStyle = "#fff";
    context.fillRect(0, y, width, Math.max(1, height / 400));
    this.#paintEpi(epi, y);
    this.dataset["loaded"] = String(this.#views.size);
  }

  /** One strip for each view of the row: a point's slope is its disparity. */
  #paintEpi(canvas: HTMLCanvasElement, y: number): void {
    const context = canvas.getContext("2d");
    if (context === null) return;
    context.imageSmoothingEnabled = false;
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (let column = 0; column < this.#columns; column += 1) {
      const view = this.#views.get(`${Math.round(this.#row)}_${column}`);
      if (view !== undefined) context.drawImage(view, 0, y, canvas.width, 1, 0, column * EPI_PX, canvas.width, EPI_PX);
    }
  }

  #move(row: number, column: number): void {
    this.#row = Math.min(this.#rows - 1, Math.max(0, row));
    this.#column = Math.min(this.#columns - 1, Math.max(0, column));
    void this.#loadAll();
    this.requestUpdate();
  }

  #down = (event: PointerEvent): void => {
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    this.#dragged = { x: event.clientX, y: event.clientY, row: this.#row, column: this.#column };
    void this.#loadAll();
  };

  #drag = (event: PointerEvent): void => {
    if (this.#dragged === null) return;
    const box = (event.currentTarget as Element).getBoundingClientRect();
    // Across the whole picture is across all views; the scene seems to be pulled along.
    const column = this.#dragged.column - ((event.clientX - this.#dragged.x) / box.width) * (this.#columns - 1) * 1.5;
    const row = this.#dragged.row - ((event.clientY - this.#dragged.y) / box.height) * (this.#rows - 1) * 1.5;
    this.#move(row, column);
  };

  #key = (event: KeyboardEvent): void => {
    const steps: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.#move(Math.round(this.#row) + step[0], Math.round(this.#column) + step[1]);
  };

  override render(): TemplateResult {
    const [width, height] = this.#size;
    if (width === 1) return html`<slot></slot>`;
    return html`
      <div class="box"><canvas width=${width} height=${height} tabindex="0" role="img" aria-label="Light field; drag or use arrow keys to move the viewpoint"
        @pointerdown=${this.#down} @pointermove=${this.#drag} @pointerup=${() => (this.#dragged = null)} @pointercancel=${() => (this.#dragged = null)} @keydown=${this.#key}></canvas></div>
      <p class="status" role="status">View ${Math.round(this.#row) + 1} of ${this.#rows} down, ${Math.round(this.#column) + 1} of ${this.#columns} across. Drag, or use the arrow keys.</p>
      <label class="wide">line<input type="range" min="0" max="100" step="0.5" .value=${String(100 * this.#line)} @input=${(event: Event) => {
        this.#line = Number((event.target as HTMLInputElement).value) / 100;
        void this.#loadAll();
        this.requestUpdate();
      }} /></label>
      <div class="box epi"><canvas width=${width} height=${this.#columns * EPI_PX} role="img" aria-label="Epipolar plane image of the line"></canvas></div>
      <p class="status">The line in every view of this row, one below the other: what is near leans further.</p>
    `;
  }
}

customElements.define("dg-lightfield", LightField);
