// Which pixels a polygon or a stroke covers: the same arithmetic as capture/masks/shapes.py, to the bit.

export type Point = [number, number];

export interface Region {
  x: number;
  y: number;
  width: number;
  height: number;
  /** 1 for each pixel of the box that belongs to it. */
  inside: Uint8Array;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const LEAST_RADIUS = 0.75;

/** What is stored is what is drawn. */
export function rounded([x, y]: Point): Point {
  return [Math.round(100 * x) / 100, Math.round(100 * y) / 100];
}

export function polygonRegion(points: Point[], size: Point): Region {
  const box = around(points, 0, size);
  const wide = box.width + 1;
  const toggles = new Uint8Array(wide * box.height);
  points.forEach((begin, k) => {
    crossings(begin, points[(k + 1) % points.length] as Point, box, false, (row, at) => {
      const place = (row - box.y) * wide + column(at, box);
      toggles[place] = (toggles[place] ?? 0) ^ 1;
    });
  });
  const inside = new Uint8Array(box.width * box.height);
  for (let row = 0; row < box.height; row++) {
    let odd = 0;
    for (let x = 0; x < box.width; x++) {
      odd ^= toggles[row * wide + x] ?? 0;
      inside[row * box.width + x] = odd;
    }
  }
  return { ...box, inside };
}

export function brushRegion(points: Point[], radius: number, size: Point): Region {
  const box = around(points, radius, size);
  const wide = box.width + 1;
  const steps = new Int32Array(wide * box.height);
  const span = (row: number, from: number, to: number): void => {
    const start = (row - box.y) * wide;
    steps[start + column(from, box)] = (steps[start + column(from, box)] ?? 0) + 1;
    steps[start + column(to, box)] = (steps[start + column(to, box)] ?? 0) - 1;
  };
  for (const [x, y] of points) {
    for (const row of rows(Math.ceil(y - radius), Math.floor(y + radius), box)) {
      const down = row - y;
      const half = Math.sqrt(Math.max(radius * radius - down * down, 0));
      span(row, x - half, Math.floor(x + half) + 1);
    }
  }
  for (let k = 0; k + 1 < points.length; k++) way(points[k] as Point, points[k + 1] as Point, radius, box, span);
  const inside = new Uint8Array(box.width * box.height);
  for (let row = 0; row < box.height; row++) {
    let depth = 0;
    for (let x = 0; x < box.width; x++) {
      depth += steps[row * wide + x] ?? 0;
      inside[row * box.width + x] = depth > 0 ? 1 : 0;
    }
  }
  return { ...box, inside };
}

/** The rectangle between two places of the brush. */
function way(begin: Point, end: Point, radius: number, box: Box, span: (row: number, from: number, to: number) => void): void {
  const dx = end[0] - begin[0];
  const dy = end[1] - begin[1];
  const length = Math.sqrt(dx * dx + dy * dy);
  if (!(length > 0)) return;
  const aside: Point = [(-dy / length) * radius, (dx / length) * radius];
  const corners: Point[] = [
    [begin[0] + aside[0], begin[1] + aside[1]],
    [end[0] + aside[0], end[1] + aside[1]],
    [end[0] - aside[0], end[1] - aside[1]],
    [begin[0] - aside[0], begin[1] - aside[1]],
  ];
  const low = new Map<number, number>();
  const high = new Map<number, number>();
  corners.forEach((corner, k) => {
    crossings(corner, corners[(k + 1) % 4] as Point, box, true, (row, at) => {
      low.set(row, Math.min(low.get(row) ?? Infinity, at));
      high.set(row, Math.max(high.get(row) ?? -Infinity, at));
    });
  });
  for (const [row, from] of low) span(row, from, Math.floor(high.get(row) ?? 0) + 1);
}

/** Where a side crosses the rows of a box; a closed side has both ends, another only the upper one. */
function crossings([x0, y0]: Point, [x1, y1]: Point, box: Box, closed: boolean, found: (row: number, at: number) => void): void {
  if (y0 === y1) return;
  const upper = Math.min(y0, y1);
  const lower = Math.max(y0, y1);
  const last = closed ? Math.floor(lower) : Math.ceil(lower) - 1;
  for (const row of rows(Math.ceil(upper), last, box)) found(row, x0 + (row - y0) * ((x1 - x0) / (y1 - y0)));
}

function* rows(first: number, last: number, box: Box): Generator<number> {
  const end = Math.min(last, box.y + box.height - 1);
  for (let row = Math.max(first, box.y); row <= end; row++) yield row;
}

/** The first column of the box whose centre is not left of a place. */
function column(at: number, box: Box): number {
  return Math.min(Math.max(Math.ceil(at) - box.x, 0), box.width);
}

function around(points: Point[], margin: number, size: Point): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x);
    bottom = Math.max(bottom, y);
  }
  const x = Math.max(0, Math.ceil(left - margin));
  const y = Math.max(0, Math.ceil(top - margin));
  const width = Math.min(size[0] - 1, Math.floor(right + margin)) - x + 1;
  const height = Math.min(size[1] - 1, Math.floor(bottom + margin)) - y + 1;
  return width > 0 && height > 0 ? { x, y, width, height } : { x: 0, y: 0, width: 0, height: 0 };
}
