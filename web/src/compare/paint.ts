// Codes of tiles as values, and values as colours.

export interface Palette {
  colours: string[];
  low: number;
  high: number;
  missing: string;
}

const STEPS = 65534;

/** The values of a tile: high byte in red, low byte in green, code 0 where there is none. */
export function valuesOf(tile: ImageBitmap, low: number, high: number): { values: Float32Array; width: number } {
  const canvas = new OffscreenCanvas(tile.width, tile.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("no canvas");
  context.drawImage(tile, 0, 0);
  const bytes = context.getImageData(0, 0, tile.width, tile.height).data;
  const values = new Float32Array(tile.width * tile.height);
  for (let place = 0; place < values.length; place += 1) {
    const code = (bytes[4 * place] ?? 0) * 256 + (bytes[4 * place + 1] ?? 0);
    values[place] = code === 0 ? NaN : low + ((code - 1) / STEPS) * (high - low);
  }
  return { values, width: tile.width };
}

export function paintValues(values: Float32Array, width: number, palette: Palette): HTMLCanvasElement {
  return painted((place) => values[place] ?? NaN, values.length, width, palette);
}

export function paintSigned(first: Float32Array, second: Float32Array, width: number, palette: Palette): HTMLCanvasElement {
  return painted((place) => (first[place] ?? NaN) - (second[place] ?? NaN), first.length, width, palette);
}

function painted(value: (place: number) => number, count: number, width: number, palette: Palette): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = count / width;
  const context = canvas.getContext("2d");
  if (context === null) return canvas;
  const table = new Uint32Array([...palette.colours, palette.missing].map(packed));
  const image = context.createImageData(width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  const last = palette.colours.length - 1;
  const scale = palette.colours.length / (palette.high - palette.low);
  for (let place = 0; place < count; place += 1) {
    const step = (value(place) - palette.low) * scale;
    pixels[place] = table[Number.isNaN(step) ? last + 1 : Math.min(last, Math.max(0, Math.floor(step)))] ?? 0;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** "#rrggbb" as the four bytes of a pixel. */
function packed(colour: string): number {
  const rgb = parseInt(colour.slice(1), 16);
  return ((255 << 24) | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}
