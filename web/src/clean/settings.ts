// What the person has chosen: tool, size of the brush, which points count, what is seen.
import type { Colours } from "./colours.js";

export const TOOLS = { turn: "Turn (T)", lasso: "Lasso (L)", brush: "Brush (B)" } as const;
export type Tool = keyof typeof TOOLS;
export const RADII_MM = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200];

export class Settings {
  side: "left" | "right" = "left";
  tool: Tool = "turn";
  colours: Colours = "image";
  /** A place in `RADII_MM`. */
  radius = 3;
  /** Points with a smaller standard deviation do not count. */
  least = 0;
  /** The largest standard deviation that can be asked for. */
  most = 1;
  /** How far behind the front a lasso reaches, in cm; empty for all. */
  reach = "";
  showGone = true;

  get radiusM(): number {
    return (RADII_MM[this.radius] ?? 5) / 1000;
  }
}
