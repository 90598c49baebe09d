// The server's view of a drawing: surfaces in 3D, tints and problems. Of several questions only the newest counts.
import type { Change, Point } from "./model.js";
import { postJson } from "./post.js";

export interface Surface {
  number: number;
  shape: "planar" | "curved";
  continuous: number;
  at_px: Point;
  marks: string[];
  normals: string[];
}

export interface Problem {
  text: string;
  at_px: Point | null;
}

export interface Preview {
  revision: number;
  width: number;
  height: number;
  focal: number;
  middle: Point;
  /** 0 where there is none. */
  depth: Float32Array;
  /** Bit 0: depth continues to the right; bit 1: downwards. */
  links: Uint8Array;
  /** The smooth surface of each pixel, 0 outside. */
  labels: Uint16Array;
  surfaces: Surface[];
  /** Null for a draft. */
  problems: Problem[] | null;
  notes: string[];
}

interface Extra {
  schema: number;
  revision: number;
  labels: number;
  surfaces: Surface[];
  problems: Problem[] | null;
}

interface Payload {
  schema: number;
  size_px: [number, number];
  box: [number, number, number, number];
  focal_px: number;
  centre_px: Point;
  log_depth: { low: number; step: number };
  notes: string[];
}

/** Reads an answer; `serve/desk/previews.py` and `annotate/payload.py` have its layout. */
export function readPreview(content: ArrayBuffer): Preview {
  const [extra, labelsAt] = readJson<Extra>(content, 0);
  const [payload, pixelsAt] = readJson<Payload>(content, labelsAt + extra.labels);
  if (extra.schema !== 1 || payload.schema !== 1) throw new Error("The server is newer than this page: reload it.");
  const [width, height] = payload.size_px;
  const count = width * height;
  const [left, top, right, bottom] = payload.box;
  if (left !== 0 || top !== 0 || right !== width || bottom !== height) throw new Error("The preview is not complete.");
  const codes = new Uint16Array(content.slice(pixelsAt, pixelsAt + 2 * count));
  const links = new Uint8Array(content, pixelsAt + 2 * count, count);
  const { low, step } = payload.log_depth;
  return {
    revision: extra.revision,
    width,
    height,
    focal: payload.focal_px,
    middle: payload.centre_px,
    depth: Float32Array.from(codes, (code) => (code === 0 ? 0 : Math.exp(low + (code - 1) * step))),
    links,
    labels: extra.labels > 0 ? new Uint16Array(content.slice(labelsAt, labelsAt + extra.labels)) : Uint16Array.from(links, (bits) => bits >> 4),
    surfaces: extra.surfaces,
    problems: extra.problems,
    notes: payload.notes,
  };
}

function readJson<T>(content: ArrayBuffer, at: number): [T, number] {
  const length = new DataView(content).getUint32(at, true);
  const text = new TextDecoder().decode(new Uint8Array(content, at + 4, length));
  return [JSON.parse(text) as T, at + 4 + length];
}

interface Hooks {
  shown(preview: Preview, milliseconds: number): void;
  failed(text: string): void;
}

/** Asks one question at a time; while one is open, only the newest of those that follow is remembered. */
export class Asker {
  #number = 0;
  #open = false;
  #next: Change[] | null = null;

  constructor(readonly url: string, readonly tab: string, readonly csrf: string, readonly hooks: Hooks) {}

  ask(draft: Change[] = []): void {
    this.#next = draft;
    if (!this.#open) void this.#work().finally(() => (this.#open = false));
  }

  async #work(): Promise<void> {
    this.#open = true;
    while (this.#next !== null) {
      const draft = this.#next;
      this.#next = null;
      this.#number += 1;
      const begun = performance.now();
      const preview = await this.#answer(draft).catch((error: unknown) => {
        this.hooks.failed(error instanceof Error ? error.message : String(error));
        return null;
      });
      if (preview !== null) this.hooks.shown(preview, performance.now() - begun);
    }
  }

  /** The answer; null if a newer question was asked meanwhile. */
  async #answer(draft: Change[]): Promise<Preview | null> {
    const answer = await postJson(this.url, { tab: this.tab, number: this.#number, draft }, this.csrf).catch(() => {
      throw new Error("The server cannot be reached.");
    });
    if (answer.status === 204) return null;
    if (!answer.ok) throw new Error(((await answer.json()) as { error?: string }).error ?? `The server answers ${answer.status}.`);
    return readPreview(await answer.arrayBuffer());
  }
}
