// What the pointer does with each tool. Keys move a pointer of their own, so every tool works with both.
import { facing, focalFromLines, normalFromTip, tipOf, type Line } from "./camera.js";
import type { Board, Chosen, ToolName } from "./board.js";
import { distance, nearest, simplified } from "./geometry.js";
import { rounded, type Change, type NormalMark, type Point } from "./model.js";

export interface Tool {
  /** Whether a press is held while it moves, or is done at once. */
  readonly drags: boolean;
  down(at: Point, free: boolean): void;
  move(at: Point, free: boolean): void;
  up(at: Point, free: boolean): void;
  /** Ends a line that is being drawn. */
  finish?(): void;
  /** Takes the last corner back; whether there was one. */
  back?(): boolean;
}

/** Changes nothing: for who only looks. */
export const NOTHING: Tool = { drags: true, down: () => undefined, move: () => undefined, up: () => undefined };

const HIT = 10;
const FREEHAND = 6;

/** Draws the region, occlusions and folds: by clicks from corner to corner, or by hand. */
class LineTool implements Tool {
  readonly drags = false;
  #pressed: Point | null = null;
  #byHand: Point[] = [];

  constructor(readonly board: Board, readonly kind: "region" | "sharp" | "smooth" | "fold") {}

  down(at: Point): void {
    this.#pressed = at;
    this.#byHand = [];
  }

