// What a person has drawn, and the events that change it: the words of annotation records (docs/annotation-records.md).

/** x, y in pixels of the photograph, pixel centres at integers. */
export type Point = [number, number];
/** x right, y down, z forward: the z of a visible surface is negative. */
export type Vector = [number, number, number];
export type Thing = "stroke" | "surface" | "normal" | "relation";

export interface Stroke {
  kind: "occlusion" | "fold";
  points_px: Point[];
  smooth: boolean;
  closer?: "left" | "right";
}

export interface SurfaceMark {
  at_px: Point;
  shape: "planar" | "curved";
}

export interface NormalMark {
  at_px: Point;
  normal: Vector;
}

export interface Relation {
  first: string;
  second: string;
  kind: "parallel" | "orthogonal" | "neither";
}

export interface Focal {
  focal_px: number;
  source: "exif" | "given" | "assumed";
}

export interface Drawing {
  region: Point[];
  focal: Focal;
  stroke: Map<string, Stroke>;
  surface: Map<string, SurfaceMark>;
  normal: Map<string, NormalMark>;
  relation: Map<string, Relation>;
  finished: boolean;
}

/** An event without its time. */
export type Change =
  | ({ event: "stroke"; id: string } & Stroke)
  | ({ event: "surface"; id: string } & SurfaceMark)
  | ({ event: "normal"; id: string } & NormalMark)
  | ({ event: "relation"; id: string } & Relation)
  | ({ event: "focal" } & Focal)
  | { event: "region"; points_px: Point[] }
  | { event: "remove"; id: string; what: Thing }
  | { event: "finish" }
  | { event: "reopen" };

export type Recorded = Change & { at?: string; who?: string; by?: string; seconds?: number };

export interface Header {
  picture: { id: string; width_px: number; height_px: number };
  focal: Focal;
  must_contain_px: Point[];
}

const THINGS: Thing[] = ["stroke", "surface", "normal", "relation"];

export function empty(header: Header): Drawing {
  return {
    region: [],
    focal: header.focal,
    stroke: new Map(),
    surface: new Map(),
    normal: new Map(),
    relation: new Map(),
    finished: false,
  };
}

/** The drawing after one more event; the one before stays as it was. */
export function after(before: Drawing, change: Recorded): Drawing {
  switch (change.event) {
    case "region":
      return { ...before, region: change.points_px };
    case "focal":
      return { ...before, focal: { focal_px: change.focal_px, source: change.source } };
    case "finish":
    case "reopen":
      return { ...before, finished: change.event === "finish" };
    case "remove": {
      const things = new Map(before[change.what] as Map<string, unknown>);
      things.delete(change.id);
      return { ...before, [change.what]: things };
    }
    default: {
      const things = new Map(before[change.event] as Map<string, unknown>);
      things.set(change.id, bare(change));
      return { ...before, [change.event]: things };
    }
  }
}

/** What is drawn, without what is said about the event. */
function bare(change: Recorded): unknown {
  const { event: _event, at: _at, who: _who, by: _by, seconds: _seconds, ...value } = change as Recorded & { id?: string };
  delete value.id;
  return value;
}

/** Events that turn one drawing into another, the order of its parts included. */
export function difference(before: Drawing, wanted: Drawing): Change[] {
  const found: Change[] = [];
  if (!same(before.region, wanted.region)) found.push({ event: "region", points_px: wanted.region });
  if (!same(before.focal, wanted.focal)) found.push({ event: "focal", ...wanted.focal });
  for (const thing of THINGS) found.push(...differing(thing, before[thing], wanted[thing]));
  if (before.finished !== wanted.finished) found.push({ event: wanted.finished ? "finish" : "reopen" });
  return found;
}

function differing(what: Thing, before: Map<string, unknown>, wanted: Map<string, unknown>): Change[] {
  // What is drawn again comes last, so all that follows it is drawn again as well.
  const kept = [...before.keys()].filter((id) => wanted.has(id));
  const order = [...wanted.keys()];
  let equal = 0;
  while (equal < kept.length && kept[equal] === order[equal]) equal += 1;
  const first = new Set(kept.slice(0, equal));
  const removed: Change[] = [...before.keys()].filter((id) => !first.has(id)).map((id) => ({ event: "remove", id, what }));
  const drawn = [...wanted].filter(([id, value]) => !first.has(id) || !same(before.get(id), value));
  return [...removed, ...drawn.map(([id, value]) => ({ event: what, id, ...(value as object) }) as Change)];
}

export function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** Numbers as they are recorded: a hundredth of a pixel is more than a hand can do. */
export function rounded<T extends number[]>(values: T, digits = 2): T {
  return values.map((value) => Number(value.toFixed(digits))) as T;
}
