// What the server tells the page.
import type { Answer } from "../shared/outbox.js";

export interface About extends Answer {
  width: number;
  height: number;
  pictures: string[];
  classes: string[];
  network: boolean;
}

export interface Told extends Answer {
  counts?: number[];
  trouble?: string;
}

/** The shares of the classes, in words. */
export function shares(counts: number[]): string {
  const all = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count, k) => `Class ${k}: ${((100 * count) / all).toFixed(1)} %`).join(", ") + ".";
}
