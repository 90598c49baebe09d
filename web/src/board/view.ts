// Another view of a leaderboard (a scene, a metric, a region): the server draws it, as it would for
// a reader without scripts.

/** Fetches the page that a form asks for and returns its leaderboard. */
export async function fetchView(url: string, signal: AbortSignal): Promise<HTMLElement> {
  const answer = await fetch(url, { signal, headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const board = page.querySelector<HTMLElement>("dg-board");
  if (board === null) throw new Error(`${url}: no leaderboard`);
  return board;
}

/** The address that a form of method GET leads to. */
export function addressOf(form: HTMLFormElement): string {
  const url = new URL(form.action, location.href);
  url.search = "";
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string") url.searchParams.append(name, value);
  }
  return url.href;
}
