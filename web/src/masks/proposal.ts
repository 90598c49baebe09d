// The region that some clicks mean, from the server.
import type { RegionEntry } from "./labels.js";
import type { Sheet } from "./sheet.js";

export interface Proposal {
  entry?: RegionEntry;
  pixels?: number;
  error?: string;
}

export async function proposal(sheet: Sheet, asked: { tab: string; picture: string; tool: string; tolerance: number }): Promise<Proposal> {
  const clicks = sheet.clicks.map(({ at: [x, y], wanted }) => ({ x, y, wanted }));
  const body = JSON.stringify({ ...asked, clicks, within: windowWith(sheet, sheet.clicks) });
  try {
    const answer = await fetch("/api/masks/propose", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    return (await answer.json()) as Proposal;
  } catch {
    return { error: "There is no connection; polygon and brush work without." };
  }
}

/** What the screen shows, and all clicks. */
function windowWith(sheet: Sheet, clicks: Sheet["clicks"]): [number, number, number, number] {
  let [left, top, width, height] = sheet.window();
  let [right, bottom] = [left + width, top + height];
  for (const { at } of clicks) {
    left = Math.min(left, Math.round(at[0]));
    top = Math.min(top, Math.round(at[1]));
    right = Math.max(right, Math.round(at[0]) + 1);
    bottom = Math.max(bottom, Math.round(at[1]) + 1);
  }
  return [left, top, right - left, bottom - top];
}

