// <dg-board>: a leaderboard that can be sorted, filtered, weighed and taken along.
import { LitElement, css, html, nothing, type TemplateResult } from "lit";
import { controls } from "../shared/controls.js";
import { download, fileName } from "../shared/download.js";
import { readChoice, withChoice, type Choice } from "./address.js";
import { toCsv, toLatex } from "./export.js";
import { columnsPanel, panelStyles, weightsPanel } from "./panels.js";
import { previews } from "./preview.js";
import { clearPriorities, orderByPriorities } from "./priorities.js";
import { BoardTable, type Column } from "./table.js";
import { addressOf, fetchView } from "./view.js";

// The table is the page's; its style sheet may set `display`, which would win over `hidden`.
const outside = new CSSStyleSheet();
outside.replaceSync("dg-board [hidden] { display: none !important; }");

type Panel = "columns" | "weights" | null;

export class Board extends LitElement {
  static override styles = [
    controls,
    panelStyles,
    css`
      .preview {
        position: fixed; inset: auto; margin: 0; padding: .4rem; border: 1px solid var(--soft); border-radius: 6px;
        background: var(--paper); color: var(--ink); box-shadow: 0 4px 18px rgb(0 0 0 / .25);
      }
      .preview img { display: block; width: auto; height: auto; max-width: min(24rem, 85vw); max-height: min(20rem, 55vh); }
      .preview p { margin: .3rem 0 0; font-size: .82rem; color: var(--soft); max-width: 24rem; }
      .push { margin-left: auto; display: flex; gap: .45rem; }
      .status { min-height: 1.4em; }
      @media (max-width: 40rem) { .push { margin-left: 0; } input[type="search"] { flex: 1 1 100%; } }
    `,
  ];

  #table: BoardTable | null = null;
  #choice: Choice = readChoice("");
  #panel: Panel = null;
  #message = "";
  #loading: AbortController | null = null;
  #stopPreviews: (() => void) | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#choice = readChoice(location.search);
    this.addEventListener("change", this.#viewChanged);
    this.#adopt();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.removeEventListener("change", this.#viewChanged);
    this.#stopPreviews?.();
  }

  override firstUpdated(): void {
    const box = this.renderRoot.querySelector<HTMLElement>(".preview");
    if (box !== null) this.#stopPreviews = previews(this, box);
  }

  /** Takes over the table that the server wrote. */
  #adopt(): void {
    const table = this.querySelector<HTMLTableElement>("table.board");
    this.#table = table === null ? null : new BoardTable(table);
    const form = this.querySelector<HTMLElement>("form.view");
    if (form !== null) form.slot = "view";
    for (const button of form?.querySelectorAll<HTMLElement>("[type=submit]") ?? []) button.hidden = true;
    for (const column of this.#table?.columns ?? []) this.#addButton(column);
    this.#apply();
  }

