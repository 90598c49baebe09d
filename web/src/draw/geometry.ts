// Distances and simplification of lines.
import type { Drawing, Point } from "./model.js";

export interface Near {
  point: Point;
  distance: number;
  /** The corner, or the first corner of the piece that it is on. */
  index: number;
  corner: boolean;
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}

/** The nearest point of a line; its corners count as nearer by a factor, because people mean them. */
export function nearest(points: Point[], to: Point, corners = 0.6): Near | null {
  let best: Near | null = null;
  points.forEach((point, index) => {
    const away = distance(point, to) * corners;
    if (best === null || away < best.distance) best = { point, distance: away, index, corner: true };
  });
  for (let index = 0; index + 1 < points.length; index += 1) {
    const [a, b] = [points[index] as Point, points[index + 1] as Point];
    const way: Point = [b[0] - a[0], b[1] - a[1]];
    const length = way[0] ** 2 + way[1] ** 2;
    if (length === 0) continue;
    const share = Math.min(1, Math.max(0, ((to[0] - a[0]) * way[0] + (to[1] - a[1]) * way[1]) / length));
    const point: Point = [a[0] + share * way[0], a[1] + share * way[1]];
    const away = distance(point, to);
    if (best === null || away < (best as Near).distance) best = { point, distance: away, index, corner: false };
  }
  return best;
}

/** Fewer corners: none is further than `tolerance` from the new line (Douglas and Peucker). */
export function simplified(points: Point[], tolerance: number): Point[] {
  if (points.length < 3) return points;
  const kept = new Uint8Array(points.length);
  kept[0] = kept[points.length - 1] = 1;
  const open: [number, number][] = [[0, points.length - 1]];
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const [first, last] = range;
    let [far, at] = [tolerance, -1];
    for (let index = first + 1; index < last; index += 1) {
      const away = nearest([points[first] as Point, points[last] as Point], points[index] as Point, 1)?.distance ?? 0;
      if (away > far) [far, at] = [away, index];
    }
    if (at < 0) continue;
    kept[at] = 1;
    open.push([first, at], [at, last]);
  }
  return points.filter((_, index) => kept[index] === 1);
}

export function inside(polygon: Point[], [x, y]: Point): boolean {
  let found = false;
  polygon.forEach(([x0, y0], index) => {
    const [x1, y1] = polygon[(index + 1) % polygon.length] as Point;
    if (y0 > y !== y1 > y && x < ((x1 - x0) * (y - y0)) / (y1 - y0) + x0) found = !found;
  });
  return found;
}

/** The place on another line, on the region's outline or on the picture's edge that is within reach. */
export function joined(drawing: Drawing, size: [number, number], to: Point, reach: number, except = ""): Point | null {
  let best: Near | null = null;
  const lines = [...drawing.stroke].filter(([id]) => id !== except).map(([, stroke]) => stroke.points_px);
  if (drawing.region.length > 2) lines.push([...drawing.region, drawing.region[0] as Point]);
  const [right, low] = [size[0] - 1, size[1] - 1];
  lines.push([[0, 0], [right, 0], [right, low], [0, low], [0, 0]]);
  for (const line of lines) {
    const found = nearest(line, to);
    if (found !== null && found.distance <= reach && (best === null || found.distance < (best as Near).distance)) best = found;
  }
  return best === null ? null : (best as Near).point;
}
