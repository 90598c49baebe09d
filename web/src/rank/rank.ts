// <dg-rank>: methods, by letters, are dragged into order; ties share a place.
import { LitElement, css, html, nothing, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { Outbox, newId, type Answer, type SentEvent } from "../shared/outbox.js";
import { alone, moved, tied, type Places } from "./order.js";

interface Task {
  question: string;
  letters: string[];
  kinds: string[];
}

type Said =
  | (SentEvent & { kind: "order"; task: number; places: Places; seconds: number })
  | (SentEvent & { kind: "opinion"; task: number; letter: string; score: number })
  | (SentEvent & { kind: "wrong"; task: number; letter: string; points_px: [number, number][] })
  | (SentEvent & { kind: "unwrong"; of: string })
  | (SentEvent & { kind: "withdraw" })
  | (SentEvent & { kind: "begin" });

const NAMES: Record<string, string> = { disparity: "disparity", truth: "true disparity", error: "true minus estimated", normals: "normals" };
const OPINIONS = ["bad", "poor", "fair", "good", "excellent"];

export class Ranker extends LitElement {
  static override styles = [
    controls,
    css`
      .question { font-size: 1.05rem; margin: .2rem 0 .5rem; max-width: 60rem; }
      .views { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); gap: 1rem; align-items: start; }
      .places { list-style: none; margin: 0; padding: 0; }
      .place { display: flex; flex-wrap: wrap; gap: .5rem; border: 1px solid var(--line, #bbb); border-radius: 6px; padding: .4rem .5rem; align-items: center; }
      .place > .number { min-width: 2.2rem; color: var(--soft); font-variant-numeric: tabular-nums; }
      .gap { height: .7rem; border-radius: 4px; }
      .over { background: var(--accent); opacity: .5; }
      .place.over { opacity: 1; background: var(--wash); }
      .card { display: inline-flex; gap: .5rem; align-items: center; padding: .25rem .5rem .25rem .25rem; cursor: grab; touch-action: none; min-height: 0; }
      .card img { width: 7rem; height: auto; display: block; border-radius: 3px; pointer-events: none; image-rendering: auto; }
      .card strong { font-size: 1.1rem; }
      figure { margin: 0; position: relative; }
      figcaption { font-size: .85rem; color: var(--soft); }
      .pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: .5rem; }
      .pane { overflow: auto; max-height: 46vh; position: relative; background: #0c0d0f; border-radius: 4px; }
      .sheet { position: relative; }
      .sheet img { width: 100%; display: block; }
      .sheet img.edges { position: absolute; inset: 0; pointer-events: none; image-rendering: pixelated; }
      .sheet svg { position: absolute; inset: 0; width: 100%; height: 100%; }
      .sheet.mark svg { cursor: crosshair; touch-action: none; }
      .sheet:not(.mark) svg { pointer-events: none; }
      .area { fill: rgb(255 0 90 / .28); stroke: #ff2d78; stroke-width: 2; vector-effect: non-scaling-stroke; }
      .trouble { color: var(--bad, #b3261e); font-weight: 600; }
      @media (max-width: 60rem) { .views { grid-template-columns: minmax(0, 1fr); } }
    `,
  ];

  #tasks: Task[] = [];
  #scene: string[] = [];
  #outbox: Outbox<Said> | null = null;
  #said: Said[] = [];
  #known = new Set<string>();
  #task = 0;
  #places: Places = [];
  #looked = "A";
  #edges = false;
  #zoom = 1;
  #marking = false;
  #line: [number, number][] = [];
  #size: [number, number] = [1, 1];
  #cursor: [number, number] | null = null;
  #begun = 0;
  #state = "";
  #trouble = false;
  #dragged = "";
  #target = "";

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#outbox?.stop();
  }

  get #person(): string {
    return this.dataset["person"] ?? "";
  }

  /** How addresses of the study begin: empty on a desk. */
  get #base(): string {
    return this.dataset["base"] ?? "";
  }

  async #start(): Promise<void> {
    try {
      const answer = await fetch(`${this.#base}/api/study/${this.#person}`);
      const body = (await answer.json()) as Answer & { tasks: Task[]; scene: string[] };
      if (!answer.ok) throw new Error(body.error);
      this.#tasks = body.tasks;
      this.#scene = body.scene;
      const image = new Image();
      image.src = `${this.#base}/study/${this.#person}/scene/image.png`;
      await image.decode();
      this.#size = [image.naturalWidth, image.naturalHeight];
    } catch (error) {
      this.#state = `The study cannot be shown: ${error instanceof Error ? error.message : "there is no connection"}.`;
      this.requestUpdate();
      return;
    }
    let first = true;
    this.#outbox = new Outbox<Said>(
      `${this.#base}/api/study/${this.#person}/events`,
      `rank:${this.#person}`,
      (events, answer) => {
        for (const event of events) this.#note(event);
        if (answer.error !== undefined) this.#state = answer.error;
        if (first) {
          first = false;
          const open = this.#tasks.findIndex((_, task) => this.#order(task) === null);
          this.#open(open < 0 ? this.#tasks.length : open);
        }
        this.requestUpdate();
      },
      (text, trouble) => {
        this.#state = text;
        this.#trouble = trouble;
        this.requestUpdate();
      },
    );
  }

  #note(event: Said): void {
    if (this.#known.has(event.id)) return;
    this.#known.add(event.id);
    this.#said.push(event);
  }

  #say(event: Said): void {
    this.#note(event);
    this.#outbox?.push(event);
    this.requestUpdate();
  }

  #order(task: number): Places | null {
    const last = this.#said.findLast((event) => event.kind === "order" && event.task === task);
    return last?.kind === "order" ? last.places : null;
  }

  #open(task: number): void {
    this.#task = task;
    const letters = this.#tasks[task]?.letters ?? [];
    this.#places = this.#order(task) ?? letters.map((letter) => [letter]);
    this.#looked = letters[0] ?? "A";
    this.#line = [];
    this.#begun = performance.now();
    this.dataset["task"] = String(task);
    this.requestUpdate();
  }

  #set(places: Places): void {
    this.#places = places;
    this.requestUpdate();
  }

  #save(): void {
    const seconds = Math.min(86400, Math.round((performance.now() - this.#begun) / 100) / 10);
    this.#say({ id: newId(), kind: "order", task: this.#task, places: this.#places, seconds });
    this.#open(this.#task + 1);
  }

  // --- dragging, by pointer events: they work with mouse, pen and touch

  #down(event: PointerEvent, letter: string): void {
    this.#look(letter);
    if (event.button !== 0) return;
    this.#dragged = letter;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  }

  #move(event: PointerEvent): void {
    if (this.#dragged === "") return;
    const found = (this.renderRoot as ShadowRoot).elementsFromPoint(event.clientX, event.clientY).find((each) => each instanceof HTMLElement && each.dataset["drop"] !== undefined);
    const target = found instanceof HTMLElement ? (found.dataset["drop"] ?? "") : "";
    if (target !== this.#target) {
      this.#target = target;
      this.requestUpdate();
    }
  }

  #up(): void {
    const [kind, at] = this.#target.split(":");
    if (this.#dragged !== "" && kind === "gap") this.#set(alone(this.#places, this.#dragged, Number(at)));
    if (this.#dragged !== "" && kind === "place") this.#set(tied(this.#places, this.#dragged, Number(at)));
    this.#dragged = "";
    this.#target = "";
    this.requestUpdate();
  }

  async #key(event: KeyboardEvent, letter: string): Promise<void> {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (step === 0 || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.#set(moved(this.#places, letter, step));
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>(`button[data-letter="${letter}"]`)?.focus();
  }

  #look(letter: string): void {
    this.#looked = letter;
    this.#line = [];
    this.requestUpdate();
  }

  // --- wrong areas

  #at(event: PointerEvent): [number, number] {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const [width, height] = this.#size;
    return [Math.round(((event.clientX - box.left) / box.width) * width * 10) / 10 - 0.5, Math.round(((event.clientY - box.top) / box.height) * height * 10) / 10 - 0.5];
  }

  #markDown(event: PointerEvent): void {
    if (!this.#marking || event.button !== 0) return;
    event.preventDefault();
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    this.#line = [this.#at(event)];
  }

  #markMove(event: PointerEvent): void {
    if (!this.#marking || this.#line.length === 0 || event.buttons === 0) return;
    this.#line.push(this.#at(event));
    this.requestUpdate();
  }

  #close(): void {
    if (this.#line.length >= 3) this.#say({ id: newId(), kind: "wrong", task: this.#task, letter: this.#looked, points_px: this.#line.slice(0, 5000) });
    this.#line = [];
    this.requestUpdate();
  }

  #markKey(event: KeyboardEvent): void {
    if (!this.#marking) return;
    const [width, height] = this.#size;
    const [x, y] = this.#cursor ?? [width / 2, height / 2];
    const far = event.shiftKey ? 1 : Math.max(1, Math.round(width / 40));
    const moves: Record<string, [number, number]> = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, -far], ArrowDown: [0, far] };
    const move = moves[event.key];
    if (move !== undefined) this.#cursor = [Math.max(0, Math.min(width - 1, x + move[0])), Math.max(0, Math.min(height - 1, y + move[1]))];
    else if (event.key === " ") this.#line.push([x, y]);
    else if (event.key === "Enter") this.#close();
    else if (event.key === "Escape") this.#line = [];
    else return;
    event.preventDefault();
    this.requestUpdate();
  }

  get #areas(): (Said & { kind: "wrong" })[] {
    const gone = new Set(this.#said.map((event) => (event.kind === "unwrong" ? event.of : "")));
    return this.#said.filter((event): event is Said & { kind: "wrong" } => event.kind === "wrong" && event.task === this.#task && event.letter === this.#looked && !gone.has(event.id));
  }

  #scroll(event: Event): void {
    const from = event.currentTarget as HTMLElement;
    for (const pane of this.renderRoot.querySelectorAll<HTMLElement>(".pane")) {
      if (pane === from) continue;
      pane.scrollLeft = from.scrollLeft;
      pane.scrollTop = from.scrollTop;
    }
  }

  override updated(): void {
    // Through the element: the policy of pages allows no style attributes.
    for (const sheet of this.renderRoot.querySelectorAll<HTMLElement>(".sheet")) sheet.style.width = `${100 * this.#zoom}%`;
    // Pictures have their size before they are here, so that no card moves away from under a pointer.
    const shape = `${this.#size[0]} / ${this.#size[1]}`;
    for (const picture of this.renderRoot.querySelectorAll<HTMLElement>(".card img, .sheet > img:first-child")) picture.style.aspectRatio = shape;
  }

  // --- what is shown

  override render(): TemplateResult {
    const task = this.#tasks[this.#task];
    const status = html`<p class="status" role="status"><span class=${this.#trouble ? "trouble" : ""}>${this.#state}</span></p>`;
    if (this.#said.some((event) => event.kind === "withdraw")) return html`<p class="question">You have withdrawn. Nothing of what you said is used.</p>${status}`;
    if (this.#tasks.length > 0 && task === undefined) {
      return html`<p class="question">That was all. Thank you!</p>${status}
        <div class="bar"><button type="button" @click=${() => this.#open(0)}>Look through it again</button>${this.#withdraw()}</div>`;
    }
    if (task === undefined) return html`${status}<slot></slot>`;
    return html`
      <p class="question">${task.question} <span class="status">Task ${this.#task + 1} of ${this.#tasks.length}. Best at the top; drop one on another place for a tie.</span></p>
      <div class="bar" role="group" aria-label="View">
        ${this.#scene.includes("edges") ? html`<label><input type="checkbox" .checked=${this.#edges} @change=${(event: Event) => {
          this.#edges = (event.target as HTMLInputElement).checked;
          this.requestUpdate();
        }} />true discontinuities</label>` : nothing}
        <label>size <input type="range" min="1" max="6" step="0.5" .value=${String(this.#zoom)} @input=${(event: Event) => {
          this.#zoom = Number((event.target as HTMLInputElement).value);
          this.requestUpdate();
        }} /></label>
      </div>
      <div class="views">
        <div>${this.#list(task)}
          <div class="bar"><button type="button" class="save" @click=${() => this.#save()}>Save this order and go on</button>
            ${this.#task > 0 ? html`<button type="button" @click=${() => this.#open(this.#task - 1)}>Back</button>` : nothing}${this.#withdraw()}</div>
          ${status}
        </div>
        <div>${this.#closely(task)}</div>
      </div>`;
  }

  #withdraw(): TemplateResult {
    return html`<button type="button" @click=${() => {
      if (window.confirm("Withdraw? Nothing of what you said will be used.")) this.#say({ id: newId(), kind: "withdraw" });
    }}>Withdraw</button>`;
  }

  #list(task: Task): TemplateResult {
    return html`<ol class="places" aria-label="Order, from best to worst">
      ${this.#places.map((place, at) => html`
        <li><div class=${`gap ${this.#target === `gap:${at}` ? "over" : ""}`} data-drop=${`gap:${at}`}></div>
          <div class=${`place ${this.#target === `place:${at}` ? "over" : ""}`} data-drop=${`place:${at}`}>
            <span class="number">${at + 1}.</span>
            ${place.map((letter) => html`<button type="button" class="card" data-letter=${letter} aria-pressed=${letter === this.#looked}
              aria-label=${`${letter}, place ${at + 1} of ${this.#places.length}${place.length > 1 ? ", tied" : ""}; arrow keys move it`}
              @pointerdown=${(event: PointerEvent) => this.#down(event, letter)} @pointermove=${(event: PointerEvent) => this.#move(event)} @pointerup=${() => this.#up()} @pointercancel=${() => this.#up()}
              @click=${() => this.#look(letter)} @keydown=${(event: KeyboardEvent) => void this.#key(event, letter)}>
              <img src=${this.#address(letter, task.kinds[0] ?? "disparity")} alt="" draggable="false" /><strong>${letter}</strong></button>`)}
          </div></li>`)}
      <li aria-hidden="true"><div class=${`gap ${this.#target === `gap:${this.#places.length}` ? "over" : ""}`} data-drop=${`gap:${this.#places.length}`}></div></li>
    </ol>`;
  }

  #address(letter: string, kind: string): string {
    return `${this.#base}/study/${this.#person}/${this.#task}/${letter}/${kind}.png`;
  }

  #closely(task: Task): TemplateResult {
    const opinion = this.#said.findLast((event) => event.kind === "opinion" && event.task === this.#task && event.letter === this.#looked);
    const score = opinion?.kind === "opinion" ? opinion.score : 0;
    const scene = this.#scene.filter((name) => name === "image" || (name === "truth" && !task.kinds.includes("truth")) || (name === "normals" && task.kinds.includes("normals")));
    return html`
      <div class="bar" role="group" aria-label=${`About ${this.#looked}`}>
        <strong>${this.#looked}</strong>
        <label>my opinion <select @change=${(event: Event) => this.#say({ id: newId(), kind: "opinion", task: this.#task, letter: this.#looked, score: Number((event.target as HTMLSelectElement).value) })}>
          <option value="0" disabled ?selected=${score === 0}>none</option>
          ${OPINIONS.map((name, k) => html`<option value=${k + 1} .selected=${score === k + 1}>${k + 1}, ${name}</option>`)}</select></label>
        <button type="button" class="mark" aria-pressed=${this.#marking} @click=${() => {
          this.#marking = !this.#marking;
          this.#line = [];
          this.requestUpdate();
        }}>Mark wrong areas</button>
        ${this.#areas.length > 0 ? html`<button type="button" @click=${() => {
          const last = this.#areas.at(-1);
          if (last !== undefined) this.#say({ id: newId(), kind: "unwrong", of: last.id });
        }}>Take back the last area</button>` : nothing}
        ${this.#marking ? html`<span class="status">Draw around it; by keys: arrows, space for a corner, Enter to close.</span>` : nothing}
      </div>
      <div class="pictures">
        ${task.kinds.map((kind, k) => this.#pane(this.#address(this.#looked, kind), kind === "truth" ? "true disparity" : `${this.#looked}: ${NAMES[kind] ?? kind}`, k === 0))}
        ${scene.map((name) => this.#pane(`${this.#base}/study/${this.#person}/scene/${name}.png`, name === "image" ? "the picture" : name === "truth" ? "true disparity" : "true normals", false))}
      </div>`;
  }

  #pane(address: string, name: string, main: boolean): TemplateResult {
    const [width, height] = this.#size;
    const text = (points: [number, number][]): string => points.map(([x, y]) => `${x + 0.5},${y + 0.5}`).join(" ");
    return html`<figure><div class="pane" tabindex="0" role="group" aria-label=${name} @scroll=${this.#scroll} @keydown=${main ? (event: KeyboardEvent) => this.#markKey(event) : nothing}>
      <div class=${`sheet ${main && this.#marking ? "mark" : ""}`} >
        <img src=${address} alt=${name} draggable="false" />
        ${this.#edges ? html`<img class="edges" src=${`${this.#base}/study/${this.#person}/scene/edges.png`} alt="" />` : nothing}
        ${main ? html`<svg viewBox=${`0 0 ${width} ${height}`} aria-hidden="true" @pointerdown=${this.#markDown} @pointermove=${this.#markMove} @pointerup=${this.#close} @pointercancel=${this.#close}>
          ${[...this.#areas.map((area) => area.points_px), this.#line].map((points) => svgArea(text(points)))}
          ${this.#marking && this.#cursor !== null ? svgCursor(this.#cursor, width / 60) : nothing}</svg>` : nothing}
      </div></div><figcaption>${name}</figcaption></figure>`;
  }
}

function svgArea(points: string): SVGTemplateResult {
  return svg`<polygon class="area" points=${points}></polygon>`;
}

function svgCursor([x, y]: [number, number], arm: number): SVGTemplateResult {
  return svg`<path class="area" d=${`M${x - arm} ${y}H${x + arm}M${x} ${y - arm}V${y + arm}`}></path>`;
}

customElements.define("dg-rank", Ranker);
