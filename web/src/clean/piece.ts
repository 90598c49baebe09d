// A piece of the cloud (docs/by-hand.md has the format): points in an order of which every beginning
// is spread over the whole piece, so that few of them can be drawn while the view turns.

export interface Header {
  schema: number;
  side: string;
  width: number;
  height: number;
  x: number;
  y: number;
  stride: number;
  columns: number;
  rows: number;
  focal_px: [number, number];
  centre_px: [number, number];
  depth_focal_px: number;
  baseline_m: number;
  offset_px: number;
  start_m: number;
}

export interface Piece {
  header: Header;
  count: number;
  /** x, y, z in metres, in the axes of the left camera: y down, z forward. */
  points: Float32Array;
  colours: Uint8Array;
  /** Standard deviations in px; NaN where unknown. */
  sigma: Float32Array;
  /** Place of each point in the grid. */
  cells: Uint32Array;
  /** Place in the order of each cell of the grid; -1 where there is no point. */
  places: Int32Array;
  /** How many standing actions remove each point. */
  removed: Uint8Array;
}

export function readPiece(content: ArrayBuffer): Piece {
  const length = new DataView(content).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(content.slice(4, 4 + length))) as Header;
  if (header.schema !== 1) throw new Error("the page is older than the program; reload it");
  const cells = header.columns * header.rows;
  const start = 4 + length;
  if (content.byteLength !== start + 10 * cells) throw new Error("the points are not complete");
  const disparity = new Float32Array(content, start, cells);
  const sigma = new Uint16Array(content, start + 4 * cells, cells);
  const colours = new Uint8Array(content, start + 6 * cells, 3 * cells);
  const codes = new Uint8Array(content, start + 9 * cells, cells);
  const kept = keptCells(disparity, codes, header.offset_px);
  return ordered(header, kept, { disparity, sigma, colours });
}

function keptCells(disparity: Float32Array, codes: Uint8Array, offset: number): Uint32Array {
  const kept = new Uint32Array(disparity.length);
  let count = 0;
  for (let cell = 0; cell < disparity.length; cell++) {
    if (codes[cell] === 0 && (disparity[cell] ?? NaN) + offset > 0) kept[count++] = cell;
  }
  return kept.slice(0, count);
}

function ordered(
  header: Header,
  kept: Uint32Array,
  from: { disparity: Float32Array; sigma: Uint16Array; colours: Uint8Array },
): Piece {
  const count = kept.length;
  const step = coprimeStep(count);
  const piece: Piece = {
    header,
    count,
    points: new Float32Array(3 * count),
    colours: new Uint8Array(3 * count),
    sigma: new Float32Array(count),
    cells: new Uint32Array(count),
    places: new Int32Array(header.columns * header.rows).fill(-1),
    removed: new Uint8Array(count),
  };
  let taken = 0;
  for (let place = 0; place < count; place++) {
    const cell = kept[taken] ?? 0;
    taken = (taken + step) % count;
    const column = header.x + header.stride * (cell % header.columns);
    const row = header.y + header.stride * Math.floor(cell / header.columns);
    const z = (header.depth_focal_px * header.baseline_m) / ((from.disparity[cell] ?? 0) + header.offset_px);
    piece.points[3 * place] = header.start_m + ((column - header.centre_px[0]) * z) / header.focal_px[0];
    piece.points[3 * place + 1] = ((row - header.centre_px[1]) * z) / header.focal_px[1];
    piece.points[3 * place + 2] = z;
    for (let k = 0; k < 3; k++) piece.colours[3 * place + k] = from.colours[3 * cell + k] ?? 0;
    const code = from.sigma[cell] ?? 65535;
    piece.sigma[place] = code === 65535 ? NaN : code / 1000;
    piece.cells[place] = cell;
    piece.places[cell] = place;
  }
  return piece;
}

/** A step near the golden section that visits every one of `count` places. */
function coprimeStep(count: number): number {
  if (count < 3) return 1;
  let step = Math.max(1, Math.round(count * 0.6180339887));
  while (divisor(step, count) !== 1) step += 1;
  return step;
}

function divisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

/** The pixel of the view that a point comes from. */
export function pixelOf(piece: Piece, place: number): [number, number] {
  const { header } = piece;
  const cell = piece.cells[place] ?? 0;
  return [header.x + header.stride * (cell % header.columns), header.y + header.stride * Math.floor(cell / header.columns)];
}

/** The point of a pixel, or that of the nearest cell of the grid; -1 where there is none. */
export function placeAt(piece: Piece, x: number, y: number): number {
  const { header } = piece;
  const column = Math.round((x - header.x) / header.stride);
  const row = Math.round((y - header.y) / header.stride);
  if (column < 0 || row < 0 || column >= header.columns || row >= header.rows) return -1;
  return piece.places[row * header.columns + column] ?? -1;
}
