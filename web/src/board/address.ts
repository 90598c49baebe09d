// What a reader chose, as part of the page's address: it can be sent to somebody or kept.

export interface Choice {
  /** Score to sort by; null keeps the order of the page. */
  sort: string | null;
  worstFirst: boolean;
  words: string;
  baselines: boolean;
  hidden: ReadonlySet<string>;
  /** Weight of each score, above zero. */
  weights: ReadonlyMap<string, number>;
}

export const MOST = 5;
const OURS = ["sort", "q", "baselines", "hide", "weight"];

export function readChoice(search: string): Choice {
  const query = new URLSearchParams(search);
  const sort = query.get("sort");
  const weights = new Map<string, number>();
  for (const text of query.getAll("weight")) {
    const star = text.lastIndexOf("*");
    const weight = Math.round(Number(text.slice(star + 1)));
    if (star > 0 && weight > 0) weights.set(text.slice(0, star), Math.min(MOST, weight));
  }
  return {
    sort: sort === null ? null : sort.replace(/^-/, ""),
    worstFirst: sort?.startsWith("-") ?? false,
    words: query.get("q") ?? "",
    baselines: query.get("baselines") !== "no",
    hidden: new Set(query.getAll("hide")),
    weights,
  };
}

/** The address with a choice in it; parameters of others, such as the server's, stay. */
export function withChoice(address: string, choice: Choice): string {
  const url = new URL(address);
  const query = new URLSearchParams([...url.searchParams].filter(([name]) => !OURS.includes(name)));
  if (choice.sort !== null) query.set("sort", (choice.worstFirst ? "-" : "") + choice.sort);
  if (choice.words !== "") query.set("q", choice.words);
  if (!choice.baselines) query.set("baselines", "no");
  for (const id of choice.hidden) query.append("hide", id);
  for (const [id, weight] of choice.weights) query.append("weight", `${id}*${weight}`);
  // Colons, commas and the like may stand in a query as they are; people read these addresses.
  url.search = query.toString().replace(/%3A/g, ":").replace(/%40/g, "@").replace(/%2C/g, ",").replace(/%2A/g, "*");
  return url.href;
}
