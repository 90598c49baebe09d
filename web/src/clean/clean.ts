// <dg-clean>: points of a session's cloud are removed with lasso and brush, in the cloud and in the picture.
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { History, type Back } from "../shared/history.js";
import { Outbox, newId, type Answer } from "../shared/outbox.js";
import { viewer } from "../shared/viewer.js";
import { Applied } from "./applied.js";
import { Auditor } from "./audit.js";
import { COLOURS, type Colours } from "./colours.js";
import { Hand } from "./hand.js";
import { PictureView } from "./picture.js";
import { readPiece, type Piece } from "./piece.js";
import type { Removal } from "./removal.js";
import type { CleanScene } from "./scene.js";
import { RADII_MM, Settings, TOOLS, type Tool } from "./settings.js";
import { views } from "./style.js";

interface Told extends Answer {
  removed?: { left: number; right: number };
  trouble?: string;
}

export class Cleaner extends LitElement {
  static override styles = [controls, viewer, views];

  readonly #settings = new Settings();
  #scene: CleanScene | null = null;
  #picture: PictureView | null = null;
  #hand: Hand | null = null;
  #outbox: Outbox<Removal | Back> | null = null;
  readonly #history = new History<Removal>();
  readonly #applied = new Applied();
  readonly #auditor = new Auditor({
    changed: () => this.requestUpdate(),
    waiting: () => this.#outbox?.waiting ?? 0,
    tab: () => this.#outbox?.tab ?? "page",
    connected: () => this.isConnected,
  });
  #state = "";
  #trouble = false;
  #refused = "";
  #others = 0;
  #removed: { left: number; right: number } | null = null;
  #message = "Loading the points ...";
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
      const [cloud, sheet] = [this.#canvas("cloud"), this.#canvas("picture")];
      this.#scene = new CleanScene(cloud, () => void this.#closer());
      this.#picture = new PictureView(sheet);
      this.#hand = new Hand(cloud, sheet, this.#canvas("over"), this.#scene, this.#picture, this.#settings, {
        remove: (shape, entry) => this.#remove(shape, entry),
        say: (about) => this.#describe(about),
      });
      for (const canvas of [cloud, sheet]) this.#sizes.observe(canvas);
      await this.#load();
      this.#outbox = new Outbox<Removal | Back>(
        "/api/clean/events",
        `clean:${this.dataset["owner"] ?? ""}`,
        (events, answer) => this.#take(events, answer),
        (text, trouble) => this.#say(text, trouble),
      );
      void this.#auditor.poll();
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
    this.#hand?.draw();
  }

  // --- points

  async #load(): Promise<void> {
    const piece = await this.#fetch("");
    this.#scene?.show(piece);
    this.#fit();
    this.#settings.most = Math.max(0.05, quantile(piece.sigma, 0.995));
    this.#scene?.most(this.#settings.most);
    if (this.#picture !== null) {
      this.#picture.most = this.#settings.most;
      await this.#picture.show(`/clean/picture/${this.#settings.side}.jpg`, piece);
    }
    this.#detail = "";
    this.#applied.clear();
    this.#apply();
    this.#message = "";
    this.dataset["shown"] = String(piece.count);
    this.requestUpdate();
  }

  async #fetch(query: string): Promise<Piece> {
    const answer = await fetch(`/api/clean/cloud/${this.#settings.side}${query}`);
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

  // --- actions

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
    const { standing } = this.#history;
    this.#applied.bring(this.#scene?.pieces ?? [], standing);
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
    const { least } = this.#settings;
    const limited = least > 0 ? { ...entry, least_sigma_px: least } : entry;
    this.#do({ id: newId(), kind: "remove", shape, entry: limited } as Removal);
  }

  #describe(about: string): void {
    const line = this.renderRoot.querySelector(".about");
    if (line !== null) line.textContent = about || "\u00a0";
  }

  // --- choices

  #shortcut = (event: KeyboardEvent): void => {
    const typing = event.composedPath()[0];
    if (typing instanceof HTMLInputElement && typing.type === "number") return;
    const command = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    if (command && key === "z") this.#do(event.shiftKey ? this.#history.redo() : this.#history.undo());
    else if (command && key === "y") this.#do(this.#history.redo());
    else if (command || event.altKey) return;
    else if (key === "t" || key === "l" || key === "b") this.#use(key === "t" ? "turn" : key === "l" ? "lasso" : "brush");
    else if (key === "[") this.#resize(this.#settings.radius - 1);
    else if (key === "]") this.#resize(this.#settings.radius + 1);
    else return;
    event.preventDefault();
  };

  #use(tool: Tool): void {
    this.#settings.tool = tool;
    this.#scene?.turning(tool === "turn");
    this.#hand?.drop();
    this.requestUpdate();
  }

  #resize(radius: number): void {
    this.#settings.radius = Math.max(0, Math.min(RADII_MM.length - 1, radius));
    this.#hand?.draw();
    this.requestUpdate();
  }

  #limit(sigma: number): void {
    this.#settings.least = sigma;
    this.#scene?.least(sigma);
    if (this.#picture !== null) this.#picture.least = sigma;
    this.#picture?.refresh();
    this.requestUpdate();
  }

  #colour(name: Colours): void {
    this.#settings.colours = name;
    this.#scene?.colours(name);
    if (this.#picture !== null) this.#picture.heat = name === "standard deviation";
    this.#picture?.refresh();
    this.requestUpdate();
  }

  #see(side: "left" | "right"): void {
    this.#settings.side = side;
    void this.#load();
  }

  #gone(shown: boolean): void {
    this.#settings.showGone = shown;
    this.#scene?.showGone(shown);
  }

  /** For measurements: milliseconds of each of some frames with all points. */
  frames(count: number): number[] {
    return this.#scene?.frames(count) ?? [];
  }

  // --- what is shown

  override render(): TemplateResult {
    const kind = this.#settings.tool === "turn" ? "" : "tool";
    return html`
      ${this.#toolBar()} ${this.#viewBar()}
      <div class="views">
        <div class="box"><canvas class=${`picture ${kind}`} tabindex="0" role="img" aria-label="Picture; arrow keys move the mark, space removes there with the brush or adds a corner of the lasso, Enter closes it"
          @pointerdown=${(event: PointerEvent) => this.#hand?.pictureDown(event)} @pointermove=${(event: PointerEvent) => this.#hand?.pictureMove(event)} @pointerup=${() => this.#hand?.pictureUp()} @pointercancel=${() => this.#hand?.pictureUp()}
          @pointerleave=${() => this.#hand?.leave()} @keydown=${(event: KeyboardEvent) => this.#hand?.pictureKey(event)}></canvas></div>
        <div class="box"><canvas class=${`cloud ${kind}`} tabindex="0" role="img" aria-label="Point cloud; arrow keys turn, plus and minus zoom, F turns around the mark, 0 goes back"
          @pointerdown=${(event: PointerEvent) => this.#hand?.cloudDown(event)} @pointermove=${(event: PointerEvent) => this.#hand?.cloudMove(event)} @pointerup=${() => this.#hand?.cloudUp()} @pointercancel=${() => this.#hand?.cloudUp()}
          @pointerleave=${() => this.#hand?.leave()} @keydown=${(event: KeyboardEvent) => this.#hand?.cloudKey(event)}></canvas>
          <canvas class="over" aria-hidden="true"></canvas></div>
      </div>
      <p class="status about numbers">\u00a0</p>
      ${this.#status()} ${this.#auditor.render()}
      <slot hidden></slot>
    `;
  }

  #toolBar(): TemplateResult {
    const { tool: used, radius, reach } = this.#settings;
    return html`<div class="bar" role="group" aria-label="Tools">
      ${(Object.keys(TOOLS) as Tool[]).map((tool) => html`<button type="button" aria-pressed=${used === tool} @click=${() => this.#use(tool)}>${TOOLS[tool]}</button>`)}
      <button type="button" ?disabled=${this.#history.undo() === null} @click=${() => this.#do(this.#history.undo())}>Undo</button>
      <button type="button" ?disabled=${this.#history.redo() === null} @click=${() => this.#do(this.#history.redo())}>Redo</button>
      ${used === "brush"
        ? html`<label>brush <input type="range" min="0" max=${RADII_MM.length - 1} .value=${String(radius)} @input=${(event: Event) => this.#resize(Number(inputOf(event).value))} />
            <span class="numbers">${RADII_MM[radius]} mm</span></label>`
        : nothing}
      ${used === "lasso"
        ? html`<label>only the front, cm <input type="number" min="0" step="any" size="5" placeholder="all" .value=${reach} @change=${(event: Event) => (this.#settings.reach = inputOf(event).value)} /></label>`
        : nothing}
    </div>`;
  }

  #viewBar(): TemplateResult {
    const { colours, least, most, showGone } = this.#settings;
    return html`<div class="bar" role="group" aria-label="View">
      <label>view <select @change=${(event: Event) => this.#see((event.target as HTMLSelectElement).value as "left" | "right")}><option>left</option><option>right</option></select></label>
      <label>colours <select @change=${(event: Event) => this.#colour((event.target as HTMLSelectElement).value as Colours)}>${COLOURS.map((name) => html`<option ?selected=${name === colours}>${name}</option>`)}</select></label>
      <label>only points with a standard deviation from
        <input type="range" min="0" max="100" .value=${String(Math.round((100 * least) / most))} aria-valuetext=${`${least.toFixed(2)} px`}
          @input=${(event: Event) => this.#limit((Number(inputOf(event).value) / 100) * most)} />
        <span class="numbers">${least.toFixed(2)} px</span></label>
      <label><input type="checkbox" .checked=${showGone} @change=${(event: Event) => this.#gone(inputOf(event).checked)} />show what is removed</label>
      <button type="button" @click=${() => this.#scene?.reset()}>As the camera saw it</button>
    </div>`;
  }

  #status(): TemplateResult {
    const [drawn, removed] = [this.#scene?.drawn ?? 0, this.#removed];
    return html`<p class="status numbers" role="status">
      ${this.#message ? html`${this.#message} ` : html`${drawn.toLocaleString("en")} points drawn. `}
      ${removed === null ? nothing : html`<span class="removed">${removed.left.toLocaleString("en")} removed by hand in the left view, ${removed.right.toLocaleString("en")} in the right.</span> `}
      <span class=${this.#trouble ? "trouble" : ""}>${this.#state}</span>
      ${this.#others > 0 ? html`<span class="trouble">This session is open in ${this.#others} other ${this.#others === 1 ? "tab" : "tabs"}; both see each other's changes.</span>` : nothing}
      ${this.#refused ? html`<span class="trouble">${this.#refused}</span>` : nothing}
    </p>`;
  }
}

function inputOf(event: Event): HTMLInputElement {
  return event.target as HTMLInputElement;
}

function quantile(values: Float32Array, share: number): number {
  const step = Math.max(1, Math.floor(values.length / 20_000));
  const some = values.filter((value, k) => k % step === 0 && !Number.isNaN(value)).sort();
  return some[Math.floor(share * (some.length - 1))] ?? 1;
}

customElements.define("dg-clean", Cleaner);