  move(at: Point, free: boolean): void {
    const { board } = this;
    if (this.#pressed !== null && (this.#byHand.length > 0 || distance(at, this.#pressed) > board.px(FREEHAND))) {
      if (this.#byHand.length === 0) this.#byHand.push(board.snapped(this.#pressed, free));
      if (distance(at, this.#byHand[this.#byHand.length - 1] as Point) > board.px(2)) this.#byHand.push(rounded(at));
      board.tail = this.#byHand;
    } else if (board.line.length > 0) {
      board.tail = this.#way(board.snapped(at, free), free);
    } else return;
    board.hooks.redraw();
  }

  up(at: Point, free: boolean): void {
    const { board } = this;
    this.#pressed = null;
    const byHand = this.#byHand.splice(0);
    const end = board.snapped(at, free);
    if (byHand.length > 1) {
      const whole = board.line.length === 0;
      byHand.push(end);
      board.line = [...board.line, ...simplified(byHand, board.px(0.8))];
      board.tail = [];
      if (whole) this.finish();
      else board.hooks.redraw();
      return;
    }
    const last = board.line[board.line.length - 1];
    const first = board.line[0];
    if (last !== undefined && distance(last, end) < board.px(3)) return this.finish();
    board.line = last === undefined ? [end] : [...board.line, ...this.#way(end, free)];
    board.tail = [];
    if (first !== undefined && board.line.length > 3 && distance(first, end) < 1e-9) return this.finish();
    board.hooks.say(board.line.length === 1 ? "Click along the line; Enter or a double click ends it." : "");
    board.hooks.redraw();
  }

  finish(): void {
    const { board, kind } = this;
    const points = board.line.filter((point, index) => index === 0 || distance(point, board.line[index - 1] as Point) > 1e-9);
    if (points.length === 0) return;
    board.cancel();
    if (kind === "region") this.#region(points);
    else if (points.length < 2) board.hooks.say("A line needs two points; this one was not kept.");
    else {
      const id = board.fresh(kind === "fold" ? "f" : "o", board.story.now.stroke);
      board.chosen = { what: "stroke", id, corner: -1 };
      if (kind === "fold") board.commit([{ event: "stroke", id, kind: "fold", points_px: points, smooth: false }]);
      else {
        board.commit([{ event: "stroke", id, kind: "occlusion", points_px: points, smooth: kind === "smooth", closer: board.closer }]);
        board.hooks.say("The ticks are on the nearer side; X puts them on the other one.");
      }
    }
  }

  #region(points: Point[]): void {
    const { board } = this;
    if (points.length > 3 && distance(points[0] as Point, points[points.length - 1] as Point) < 1e-9) points.pop();
    if (points.length < 3) return board.hooks.say("A region needs three corners; this one was not kept.");
    board.commit([{ event: "region", points_px: points }]);
  }

  back(): boolean {
    if (this.board.line.length === 0) return false;
    this.board.line = this.board.line.slice(0, -1);
    this.board.tail = [];
    this.board.hooks.redraw();
    return true;
  }

  #way(to: Point, free: boolean): Point[] {
    const { board } = this;
    const last = board.line[board.line.length - 1];
    if (!board.follows || free || board.edges === null || last === undefined) return [to];
    return board.edges.followed(last, to).map((point) => rounded(point));
  }
}

/** Chooses and moves: corners of lines, lines, the feet and tips of normals, marks. */
class SelectTool implements Tool {
  readonly drags = true;
  #held: { chosen: Chosen; tip: boolean; start: Point; offset: Point } | null = null;

  constructor(readonly board: Board) {}

  down(at: Point): void {
    const { board } = this;
    const found = this.#hit(at);
    board.chosen = found?.chosen ?? null;
    const normal = found?.tip === true ? board.story.now.normal.get(found.chosen.id) : undefined;
    const tip = normal === undefined || found === null ? at : tipOf(board.camera, normal.at_px, normal.normal, board.reachOf(found.chosen.id));
    this.#held = found === null ? null : { ...found, start: at, offset: [tip[0] - at[0], tip[1] - at[1]] };
    board.hooks.redraw();
  }

  move(at: Point, free: boolean): void {
    const held = this.#held;
    if (held === null || distance(at, held.start) < this.board.px(1.5)) return;
    const { board } = this;
    const now = board.story.now;
    const { what, id, corner } = held.chosen;
    if (what === "stroke" && corner >= 0) {
      const stroke = now.stroke.get(id);
      if (stroke !== undefined) board.attempt([{ event: "stroke", id, ...stroke, points_px: moved(stroke.points_px, corner, board.snapped(at, free, id)) }]);
    } else if (what === "region") {
      board.attempt([{ event: "region", points_px: now.region.map((point, index) => (index === corner ? board.snapped(at, free) : point)) }]);
    } else if (what === "normal") {
      const mark = now.normal.get(id);
      if (mark === undefined) return;
      const change: NormalMark = held.tip ? { ...mark, normal: turned(board, id, mark.at_px, [at[0] + held.offset[0], at[1] + held.offset[1]]) } : { ...mark, at_px: rounded(at) };
      board.attempt([{ event: "normal", id, ...change }]);
    } else if (what === "surface") {
      const mark = now.surface.get(id);
      if (mark !== undefined) board.attempt([{ event: "surface", id, ...mark, at_px: rounded(at) }]);
    } else if (what === "stroke") {
      const stroke = now.stroke.get(id);
      const near = nearest(stroke?.points_px ?? [], held.start);
      if (stroke === undefined || near === null) return;
      // A line that is pulled between two corners gets another one there.
      const points_px: Point[] = [...stroke.points_px.slice(0, near.index + 1), board.snapped(at, free, id), ...stroke.points_px.slice(near.index + 1)];
      board.attempt([{ event: "stroke", id, ...stroke, points_px }]);
    }
  }

  up(): void {
    this.#held = null;
    this.board.commit(this.board.trial);
  }

  #hit(at: Point): { chosen: Chosen; tip: boolean } | null {
    const { board } = this;
    const now = board.story.now;
    const reach = board.px(HIT);
    const { chosen } = board;
    const points = chosen?.what === "stroke" ? now.stroke.get(chosen.id)?.points_px : chosen?.what === "region" ? now.region : undefined;
    const corner = points?.[chosen?.corner ?? -1];
    if (chosen !== null && corner !== undefined && distance(at, corner) < reach) return { chosen, tip: false };
    for (const [id, mark] of now.normal) {
      const tip = tipOf(board.camera, mark.at_px, mark.normal, board.reachOf(id));
      if (distance(at, mark.at_px) < reach) return { chosen: { what: "normal", id, corner: -1 }, tip: false };
      if (distance(at, tip) < reach) return { chosen: { what: "normal", id, corner: -1 }, tip: true };
    }
    let best: { chosen: Chosen; tip: boolean } | null = null;
    let least = reach;
    for (const [id, stroke] of now.stroke) {
      const near = nearest(stroke.points_px, at);
      if (near !== null && near.distance < least) {
        least = near.distance;
        best = { chosen: { what: "stroke", id, corner: near.corner ? near.index : -1 }, tip: false };
      }
    }
    if (best !== null) return best;
    const index = now.region.findIndex((point) => distance(point, at) < reach);
    if (index >= 0) return { chosen: { what: "region", id: "", corner: index }, tip: false };
    for (const [id, mark] of now.surface) if (distance(mark.at_px, at) < reach) return { chosen: { what: "surface", id, corner: -1 }, tip: false };
    return null;
  }
}

/** A corner moved; of a closed line, its first and last corner stay together. */
function moved(points: Point[], corner: number, to: Point): Point[] {
  const last = points.length - 1;
  const closed = last > 1 && distance(points[0] as Point, points[last] as Point) < 1e-9;
  return points.map((point, index) => (index === corner || (closed && corner % last === 0 && index % last === 0) ? to : point));
}

function turned(board: Board, id: string, foot: Point, tip: Point): NormalMark["normal"] {
  return rounded(normalFromTip(board.camera, foot, tip, board.reachOf(id)), 5);
}

/** Sets normals: press where it stands, drag its tip. */
class NormalTool implements Tool {
  readonly drags = true;
  #id = "";
  #foot: Point = [0, 0];
  /** From the pointer to the tip, for an arrow that was there before. */
  #offset: Point = [0, 0];

