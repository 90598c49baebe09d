// <dg-masks>: the material of every pixel, with polygon, brush, flood and clicks that the program learns from.
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { History, type Back } from "../shared/history.js";
import { Outbox, newId } from "../shared/outbox.js";
import { viewer } from "../shared/viewer.js";
import type { CarriedMasks } from "./carrying.js";
import "./carrying.js";
import { CLASSES, swatches } from "./classes.js";
import { LabelMap, Story, entryRegion, type MaskEvent, type Paint, type RegionEntry } from "./labels.js";
import { Pointer } from "./pointer.js";
import { proposal } from "./proposal.js";
import { LEAST_RADIUS, rounded, type Point } from "./shapes.js";
import { Sheet } from "./sheet.js";
import { style } from "./style.js";
import { shares, type About, type Told } from "./told.js";
import { HINTS, KEYS, RADII, TOOLS, type Tool } from "./tools.js";

const MOST_POINTS = 4000;
const DOUBLE_MS = 500;

export class Masker extends LitElement {
  static override styles = [controls, viewer, swatches, style];

  #about: About | null = null;
  #map: LabelMap | null = null;
  #sheet: Sheet | null = null;
  #pointer: Pointer | null = null;
  #outbox: Outbox<MaskEvent | Back> | null = null;
  readonly #story = new Story();
  #history = new History<MaskEvent>();
  #tool: Tool = "polygon";
  #class = 3;
  #radius = 9;
  #tolerance = 30;
  #unwanted = false;
  #picture = "";
  #entry: RegionEntry | null = null;
  #asked = 0;
  #message = "Loading the picture ...";
  #state = "";
  #trouble = false;
  #refused = "";
  #others = 0;
  #counts: number[] = [];
  #lastCorner = 0;
  #compared = -1;
  readonly #sizes = new ResizeObserver(() => (this.#sheet?.view.sized && !this.#sheet.view.closer ? this.#sheet.fit() : this.#sheet?.changed()));

