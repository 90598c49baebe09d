// The drawing as it is, and the way back: every step can be taken back and taken again.
import { after, difference, type Change, type Drawing, type Recorded } from "./model.js";

interface Step {
  before: Drawing;
  after: Drawing;
  /** How many events of others had come when it was made. */
  others: number;
}

export class Story {
  #undo: Step[] = [];
  #redo: Step[] = [];
  #others = 0;

  constructor(public now: Drawing) {}

  get canUndo(): boolean {
    return this.#undo.length > 0;
  }

  get canRedo(): boolean {
    return this.#redo.length > 0;
  }

  /** One step of the person: one or more events. */
  make(changes: Change[]): Change[] {
    const before = this.now;
    for (const change of changes) this.now = after(this.now, change);
    this.#undo.push({ before, after: this.now, others: this.#others });
    this.#redo = [];
    return changes;
  }

  /** Events from another tab, or from before the page was loaded. */
  take(events: Recorded[], { asSteps = false } = {}): void {
    for (const event of events) {
      const before = this.now;
      this.now = after(this.now, event);
      if (asSteps) this.#undo.push({ before, after: this.now, others: this.#others });
      else this.#others += 1;
    }
  }

  /** The events that take the last step back. */
  undo(): Change[] {
    const step = this.#undo.pop();
    if (step === undefined) return [];
    this.#redo.push(step);
    return this.#move(step.after, step.before, step.others);
  }

  redo(): Change[] {
    const step = this.#redo.pop();
    if (step === undefined) return [];
    this.#undo.push(step);
    return this.#move(step.before, step.after, step.others);
  }

  #move(from: Drawing, to: Drawing, others: number): Change[] {
    // Exact where nobody else has drawn since; otherwise only what this step changed.
    const changes = difference(others === this.#others ? this.now : from, to);
    for (const change of changes) this.now = after(this.now, change);
    return changes;
  }
}
