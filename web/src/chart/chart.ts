// <dg-chart name="...">: a chart that can be taken along as SVG or PNG, and its table of numbers as CSV.
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { csvNumber, csvText } from "../shared/csv.js";
import { download, fileName } from "../shared/download.js";
import { loadImage } from "../shared/viewer.js";

const PNG_SCALE = 3;
/** What the page's style sheet may say about a part of a drawing. */
const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stroke-opacity", "opacity", "display",
  "visibility", "font-family", "font-size", "font-weight", "font-style", "font-variant-numeric", "text-anchor", "dominant-baseline", "image-rendering",
];

export class Chart extends LitElement {
  static override styles = controls;

  override render(): TemplateResult {
    return html`<slot></slot>
      <div class="bar" role="group" aria-label="This chart">
        <button type="button" aria-label="Download as SVG" @click=${() => this.#saveSvg()}>SVG</button>
        <button type="button" aria-label="Download as PNG" @click=${() => void this.#savePng()}>PNG</button>
        ${this.querySelector("table") === null ? nothing : html`<button type="button" aria-label="Download as CSV" @click=${() => this.#saveCsv()}>CSV</button>`}
      </div>`;
  }

  get #name(): string {
    return fileName(this.getAttribute("name") ?? this.querySelector("svg title")?.textContent ?? "chart");
  }

  /** The numbers below the chart: names as text, cells with full precision. */
  #saveCsv(): void {
    const rows = [...this.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => {
      const value = cell.dataset["value"];
      return value === undefined ? csvText(cell.textContent?.trim() ?? "") : csvNumber(value === "" ? NaN : Number(value));
    }));
    download(`${this.#name}.csv`, rows.map((row) => `${row.join(",")}\r\n`).join(""), "text/csv");
  }

  #saveSvg(): void {
    const chart = standalone(this);
    if (chart !== null) download(`${this.#name}.svg`, chart.text, "image/svg+xml");
  }

  async #savePng(): Promise<void> {
    const chart = standalone(this);
    if (chart === null) return;
    const image = await loadImage(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(chart.text)}`);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(chart.width * PNG_SCALE);
    canvas.height = Math.round(chart.height * PNG_SCALE);
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const content = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (content !== null) download(`${this.#name}.png`, content, "image/png");
  }
}

/** The drawing with every style written into it, on the page's background: it needs no style sheet. */
function standalone(root: Element): { text: string; width: number; height: number } | null {
  const drawing = root.querySelector("svg");
  if (drawing === null) return null;
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const [given, copied] = [[drawing, ...drawing.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  given.forEach((element, place) => {
    const style = getComputedStyle(element);
    const target = copied[place];
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value !== "" && target instanceof SVGElement) target.setAttribute(name, value);
    }
    target?.removeAttribute("class");
    target?.removeAttribute("style");
  });
  const { width, height } = sizeOf(drawing);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const box = drawing.viewBox.baseVal;
  const place = { x: box?.x ?? 0, y: box?.y ?? 0, width, height, fill: getComputedStyle(document.body).backgroundColor };
  for (const [name, value] of Object.entries(place)) paper.setAttribute(name, String(value));
  copy.prepend(paper);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function sizeOf(drawing: SVGSVGElement): { width: number; height: number } {
  const box = drawing.viewBox.baseVal;
  if (box !== null && box.width > 0) return { width: box.width, height: box.height };
  const { width, height } = drawing.getBoundingClientRect();
  return { width, height };
}

customElements.define("dg-chart", Chart);
