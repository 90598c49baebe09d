// <dg-stereo>: a left and a right view as an anaglyph, or in turn.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { loadImage, viewer } from "../shared/viewer.js";

type Mode = "sides" | "anaglyph" | "wiggle";
const MODES: Record<Mode, string> = { sides: "Side by side", anaglyph: "Anaglyph", wiggle: "Wiggle" };
/** Long enough that nothing flashes more than three times a second. */
const PERIOD_MS = 350;

export class Stereo extends LitElement {
  static override styles = [
    controls,
    viewer,
    css`
      .box { width: 100%; max-width: 60rem; }
      .box canvas { height: auto; cursor: default; touch-action: auto; }
    `,
  ];

  #views: [HTMLImageElement, HTMLImageElement] | null = null;
  #mode: Mode = "sides";
  #shift = 0;
  #right = false;
  #timer = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#play(false);
  }

  async #load(): Promise<void> {
    const [left, right] = [...this.querySelectorAll("img")].map((image) => loadImage(image.src));
    if (left === undefined || right === undefined) return;
    this.#views = await Promise.all([left, right]);
    this.requestUpdate();
  }

  #play(on: boolean): void {
    window.clearInterval(this.#timer);
    this.#timer = on ? window.setInterval(() => {
      this.#right = !this.#right;
      this.#paint();
    }, PERIOD_MS) : 0;
    this.requestUpdate();
  }

  #set(mode: Mode): void {
    this.#mode = mode;
    // Who asked for less motion starts it by the button.
    this.#play(mode === "wiggle" && !window.matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  override updated(): void {
    this.#paint();
  }

  #paint(): void {
    const canvas = this.renderRoot.querySelector("canvas");
    const context = canvas?.getContext("2d");
    if (canvas === null || context == null || this.#views === null) return;
    const [left, right] = this.#views;
    context.globalCompositeOperation = "source-over";
    context.fillStyle = "#0c0d0f";
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (this.#mode === "wiggle") this.#draw(context, this.#right ? right : left, this.#right ? 1 : -1);
    else {
      context.drawImage(this.#tinted(left, "#f00", -1), 0, 0);
      context.globalCompositeOperation = "lighter";
      context.drawImage(this.#tinted(right, "#0ff", 1), 0, 0);
    }
    this.dataset["eye"] = this.#mode === "wiggle" ? (this.#right ? "right" : "left") : "both";
  }

  /** A view moved by half of the shift: both together put the plane of the screen elsewhere. */
  #draw(context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D, view: HTMLImageElement, side: 1 | -1): void {
    context.drawImage(view, Math.round((side * this.#shift) / 2), 0);
  }

  /** What of a view passes through a coloured glass. */
  #tinted(view: HTMLImageElement, colour: string, side: 1 | -1): OffscreenCanvas {
    const canvas = new OffscreenCanvas(view.naturalWidth, view.naturalHeight);
    const context = canvas.getContext("2d");
    if (context === null) return canvas;
    context.fillRect(0, 0, canvas.width, canvas.height);
    this.#draw(context, view, side);
    context.globalCompositeOperation = "multiply";
    context.fillStyle = colour;
    context.fillRect(0, 0, canvas.width, canvas.height);
    return canvas;
  }

  override render(): TemplateResult {
    if (this.#views === null) return html`<slot></slot>`;
    const [left] = this.#views;
    const most = Math.round(left.naturalWidth / 8);
    return html`
      <div class="bar" role="group" aria-label="Stereo view">
        ${(Object.keys(MODES) as Mode[]).map((mode) => html`<button type="button" aria-pressed=${mode === this.#mode ? "true" : "false"} @click=${() => this.#set(mode)}>${MODES[mode]}</button>`)}
        ${this.#mode === "wiggle" ? html`<button type="button" @click=${() => this.#play(this.#timer === 0)}>${this.#timer === 0 ? "Play" : "Pause"}</button>` : nothing}
      </div>
      ${this.#mode === "sides"
        ? html`<slot></slot>`
        : html`<label class="wide">shift<input type="range" min=${-most} max=${most} .value=${String(this.#shift)} aria-valuetext="${this.#shift} px" @input=${(event: Event) => {
              this.#shift = Number((event.target as HTMLInputElement).value);
              this.requestUpdate();
            }} /><span>${this.#shift} px</span></label>
            <div class="box"><canvas width=${left.naturalWidth} height=${left.naturalHeight} role="img" aria-label=${MODES[this.#mode]}></canvas></div>
            <p class="status">${this.#mode === "anaglyph" ? "For glasses with red on the left and cyan on the right." : "Left and right in turn."} What has no disparity after the shift stays in its place.</p>`}
    `;
  }
}

customElements.define("dg-stereo", Stereo);
