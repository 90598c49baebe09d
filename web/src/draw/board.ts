// Everything that tools, painter and page share: the drawing, what is being tried, what is chosen, what is seen.
import type { View } from "../compare/view.js";
import type { Camera, Line } from "./camera.js";
import type { Edges } from "./edges.js";
import { joined } from "./geometry.js";
import { after, rounded, type Change, type Drawing, type Header, type Point, type Relation, type Thing } from "./model.js";
import type { Preview, Surface } from "./preview.js";
import { randomName } from "./sender.js";
import { Story } from "./story.js";

export type ToolName = "select" | "region" | "sharp" | "smooth" | "fold" | "planar" | "curved" | "normal" | "relation" | "focal";

export interface Chosen {
  what: Thing | "region";
  id: string;
  /** The corner of a line, -1 for the whole. */
  corner: number;
}

interface Hooks {
  committed(changes: Change[]): void;
  /** Something is being tried that a preview can show. */
  tried(changes: Change[]): void;
  redraw(): void;
  say(text: string): void;
}

/** Length of the arrows of normals, in pixels of the page. */
const ARROW = 80;
const SMALL_ARROW = 34;
const JOIN = 9;
const SNAP = 7;

export class Board {
  tool: ToolName = "sharp";
  chosen: Chosen | null = null;
  /** Changes that are not made yet: a corner or an arrow that is being dragged. */
  trial: Change[] = [];
  /** The line that is being drawn, and its way to the pointer. */
  line: Point[] = [];
  tail: Point[] = [];
  focalLines: Line[] = [];
  /** The first of two planes, by its mark. */
  firstPlane = "";
  relationKind: Relation["kind"] = "parallel";
  closer: "left" | "right" = "right";
  snaps = true;
  follows = false;
  tints = true;
  /** The place that keys move. */
  cursor: Point | null = null;
  preview: Preview | null = null;
  edges: Edges | null = null;
  readonly story: Story;
  readonly #suffix = randomName(3);
  #numbers = 0;

  constructor(readonly header: Header, start: Drawing, readonly view: View, readonly hooks: Hooks) {
    this.story = new Story(start);
  }

  get size(): [number, number] {
    return [this.header.picture.width_px, this.header.picture.height_px];
  }

  /** The drawing with what is being tried. */
  get shown(): Drawing {
    return this.trial.reduce(after, this.story.now);
  }

  get camera(): Camera {
    const [width, height] = this.size;
    return { focal: this.shown.focal.focal_px, middle: [(width - 1) / 2, (height - 1) / 2] };
  }

  /** Pixels of the page as pixels of the photograph. */
  px(pagePixels: number): number {
    return (pagePixels * (window.devicePixelRatio || 1)) / this.view.zoom;
  }

  /** Length of an arrow, in pixels of the photograph at the depth of its foot; the chosen one is larger. */
  reachOf(id: string): number {
    return this.px(this.chosen?.what === "normal" && this.chosen.id === id ? ARROW : SMALL_ARROW);
  }

  /** A name that no other tab gives. */
  fresh(letter: string, things: Map<string, unknown>): string {
    this.#numbers = Math.max(this.#numbers, things.size) + 1;
    return `${letter}${this.#numbers}-${this.#suffix}`;
  }

  commit(changes: Change[]): void {
    this.trial = [];
    if (changes.length === 0) return;
    this.hooks.committed(this.story.make(changes));
    this.hooks.redraw();
  }

  attempt(changes: Change[]): void {
    this.trial = changes;
    this.hooks.tried(changes);
    this.hooks.redraw();
  }

  /** Gives up what is being tried or drawn; whether there was anything. */
  cancel(): boolean {
    const any = this.trial.length + this.line.length + this.focalLines.length > 0 || this.firstPlane !== "";
    const tried = this.trial.length > 0;
    this.trial = [];
    this.line = [];
    this.tail = [];
    this.focalLines = [];
    this.firstPlane = "";
    if (tried) this.hooks.tried([]);
    this.hooks.redraw();
    return any;
  }

  /** The place that is meant: on another line, on an edge of the picture, or as it is. */
  snapped(at: Point, free: boolean, except = ""): Point {
    const raw = free || !this.snaps;
    const own = this.line.length > 2 ? (this.line[0] as Point) : null;
    // A line closes where it began, even if nothing else snaps.
    if (own !== null && Math.hypot(own[0] - at[0], own[1] - at[1]) < this.px(raw ? 2 : JOIN)) return own;
    if (raw) return rounded(at);
    return rounded(joined(this.shown, this.size, at, this.px(JOIN), except) ?? this.edges?.snapped(at, this.px(SNAP)) ?? at);
  }

  /** The smooth surface at a place, as the server found it. */
  surfaceAt([x, y]: Point): Surface | null {
    const found = this.preview;
    if (found === null) return null;
    const [width, height] = this.size;
    const column = Math.min(found.width - 1, Math.max(0, Math.floor(((x + 0.5) * found.width) / width)));
    const row = Math.min(found.height - 1, Math.max(0, Math.floor(((y + 0.5) * found.height) / height)));
    const number = found.labels[row * found.width + column] ?? 0;
    return found.surfaces.find((surface) => surface.number === number) ?? null;
  }

