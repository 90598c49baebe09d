// A leaderboard as the server wrote it: which columns and rows it has, their order, what is shown.

export type Order = "lower" | "higher" | "zero" | "text";

export interface Column {
  /** Stable name of the score, for addresses and exports. */
  id: string;
  text: string;
  unit: string;
  order: Order;
  head: HTMLTableCellElement;
  /** The heading over several columns, where there is one. */
  group: HTMLTableCellElement | null;
}

export interface Row {
  element: HTMLTableRowElement;
  label: string;
  /** Oracles are listed apart and never ranked. */
  ranked: boolean;
  baseline: boolean;
  cells: HTMLTableCellElement[];
}

export class BoardTable {
  readonly columns: Column[];
  readonly rows: Row[];

  constructor(readonly element: HTMLTableElement) {
    this.columns = columnsOf(element);
    this.rows = [...element.tBodies].flatMap((body) =>
      [...body.rows].filter((row) => !row.classList.contains("title")).map((row) => rowOf(row, body)),
    );
  }

  /** Every column except the names. */
  get others(): Column[] {
    return this.columns.slice(1);
  }

  /** The columns of numbers. */
  get scores(): Column[] {
    return this.others.filter((column) => column.order !== "text");
  }

  /** What a column of words says about a row. */
  text(row: Row, column: Column): string {
    const cell = row.cells[this.columns.indexOf(column)];
    return cell?.dataset["value"] ?? cell?.textContent?.trim() ?? "";
  }

  value(row: Row, column: Column): number {
    const text = row.cells[this.columns.indexOf(column)]?.dataset["value"] ?? "";
    return text === "" ? NaN : Number(text);
  }

  /** The ranked rows by the body that they are in: one for each tier, and tiers are never mixed. */
  get groups(): Row[][] {
    const bodies = [...this.element.tBodies];
    return bodies.map((body) => this.rows.filter((row) => row.ranked && row.element.parentNode === body)).filter((rows) => rows.length > 0);
  }

  /** Puts the ranked rows of each body into an order; what has no key comes last, whichever way it goes. */
  arrange(key: (row: Row) => number | string, sign: 1 | -1 = 1): void {
    for (const rows of this.groups) {
      const keyed = rows.map((row) => ({ row, key: key(row) }));
      keyed.sort((a, b) => compare(a.key, b.key, sign));
      rows[0]?.element.parentNode?.append(...keyed.map((each) => each.row.element));
    }
  }

  /** Sorts by a column, best first or worst first, and marks its head. */
  sort(column: Column | null, worstFirst: boolean): void {
    for (const each of this.columns) {
      delete each.head.dataset["sorted"];
      each.head.removeAttribute("aria-sort");
    }
    if (column === null) return;
    column.head.dataset["sorted"] = worstFirst ? "worst" : "best";
    const down = (column.order === "higher") !== worstFirst;
    column.head.setAttribute("aria-sort", down ? "descending" : "ascending");
    this.arrange((row) => sortKey(this, row, column), worstFirst ? -1 : 1);
  }

  /** Hides columns, and headings that have none left. */
  hideColumns(ids: ReadonlySet<string>): void {
    const spans = new Map<HTMLTableCellElement, number>();
    this.columns.forEach((column, place) => {
      const gone = place > 0 && ids.has(column.id);
      column.head.hidden = gone;
      for (const row of this.rows) {
        const cell = row.cells[place];
        if (cell !== undefined) cell.hidden = gone;
      }
      if (column.group !== null) spans.set(column.group, (spans.get(column.group) ?? 0) + (gone ? 0 : 1));
    });
    for (const [group, span] of spans) {
      group.hidden = span === 0;
      group.colSpan = Math.max(1, span);
    }
  }

  /** Shows the rows whose text has every word, and says how many of the ranked ones those are. */
  filter(words: string, baselines: boolean): number {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of this.rows) {
      const text = (row.element.cells[0]?.textContent ?? "").toLowerCase() + " " + (row.element.dataset["tags"] ?? "").toLowerCase();
      const fits = wanted.every((word) => text.includes(word)) && (baselines || !row.baseline);
      row.element.hidden = !fits;
      if (fits && row.ranked) shown += 1;
    }
    return shown;
  }
}

function columnsOf(table: HTMLTableElement): Column[] {
  const heads = [...table.querySelectorAll<HTMLTableCellElement>("thead th[data-sort]")];
  heads.sort((a, b) => Number(a.dataset["column"]) - Number(b.dataset["column"]));
  const groups = [...table.querySelectorAll<HTMLTableCellElement>("thead th.group")].flatMap((group) =>
    Array<HTMLTableCellElement>(group.colSpan).fill(group),
  );
  return heads.map((head, place) => {
    const unit = head.querySelector("small")?.textContent?.trim() ?? "";
    const text = [...head.childNodes].filter((node) => node.nodeName !== "SMALL").map((node) => node.textContent).join("").trim();
    const group = place > 0 ? (groups[place - 1] ?? null) : null;
    const name = group === null ? text : `${group.textContent?.trim()} ${text}`;
    return { id: head.dataset["score"] ?? name, text: name, unit, order: orderOf(head), head, group };
  });
}

function orderOf(head: HTMLElement): Order {
  const order = head.dataset["sort"];
  return order === "higher" || order === "zero" || order === "text" ? order : "lower";
}

function rowOf(row: HTMLTableRowElement, body: HTMLTableSectionElement): Row {
  const cells = [...row.cells];
  return {
    element: row,
    label: cells[0]?.dataset["value"] ?? cells[0]?.textContent?.trim() ?? "",
    ranked: !body.classList.contains("oracles"),
    baseline: row.dataset["baseline"] !== undefined,
    cells,
  };
}

function sortKey(table: BoardTable, row: Row, column: Column): number | string {
  if (column.order === "text") return table.text(row, column);
  const value = table.value(row, column);
  return column.order === "higher" ? -value : column.order === "zero" ? Math.abs(value) : value;
}

function compare(a: number | string, b: number | string, sign: number): number {
  if (typeof a === "string" || typeof b === "string") return sign * String(a).localeCompare(String(b), "en", { numeric: true });
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  // Two infinite values are equal; their difference is not a number.
  return a === b ? 0 : sign * (a - b);
}