  #addButton(column: Column): void {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...column.head.childNodes);
    button.addEventListener("click", () => {
      const again = this.#choice.sort === column.id && !this.#choice.worstFirst;
      this.#change({ sort: column.id, worstFirst: again, weights: new Map() });
    });
    column.head.append(button);
  }

  #change(next: Partial<Choice>): void {
    this.#choice = { ...this.#choice, ...next };
    history.replaceState(history.state, "", withChoice(location.href, this.#choice));
    this.#apply();
  }

  #apply(): void {
    const table = this.#table;
    if (table === null) return;
    const { sort, worstFirst, weights, hidden, words, baselines } = this.#choice;
    const column = table.columns.find((each) => each.id === sort) ?? null;
    clearPriorities(table);
    if (column === null) table.arrange((row) => table.rows.indexOf(row));
    table.sort(column, worstFirst);
    if (column === null) orderByPriorities(table, weights);
    table.hideColumns(hidden);
    const shown = table.filter(words, baselines);
    // The caption's ", best ... first" is about the order of the page as it came.
    const order = table.element.caption?.querySelector<HTMLElement>(".order") ?? null;
    if (order !== null) order.hidden = column !== null || weights.size > 0;
    this.#message = statusOf(table, column, this.#choice, shown);
    this.requestUpdate();
  }

  #viewChanged = (event: Event): void => {
    const form = event.target instanceof Element ? event.target.closest<HTMLFormElement>("form.view") : null;
    if (form !== null) void this.#show(form);
  };

  async #show(form: HTMLFormElement): Promise<void> {
    const url = addressOf(form);
    const focused = document.activeElement?.getAttribute("name");
    this.#loading?.abort();
    const loading = (this.#loading = new AbortController());
    this.setAttribute("aria-busy", "true");
    try {
      const board = await fetchView(url, loading.signal);
      this.replaceChildren(...board.childNodes);
      history.replaceState(history.state, "", withChoice(url, this.#choice));
      this.#adopt();
      if (focused) this.querySelector<HTMLElement>(`form.view [name="${CSS.escape(focused)}"]`)?.focus();
    } catch (error) {
      // The way without scripts still works.
      if (!loading.signal.aborted) form.submit();
    } finally {
      if (this.#loading === loading) this.removeAttribute("aria-busy");
    }
  }

  #save(kind: "csv" | "latex"): void {
    const table = this.#table;
    if (table === null) return;
    const name = fileName(this.getAttribute("name") ?? document.title);
    if (kind === "csv") download(`${name}.csv`, toCsv(table), "text/csv;charset=utf-8");
    else download(`${name}.tex`, toLatex(table, [this.#message, location.href]), "application/x-tex");
  }

  #toggle(panel: Panel): void {
    this.#panel = this.#panel === panel ? null : panel;
    this.requestUpdate();
  }

  override render(): TemplateResult {
    const table = this.#table;
    if (table === null) return html`<slot></slot>`;
    const change = (next: Partial<Choice>): void => this.#change(next);
    return html`
      <slot name="view"></slot>
      <div class="bar" role="group" aria-label="This table">
        <input type="search" placeholder="Filter methods" aria-label="Filter methods" .value=${this.#choice.words}
          @input=${(event: Event) => change({ words: (event.target as HTMLInputElement).value })} />
        ${table.rows.some((row) => row.baseline)
          ? html`<label><input type="checkbox" .checked=${this.#choice.baselines}
              @change=${(event: Event) => change({ baselines: (event.target as HTMLInputElement).checked })} />baselines</label>`
          : nothing}
        ${this.#opener("columns", "Columns")} ${this.#opener("weights", "My priorities")}
        <span class="push">
          <button type="button" @click=${() => this.#save("csv")} aria-label="Download as CSV">CSV</button>
          <button type="button" @click=${() => this.#save("latex")} aria-label="Download as LaTeX">LaTeX</button>
        </span>
      </div>
      ${this.#panel === "columns" ? columnsPanel(table.others, this.#choice, change) : nothing}
      ${this.#panel === "weights" ? weightsPanel(table.scores, this.#choice, change) : nothing}
      <p class="status" role="status">${this.#message}</p>
      <slot></slot>
      <div class="preview" popover="manual"></div>
    `;
  }

  #opener(panel: "columns" | "weights", text: string): TemplateResult {
    const open = this.#panel === panel;
    return html`<button type="button" aria-expanded=${open ? "true" : "false"} @click=${() => this.#toggle(panel)}>${text}</button>`;
  }
}

function statusOf(table: BoardTable, column: Column | null, choice: Choice, shown: number): string {
  const all = table.rows.filter((row) => row.ranked).length;
  const used = table.scores.filter((each) => choice.weights.has(each.id)).length;
  const count = shown === all ? `${all} methods` : `${shown} of ${all} methods`;
  if (column !== null) return `${count}, sorted by ${column.text}${choice.worstFirst ? ", worst first" : column.order === "text" ? "" : ", best first"}.`;
  if (used > 0) return `${count}, in the order of your priorities (${used} score${used > 1 ? "s" : ""}); ties are not marked in this order.`;
  return `${count}.`;
}

document.adoptedStyleSheets = [...document.adoptedStyleSheets, outside];
customElements.define("dg-board", Board);
