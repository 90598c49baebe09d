// The two panels above a leaderboard: which columns are shown, and what matters to the reader.
import { css, html, type TemplateResult } from "lit";
import { MOST, type Choice } from "./address.js";
import type { Column } from "./table.js";

export const panelStyles = css`
  fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
  .choices { columns: 15rem; column-gap: 1.5rem; margin-bottom: .5rem; }
  .choices label { display: flex; break-inside: avoid; }
  .weights { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(21rem, 100%), 1fr)); gap: .3rem 2rem; margin-bottom: .7rem; }
  .weight { display: grid; grid-template-columns: minmax(0, 1fr) 8.5rem 1.2rem; gap: .7rem; align-items: center; font-size: .9rem; }
  .weight > span { overflow-wrap: anywhere; line-height: 1.25; }
  .weight input { width: 100%; min-height: 1.6rem; margin: 0; }
  .weight output { font-variant-numeric: tabular-nums; text-align: right; }
  small { color: var(--soft); font-size: .85em; }
`;

const WORDS = ["no weight", "little", "some", "middle", "much", "most"];

export function columnsPanel(columns: readonly Column[], choice: Choice, change: (next: Partial<Choice>) => void): TemplateResult {
  const toggle = (id: string, shown: boolean): void => {
    const hidden = new Set(choice.hidden);
    if (shown) hidden.delete(id);
    else hidden.add(id);
    change({ hidden });
  };
  return html`<fieldset class="panel" id="columns">
    <legend class="hidden">Columns</legend>
    <div class="choices">
      ${columns.map(
        (column) => html`<label>
          <input type="checkbox" .checked=${!choice.hidden.has(column.id)}
            @change=${(event: Event) => toggle(column.id, (event.target as HTMLInputElement).checked)} />
          <span>${column.text} <small>${column.unit}</small></span>
        </label>`,
      )}
    </div>
    <button type="button" ?disabled=${choice.hidden.size === 0} @click=${() => change({ hidden: new Set() })}>Show all</button>
  </fieldset>`;
}

export function weightsPanel(columns: readonly Column[], choice: Choice, change: (next: Partial<Choice>) => void): TemplateResult {
  const weigh = (id: string, weight: number): void => {
    const weights = new Map(choice.weights);
    if (weight > 0) weights.set(id, weight);
    else weights.delete(id);
    change({ weights, sort: null });
  };
  return html`<fieldset class="panel" id="weights">
    <legend class="hidden">My priorities</legend>
    <p class="explain">
      Give weight to what matters to you. Each score costs a method between 0 (perfect) and 1; the median method pays 1/2. The order is by the
      weighted mean, the same rule as that of the application profiles. The address of this page keeps your weights.
    </p>
    <div class="weights">
      ${columns.map((column) => {
        const weight = choice.weights.get(column.id) ?? 0;
        return html`<label class="weight">
          <span>${column.text} <small>${column.unit}</small></span>
          <input type="range" min="0" max=${MOST} step="1" .value=${String(weight)} aria-valuetext="${weight}, ${WORDS[weight]}"
            @input=${(event: Event) => weigh(column.id, Number((event.target as HTMLInputElement).value))} />
          <output>${weight}</output>
        </label>`;
      })}
    </div>
    <button type="button" ?disabled=${choice.weights.size === 0} @click=${() => change({ weights: new Map() })}>Back to the benchmark's order</button>
  </fieldset>`;
}