  /** Removes what is chosen: a corner of a line, or the whole thing with what names it. */
  removeChosen(): void {
    const { chosen } = this;
    if (chosen === null) return;
    const now = this.story.now;
    if (chosen.what === "region") this.commit([{ event: "region", points_px: chosen.corner >= 0 && now.region.length > 3 ? now.region.filter((_, index) => index !== chosen.corner) : [] }]);
    else if (chosen.what === "stroke" && chosen.corner >= 0 && (now.stroke.get(chosen.id)?.points_px.length ?? 0) > 2) {
      const stroke = now.stroke.get(chosen.id);
      if (stroke !== undefined) this.commit([{ event: "stroke", id: chosen.id, ...stroke, points_px: stroke.points_px.filter((_, index) => index !== chosen.corner) }]);
      this.chosen = { ...chosen, corner: -1 };
      return;
    } else {
      const related = chosen.what === "surface" ? [...now.relation].filter(([, relation]) => relation.first === chosen.id || relation.second === chosen.id) : [];
      this.commit([...related.map(([id]): Change => ({ event: "remove", id, what: "relation" })), { event: "remove", id: chosen.id, what: chosen.what }]);
    }
    this.chosen = null;
  }

  /** The nearer side of the chosen occlusion becomes the other one. */
  flipChosen(): void {
    const stroke = this.chosen?.what === "stroke" ? this.story.now.stroke.get(this.chosen.id) : undefined;
    if (this.chosen === null || stroke === undefined || stroke.kind !== "occlusion") {
      this.closer = this.closer === "right" ? "left" : "right";
      this.hooks.say(`New lines have their nearer side on the ${this.closer}, as you walk along them.`);
      this.hooks.redraw();
      return;
    }
    this.closer = stroke.closer === "right" ? "left" : "right";
    this.commit([{ event: "stroke", id: this.chosen.id, ...stroke, closer: this.closer }]);
  }

  /** The chosen line becomes one of another kind. */
  retypeChosen(tool: "sharp" | "smooth" | "fold"): boolean {
    const stroke = this.chosen?.what === "stroke" ? this.story.now.stroke.get(this.chosen.id) : undefined;
    if (this.chosen === null || stroke === undefined) return false;
    const points_px = stroke.points_px;
    this.commit([
      tool === "fold"
        ? { event: "stroke", id: this.chosen.id, kind: "fold", points_px, smooth: false }
        : { event: "stroke", id: this.chosen.id, kind: "occlusion", points_px, smooth: tool === "smooth", closer: stroke.closer ?? this.closer },
    ]);
    return true;
  }

  /** Everything that can be chosen, in a fixed order, with a place for each. */
  things(): [Chosen, Point][] {
    const { stroke, normal, surface } = this.story.now;
    return [
      ...[...stroke].map(([id, one]): [Chosen, Point] => [{ what: "stroke", id, corner: -1 }, one.points_px[Math.floor(one.points_px.length / 2)] ?? [0, 0]]),
      ...[...normal].map(([id, one]): [Chosen, Point] => [{ what: "normal", id, corner: -1 }, one.at_px]),
      ...[...surface].map(([id, one]): [Chosen, Point] => [{ what: "surface", id, corner: -1 }, one.at_px]),
    ];
  }

  /** The thing before or after the chosen one, and its place. */
  neighbour(step: number): [Chosen, Point] | null {
    const things = this.things();
    const now = things.findIndex(([one]) => one.what === this.chosen?.what && one.id === this.chosen.id);
    const found = things[(now + step + things.length) % Math.max(1, things.length)];
    return found === undefined ? null : [found[0], [...found[1]]];
  }

  /** Chooses the corner before or after; says which it is, or nothing if there is none. */
  chooseCorner(step: number): string {
    const { chosen } = this;
    const points = chosen?.what === "stroke" ? this.story.now.stroke.get(chosen.id)?.points_px : chosen?.what === "region" ? this.story.now.region : undefined;
    if (chosen === null || points === undefined || points.length === 0) return "";
    const corner = (Math.max(chosen.corner, step > 0 ? -1 : 0) + step + points.length) % points.length;
    this.chosen = { ...chosen, corner };
    this.cursor = [...(points[corner] as Point)];
    return `Corner ${corner + 1} of ${points.length}.`;
  }

  /** What is chosen, in words. */
  get called(): string {
    const { chosen } = this;
    if (chosen === null) return "nothing";
    if (chosen.what === "region") return "the region";
    if (chosen.what === "normal") return `normal ${chosen.id}`;
    if (chosen.what === "surface") return `${this.story.now.surface.get(chosen.id)?.shape ?? ""} surface ${chosen.id}`;
    const stroke = this.story.now.stroke.get(chosen.id);
    return `${stroke?.kind === "fold" ? "fold" : stroke?.smooth === true ? "smooth occlusion" : "sharp occlusion"} ${chosen.id}`;
  }
}
