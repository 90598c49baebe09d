// <dg-carried>: the mask in the other views: a button, how far it is, and what came of it.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";

interface Carried {
  pixels: number;
  holes_percent: number;
  unlabelled: number;
  classes: number[];
  true_iou?: (number | null)[];
}

interface Job {
  state: "idle" | "running" | "done" | "failed";
  text?: string;
  pairs?: Record<string, Carried>;
}

const CAMERAS: Record<string, string> = { LR: "right view (R)", LC: "third camera (C)" };

export class CarriedMasks extends LitElement {
  static override styles = [
    controls,
    css`
      .trouble { color: var(--bad, #b3261e); font-weight: 600; }
      .scroll { overflow-x: auto; max-width: 100%; }
      table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
      th, td { text-align: right; padding: .2rem .9rem .2rem 0; font-weight: 400; }
      th:first-child { text-align: left; }
      thead th { color: var(--soft); }
      .pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(26rem, 100%), 1fr)); gap: .6rem; }
      figure { margin: .4rem 0; }
      img { width: 100%; height: auto; border-radius: 4px; }
      figcaption { font-size: .85rem; color: var(--soft); }
    `,
  ];

  /** Waits until the server has everything. */
  saved: () => Promise<void> = () => Promise.resolve();
  #job: Job = { state: "idle" };
  #round = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#poll();
  }

  async carry(): Promise<void> {
    this.#job = { state: "running", text: "waiting until everything is saved" };
    this.requestUpdate();
    await this.saved();
    try {
      await fetch("/api/masks/carry", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ tab: "carried" }) });
      await this.#poll();
    } catch {
      this.#job = { state: "failed", text: "there is no connection" };
      this.requestUpdate();
    }
  }

  async #poll(): Promise<void> {
    try {
      do {
        this.#job = (await (await fetch("/api/masks/carry")).json()) as Job;
        if (this.#job.state === "running") await new Promise((done) => setTimeout(done, 300));
        else this.#round += 1;
        this.requestUpdate();
      } while (this.#job.state === "running" && this.isConnected);
    } catch {
      // The page says that there is no connection.
    }
  }

  override render(): TemplateResult {
    const job = this.#job;
    return html`<div class="bar"><button type="button" ?disabled=${job.state === "running"} @click=${() => void this.carry()}>Carry to the other views</button>
        <span role="status">${job.state === "running" ? `Working: ${job.text ?? ""} ...` : job.state === "failed" ? html`<span class="trouble">It did not work: ${job.text}</span>` : nothing}</span></div>
      ${job.state === "done" ? this.#table(job.pairs ?? {}) : nothing}`;
  }

  #table(pairs: Record<string, Carried>): TemplateResult {
    const rows = Object.entries(pairs);
    const exact = rows.some(([, one]) => one.true_iou !== undefined);
    const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Masks of the other views"><table>
      <thead><tr><th scope="col">view</th><th scope="col">seen by it alone</th><th scope="col">unlabelled</th>${[0, 1, 2, 3].map((k) => html`<th scope="col">class ${k}</th>`)}${exact ? html`<th scope="col">overlap with the true classes</th>` : nothing}</tr></thead>
      <tbody>${rows.map(([name, one]) => html`<tr><th scope="row">${CAMERAS[name] ?? name}</th><td>${one.holes_percent.toFixed(1)} %</td><td>${one.unlabelled.toLocaleString("en")} px</td>
        ${one.classes.map((pixels) => html`<td>${share(pixels, one.pixels)}</td>`)}${exact ? html`<td>${(one.true_iou ?? []).map((v) => (v === null ? "-" : v.toFixed(3))).join(", ")}</td>` : nothing}</tr>`)}</tbody></table></div>
      <p class="explain">What a view sees alone takes, of the nearest labels in its row and column, the one whose disparity is nearest to its own; without a disparity, the farther one of its row. What cannot be told, as beyond the left view, stays unlabelled (hatched).</p>
      <div class="pictures">${rows.map(([name]) => html`<figure><img src=${`/masks/carried/${name}/right.jpg?${this.#round}`} alt=${`The mask carried to the ${CAMERAS[name] ?? name}`} /><figcaption>${CAMERAS[name] ?? name}</figcaption></figure>`)}</div>`;
  }
}

customElements.define("dg-carried", CarriedMasks);
