// Draws what a view sees of a source: the smallest level first, then the tiles of the right one.
import type { Source } from "./source.js";
import type { View } from "./view.js";

/** The level whose pixels are about those of the canvas. */
export function levelOf(source: Source, zoom: number): number {
  return Math.min(source.levels - 1, Math.max(0, Math.floor(Math.log2(1 / zoom) + 0.25)));
}

export function drawSource(context: CanvasRenderingContext2D, source: Source, view: View): void {
  const { width, height } = context.canvas;
  // Sources of another size are brought to that of the view.
  const scale = view.width / source.width;
  const zoom = view.zoom * scale;
  context.save();
  context.imageSmoothingEnabled = zoom < 1;
  context.setTransform(zoom, 0, 0, zoom, width / 2 - view.x * view.zoom, height / 2 - view.y * view.zoom);
  const seen = {
    left: (view.x - width / 2 / view.zoom) / scale,
    right: (view.x + width / 2 / view.zoom) / scale,
    top: (view.y - height / 2 / view.zoom) / scale,
    bottom: (view.y + height / 2 / view.zoom) / scale,
  };
  const level = levelOf(source, zoom);
  for (const each of new Set([source.levels - 1, level])) drawLevel(context, source, each, seen);
  context.restore();
}

interface Seen {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

function drawLevel(context: CanvasRenderingContext2D, source: Source, level: number, seen: Seen): void {
  const size = source.tile * 2 ** level;
  const columns = Math.ceil(source.width / size);
  const rows = Math.ceil(source.height / size);
  for (let row = Math.max(0, Math.floor(seen.top / size)); row < rows && row * size < seen.bottom; row += 1) {
    for (let column = Math.max(0, Math.floor(seen.left / size)); column < columns && column * size < seen.right; column += 1) {
      const tile = source.draw(level, column, row);
      if (tile === null) continue;
      // The last tile of a row or column ends with the picture.
      const width = Math.min(size, source.width - column * size);
      const height = Math.min(size, source.height - row * size);
      context.drawImage(tile, column * size, row * size, width, height);
    }
  }
}
