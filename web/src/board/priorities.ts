// Methods in the order of a reader's priorities.
import { costs, ranks, totals } from "./costs.js";
import type { BoardTable, Row } from "./table.js";

/** Orders the ranked rows by their cost, within each tier, and writes cost and place beside each name. */
export function orderByPriorities(table: BoardTable, weights: ReadonlyMap<string, number>): void {
  clearPriorities(table);
  const used = table.scores.filter((column) => weights.has(column.id));
  if (used.length === 0) return;
  const costOf = new Map<Row, number>();
  for (const rows of table.groups) {
    const byColumn = used.map((column) => costs(rows.map((row) => table.value(row, column)), column.order, column.unit));
    const own = rows.map((_, place) => byColumn.map((column) => column[place] ?? NaN));
    const cost = totals(own, used.map((column) => weights.get(column.id) ?? 0));
    const places = ranks(cost);
    rows.forEach((row, place) => {
      costOf.set(row, cost[place] ?? NaN);
      mark(row, places[place] ?? null, cost[place] ?? NaN);
    });
  }
  table.arrange((row) => costOf.get(row) ?? NaN);
}

/** The table as the benchmark ranks it. */
export function clearPriorities(table: BoardTable): void {
  for (const row of table.rows) {
    row.element.querySelector(".cost")?.remove();
    const rank = row.element.querySelector<HTMLElement>(".rank");
    if (rank?.dataset["given"] !== undefined) {
      rank.textContent = rank.dataset["given"];
      delete rank.dataset["given"];
    }
    const tie = row.element.querySelector<HTMLElement>(".tie");
    if (tie !== null) tie.hidden = false;
  }
}

function mark(row: Row, place: number | null, cost: number): void {
  const rank = row.element.querySelector<HTMLElement>(".rank");
  if (rank !== null) {
    rank.dataset["given"] ??= rank.textContent ?? "";
    rank.textContent = place === null ? "" : String(place);
  }
  // Letters of ties belong to the benchmark's order.
  const tie = row.element.querySelector<HTMLElement>(".tie");
  if (tie !== null) tie.hidden = true;
  const text = document.createElement("small");
  text.className = "cost";
  text.textContent = Number.isNaN(cost) ? " a score is missing" : ` cost ${cost.toFixed(3)}`;
  row.cells[0]?.append(text);
}
