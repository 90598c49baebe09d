// The camera of the photograph: arrows and grids in true perspective, and focal lengths from vanishing points.
import type { Point, Vector } from "./model.js";

export interface Camera {
  focal: number;
  /** The principal point: the middle of the picture. */
  middle: Point;
}

const sum = (a: Vector, b: Vector, factor = 1): Vector => [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]];
const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

export function unit(a: Vector): Vector {
  const length = Math.hypot(...a) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
}

/** The point at depth 1 that is seen at a pixel. */
export function seen(camera: Camera, [x, y]: Point): Vector {
  return [(x - camera.middle[0]) / camera.focal, (y - camera.middle[1]) / camera.focal, 1];
}

export function projected(camera: Camera, [x, y, z]: Vector): Point {
  const depth = Math.max(z, 1e-3);
  return [camera.middle[0] + (camera.focal * x) / depth, camera.middle[1] + (camera.focal * y) / depth];
}

/** The normal that looks straight at the viewer. */
export function facing(camera: Camera, at: Point): Vector {
  const ray = unit(seen(camera, at));
  return [-ray[0], -ray[1], -ray[2]];
}

/** Where the tip of an arrow is seen whose length is `reach` pixels of the photograph. */
export function tipOf(camera: Camera, at: Point, normal: Vector, reach: number): Point {
  return projected(camera, sum(seen(camera, at), normal, reach / camera.focal));
}

/** The normal whose tip is seen at a place: the nearer point of a ball around the foot that its ray meets. */
export function normalFromTip(camera: Camera, at: Point, tip: Point, reach: number): Vector {
  const foot = seen(camera, at);
  const ray = unit(seen(camera, tip));
  const radius = reach / camera.focal;
  const along = dot(ray, foot);
  const rest = along ** 2 - dot(foot, foot) + radius ** 2;
  const away = rest > 0 ? along - Math.sqrt(rest) : along;
  return unit(sum([ray[0] * away, ray[1] * away, ray[2] * away], foot, -1));
}

/** The lines of a grid on the plane of a normal, as pairs of points. */
export function gridOf(camera: Camera, at: Point, normal: Vector, reach: number): [Point, Point][] {
  const foot = seen(camera, at);
  const size = (0.7 * reach) / camera.focal;
  const up: Vector = Math.abs(normal[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0];
  const u = unit(cross(normal, up));
  const v = cross(normal, u);
  const place = (a: number, b: number): Point => projected(camera, sum(sum(foot, u, a * size), v, b * size));
  return [-1, -0.5, 0, 0.5, 1].flatMap((step): [Point, Point][] => [
    [place(-1, step), place(1, step)],
    [place(step, -1), place(step, 1)],
  ]);
}

export type Line = [Point, Point];

/** The focal length at which two pairs of lines are parallel in space, and the pairs orthogonal; or why there is none. */
export function focalFromLines(middle: Point, [a, b]: [Line, Line], [c, d]: [Line, Line], size: number): number | string {
  const [first, second] = [meeting(a, b, size), meeting(c, d, size)];
  if (first === null || second === null) return "Two of these lines are parallel in the picture: choose a direction that runs away from you.";
  const square = -((first[0] - middle[0]) * (second[0] - middle[0]) + (first[1] - middle[1]) * (second[1] - middle[1]));
  if (!(square > 0)) return "No camera sees these lines as two orthogonal directions: draw them again, along edges that are orthogonal in space.";
  const focal = Math.sqrt(square);
  return focal < 0.1 * size || focal > 50 * size ? "These lines tell nothing about the focal length: choose lines that converge more." : focal;
}

function meeting([[x1, y1], [x2, y2]]: Line, [[x3, y3], [x4, y4]]: Line, size: number): Point | null {
  const below = (x1 - x2) * (y3 - y4) - (y1 - y2) * (x3 - x4);
  const lengths = Math.hypot(x1 - x2, y1 - y2) * Math.hypot(x3 - x4, y3 - y4);
  if (Math.abs(below) < 1e-4 * lengths || lengths === 0) return null;
  const [left, right] = [x1 * y2 - y1 * x2, x3 * y4 - y3 * x4];
  const found: Point = [(left * (x3 - x4) - (x1 - x2) * right) / below, (left * (y3 - y4) - (y1 - y2) * right) / below];
  return Math.hypot(...found) > 1e4 * size ? null : found;
}
