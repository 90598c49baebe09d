// What each standing action removes from the pieces that are shown.
import type { Piece } from "./piece.js";
import { hits, type Removal } from "./removal.js";

export class Applied {
  readonly #found = new Map<string, [Piece, Uint32Array][]>();

  clear(): void {
    this.#found.clear();
  }

  /** Brings the points of some pieces in line with the actions that stand. */
  bring(pieces: Piece[], standing: Removal[]): void {
    const names = new Set(standing.map((event) => event.id));
    for (const [name, found] of this.#found) {
      if (names.has(name)) continue;
      for (const [piece, places] of found) for (const place of places) piece.removed[place] = Math.max(0, (piece.removed[place] ?? 0) - 1);
      this.#found.delete(name);
    }
    for (const event of standing) {
      const known = this.#found.get(event.id) ?? [];
      const fresh = pieces.filter((piece) => !known.some(([each]) => each === piece));
      for (const piece of fresh) {
        const places = hits(piece, event);
        for (const place of places) piece.removed[place] = Math.min(255, (piece.removed[place] ?? 0) + 1);
        known.push([piece, places]);
      }
      this.#found.set(event.id, known.filter(([piece]) => pieces.includes(piece)));
    }
  }
}
