// <dg-compare>: two or more pictures or maps, side by side, under a wipe, or subtracted.
import { LitElement, css, html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { fitted, oncePerFrame, viewer } from "../shared/viewer.js";
import { drawSource, levelOf } from "./draw.js";
import { legend, legendStyles } from "./legend.js";
import { Difference, ValueMap, sourceOf, type Source } from "./source.js";
import { View, steer } from "./view.js";

type Mode = "sides" | "wipe" | "difference";
const MODES: Record<Mode, string> = { sides: "Side by side", wipe: "Wipe", difference: "Difference" };

export class Compare extends LitElement {
  static override styles = [
    controls,
    viewer,
    legendStyles,
    css`
      .grid { display: grid; gap: .6rem; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); }
      .grid.one { grid-template-columns: minmax(0, 1fr); }
      .split { position: absolute; top: 0; bottom: 0; width: 2px; background: #fff; pointer-events: none; box-shadow: 0 0 0 1px rgb(0 0 0 / .5); }
      .reading { font-variant-numeric: tabular-nums; min-height: 1.5em; }
    `,
  ];

  #sources: Source[] = [];
  #pair: [number, number] = [0, 1];
  #mode: Mode = "sides";
  #split = 0.5;
  #view = new View(1, 1);
  #reading = "";
  #steered = new WeakSet<HTMLCanvasElement>();
  #fitted = false;
  #difference: Difference | null = null;
  readonly #draw = oncePerFrame(() => this.#paint());
  readonly #sizes = new ResizeObserver(() => {
    if (!this.#fitted) this.#fit();
    this.#draw();
  });

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sizes.disconnect();
  }

  async #load(): Promise<void> {
    const figures = [...this.querySelectorAll<HTMLElement>("figure")];
    const loaded = await Promise.allSettled(figures.map((figure) => sourceOf(figure, this.#draw)));
    this.#sources = loaded.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const first = this.#sources[0];
    if (first === undefined) return;
    this.#view = new View(first.width, first.height);
    this.#pair = [0, Math.min(1, this.#sources.length - 1)];
    this.requestUpdate();
  }

  override updated(_: PropertyValues): void {
    for (const canvas of this.#canvases()) {
      // The shape of the picture, but never higher than the window.
      canvas.parentElement?.style.setProperty("aspect-ratio", `${this.#view.width} / ${this.#view.height}`);
      canvas.parentElement?.style.setProperty("max-height", "78vh");
      if (this.#steered.has(canvas)) continue;
      this.#steered.add(canvas);
      this.#sizes.observe(canvas);
      steer(canvas, () => this.#view, () => this.#moved(), () => this.#fit());
      canvas.addEventListener("pointermove", (event) => this.#read(canvas, event));
    }
    const split = this.renderRoot.querySelector<HTMLElement>(".split");
    if (split !== null) split.style.left = `calc(${100 * this.#split}% - 1px)`;
    this.#draw();
  }

  #canvases(): HTMLCanvasElement[] {
    return [...this.renderRoot.querySelectorAll<HTMLCanvasElement>(".box canvas")];
  }

  #fit(): void {
    const canvas = this.#canvases()[0];
    if (canvas === undefined || canvas.clientWidth === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.#view.fit(canvas.clientWidth * ratio, canvas.clientHeight * ratio);
    this.#fitted = false;
    this.#draw();
  }

  #moved(): void {
    this.#fitted = true;
    this.#draw();
  }

  #read(canvas: HTMLCanvasElement, event: PointerEvent): void {
    const box = canvas.getBoundingClientRect();
    const ratio = canvas.width / Math.max(1, box.width);
    const [x, y] = this.#view.at((event.clientX - box.left - box.width / 2) * ratio, (event.clientY - box.top - box.height / 2) * ratio);
    const inside = x >= 0 && y >= 0 && x < this.#view.width && y < this.#view.height;
    const values = this.#sources.flatMap((source) => {
      if (!(source instanceof ValueMap)) return [];
      const scale = source.width / this.#view.width;
      const value = source.valueAt(x * scale, y * scale, levelOf(source, this.#view.zoom / scale));
      return value === undefined ? [] : [`${source.name} ${Number.isNaN(value) ? "none" : `${value.toPrecision(4)} ${source.record.unit}`}`];
    });
    this.#reading = inside ? [`x ${Math.floor(x)}, y ${Math.floor(y)}`, ...values].join(" \u00b7 ") : "";
    this.requestUpdate();
  }

  #paint(): void {
    if (!this.#view.sized) return;
    const [a, b] = this.#pair.map((place) => this.#sources[place]);
    this.#canvases().forEach((canvas, place) => {
      const context = fitted(canvas);
      if (context === null) return;
      context.clearRect(0, 0, canvas.width, canvas.height);
      // A finger on a whole picture scrolls the page.
      canvas.style.touchAction = this.#view.closer ? "none" : "pan-y";
      if (this.#mode === "sides") {
        const source = this.#sources[place];
        if (source !== undefined) drawSource(context, source, this.#view);
      } else if (this.#mode === "difference") {
        if (this.#difference !== null) drawSource(context, this.#difference, this.#view);
      } else if (a !== undefined && b !== undefined) {
        drawSource(context, a, this.#view);
        context.save();
        context.beginPath();
        context.rect(canvas.width * this.#split, 0, canvas.width, canvas.height);
        context.clip();
        context.clearRect(0, 0, canvas.width, canvas.height);
        drawSource(context, b, this.#view);
        context.restore();
      }
    });
    this.renderRoot.querySelectorAll(".legend").forEach((each) => legend(each, this.#palette(), this.#unit()));
  }

  #set(next: { mode?: Mode; pair?: [number, number]; split?: number }): void {
    const [before, old] = [this.#mode, this.#pair];
    this.#mode = next.mode ?? this.#mode;
    this.#pair = next.pair ?? this.#pair;
    this.#split = next.split ?? this.#split;
    const [a, b] = this.#pair.map((place) => this.#sources[place]);
    if (!comparable(a, b) && this.#mode === "difference") this.#mode = "wipe";
    if (this.#mode === "difference" && (before !== "difference" || old !== this.#pair)) this.#difference = new Difference(a as ValueMap, b as ValueMap);
    this.requestUpdate();
    // Another number of canvases, other sizes: start from the whole picture unless the reader moved.
    if (before !== this.#mode && !this.#fitted) void this.updateComplete.then(() => this.#fit());
  }

  #palette(): ValueMap["palette"] | null {
    if (this.#mode === "difference") return this.#difference?.palette ?? null;
    return this.#sources.find((source) => source instanceof ValueMap)?.palette ?? null;
  }

  #unit(): string {
    return this.#sources.find((source) => source instanceof ValueMap)?.record.unit ?? "";
  }

  override render(): TemplateResult {
    if (this.#sources.length === 0) return html`<slot></slot>`;
    const [a, b] = this.#pair.map((place) => this.#sources[place]);
    const modes = (Object.keys(MODES) as Mode[]).filter((mode) => this.#sources.length > 1 && (mode !== "difference" || this.#sources.filter((s) => s instanceof ValueMap).length > 1));
    const shown = this.#mode === "sides" ? this.#sources.map((source) => source.name) : [this.#mode === "wipe" ? "" : (this.#difference?.name ?? "")];
    return html`
      <div class="bar" role="group" aria-label="Comparison">
        ${modes.map((mode) => html`<button type="button" aria-pressed=${mode === this.#mode ? "true" : "false"}
          ?disabled=${mode === "difference" && !comparable(a, b)} @click=${() => this.#set({ mode })}>${MODES[mode]}</button>`)}
        ${this.#mode === "sides" ? nothing : html`${this.#chooser(0)} ${this.#chooser(1)}`}
        ${this.#zoomer("Larger", "+", 1.5)} ${this.#zoomer("Smaller", "\u2212", 1 / 1.5)}
        <button type="button" @click=${() => this.#fit()}>Whole picture</button>
      </div>
      ${this.#mode === "wipe"
        ? html`<label class="wide">wipe<input type="range" min="0" max="100" .value=${String(Math.round(100 * this.#split))}
            @input=${(event: Event) => this.#set({ split: Number((event.target as HTMLInputElement).value) / 100 })} /></label>`
        : nothing}
      <div class="grid ${shown.length === 1 ? "one" : ""}">
        ${shown.map((name) => html`<div class="box">
          <canvas tabindex="0" role="img" aria-label="${name || `${a?.name}, then ${b?.name}`}; arrow keys move, plus and minus zoom, 0 shows all"></canvas>
          ${this.#mode === "wipe" ? html`<span class="split"></span><span class="name">${a?.name}</span><span class="name right">${b?.name}</span>` : html`<span class="name">${name}</span>`}
        </div>`)}
      </div>
      ${this.#palette() === null ? nothing : html`<div class="legend"></div>`}
      <p class="status reading">${this.#reading || "Drag to move; click a picture, then turn the wheel to zoom. All pictures move together."}</p>
    `;
  }

  #zoomer(label: string, text: string, factor: number): TemplateResult {
    return html`<button type="button" aria-label=${label} @click=${() => {
      this.#view.enlarge(factor);
      this.#moved();
    }}>${text}</button>`;
  }

  #chooser(side: 0 | 1): TemplateResult {
    return html`<select aria-label=${side === 0 ? "First picture" : "Second picture"}
      @change=${(event: Event) => {
        const chosen = Number((event.target as HTMLSelectElement).value);
        this.#set({ pair: side === 0 ? [chosen, this.#pair[1]] : [this.#pair[0], chosen] });
      }}>
      ${this.#sources.map((source, place) => html`<option value=${place} ?selected=${place === this.#pair[side]}>${source.name}</option>`)}
    </select>`;
  }
}

/** Values of one size can be subtracted. */
function comparable(a: Source | undefined, b: Source | undefined): boolean {
  return a instanceof ValueMap && b instanceof ValueMap && a.width === b.width && a.height === b.height;
}

customElements.define("dg-compare", Compare);
