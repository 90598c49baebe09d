// <dg-tags>: the tags of an object in its four photographs: what each sticks to, its layer, missed corners.
import { LitElement, css, html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { History, type Back } from "../shared/history.js";
import { Outbox, newId, type Answer, type SentEvent } from "../shared/outbox.js";

type Point = [number, number];
interface Note extends SentEvent {
  kind: "note";
  tag: number;
  material: string;
  layer: number;
  valid: boolean;
  bad_corners: number[];
}
type Said = Note | (SentEvent & { kind: "corners"; tag: number; view: string; corners_px: Point[] }) | (SentEvent & { kind: "reject"; tag: number; view: string });
interface View {
  width: number;
  height: number;
  tags: [number, Point[]][];
}

const NAMES: Record<string, string> = { "1_0": "before, left", "1_1": "before, right", "2_0": "after, left", "2_1": "after, right" };
const MATERIALS: Record<string, string> = { d: "diffuse", t: "transparent", r: "reflective" };
const CORNERS = ["upper right", "upper left", "lower left", "lower right"];
const EMPTY = { material: "", layer: 0, valid: true, bad_corners: [] as number[] };

export class Tagger extends LitElement {
  static override styles = [
    controls,
    css`
      .all { display: grid; grid-template-columns: minmax(0, 3fr) minmax(15rem, 1fr); gap: .8rem; align-items: start; }
      .views { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .5rem; }
      figure { margin: 0; }
      figcaption { font-size: .85rem; color: var(--soft); }
      svg.photo { display: block; width: 100%; height: 34vh; background: #0c0d0f; border-radius: 4px; touch-action: none; }
      svg.photo.add { cursor: crosshair; }
      polygon { fill: none; vector-effect: non-scaling-stroke; stroke-width: 2; }
      .found { stroke: #5ab4ff; }
      .hand { stroke: #39d98a; }
      .gone { stroke: #ff5c5c; stroke-dasharray: 6 4; }
      .chosen { stroke: #fff36b; stroke-width: 4; }
      .corner { fill: #ff2d78; stroke: #fff; vector-effect: non-scaling-stroke; }
      .list { max-height: 68vh; overflow: auto; }
      table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
      th, td { text-align: left; padding: .1rem .4rem; }
      tr.now { background: var(--wash); }
      td button { min-height: 1.5rem; padding: 0 .5rem; }
      input[type="number"] { font: inherit; width: 5rem; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 5px; padding: .3rem .5rem; }
      .trouble { color: var(--bad, #b3261e); font-weight: 600; }
      @media (max-width: 60rem) { .all { grid-template-columns: minmax(0, 1fr); } svg.photo { height: 26vh; } }
    `,
  ];

  #views: Record<string, View> = {};
  #outbox: Outbox<Said | Back> | null = null;
  readonly #history = new History<Said>();
  #tag = -1;
  #zoom = false;
  #adding = false;
  #view = "1_0";
  #corners: Point[] = [];
  #cursor: Point | null = null;
  #state = "Looking for tags ...";
  #trouble = false;
  #refused = "";
  #others = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    window.addEventListener("keydown", this.#key);
    void this.#start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener("keydown", this.#key);
    this.#outbox?.stop();
  }

  get #address(): string {
    return `/api/tags/${encodeURIComponent(this.dataset["name"] ?? "")}`;
  }

  async #start(): Promise<void> {
    try {
      const answer = await fetch(this.#address);
      const body = (await answer.json()) as Answer & { views: Record<string, View> };
      if (!answer.ok) throw new Error(body.error);
      this.#views = body.views;
    } catch (error) {
      this.#state = `The tags cannot be shown: ${error instanceof Error ? error.message : "there is no connection"}.`;
      this.requestUpdate();
      return;
    }
    this.#tag = this.#tags[0] ?? -1;
    this.#outbox = new Outbox<Said | Back>(
      `${this.#address}/events`,
      `tags:${this.dataset["owner"] ?? ""}:${this.dataset["name"] ?? ""}`,
      (events, answer: Answer & { trouble?: string }) => {
        for (const event of events) this.#history.add(event);
        this.#others = answer.others ?? this.#others;
        this.#refused = answer.error ?? answer.trouble ?? this.#refused;
        this.dataset["ready"] = "yes";
        this.requestUpdate();
      },
      (text, trouble) => {
        this.#state = text;
        this.#trouble = trouble;
        this.requestUpdate();
      },
    );
  }

  #do(event: Said | Back | null): void {
    if (event === null || this.#outbox === null) return;
    this.#refused = "";
    this.#history.add(event);
    this.#outbox.push(event);
    this.requestUpdate();
  }

  /** The tags of all photographs, and those that a person added. */
  get #tags(): number[] {
    const found = new Set<number>();
    for (const view of Object.values(this.#views)) for (const [tag] of view.tags) found.add(tag);
    for (const event of this.#history.standing) if (event.kind === "corners") found.add(event.tag);
    if (this.#tag >= 0) found.add(this.#tag);
    return [...found].sort((a, b) => a - b);
  }

  #note(tag: number): Omit<Note, "id" | "kind" | "tag"> {
    const last = this.#history.standing.findLast((event) => event.kind === "note" && event.tag === tag);
    return last?.kind === "note" ? last : EMPTY;
  }

  #change(change: Partial<Note>): void {
    if (this.#tag < 0) return;
    const { material, layer, valid, bad_corners } = this.#note(this.#tag);
    this.#do({ id: newId(), kind: "note", tag: this.#tag, material, layer, valid, bad_corners, ...change });
  }

  /** What is known of a tag in a photograph, and where from. */
  #shapes(name: string, tag: number): { corners: Point[]; from: "found" | "hand" | "gone" }[] {
    const found = (this.#views[name]?.tags ?? []).filter(([each]) => each === tag).map(([, corners]) => corners);
    const last = this.#history.standing.findLast((event) => event.kind !== "note" && event.tag === tag && event.view === name);
    if (last?.kind === "corners") return [{ corners: last.corners_px, from: "hand" }];
    return found.map((corners) => ({ corners, from: last?.kind === "reject" ? "gone" : "found" }));
  }

  #choose(tag: number): void {
    this.#tag = tag;
    this.#corners = [];
    this.requestUpdate();
    void this.updateComplete.then(() => this.renderRoot.querySelector("tr.now")?.scrollIntoView({ block: "nearest" }));
  }

  #step(by: number): void {
    const tags = this.#tags;
    this.#choose(tags[(tags.indexOf(this.#tag) + by + tags.length) % tags.length] ?? -1);
  }

  readonly #key = (event: KeyboardEvent): void => {
    const origin = event.composedPath()[0];
    if (origin instanceof HTMLInputElement || origin instanceof HTMLSelectElement) return;
    const key = event.key.toLowerCase();
    const command = event.ctrlKey || event.metaKey;
    if (command && key === "z") this.#do(event.shiftKey ? this.#history.redo() : this.#history.undo());
    else if (command || event.altKey) return;
    else if (key === "n" || key === "p") this.#step(key === "n" ? 1 : -1);
    else if (MATERIALS[key] !== undefined) this.#change({ material: MATERIALS[key] ?? "" });
    else if (/^[1-9]$/.test(key)) this.#change({ layer: Number(key) });
    else if (key === "v") this.#change({ valid: !this.#note(this.#tag).valid });
    else if (key === "x") this.#reject();
    else if (key === "z") this.#toggle("zoom");
    else if (key === "a") this.#toggle("add");
    else if (key === "g") this.#choose(this.#tags.find((tag) => this.#note(tag).material === "" || this.#note(tag).layer === 0) ?? this.#tag);
    else if (key === "escape") this.#corners = [];
    else return;
    event.preventDefault();
    this.requestUpdate();
  };

  #toggle(what: "zoom" | "add"): void {
    if (what === "zoom") this.#zoom = !this.#zoom;
    else this.#adding = !this.#adding;
    this.#corners = [];
    this.requestUpdate();
  }

  #reject(): void {
    if (this.#tag >= 0) this.#do({ id: newId(), kind: "reject", tag: this.#tag, view: this.#view });
  }

  #at(event: PointerEvent): Point {
    const image = event.currentTarget as SVGSVGElement;
    const matrix = image.getScreenCTM()?.inverse();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
    // Pixel centres are at whole numbers.
    return [point.x - 0.5, point.y - 0.5];
  }

  #press(event: PointerEvent, name: string): void {
    this.#look(name);
    if (this.#adding && event.button === 0) {
      event.preventDefault();
      void this.#corner(this.#at(event));
    } else {
      const [x, y] = this.#at(event);
      const near = this.#tags.map((tag) => [tag, Math.min(...this.#shapes(name, tag).map(({ corners }) => far(corners, x, y)), Infinity)] as const).sort((a, b) => a[1] - b[1])[0];
      if (near !== undefined && Number.isFinite(near[1])) this.#choose(near[0]);
    }
  }

  #look(name: string): void {
    if (this.#view === name) return;
    this.#view = name;
    this.#corners = [];
    this.#cursor = null;
    this.requestUpdate();
  }

  async #corner(point: Point): Promise<void> {
    this.#corners.push(point);
    this.requestUpdate();
    if (this.#corners.length < 4 || this.#tag < 0) return;
    const rough = this.#corners.splice(0);
    const [view, tag] = [this.#view, this.#tag];
    let corners = rough;
    try {
      const answer = await fetch(`${this.#address}/snap`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ tab: this.#outbox?.tab ?? "page", view, corners_px: rough }),
      });
      corners = ((await answer.json()) as { corners_px?: Point[] | null }).corners_px ?? rough;
    } catch {
      corners = rough;
    }
    this.#do({ id: newId(), kind: "corners", tag, view, corners_px: corners });
    if (corners === rough) this.#refused = "No edges were found there; the corners are as you set them.";
    this.requestUpdate();
  }

  #photoKey(event: KeyboardEvent, name: string): void {
    const view = this.#views[name];
    if (!this.#adding || view === undefined) return;
    const [x, y, wide] = this.#box(name, view);
    const far = event.shiftKey ? 1 : wide / 40;
    const moves: Record<string, Point> = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, -far], ArrowDown: [0, far] };
    const now = this.#cursor ?? [x + wide / 2, y + wide / 2];
    const move = moves[event.key];
    if (move !== undefined) this.#cursor = [now[0] + move[0], now[1] + move[1]];
    else if (event.key === " ") void this.#corner([...now]);
    else return;
    event.preventDefault();
    event.stopPropagation();
    this.requestUpdate();
  }

  #box(name: string, view: View): [number, number, number, number] {
    const corners = this.#shapes(name, this.#tag)[0]?.corners;
    if (!this.#zoom || corners === undefined) return [0, 0, view.width, view.height];
    const xs = corners.map(([x]) => x);
    const ys = corners.map(([, y]) => y);
    const size = 4 * Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 8);
    return [(Math.max(...xs) + Math.min(...xs) - size) / 2, (Math.max(...ys) + Math.min(...ys) - size) / 2, size, size];
  }

  override render(): TemplateResult {
    const note = this.#note(this.#tag);
    return html`
      <div class="bar" role="group" aria-label="Tag">
        <strong>Tag ${this.#tag < 0 ? "-" : this.#tag}</strong>
        ${Object.entries(MATERIALS).map(([key, name]) => html`<button type="button" aria-pressed=${note.material === name} @click=${() => this.#change({ material: name })}>${name} (${key.toUpperCase()})</button>`)}
        ${[1, 2, 3, 4].map((layer) => html`<button type="button" aria-pressed=${note.layer === layer} @click=${() => this.#change({ layer })}>layer ${layer}</button>`)}
        <button type="button" aria-pressed=${!note.valid} @click=${() => this.#change({ valid: !note.valid })}>not valid (V)</button>
      </div>
      <div class="bar" role="group" aria-label="Corners">
        <button type="button" @click=${() => this.#step(-1)}>Previous (P)</button><button type="button" @click=${() => this.#step(1)}>Next (N)</button>
        <button type="button" aria-pressed=${this.#zoom} @click=${() => this.#toggle("zoom")}>Close up (Z)</button>
        <button type="button" aria-pressed=${this.#adding} @click=${() => this.#toggle("add")}>Set corners (A)</button>
        <button type="button" @click=${() => this.#reject()}>Leave out in ${NAMES[this.#view]} (X)</button>
        <label>another tag <input type="number" min="0" max="586" @change=${(event: Event) => {
          const value = (event.target as HTMLInputElement).valueAsNumber;
          if (Number.isInteger(value) && value >= 0 && value <= 586) this.#choose(value);
        }} /></label>
        <button type="button" ?disabled=${this.#history.undo() === null} @click=${() => this.#do(this.#history.undo())}>Undo</button>
        <button type="button" ?disabled=${this.#history.redo() === null} @click=${() => this.#do(this.#history.redo())}>Redo</button>
      </div>
      ${this.#adding ? html`<p class="status">Corner ${this.#corners.length + 1} of 4 in ${NAMES[this.#view]}: the ${CORNERS[this.#corners.length] ?? ""} one of the printed tag. By keys: arrows and space in a photograph.</p>` : nothing}
      <div class="all"><div class="views">${Object.entries(this.#views).map(([name, view]) => this.#photo(name, view))}</div>${this.#list()}</div>
      <p class="status" role="status"><span class=${this.#trouble ? "trouble" : ""}>${this.#state}</span>
        ${this.#others > 0 ? html`<span class="trouble">This object is open in ${this.#others} other ${this.#others === 1 ? "tab" : "tabs"}.</span>` : nothing}
        ${this.#refused ? html`<span class="trouble">${this.#refused}</span>` : nothing}</p>
      <slot hidden></slot>`;
  }

  #photo(name: string, view: View): TemplateResult {
    const text = (points: Point[]): string => points.map(([x, y]) => `${x + 0.5},${y + 0.5}`).join(" ");
    const outlines: SVGTemplateResult[] = [];
    for (const tag of this.#tags) {
      for (const { corners, from } of this.#shapes(name, tag)) {
        outlines.push(svg`<polygon class=${`${from} ${tag === this.#tag ? "chosen" : ""}`} points=${text(corners)}></polygon>`);
      }
    }
    const box = this.#box(name, view);
    const dot = box[2] / 150;
    const marks = name === this.#view ? [...this.#corners, ...(this.#adding && this.#cursor !== null ? [this.#cursor] : [])] : [];
    const address = `/tags/${encodeURIComponent(this.dataset["name"] ?? "")}/${name}.jpg`;
    return html`<figure><svg class=${`photo ${this.#adding ? "add" : ""}`} data-view=${name} viewBox=${box.join(" ")} tabindex="0" role="group" aria-label=${`Photograph ${NAMES[name] ?? name}`}
      @focus=${() => this.#look(name)} @pointerdown=${(event: PointerEvent) => this.#press(event, name)} @keydown=${(event: KeyboardEvent) => this.#photoKey(event, name)}>
      <image href=${address} width=${view.width} height=${view.height} preserveAspectRatio="none"></image>
      ${outlines}${marks.map(([x, y]) => svg`<circle class="corner" cx=${x + 0.5} cy=${y + 0.5} r=${dot}></circle>`)}</svg>
      <figcaption>${NAMES[name] ?? name}</figcaption></figure>`;
  }

  #list(): TemplateResult {
    const views = Object.keys(this.#views);
    const tags = this.#tags;
    const open = tags.filter((tag) => this.#note(tag).material === "" || this.#note(tag).layer === 0).length;
    return html`<div class="list" tabindex="0" role="region" aria-label="All tags">
      <p class="status">${tags.length} tags, ${open} without material or layer (G goes to the next).</p>
      <table><thead><tr><th scope="col">tag</th><th scope="col">material</th><th scope="col">layer</th><th scope="col">seen in</th></tr></thead>
      <tbody>${tags.map((tag) => {
        const note = this.#note(tag);
        const seen = views.filter((name) => this.#shapes(name, tag).some(({ from }) => from !== "gone")).length;
        return html`<tr class=${tag === this.#tag ? "now" : ""}><th scope="row"><button type="button" aria-pressed=${tag === this.#tag} @click=${() => this.#choose(tag)}>${tag}</button></th>
          <td>${note.valid ? note.material : "not valid"}</td><td>${note.layer || ""}</td><td>${seen} of ${views.length}</td></tr>`;
      })}</tbody></table></div>`;
  }
}

function far(corners: Point[], x: number, y: number): number {
  const middle = [0, 1].map((k) => corners.reduce((sum, corner) => sum + (corner[k] ?? 0), 0) / 4);
  return Math.hypot((middle[0] ?? 0) - x, (middle[1] ?? 0) - y);
}

customElements.define("dg-tags", Tagger);
