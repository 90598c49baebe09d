// A history of actions: what stands after it, and what undo and redo are about next.
import { newId, type SentEvent } from "./outbox.js";

export interface Back extends SentEvent {
  kind: "undo" | "redo";
  of: string;
}

export class History<E extends SentEvent> {
  readonly #known = new Set<string>();
  readonly #actions = new Map<string, E>();
  readonly #gone = new Set<string>();
  #undone: string[] = [];

  /** Takes an event; false if it is known. */
  add(event: E | Back): boolean {
    if (this.#known.has(event.id)) return false;
    this.#known.add(event.id);
    if (isBack(event)) {
      if (event.kind === "undo") {
        this.#gone.add(event.of);
        this.#undone.push(event.of);
      } else {
        this.#gone.delete(event.of);
        this.#undone = this.#undone.filter((name) => name !== event.of);
      }
    } else {
      this.#actions.set(event.id, event);
      this.#undone = [];
    }
    return true;
  }

  get standing(): E[] {
    return [...this.#actions.values()].filter((event) => !this.#gone.has(event.id));
  }

  undo(): Back | null {
    const last = this.standing.at(-1);
    return last === undefined ? null : { id: newId(), kind: "undo", of: last.id };
  }

  redo(): Back | null {
    const last = this.#undone.at(-1);
    return last === undefined ? null : { id: newId(), kind: "redo", of: last };
  }
}

function isBack(event: SentEvent): event is Back {
  return event.kind === "undo" || event.kind === "redo";
}
