// The tools: their names, keys and what to do with them.

export const TOOLS = { move: "Move (M)", polygon: "Polygon (P)", brush: "Brush (B)", eraser: "Eraser (E)", flood: "Flood (F)", clicks: "Clicks (C)", network: "Network (N)" } as const;
export type Tool = keyof typeof TOOLS;
export const KEYS: Record<string, Tool> = { m: "move", p: "polygon", b: "brush", e: "eraser", f: "flood", c: "clicks", n: "network" };
/** Half the widths of brushes, in px of the picture. */
export const RADII = [0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
export const HINTS: Record<Tool, string> = {
  move: "Drag the picture; the wheel or two fingers zoom. Keys: plus, minus, Home, Ctrl with arrows.",
  polygon: "Each click is a corner, a drag draws many; the first corner, a double click or Enter closes. Where the line crosses itself, every second part is outside. Keys: arrows and space.",
  brush: "Drag to paint; [ and ] change the size. Keys: space begins and ends a stroke, arrows go on.",
  eraser: "Drag to paint class 0; [ and ] change the size.",
  flood: "Click on a surface: what is connected and has its colour, to the edges. Enter takes it; only what the screen shows is looked at.",
  clicks: "Click on what you mean; right button, Alt or X: on what you do not mean. Every click teaches more. Enter takes it, Escape begins anew.",
  network: "As clicks, by the network that was given.",
};

