// <dg-clean>: points of a session's cloud are removed with lasso and brush, in the cloud and in the picture.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { History, type Back } from "../shared/history.js";
import { Outbox, newId, type Answer } from "../shared/outbox.js";
import { fitted, viewer } from "../shared/viewer.js";
import { COLOURS, type Colours } from "./colours.js";
import { PictureView, strokeLine, strokeMark } from "./picture.js";
import { pixelOf, placeAt, readPiece, type Piece } from "./piece.js";
import { hits, projected, type Removal } from "./removal.js";
import type { CleanScene } from "./scene.js";

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
const TOOLS = { turn: "Turn (T)", lasso: "Lasso (L)", brush: "Brush (B)" } as const;
type Tool = keyof typeof TOOLS;
const RADII_MM = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200];
const MOST_CORNERS = 400;

interface Figures {
  true_error?: { mean_abs_px: number; bad_2_percent: number; kept_percent: number };
  planar_residual_px?: number | null;
}

interface Job {
  state: "idle" | "running" | "done" | "failed";
  text?: string;
  before?: Figures | null;
  after?: Figures;
  removed?: { left: number; right: number };
}

interface Told extends Answer {
  removed?: { left: number; right: number };
  trouble?: string;
}

export class Cleaner extends LitElement {
  static override styles = [
    controls,
    viewer,
    css`
      .views { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .5rem; }
      .box { height: min(68vh, 52rem); min-height: 16rem; }
      .box canvas.over { position: absolute; inset: 0; pointer-events: none; }
      .box canvas.tool { cursor: crosshair; }
      input[type="number"] { font: inherit; width: 5rem; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 5px; padding: .3rem .5rem; }
      .numbers { font-variant-numeric: tabular-nums; }
      .trouble { color: var(--bad, #b3261e); font-weight: 600; }
      table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
      th, td { text-align: left; padding: .2rem .9rem .2rem 0; font-weight: 400; }
      td { text-align: right; }
      thead th { color: var(--soft); }
      kbd { font: inherit; border: 1px solid var(--soft); border-radius: 3px; padding: 0 .3em; }
      @media (max-width: 60rem) { .views { grid-template-columns: minmax(0, 1fr); } .box { height: 46vh; } }
    `,
  ];