  /** The labels as this page has them: for tests and measurements. */
  get labels(): Uint8Array {
    return this.#map?.labels ?? new Uint8Array();
  }

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
  }

  async #start(): Promise<void> {
    try {
      const answer = await fetch("/api/masks");
      const about = (await answer.json()) as About;
      if (!answer.ok) throw new Error(about.error);
      this.#about = about;
      const size: Point = [about.width, about.height];
      this.#map = new LabelMap(size);
      const canvas = this.#canvas("over");
      this.#sheet = new Sheet(this.#canvas("base"), canvas, size, this.#map.labels);
      this.#pointer = new Pointer(canvas, this.#sheet, {
        pans: () => this.#tool === "move",
        drags: () => this.#painting,
        down: (at, other) => this.#down(at, other),
        move: (at) => this.#move(at),
        up: () => this.#up(),
        cancel: () => this.#cancel(),
      });
      this.#sizes.observe(canvas);
      this.#brush();
      await this.#show(about.pictures[0] ?? "");
      this.#outbox = new Outbox<MaskEvent | Back>("/api/masks/events", `masks:${this.dataset["owner"] ?? ""}`, (events, told) => this.#take(events, told), (text, trouble) => this.#say(text, trouble));
      const carried = this.renderRoot.querySelector<CarriedMasks>("dg-carried");
      if (carried !== null) carried.saved = () => this.#saved();
    } catch (error) {
      this.#message = `The picture cannot be shown: ${error instanceof Error ? error.message : "there is no connection"}.`;
      this.requestUpdate();
    }
  }

  #canvas(name: string): HTMLCanvasElement {
    const found = this.renderRoot.querySelector<HTMLCanvasElement>(`canvas.${name}`);
    if (found === null) throw new Error("the page is not complete");
    return found;
  }

  async #saved(): Promise<void> {
    while ((this.#outbox?.waiting ?? 0) > 0) await new Promise((done) => setTimeout(done, 150));
  }

  async #show(name: string): Promise<void> {
    this.#picture = name;
    try {
      await this.#sheet?.show(name);
      this.#message = "";
      this.dataset["picture"] = name;
    } catch {
      this.#message = `The picture ${name} cannot be shown.`;
    }
    this.requestUpdate();
  }

  #nextPicture(): void {
    const names = this.#about?.pictures ?? [];
    if (names.length > 1) void this.#show(names[(names.indexOf(this.#picture) + 1) % names.length] ?? "");
  }

  // --- events

  #take(events: (MaskEvent | Back)[], told: Told): void {
    this.#story.serve(events);
    this.#story.refuse(Object.keys(told.refused ?? {}));
    if (events.length > 0 || told.refused !== undefined) this.#apply();
    this.#others = told.others ?? this.#others;
    this.#refused = told.error ?? (told.trouble || this.#refused);
    if (told.counts !== undefined) {
      this.#counts = told.counts;
      this.#compare(told.counts, told.revision ?? -1);
    }
    this.dataset["ready"] = "yes";
    this.requestUpdate();
  }

  /** What this page shows must be what the server has written. */
  #compare(counts: number[], revision: number): void {
    if (this.#story.complete !== revision || this.#compared === revision) return;
    this.#compared = revision;
    if (this.#map?.counts().join() !== counts.join()) this.#refused = "This page does not show what is saved: load it again.";
  }

  #say(text: string, trouble: boolean): void {
    this.#state = text;
    this.#trouble = trouble;
    this.requestUpdate();
  }

  #apply(): void {
    this.#history = new History<MaskEvent>();
    for (const event of this.#story.all) this.#history.add(event);
    const standing = this.#history.standing;
    this.#map?.follow(standing);
    this.#sheet?.changed();
    this.dataset["standing"] = String(standing.length);
  }

  #do(event: MaskEvent | Back | null): void {
    if (event === null || this.#outbox === null) return;
    this.#refused = "";
    this.#story.make(event);
    this.#apply();
    this.#outbox.push(event);
    this.requestUpdate();
  }

  #paint(what: Pick<Paint, "shape" | "entry">): void {
    this.#do({ id: newId(), kind: "paint", class: this.#label, ...what } as Paint);
  }

  get #label(): number {
    return this.#tool === "eraser" ? 0 : this.#class;
  }

  get #painting(): boolean {
    return this.#tool === "brush" || this.#tool === "eraser";
  }

  // --- tools

  #down(at: Point, other: boolean): void {
    const sheet = this.#sheet;
    if (sheet === null || this.#outbox === null) return;
    if (this.#painting) sheet.stroke = [rounded(at)];
    else if (this.#tool === "polygon") this.#corner(rounded(at));
    else if (this.#tool === "flood") void this.#propose([{ at, wanted: true }]);
    else if (this.#tool !== "move") void this.#propose([...sheet.clicks, { at, wanted: !(other || this.#unwanted) }]);
    sheet.above();
  }

  #move(at: Point): void {
    const sheet = this.#sheet;
    if (sheet === null) return;
    if (this.#tool === "polygon" && sheet.drags(at)) sheet.corners.push(rounded(at));
    if (!this.#painting || sheet.stroke.length === 0) return;
    const [x, y] = sheet.stroke.at(-1) ?? at;
    if (Math.hypot(at[0] - x, at[1] - y) < Math.max(0.5, this.#radiusPx / 10)) return;
    sheet.stroke.push(rounded(at));
    if (sheet.stroke.length >= MOST_POINTS) {
      this.#up();
      sheet.stroke = [rounded(at)];
    }
    sheet.above();
  }

  #up(): void {
    const sheet = this.#sheet;
    if (sheet === null || sheet.stroke.length === 0) return;
    const points_px = sheet.stroke;
    sheet.stroke = [];
    this.#paint({ shape: "brush", entry: { points_px, radius_px: this.#radiusPx } });
  }

  #corner(at: Point): void {
    const sheet = this.#sheet;
    if (sheet === null) return;
    const twice = performance.now() - this.#lastCorner < DOUBLE_MS;
    this.#lastCorner = performance.now();
    if (sheet.closes(at, twice)) this.#close();
    else sheet.corners.push(at);
    this.requestUpdate();
  }

  #close(): void {
    const sheet = this.#sheet;
    if (sheet === null || sheet.corners.length < 3) return;
    const points_px = sheet.corners;
    sheet.corners = [];
    this.#paint({ shape: "polygon", entry: { points_px } });
  }

  async #propose(clicks: Sheet["clicks"]): Promise<void> {
    const sheet = this.#sheet;
    if (sheet === null) return;
    sheet.clicks = clicks;
    sheet.above();
    this.#asked += 1;
    const number = this.#asked;
    this.#message = "Looking ...";
    this.requestUpdate();
    const found = await proposal(sheet, { tab: this.#outbox?.tab ?? "page", picture: this.#picture, tool: this.#tool, tolerance: this.#tolerance });
    if (number !== this.#asked) return;
    this.#entry = found.entry ?? null;
    sheet.proposal = found.entry === undefined ? null : entryRegion(found.entry);
    this.#message = found.entry === undefined ? (found.error ?? "") : `${(found.pixels ?? 0).toLocaleString("en")} pixels are proposed: Enter takes them.`;
    this.dataset["proposed"] = String(found.pixels ?? 0);
    sheet.changed();
    this.requestUpdate();
  }

  #accept(): void {
    const entry = this.#entry;
    this.#cancel();
    if (entry !== null) this.#paint({ shape: "region", entry });
  }

  #cancel(): void {
    const sheet = this.#sheet;
    this.#asked += 1;
    this.#entry = null;
    this.#message = "";
    delete this.dataset["proposed"];
    this.#pointer?.release();
    if (sheet !== null) {
      sheet.stroke = [];
      sheet.corners = [];
      sheet.clicks = [];
      sheet.proposal = null;
      sheet.changed();
    }
    this.requestUpdate();
  }

  get #radiusPx(): number {
    return RADII[this.#radius] ?? LEAST_RADIUS;
  }

  #use(tool: Tool): void {
    if (tool === "network" && this.#about?.network !== true) return;
    this.#cancel();
    this.#tool = tool;
    this.#brush();
  }

  #choose(label: number): void {
    this.#class = label;
    if (this.#tool === "eraser") this.#tool = "brush";
    this.#brush();
  }

  #resize(radius: number): void {
    this.#radius = Math.max(0, Math.min(RADII.length - 1, radius));
    this.#brush();
  }

  #brush(): void {
    const sheet = this.#sheet;
    if (sheet === null) return;
    sheet.radius = this.#painting ? this.#radiusPx : 0;
    sheet.label = this.#label;
    sheet.changed();
    this.requestUpdate();
  }

  #opacity(value: number): void {
    if (this.#sheet === null) return;
    this.#sheet.opacity = Math.max(0, Math.min(1, value));
    this.#sheet.changed();
    this.requestUpdate();
  }

  #tolerate(value: number): void {
    this.#tolerance = value;
    if (this.#tool === "flood" && this.#sheet !== null && this.#sheet.clicks.length > 0) void this.#propose(this.#sheet.clicks);
    this.requestUpdate();
  }

  // --- keys

  #shortcut = (event: KeyboardEvent): void => {
    const origin = event.composedPath()[0];
    if (origin instanceof HTMLSelectElement) return;
    const command = event.ctrlKey || event.metaKey;
    const key = event.key.toLowerCase();
    const onSheet = origin === this.renderRoot.querySelector("canvas.over");
    if (command && key === "z") this.#do(event.shiftKey ? this.#history.redo() : this.#history.undo());
    else if (command && key === "y") this.#do(this.#history.redo());
    else if (onSheet && this.#pointer?.key(event)) this.requestUpdate();
    else if (command || event.altKey) return;
    else if (KEYS[key] !== undefined) this.#use(KEYS[key]);
    else if (/^[0-3]$/.test(key)) this.#choose(Number(key));
    else if (key === "x") this.#turn();
    else if (key === "i") this.#nextPicture();
    else if (key === "[" || key === "]") this.#resize(this.#radius + (key === "]" ? 1 : -1));
    else if (key === "," || key === ".") this.#opacity((this.#sheet?.opacity ?? 0) + (key === "." ? 0.1 : -0.1));
    else if (key === "escape") this.#cancel();
    else if (key === "enter" && (onSheet || origin === document.body)) this.#entry === null ? this.#close() : this.#accept();
    else return;
    event.preventDefault();
  };

  #turn(): void {
    this.#unwanted = !this.#unwanted;
    this.requestUpdate();
  }

  override render(): TemplateResult {
    const about = this.#about;
    const tools = (Object.keys(TOOLS) as Tool[]).filter((tool) => tool !== "network" || about?.network === true);
    return html`
      <div class="bar" role="group" aria-label="Tools">
        ${tools.map((tool) => html`<button type="button" aria-pressed=${this.#tool === tool} @click=${() => this.#use(tool)}>${TOOLS[tool]}</button>`)}
        <button type="button" ?disabled=${this.#history.undo() === null} @click=${() => this.#do(this.#history.undo())}>Undo</button>
        <button type="button" ?disabled=${this.#history.redo() === null} @click=${() => this.#do(this.#history.redo())}>Redo</button>
        ${this.#options()}
      </div>
      <div class="bar" role="group" aria-label="Classes">
        ${CLASSES.map(({ about: text }, k) => html`<button type="button" title=${text} aria-pressed=${this.#label === k} @click=${() => this.#choose(k)}><span class=${`swatch c${k}`}></span>${k} ${about?.classes[k] ?? ""}</button>`)}
      </div>
      <div class="bar" role="group" aria-label="View">
        <label>picture <select .value=${this.#picture} @change=${(event: Event) => void this.#show((event.target as HTMLSelectElement).value)}>${(about?.pictures ?? []).map((name) => html`<option ?selected=${name === this.#picture}>${name}</option>`)}</select></label>
        <label>opacity <input type="range" min="0" max="100" .value=${String(Math.round(100 * (this.#sheet?.opacity ?? 0.45)))} @input=${(event: Event) => this.#opacity(Number((event.target as HTMLInputElement).value) / 100)} /></label>
        <button type="button" @click=${() => this.#sheet?.fit()}>Whole picture (Home)</button>
      </div>
      <p class="status">${HINTS[this.#tool]}</p>
      <div class="box"><canvas class="base" aria-hidden="true"></canvas>
        <canvas class=${`over ${this.#tool === "move" ? "moves" : ""}`} tabindex="0" role="img" aria-label="Picture with the mask; arrow keys move the mark, space presses there, Enter finishes, Escape gives up"></canvas></div>
      <p class="status numbers" role="status">
        ${this.#message ? html`<span class="message">${this.#message}</span> ` : nothing}
        ${this.#counts.length > 0 ? html`<span class="counts">${shares(this.#counts)}</span> ` : nothing}
        <span class=${this.#trouble ? "trouble" : ""}>${this.#state}</span>
        ${this.#others > 0 ? html`<span class="trouble">This mask is open in ${this.#others} other ${this.#others === 1 ? "tab" : "tabs"}; both see each other's changes.</span>` : nothing}
        ${this.#refused ? html`<span class="trouble">${this.#refused}</span>` : nothing}
      </p>
      <dg-carried></dg-carried>
      <slot hidden></slot>`;
  }

  #options(): TemplateResult | typeof nothing {
    if (this.#painting) {
      return html`<label>size <input type="range" min="0" max=${RADII.length - 1} .value=${String(this.#radius)} aria-valuetext=${`${2 * this.#radiusPx} px`} @input=${(event: Event) => this.#resize(Number((event.target as HTMLInputElement).value))} />
        <span class="numbers">${2 * this.#radiusPx} px</span></label>`;
    }
    if (this.#tool === "polygon") return html`<button type="button" class="go" ?disabled=${(this.#sheet?.corners.length ?? 0) < 3} @click=${() => this.#close()}>Close (Enter)</button>`;
    if (this.#tool === "move") return nothing;
    return html`
      ${this.#tool === "flood"
        ? html`<label>tolerance <input type="range" min="2" max="120" .value=${String(this.#tolerance)} @change=${(event: Event) => this.#tolerate(Number((event.target as HTMLInputElement).value))} /> <span class="numbers">${this.#tolerance}</span></label>`
        : html`<button type="button" aria-pressed=${this.#unwanted} @click=${() => this.#turn()}>Not this (X)</button>`}
      <button type="button" class="go" ?disabled=${this.#entry === null} @click=${() => this.#accept()}>Take it (Enter)</button>
      <button type="button" ?disabled=${this.#entry === null && (this.#sheet?.clicks.length ?? 0) === 0} @click=${() => this.#cancel()}>Give up (Esc)</button>`;
  }
}

customElements.define("dg-masks", Masker);