  constructor(readonly board: Board) {}

  down(at: Point): void {
    const { board } = this;
    const reach = board.px(HIT);
    for (const [id, mark] of board.story.now.normal) {
      const tip = tipOf(board.camera, mark.at_px, mark.normal, board.reachOf(id));
      // Tips of the others are often above surfaces that get normals of their own.
      if (distance(at, mark.at_px) > reach && (board.chosen?.id !== id || distance(at, tip) > reach)) continue;
      this.#id = id;
      this.#foot = mark.at_px;
      board.chosen = { what: "normal", id, corner: -1 };
      // Now that it is chosen, its tip is further out.
      const large = tipOf(board.camera, mark.at_px, mark.normal, board.reachOf(id));
      this.#offset = [large[0] - at[0], large[1] - at[1]];
      return board.hooks.redraw();
    }
    this.#id = board.fresh("n", board.story.now.normal);
    this.#foot = rounded(at);
    this.#offset = [0, 0];
    board.chosen = { what: "normal", id: this.#id, corner: -1 };
    board.attempt([{ event: "normal", id: this.#id, at_px: this.#foot, normal: rounded(facing(board.camera, at), 5) }]);
  }

  move(at: Point): void {
    if (this.#id === "") return;
    const tip: Point = [at[0] + this.#offset[0], at[1] + this.#offset[1]];
    this.board.attempt([{ event: "normal", id: this.#id, at_px: this.#foot, normal: turned(this.board, this.#id, this.#foot, tip) }]);
  }

  up(): void {
    this.#id = "";
    this.board.commit(this.board.trial);
  }
}

/** Says that a surface is planar or curved. */
class ShapeTool implements Tool {
  readonly drags = false;

  constructor(readonly board: Board, readonly shape: "planar" | "curved") {}

  down(): void {}

  move(): void {}

  up(at: Point): void {
    const { board, shape } = this;
    board.commit([marked(board, at, shape).change]);
    board.hooks.say(`This surface is ${shape}.`);
  }
}

/** The mark of the surface at a place, with a shape: the one that is there, or a new one. */
function marked(board: Board, at: Point, shape: "planar" | "curved"): { id: string; change: Change } {
  const now = board.story.now;
  const there = (board.surfaceAt(at)?.marks ?? []).filter((id) => now.surface.has(id));
  const id = there[there.length - 1] ?? board.fresh("m", now.surface);
  return { id, change: { event: "surface", id, at_px: now.surface.get(id)?.at_px ?? rounded(at), shape } };
}

/** Says how two planes are turned to each other. */
class RelationTool implements Tool {
  readonly drags = false;

  constructor(readonly board: Board) {}

  down(): void {}

  move(): void {}

  up(at: Point): void {
    const { board } = this;
    const now = board.story.now;
    const { id, change } = marked(board, at, "planar");
    if (now.surface.get(id)?.shape === "curved") return board.hooks.say("This surface is curved; only planes have relations. P and a click make it planar.");
    const fresh = now.surface.has(id) ? [] : [change];
    const first = board.firstPlane;
    if (first === "" || !now.surface.has(first)) {
      board.commit(fresh);
      board.firstPlane = id;
      board.hooks.say(`Now click the plane that is ${board.relationKind === "neither" ? "neither parallel nor orthogonal" : board.relationKind} to it.`);
      return board.hooks.redraw();
    }
    board.firstPlane = "";
    if (first === id) return board.hooks.say("These are the same plane; choose two.");
    const known = [...now.relation].find(([, one]) => (one.first === first && one.second === id) || (one.first === id && one.second === first));
    board.commit([...fresh, { event: "relation", id: known?.[0] ?? board.fresh("r", now.relation), first, second: id, kind: board.relationKind }]);
    board.hooks.say(`These planes are ${board.relationKind === "neither" ? "neither parallel nor orthogonal" : board.relationKind}.`);
  }
}

/** Finds the focal length: two lines that are parallel in space, and two that are orthogonal to them. */
class FocalTool implements Tool {
  readonly drags = true;
  #start: Point | null = null;

  constructor(readonly board: Board) {}

  down(at: Point): void {
    if (this.board.focalLines.length >= 4) this.board.focalLines = [];
    this.#start = at;
  }

  move(at: Point): void {
    if (this.#start === null) return;
    this.board.tail = [this.#start, at];
    this.board.hooks.redraw();
  }

  up(at: Point): void {
    const { board } = this;
    const start = this.#start;
    this.#start = null;
    board.tail = [];
    if (start === null) return;
    if (distance(start, at) < board.px(12)) return board.hooks.say("Drag along an edge, from one end to the other.");
    board.focalLines = [...board.focalLines, [start, at] as Line];
    const [a, b, c, d] = board.focalLines;
    if (a === undefined || b === undefined || c === undefined || d === undefined) {
      const next = ["", "Now an edge that is parallel to it in space.", "Now an edge that is orthogonal to both in space.", "Now one that is parallel to the last."];
      return board.hooks.say(next[board.focalLines.length] ?? "");
    }
    const [width, height] = board.size;
    const found = focalFromLines(board.camera.middle, [a, b], [c, d], Math.max(width, height));
    if (typeof found === "string") {
      board.focalLines = [];
      return board.hooks.say(found);
    }
    board.commit([{ event: "focal", focal_px: Number(found.toFixed(1)), source: "given" }]);
    board.hooks.say(`The focal length is ${found.toFixed(0)} px.`);
  }
}

export function toolsOf(board: Board): Record<ToolName, Tool> {
  return {
    select: new SelectTool(board),
    region: new LineTool(board, "region"),
    sharp: new LineTool(board, "sharp"),
    smooth: new LineTool(board, "smooth"),
    fold: new LineTool(board, "fold"),
    planar: new ShapeTool(board, "planar"),
    curved: new ShapeTool(board, "curved"),
    normal: new NormalTool(board),
    relation: new RelationTool(board),
    focal: new FocalTool(board),
  };
}
