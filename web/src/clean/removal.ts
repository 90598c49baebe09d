// What a removal removes, by the rules of the program, so that the page shows it at once.
import type { SentEvent } from "../shared/outbox.js";
import { pixelOf, type Piece } from "./piece.js";

export interface Lasso {
  projection: [number[], number[], number[]];
  points: [number, number][];
  depth_m?: [number, number];
  least_sigma_px?: number;
}

export interface Balls {
  centres_m: [number, number, number][];
  radius_m: number;
  least_sigma_px?: number;
}

export interface Polygon {
  view: string;
  points_px: [number, number][];
  least_sigma_px?: number;
}

export type Removal = SentEvent & { kind: "remove" } & (
    | { shape: "lassos"; entry: Lasso }
    | { shape: "balls"; entry: Balls }
    | { shape: "polygons"; entry: Polygon }
    | { shape: "boxes"; entry: { low_m: number[]; high_m: number[] } }
  );

/** Whether a closed line is around a place; even-odd where it crosses itself. */
export function encloses(corners: readonly [number, number][], x: number, y: number): boolean {
  let inside = false;
  for (let k = 0, before = corners.length - 1; k < corners.length; before = k++) {
    const [x0, y0] = corners[before] ?? [0, 0];
    const [x1, y1] = corners[k] ?? [0, 0];
    if (y0 <= y !== y1 <= y && x0 + ((y - y0) * (x1 - x0)) / (y1 - y0) <= x) inside = !inside;
  }
  return inside;
}

/** The places of the points of a piece that a removal removes. */
export function hits(piece: Piece, event: Removal): Uint32Array {
  const test = tester(piece, event);
  const least = "least_sigma_px" in event.entry ? (event.entry.least_sigma_px ?? 0) : 0;
  const found: number[] = [];
  for (let place = 0; place < piece.count; place++) {
    if (least > 0 && !((piece.sigma[place] ?? NaN) >= least)) continue;
    if (test(place)) found.push(place);
  }
  return Uint32Array.from(found);
}

function tester(piece: Piece, event: Removal): (place: number) => boolean {
  switch (event.shape) {
    case "lassos":
      return inLasso(piece, event.entry);
    case "balls":
      return nearBalls(piece, event.entry);
    case "polygons": {
      const { entry } = event;
      const [left, top, right, bottom] = bounds(entry.points_px);
      return (place) => {
        const [x, y] = pixelOf(piece, place);
        if (entry.view !== piece.header.side || x < left || x > right || y < top || y > bottom) return false;
        return encloses(entry.points_px, x, y);
      };
    }
    case "boxes":
      return (place) => [0, 1, 2].every((k) => {
        const value = piece.points[3 * place + k] ?? NaN;
        return value >= (event.entry.low_m[k] ?? 0) && value <= (event.entry.high_m[k] ?? 0);
      });
  }
}

export function bounds(points: readonly [number, number][]): [number, number, number, number] {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return [left, top, right, bottom];
}

function inLasso(piece: Piece, lasso: Lasso): (place: number) => boolean {
  const [low, high] = lasso.depth_m ?? [0, Infinity];
  const [left, top, right, bottom] = bounds(lasso.points);
  return (place) => {
    const [u, v, w] = projected(lasso.projection, piece.points, place);
    if (!(w > 0) || w < low || w > high || u < left || u > right || v < top || v > bottom) return false;
    return encloses(lasso.points, u, v);
  };
}

/** Where a screen shows a point, and how far in front of its eye. */
export function projected(rows: readonly number[][], points: Float32Array, place: number): [number, number, number] {
  const x = points[3 * place] ?? NaN;
  const y = points[3 * place + 1] ?? NaN;
  const z = points[3 * place + 2] ?? NaN;
  const [a, b, c] = rows as [number[], number[], number[]];
  const w = (c[0] ?? 0) * x + (c[1] ?? 0) * y + (c[2] ?? 0) * z + (c[3] ?? 0);
  return [
    ((a[0] ?? 0) * x + (a[1] ?? 0) * y + (a[2] ?? 0) * z + (a[3] ?? 0)) / w,
    ((b[0] ?? 0) * x + (b[1] ?? 0) * y + (b[2] ?? 0) * z + (b[3] ?? 0)) / w,
    w,
  ];
}

function nearBalls(piece: Piece, balls: Balls): (place: number) => boolean {
  const { points } = piece;
  const radius = balls.radius_m;
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (const centre of balls.centres_m) {
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k] ?? 0, (centre[k] ?? 0) - radius);
      high[k] = Math.max(high[k] ?? 0, (centre[k] ?? 0) + radius);
    }
  }
  return (place) => {
    for (let k = 0; k < 3; k++) {
      const value = points[3 * place + k] ?? NaN;
      if (!(value >= (low[k] ?? 0)) || value > (high[k] ?? 0)) return false;
    }
    return balls.centres_m.some(([x, y, z]) => {
      const dx = (points[3 * place] ?? 0) - x;
      const dy = (points[3 * place + 1] ?? 0) - y;
      const dz = (points[3 * place + 2] ?? 0) - z;
      return dx * dx + dy * dy + dz * dz <= radius * radius;
    });
  };
}
