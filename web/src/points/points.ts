// <dg-points src="...">: a point cloud in place of the picture inside, when the reader asks for it.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { TURNS } from "../shared/turns.js";
import { viewer } from "../shared/viewer.js";
import { readCloud, type Cloud } from "./cloud.js";
import type { PointScene } from "./scene.js";

export class PointViewer extends LitElement {
  static override styles = [
    controls,
    viewer,
    css`
      .box { aspect-ratio: 3 / 2; max-height: 78vh; width: 100%; }
      ::slotted(img) { width: 100%; }
    `,
  ];

  #cloud: Cloud | null = null;
  #scene: PointScene | null = null;
  #message = "";
  #colour = "";
  #size = 2;
  #hidden = new Set<number>();
  readonly #sizes = new ResizeObserver(([entry]) => {
    if (entry !== undefined) this.#scene?.resize(entry.contentRect.width, entry.contentRect.height);
  });

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sizes.disconnect();
    this.#scene?.dispose();
    this.#scene = null;
  }

  async #open(): Promise<void> {
    this.#say("Loading points ...");
    try {
      const [{ PointScene }, answer] = await Promise.all([import("./scene.js"), fetch(this.getAttribute("src") ?? "")]);
      if (!answer.ok) throw new Error(`the points could not be loaded (${answer.status})`);
      this.#cloud = readCloud(await answer.arrayBuffer());
      this.#colour = [...this.#cloud.colours.keys()][0] ?? "";
      this.#say("");
      await this.updateComplete;
      const canvas = this.renderRoot.querySelector("canvas");
      if (canvas === null) return;
      this.#scene = new PointScene(canvas, this.#cloud);
      this.#sizes.observe(canvas);
      this.#size = this.#scene.usualSize;
      this.#scene.pointSize(this.#size);
      this.requestUpdate();
      canvas.focus({ preventScroll: true });
      this.dataset["shown"] = String(this.#cloud.points.length / 3);
    } catch (error) {
      this.#cloud = null;
      this.#say(`There is no 3D view: ${error instanceof Error ? error.message : "this browser cannot draw it"}.`);
    }
  }

  #say(message: string): void {
    this.#message = message;
    this.requestUpdate();
  }

  #key = (event: KeyboardEvent): void => {
    if (event.key === "0") this.#scene?.reset();
    const turn = TURNS[event.key];
    if (turn === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.#scene?.turn(...turn);
  };

  override render(): TemplateResult {
    const cloud = this.#cloud;
    if (cloud === null) {
      return html`<slot></slot>
        <div class="bar"><button type="button" @click=${() => void this.#open()}>Show in 3D</button><span class="status" role="status">${this.#message}</span></div>`;
    }
    return html`
      <div class="bar" role="group" aria-label="3D view">
        ${cloud.colours.size > 1
          ? html`<label>colours <select @change=${(event: Event) => {
              this.#colour = (event.target as HTMLSelectElement).value;
              this.#scene?.colour(this.#colour);
            }}>${[...cloud.colours.keys()].map((name) => html`<option ?selected=${name === this.#colour}>${name}</option>`)}</select></label>`
          : nothing}
        ${cloud.layers.length > 1 ? cloud.layers.map((layer, place) => this.#layer(layer.name, place)) : nothing}
        <label>points <input type="range" min="1" max="8" .value=${String(this.#size)} aria-label="Size of points"
          @input=${(event: Event) => {
            this.#size = Number((event.target as HTMLInputElement).value);
            this.#scene?.pointSize(this.#size);
          }} /></label>
        <button type="button" @click=${() => this.#scene?.reset()}>As the camera saw it</button>
      </div>
      <div class="box"><canvas tabindex="0" role="img" aria-label="Point cloud; arrow keys turn, plus and minus zoom, 0 goes back" @keydown=${this.#key}></canvas></div>
      <p class="status">${(cloud.points.length / 3).toLocaleString("en")} points. Drag to turn, wheel to zoom, right button or two fingers to move.</p>
    `;
  }

  #layer(name: string, place: number): TemplateResult {
    return html`<label><input type="checkbox" .checked=${!this.#hidden.has(place)} @change=${(event: Event) => {
      const shown = (event.target as HTMLInputElement).checked;
      if (shown) this.#hidden.delete(place);
      else this.#hidden.add(place);
      this.#scene?.showLayer(place, shown);
    }} />${name}</label>`;
  }
}

customElements.define("dg-points", PointViewer);
