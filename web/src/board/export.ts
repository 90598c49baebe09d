// The table as it is seen, as CSV and LaTeX. The escapes are those of report/sanitize.py and
// report/tables/formats.py.
import { clean, csvNumber, csvText } from "../shared/csv.js";
import type { BoardTable, Column, Row } from "./table.js";

const LATEX: Record<string, string> = {
  "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", $: "\\$", "&": "\\&", "#": "\\#", "%": "\\%", _: "\\_",
  "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}",
  '"': "''", "`": "\\textasciigrave{}", "[": "{[}", "*": "{*}", "\u00b1": "$\\pm$", "\u00b2": "\\textsuperscript{2}",
  "\u00b3": "\\textsuperscript{3}", "\u00b0": "$^\\circ$", "\u2020": "$^\\dagger$", "\u2013": "--", "\u2014": "---",
  "\u2026": "\\ldots{}", "\u2019": "'", "\u2191": "$\\uparrow$", "\u2193": "$\\downarrow$", "\u2192": "$\\to$",
};

export function latex(text: string): string {
  return [...clean(text)].map(latexCharacter).join("").replaceAll("--", "-{}-");
}

function latexCharacter(character: string): string {
  const known = LATEX[character];
  if (known !== undefined) return known;
  const plain = (character >= " " && character <= "~") || (character <= "\u017e" && /^\p{L}$/u.test(character));
  return plain ? character : `{[}U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`;
}

/** RFC 4180: full precision, missing numbers are empty, rows and columns as they are seen. */
export function toCsv(table: BoardTable): string {
  const columns = shownColumns(table);
  const lines = [columns.map((column) => csvText(column.id)).join(",")];
  for (const row of shownRows(table)) {
    lines.push(columns.map((column) => csvCell(table, row, column)).join(","));
  }
  return lines.map((line) => `${line}\r\n`).join("");
}

function csvCell(table: BoardTable, row: Row, column: Column): string {
  if (column.order === "text") return csvText(table.text(row, column));
  return csvNumber(table.value(row, column));
}

/** A table environment in booktabs style, ready to paste. */
export function toLatex(table: BoardTable, notes: readonly string[]): string {
  const columns = shownColumns(table);
  const caption = latex(captionOf(table));
  const lines = [
    "% needs \\usepackage{booktabs}",
    ...notes.map((note) => `% ${clean(note)}`),
    "\\begin{table}[t]",
    "  \\centering",
    `  \\caption{${caption}${/[.!?]$/.test(caption) || caption === "" ? "" : "."}}`,
    `  \\begin{tabular}{l${"r".repeat(columns.length - 1)}}`,
    "    \\toprule",
    `    ${columns.map(latexHead).join(" & ")} \\\\`,
    "    \\midrule",
  ];
  let before: Row | null = null;
  for (const row of shownRows(table)) {
    if (before?.ranked === true && !row.ranked) lines.push("    \\midrule");
    lines.push(`    ${columns.map((column) => latexCell(table, row, column)).join(" & ")} \\\\`);
    before = row;
  }
  return [...lines, "    \\bottomrule", "  \\end{tabular}", "\\end{table}", ""].join("\n");
}

/** What the caption says, without what is hidden. */
function captionOf(table: BoardTable): string {
  const caption = table.element.caption?.cloneNode(true);
  if (!(caption instanceof HTMLElement)) return "";
  caption.querySelectorAll("[hidden]").forEach((part) => part.remove());
  return caption.textContent?.trim() ?? "";
}

function latexHead(column: Column): string {
  return latex(column.text) + (column.unit === "" ? "" : ` {[}${latex(column.unit)}]`);
}

function latexCell(table: BoardTable, row: Row, column: Column): string {
  const cell = row.cells[table.columns.indexOf(column)];
  const text = column === table.columns[0] ? latex(row.label) : latex((cell?.querySelector("span") ?? cell)?.textContent?.trim() ?? "");
  if (!row.ranked) return `\\textit{${text}}`;
  if (cell?.classList.contains("best") === true) return `\\textbf{${text}}`;
  return cell?.classList.contains("second") === true ? `\\underline{${text}}` : text;
}

function shownColumns(table: BoardTable): Column[] {
  return table.columns.filter((column) => !column.head.hidden);
}

function shownRows(table: BoardTable): Row[] {
  const inOrder = new Map(table.rows.map((row) => [row.element, row]));
  return [...table.element.tBodies]
    .flatMap((body) => [...body.rows])
    .flatMap((element) => inOrder.get(element) ?? [])
    .filter((row) => !row.element.hidden);
}
