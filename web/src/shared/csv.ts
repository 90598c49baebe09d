// Text and numbers for spreadsheets. The escapes are those of report/sanitize.py.
const HARMFUL = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const SPACES = /[\t\n\x0b\x0c\r\x85\u2028\u2029]+/g;

export function clean(text: string): string {
  return text.replace(SPACES, " ").replace(HARMFUL, "\ufffd");
}

/** A field of text; a spreadsheet would run what begins like a formula, so that gets an apostrophe. */
export function csvText(text: string): string {
  const safe = /^\s*[=+\-@]/.test(text) ? `'${clean(text)}` : clean(text);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A number with full precision; a missing one is empty. */
export function csvNumber(value: number): string {
  return Number.isNaN(value) ? "" : String(value).replace("Infinity", "inf");
}