  #scene: CleanScene | null = null;
  #picture: PictureView | null = null;
  #outbox: Outbox<Removal | Back> | null = null;
  readonly #history = new History<Removal>();
  /** What each standing action removes from the pieces that are shown. */
  #applied = new Map<string, [Piece, Uint32Array][]>();
  #side: "left" | "right" = "left";
  #tool: Tool = "turn";
  #colours: Colours = "image";
  #radius = 3;
  #least = 0;
  #most = 1;
  #reach = "";
  #showGone = true;
  #state = "";
  #trouble = false;
  #refused = "";
  #others = 0;
  #removed: { left: number; right: number } | null = null;
  #job: Job = { state: "idle" };
  #message = "Loading the points ...";
  #line: [number, number][] = [];
  #centres: [number, number, number][] = [];
  #detail = "";
  readonly #sizes = new ResizeObserver(() => this.#fit());

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("keydown", this.#shortcut);
    void this.updateComplete.then(() => this.#start());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("keydown", this.#shortcut);
    this.#sizes.disconnect();
    this.#outbox?.stop();
    this.#scene?.dispose();
    this.#scene = null;
  }

  async #start(): Promise<void> {
    try {
      const { CleanScene } = await import("./scene.js");
      this.#scene = new CleanScene(this.#canvas("cloud"), () => void this.#closer());
      this.#picture = new PictureView(this.#canvas("picture"));
      for (const name of ["cloud", "picture"]) this.#sizes.observe(this.#canvas(name));
      await this.#load();
      this.#outbox = new Outbox<Removal | Back>(
        "/api/clean/events",
        `clean:${this.dataset["name"] ?? ""}`,
        (events, answer) => this.#take(events, answer),
        (text, trouble) => this.#say(text, trouble),
      );
      void this.#poll();
    } catch (error) {
      this.#message = `The points cannot be shown: ${error instanceof Error ? error.message : "this browser cannot draw them"}.`;
      this.requestUpdate();
    }
  }

  #canvas(name: string): HTMLCanvasElement {
    const found = this.renderRoot.querySelector<HTMLCanvasElement>(`canvas.${name}`);
    if (found === null) throw new Error("the page is not complete");
    return found;
  }

  #fit(): void {
    const canvas = this.#canvas("cloud");
    this.#scene?.resize(canvas.clientWidth, canvas.clientHeight);
    this.#picture?.draw();
    this.#over();
  }

  async #load(): Promise<void> {
    const piece = await this.#fetch("");
    this.#scene?.show(piece);
    this.#fit();
    this.#most = Math.max(0.05, quantile(piece.sigma, 0.995));
    this.#scene?.most(this.#most);
    if (this.#picture !== null) {
      this.#picture.most = this.#most;
      await this.#picture.show(`/clean/picture/${this.#side}.jpg`, piece);
    }
    this.#detail = "";
    this.#applied.clear();
    this.#apply();
    this.#message = "";
    this.dataset["shown"] = String(piece.count);
    this.requestUpdate();
  }

  async #fetch(query: string): Promise<Piece> {
    const answer = await fetch(`/api/clean/cloud/${this.#side}${query}`);
    if (!answer.ok) throw new Error(((await answer.json()) as Answer).error ?? `the server says ${answer.status}`);
    return readPiece(await answer.arrayBuffer());
  }

  /** Fetches what the screen shows in more detail, if there is more. */
  async #closer(): Promise<void> {
    const first = this.#scene?.pieces[0];
    const seen = this.#scene?.window() ?? null;
    if (first === undefined || seen === null || first.header.stride === 1) return;
    const [x, y, width, height] = seen;
    const query = `?x=${x}&y=${y}&width=${width}&height=${height}`;
    if (width * height > 0.6 * first.header.width * first.header.height || query === this.#detail) return;
    this.#detail = query;
    try {
      const piece = await this.#fetch(query);
      if (query !== this.#detail || piece.header.stride >= first.header.stride) return;
      this.#scene?.detail(piece);
      this.#apply();
      this.requestUpdate();
    } catch {
      this.#detail = "";
    }
  }

  #take(events: (Removal | Back)[], answer: Told): void {
    for (const event of events) this.#history.add(event);
    this.#others = answer.others ?? this.#others;
    if (answer.removed !== undefined) this.#removed = answer.removed;
    this.#refused = answer.error ?? answer.trouble ?? this.#refused;
    if (events.length > 0) this.#apply();
    this.requestUpdate();
  }

  #say(text: string, trouble: boolean): void {
    this.#state = text;
    this.#trouble = trouble;
    this.requestUpdate();
  }

  /** Brings the points in line with the actions that stand. */
  #apply(): void {
    const pieces = this.#scene?.pieces ?? [];
    const standing = this.#history.standing;
    const names = new Set(standing.map((event) => event.id));
    for (const [name, found] of this.#applied) {
      if (names.has(name)) continue;
      for (const [piece, places] of found) for (const place of places) piece.removed[place] = Math.max(0, (piece.removed[place] ?? 0) - 1);
      this.#applied.delete(name);
    }
    for (const event of standing) {
      const known = this.#applied.get(event.id) ?? [];
      const fresh = pieces.filter((piece) => !known.some(([each]) => each === piece));
      for (const piece of fresh) {
        const places = hits(piece, event);
        for (const place of places) piece.removed[place] = Math.min(255, (piece.removed[place] ?? 0) + 1);
        known.push([piece, places]);
      }
      this.#applied.set(event.id, known.filter(([piece]) => pieces.includes(piece)));
    }
    this.#scene?.refresh();
    this.#picture?.refresh();
    this.dataset["standing"] = String(standing.length);
  }

  #do(event: Removal | Back | null): void {
    if (event === null || this.#outbox === null) return;
    this.#refused = "";
    this.#history.add(event);
    this.#apply();
    this.#outbox.push(event);
    this.requestUpdate();
  }

  #remove(shape: Removal["shape"], entry: object): void {
    const limited = this.#least > 0 ? { ...entry, least_sigma_px: this.#least } : entry;
    this.#do({ id: newId(), kind: "remove", shape, entry: limited } as Removal);
  }

  // --- in the cloud

  #place(event: PointerEvent): [number, number] {
    const box = this.#canvas("cloud").getBoundingClientRect();
    return [(2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height];
  }

  #cloudDown = (event: PointerEvent): void => {
    if (this.#tool === "turn" || event.button !== 0 || !event.isPrimary) return;
    event.preventDefault();
    this.#canvas("cloud").setPointerCapture(event.pointerId);
    this.#canvas("cloud").focus({ preventScroll: true });
    this.#line = [this.#place(event)];
    this.#centres = [];
    if (this.#tool === "brush") this.#dab(this.#place(event));
  };

  #cloudMove = (event: PointerEvent): void => {
    const [u, v] = this.#place(event);
    if (this.#line.length === 0) {
      if (event.buttons === 0) this.#point(this.#scene?.pick(u, v, this.#least) ?? null);
      return;
    }
    if (this.#tool === "brush") {
      this.#dab([u, v]);
      return;
    }
    const box = this.#canvas("cloud").getBoundingClientRect();
    const [x, y] = this.#line.at(-1) ?? [u, v];
    if (Math.hypot(((u - x) * box.width) / 2, ((v - y) * box.height) / 2) >= 3) this.#line.push([u, v]);
    this.#over();
  };

  #cloudUp = (): void => {
    const line = thinned(this.#line);
    if (this.#tool === "lasso" && line.length >= 3) this.#lasso(line);
    if (this.#tool === "brush" && this.#centres.length > 0) this.#brush(this.#centres);
    this.#line = [];
    this.#centres = [];
    this.#over();
  };

  #dab(at: [number, number]): void {
    const found = this.#scene?.pick(at[0], at[1], this.#least) ?? null;
    this.#point(found);
    if (found !== null) this.#centre(pointOf(found.piece, found.place));
  }

  /** Adds a ball of the brush, unless one is close. */
  #centre(point: [number, number, number]): void {
    const close = this.#centres.some((other) => Math.hypot(other[0] - point[0], other[1] - point[1], other[2] - point[2]) < this.#radiusM / 2);
    if (!close) this.#centres.push(point);
    this.#over();
  }

  get #radiusM(): number {
    return (RADII_MM[this.#radius] ?? 5) / 1000;
  }

  #brush(centres: [number, number, number][]): void {
    this.#remove("balls", { centres_m: centres, radius_m: this.#radiusM, note: "brush" });
  }

  #lasso(points: [number, number][]): void {
    const projection = this.#scene?.projection;
    if (projection === undefined) return;
    const entry = { projection, points, note: "lasso" };
    const reach = Number(this.#reach) / 100;
    if (!(reach > 0)) {
      this.#remove("lassos", entry);
      return;
    }
    const front = this.#front({ id: "", kind: "remove", shape: "lassos", entry } as Removal);
    if (Number.isFinite(front)) this.#remove("lassos", { ...entry, depth_m: [0, front + reach] });
  }

  /** How far the nearest points in a lasso are. */
  #front(event: Removal): number {
    const rows = event.shape === "lassos" ? event.entry.projection : [];
    let front = Infinity;
    for (const piece of this.#scene?.pieces ?? []) {
      for (const place of hits(piece, event)) {
        if (!piece.removed[place] && (this.#least === 0 || (piece.sigma[place] ?? NaN) >= this.#least)) {
          front = Math.min(front, projected(rows, piece.points, place)[2]);
        }
      }
    }
    return front;
  }

  /** Shows one point in both views. */
  #point(found: { piece: Piece; place: number } | null): void {
    if (this.#picture === null) return;
    this.#picture.mark = found === null ? null : pixelOf(found.piece, found.place);
    this.#mark = found === null ? null : pointOf(found.piece, found.place);
    this.#describe(found);
    this.#picture.draw();
    this.#over();
  }

  #mark: [number, number, number] | null = null;
  #about = "";

  #describe(found: { piece: Piece; place: number } | null): void {
    if (found === null) this.#about = "";
    else {
      const [x, y] = pixelOf(found.piece, found.place);
      const sigma = found.piece.sigma[found.place] ?? NaN;
      const depth = found.piece.points[3 * found.place + 2] ?? NaN;
      const spread = Number.isNaN(sigma) ? "unknown" : `${sigma.toFixed(2)} px`;
      this.#about = `Pixel ${x}, ${y}: ${depth.toFixed(3)} m, standard deviation ${spread}`;
    }
    const line = this.renderRoot.querySelector(".about");
    if (line !== null) line.textContent = this.#about || "\u00a0";
  }

  /** What is drawn over the cloud: the lasso, the brush, the point. */
  #over(): void {
    const canvas = this.renderRoot.querySelector<HTMLCanvasElement>("canvas.over");
    const context = canvas === null ? null : fitted(canvas);
    if (canvas === null || context === null) return;
    context.clearRect(0, 0, canvas.width, canvas.height);
    const at = ([u, v]: [number, number]): [number, number] => [((u + 1) / 2) * canvas.width, ((1 - v) / 2) * canvas.height];
    if (this.#tool === "lasso" && this.#line.length > 1) strokeLine(context, [...this.#line, this.#line[0] ?? [0, 0]].map((p) => at(p as [number, number])));
    const shown = this.#mark === null ? this.#centres : [this.#mark, ...this.#centres];
    const rows = this.#scene?.projection;
    if (rows === undefined) return;
    for (const point of shown) {
      const [u, v, w] = projected(rows, Float32Array.from(point), 0);
      const wide = Math.hypot(rows[1][0] ?? 0, rows[1][1] ?? 0, rows[1][2] ?? 0);
      const radius = this.#tool === "brush" ? (this.#radiusM * wide * canvas.height) / 2 / w : 0;
      if (w > 0) strokeMark(context, at([u, v]), radius);
    }
  }

  // --- in the picture

  #pictureDown = (event: PointerEvent): void => {
    if (this.#picture === null || event.button !== 0 || !event.isPrimary || this.#tool === "turn") return;
    event.preventDefault();
    this.#canvas("picture").setPointerCapture(event.pointerId);
    this.#canvas("picture").focus({ preventScroll: true });
    this.#picture.line = [this.#picture.at(event)];
    this.#centres = [];
    if (this.#tool === "brush") this.#pictureDab(this.#picture.at(event));
  };

  #pictureMove = (event: PointerEvent): void => {
    const picture = this.#picture;
    if (picture === null) return;
    const at = picture.at(event);
    this.#look(at);
    if (picture.line.length === 0 || event.buttons === 0) return;
    if (this.#tool === "brush") this.#pictureDab(at);
    else picture.line.push(at);
    picture.draw();
  };

  #pictureUp = (): void => {
    const picture = this.#picture;
    if (picture === null || picture.line.length === 0) return;
    const line = thinned(picture.line);
    picture.line = [];
    if (this.#tool === "lasso" && line.length >= 3) this.#polygon(line);
    if (this.#tool === "brush" && this.#centres.length > 0) this.#brush(this.#centres);
    this.#centres = [];
    picture.draw();
    this.#over();
  };

  #polygon(points: [number, number][]): void {
    this.#remove("polygons", { view: this.#side, points_px: points, note: "picture" });
  }

  #pictureDab(at: [number, number]): void {
    const found = this.#find(at);
    if (found !== null) this.#centre(pointOf(found.piece, found.place));
  }

  #find([x, y]: [number, number]): { piece: Piece; place: number } | null {
    // The last piece has more detail.
    for (const piece of [...(this.#scene?.pieces ?? [])].reverse()) {
      const place = placeAt(piece, x, y);
      if (place >= 0) return { piece, place };
    }
    return null;
  }

  #look(at: [number, number]): void {
    const found = this.#find(at);
    if (this.#picture === null) return;
    this.#picture.mark = at;
    this.#picture.brushPx = 0;
    this.#mark = found === null ? null : pointOf(found.piece, found.place);
    if (found !== null && this.#tool === "brush") {
      const { header, points } = found.piece;
      this.#picture.brushPx = (this.#radiusM * header.focal_px[0]) / (points[3 * found.place + 2] ?? 1);
    }
    this.#describe(found);
    this.#picture.draw();
    this.#over();
  }

  #leave = (): void => {
    if (this.#line.length === 0) this.#point(null);
  };

  // --- keys

  #cloudKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "0") this.#scene?.reset();
    if (event.key === "f" && this.#mark !== null) this.#scene?.lookAt(this.#mark);
    const turn = TURNS[event.key];
    if (turn === undefined) return;
    event.preventDefault();
    this.#scene?.turn(...turn);
    this.#over();
  };

  #pictureKey = (event: KeyboardEvent): void => {
    const picture = this.#picture;
    if (picture === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const [width, height] = picture.size;
    const move = MOVES[event.key];
    const at = picture.mark ?? [Math.round(width / 2), Math.round(height / 2)];
    if (move !== undefined) {
      const far = event.shiftKey ? 1 : Math.max(1, Math.round(width / 60));
      this.#look([clamp(at[0] + far * move[0], width), clamp(at[1] + far * move[1], height)]);
    } else if (event.key === " " && this.#tool === "brush") {
      const found = this.#find(at);
      if (found !== null) this.#brush([pointOf(found.piece, found.place)]);
    } else if (event.key === " " && this.#tool === "lasso") {
      picture.line.push([at[0], at[1]]);
    } else if (event.key === "Enter" && picture.line.length >= 3) {
      this.#polygon(picture.line);
      picture.line = [];
    } else if (event.key === "Escape") picture.line = [];
    else return;
    event.preventDefault();
    picture.draw();
  };

  #shortcut = (event: KeyboardEvent): void => {
    const typing = event.composedPath()[0];
    if (typing instanceof HTMLInputElement && typing.type === "number") return;
    const command = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (command && key === "z") this.#do(event.shiftKey ? this.#history.redo() : this.#history.undo());
    else if (command && key === "y") this.#do(this.#history.redo());
    else if (command || event.altKey) return;
    else if (key === "t" || key === "l" || key === "b") this.#use(key === "t" ? "turn" : key === "l" ? "lasso" : "brush");
    else if (key === "[") this.#resize(this.#radius - 1);
    else if (key === "]") this.#resize(this.#radius + 1);
    else return;
    event.preventDefault();
  };

  #use(tool: Tool): void {
    this.#tool = tool;
    this.#scene?.turning(tool === "turn");
    if (this.#picture !== null) this.#picture.line = [];
    this.#line = [];
    this.#over();
    this.requestUpdate();
  }

  #resize(radius: number): void {
    this.#radius = Math.max(0, Math.min(RADII_MM.length - 1, radius));
    this.#over();
    this.requestUpdate();
  }

  #limit(sigma: number): void {
    this.#least = sigma;
    this.#scene?.least(sigma);
    if (this.#picture !== null) this.#picture.least = sigma;
    this.#picture?.refresh();
    this.requestUpdate();
  }

  #colour(name: Colours): void {
    this.#colours = name;
    this.#scene?.colours(name);
    if (this.#picture !== null) this.#picture.heat = name === "standard deviation";
    this.#picture?.refresh();
    this.requestUpdate();
  }

  // --- cleaning again

  async #again(): Promise<void> {
    this.#job = { state: "running", text: "waiting until everything is saved" };
    this.requestUpdate();
    while ((this.#outbox?.waiting ?? 0) > 0) await new Promise((done) => setTimeout(done, 150));
    try {
      const body = JSON.stringify({ tab: this.#outbox?.tab ?? "page" });
      await fetch("/api/clean/again", { method: "POST", headers: { "Content-Type": "application/json" }, body });
      await this.#poll();
    } catch {
      this.#job = { state: "failed", text: "there is no connection" };
      this.requestUpdate();
    }
  }

  async #poll(): Promise<void> {
    do {
      const answer = await fetch("/api/clean/again");
      this.#job = (await answer.json()) as Job;
      this.requestUpdate();
      if (this.#job.state === "running") await new Promise((done) => setTimeout(done, 300));
    } while (this.#job.state === "running" && this.isConnected);
  }

  /** For measurements: milliseconds of each of some frames with all points. */
  frames(count: number): number[] {
    return this.#scene?.frames(count) ?? [];
  }

  override render(): TemplateResult {
    const drawn = this.#scene?.drawn ?? 0;
    const removed = this.#removed;
    return html`
      <div class="bar" role="group" aria-label="Tools">
        ${(Object.keys(TOOLS) as Tool[]).map((tool) => html`<button type="button" aria-pressed=${this.#tool === tool} @click=${() => this.#use(tool)}>${TOOLS[tool]}</button>`)}
        <button type="button" ?disabled=${this.#history.undo() === null} @click=${() => this.#do(this.#history.undo())}>Undo</button>
        <button type="button" ?disabled=${this.#history.redo() === null} @click=${() => this.#do(this.#history.redo())}>Redo</button>
        ${this.#tool === "brush"
          ? html`<label>brush <input type="range" min="0" max=${RADII_MM.length - 1} .value=${String(this.#radius)} @input=${(event: Event) => this.#resize(Number((event.target as HTMLInputElement).value))} />
              <span class="numbers">${RADII_MM[this.#radius]} mm</span></label>`
          : nothing}
        ${this.#tool === "lasso"
          ? html`<label>only the front, cm <input type="number" min="0" step="any" size="5" placeholder="all" .value=${this.#reach} @change=${(event: Event) => (this.#reach = (event.target as HTMLInputElement).value)} /></label>`
          : nothing}
      </div>
      <div class="bar" role="group" aria-label="View">
        <label>view <select @change=${(event: Event) => {
          this.#side = (event.target as HTMLSelectElement).value as "left" | "right";
          void this.#load();
        }}><option>left</option><option>right</option></select></label>
        <label>colours <select @change=${(event: Event) => this.#colour((event.target as HTMLSelectElement).value as Colours)}>${COLOURS.map((name) => html`<option ?selected=${name === this.#colours}>${name}</option>`)}</select></label>
        <label>only points with a standard deviation from
          <input type="range" min="0" max="100" .value=${String(Math.round((100 * this.#least) / this.#most))} aria-valuetext=${`${this.#least.toFixed(2)} px`}
            @input=${(event: Event) => this.#limit((Number((event.target as HTMLInputElement).value) / 100) * this.#most)} />
          <span class="numbers">${this.#least.toFixed(2)} px</span></label>
        <label><input type="checkbox" .checked=${this.#showGone} @change=${(event: Event) => {
          this.#showGone = (event.target as HTMLInputElement).checked;
          this.#scene?.showGone(this.#showGone);
        }} />show what is removed</label>
        <button type="button" @click=${() => this.#scene?.reset()}>As the camera saw it</button>
      </div>
      <div class="views">
        <div class="box"><canvas class=${`picture ${this.#tool === "turn" ? "" : "tool"}`} tabindex="0" role="img" aria-label="Picture; arrow keys move the mark, space removes there with the brush or adds a corner of the lasso, Enter closes it"
          @pointerdown=${this.#pictureDown} @pointermove=${this.#pictureMove} @pointerup=${this.#pictureUp} @pointercancel=${this.#pictureUp} @pointerleave=${this.#leave} @keydown=${this.#pictureKey}></canvas></div>
        <div class="box"><canvas class=${`cloud ${this.#tool === "turn" ? "" : "tool"}`} tabindex="0" role="img" aria-label="Point cloud; arrow keys turn, plus and minus zoom, F turns around the mark, 0 goes back"
          @pointerdown=${this.#cloudDown} @pointermove=${this.#cloudMove} @pointerup=${this.#cloudUp} @pointercancel=${this.#cloudUp} @pointerleave=${this.#leave} @keydown=${this.#cloudKey}></canvas>
          <canvas class="over" aria-hidden="true"></canvas></div>
      </div>
      <p class="status about numbers">\u00a0</p>
      <p class="status numbers" role="status">
        ${this.#message ? html`${this.#message} ` : html`${drawn.toLocaleString("en")} points drawn. `}
        ${removed === null ? nothing : html`<span class="removed">${removed.left.toLocaleString("en")} removed by hand in the left view, ${removed.right.toLocaleString("en")} in the right.</span> `}
        <span class=${this.#trouble ? "trouble" : ""}>${this.#state}</span>
        ${this.#others > 0 ? html`<span class="trouble">This session is open in ${this.#others} other ${this.#others === 1 ? "tab" : "tabs"}; both see each other's changes.</span>` : nothing}
        ${this.#refused ? html`<span class="trouble">${this.#refused}</span>` : nothing}
      </p>
      <div class="bar"><button type="button" class="again" ?disabled=${this.#job.state === "running"} @click=${() => void this.#again()}>Clean again and audit</button>
        <span role="status">${this.#job.state === "running" ? `Working: ${this.#job.text ?? ""} ...` : this.#job.state === "failed" ? html`<span class="trouble">It did not work: ${this.#job.text}</span>` : nothing}</span></div>
      ${this.#job.state === "done" ? this.#audit(this.#job) : nothing}
      <slot hidden></slot>
    `;
  }

  #audit(job: Job): TemplateResult {
    const rows: [string, number | undefined, number | undefined, string][] = [];
    const [before, after] = [job.before ?? {}, job.after ?? {}];
    if (after.true_error !== undefined) {
      const [was, is] = [before.true_error, after.true_error];
      rows.push(["mean error", was?.mean_abs_px, is.mean_abs_px, "px"]);
      rows.push(["wrong by more than 2 px", was?.bad_2_percent, is.bad_2_percent, "%"]);
      rows.push(["kept", was?.kept_percent, is.kept_percent, "%"]);
    }
    rows.push(["mean residual on planes", before.planar_residual_px ?? undefined, after.planar_residual_px ?? undefined, "px"]);
    const shown = (value: number | undefined, unit: string): string => (value === undefined ? "-" : `${value.toFixed(3)} ${unit}`);
    return html`<table class="audit"><caption class="hidden">The audit before and after</caption>
      <thead><tr><th scope="col">audit</th><th scope="col">before</th><th scope="col">now</th></tr></thead>
      <tbody>${rows.map(([name, was, is, unit]) => html`<tr><th scope="row">${name}</th><td>${shown(was, unit)}</td><td>${shown(is, unit)}</td></tr>`)}</tbody></table>`;
  }
}

function pointOf(piece: Piece, place: number): [number, number, number] {
  return [piece.points[3 * place] ?? 0, piece.points[3 * place + 1] ?? 0, piece.points[3 * place + 2] ?? 0];
}

function clamp(value: number, size: number): number {
  return Math.max(0, Math.min(size - 1, value));
}

/** A drawn line with at most some hundred corners. */
function thinned(line: [number, number][]): [number, number][] {
  const step = Math.ceil(line.length / MOST_CORNERS);
  return line.filter((_, k) => k % Math.max(1, step) === 0);
}

function quantile(values: Float32Array, share: number): number {
  const step = Math.max(1, Math.floor(values.length / 20_000));
  const some = values.filter((value, k) => k % step === 0 && !Number.isNaN(value)).sort();
  return some[Math.floor(share * (some.length - 1))] ?? 1;
}

customElements.define("dg-clean", Cleaner);
