// Sends what is drawn, whatever happens: events wait in the browser's storage until the server has them.
//
// An event is its line in the records: sent twice, it is stored once. So everything that may not have
// arrived is sent again, after a lost connection, a restart of the server, a crash of the browser.
import type { Change, Header, Point, Recorded } from "./model.js";
import { postJson } from "./post.js";

export interface Told {
  header: Header;
  events: Recorded[];
  revision: number;
  others: number;
  here?: Here[];
}

/** Another tab that has the photograph open. */
export interface Here {
  /** Whether it shows the same drawing; others have one of their own. */
  own: boolean;
  at_px: Point | null;
}

interface Hooks {
  /** Events of other tabs. */
  remote(events: Recorded[]): void;
  /** Something changed that the page shows. */
  changed(): void;
  /** An event that can never be stored, and why. */
  refused(text: string): void;
  /** What waits was stored. */
  stored(): void;
}

const MOST_AT_ONCE = 100;
const POLL_MS = 3000;
/** While somebody else is here, whose pointer moves. */
const POLL_TOGETHER_MS = 1000;
const LONGEST_PAUSE_MS = 15000;
const LONGEST_SECONDS = 60;

export class Sender {
  /** What is wrong, in words; empty if all is well. */
  trouble = "";
  /** Who else has this photograph open. */
  here: Here[] = [];
  /** Where this page points, for the others. */
  at: Point | null = null;
  revision = 0;
  readonly tab = randomName(8);
  #waiting: Recorded[] = [];
  #orphans: string[] = [];
  #known = new Set<string>();
  #sending = false;
  #pause = 0;
  #timer = 0;
  #poll = 0;
  #last = "";
  #since = Date.now();
  #ended = false;

  /** The owner says whose work it is: others who use this browser must not send it as theirs. */
  constructor(readonly url: string, readonly leaveUrl: string, readonly csrf: string, readonly owner: string, readonly hooks: Hooks) {}

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Loads what somebody else drew, to look at. */
  watch(): Promise<Told> {
    return this.#ask(0);
  }

  /** Loads what was drawn before; what a closed tab could not send comes last, and is sent now. */
  async begin(): Promise<Told> {
    const told = await this.#ask(0);
    this.revision = told.revision;
    for (const event of told.events) this.#known.add(nameOf(event));
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(this.#prefix))) {
      this.#orphans.push(key);
      for (const event of JSON.parse(localStorage.getItem(key) ?? "[]") as Recorded[]) {
        if (this.#known.has(nameOf(event))) continue;
        this.#known.add(nameOf(event));
        this.#waiting.push(event);
        told.events.push(event);
      }
    }
    this.#keep();
    this.here = told.here ?? [];
    this.#wait();
    window.addEventListener("online", this.#again);
    window.addEventListener("pagehide", this.#leave);
    void this.#flush();
    return told;
  }

  end(): void {
    window.clearTimeout(this.#poll);
    this.#ended = true;
    window.clearTimeout(this.#timer);
    window.removeEventListener("online", this.#again);
    window.removeEventListener("pagehide", this.#leave);
  }

  add(changes: Change[]): void {
    const now = Date.now();
    const seconds = Math.min(LONGEST_SECONDS, Math.round((now - this.#since) / 100) / 10);
    this.#since = now;
    changes.forEach((change, place) => {
      const event: Recorded = { ...change, at: this.#time(), ...(place === 0 && seconds > 0 ? { seconds } : {}) };
      this.#known.add(nameOf(event));
      this.#waiting.push(event);
    });
    this.#keep();
    void this.#flush();
  }

  /** A time later than that of every event before: it tells equal events apart. */
  #time(): string {
    let moment = new Date().toISOString();
    if (moment <= this.#last) moment = new Date(Date.parse(this.#last) + 1).toISOString();
    this.#last = moment;
    return moment;
  }

  get #prefix(): string {
    return `dg-draw ${this.owner} ${this.url} `;
  }

  #keep(): void {
    const key = this.#prefix + this.tab;
    try {
      if (this.#waiting.length > 0) localStorage.setItem(key, JSON.stringify(this.#waiting));
      else for (const name of [key, ...this.#orphans.splice(0)]) localStorage.removeItem(name);
    } catch {
      this.trouble = "This browser keeps nothing for pages: leave the page open until everything is saved.";
    }
    this.hooks.changed();
  }

  #again = (): void => {
    window.clearTimeout(this.#timer);
    this.#pause = 0;
    void this.#flush();
  };

  #leave = (): void => {
    void postJson(this.leaveUrl, { tab: this.tab }, this.csrf, { keepalive: true }).catch(() => undefined);
  };

  async #flush(): Promise<void> {
    if (this.#sending || this.#waiting.length === 0) return;
    this.#sending = true;
    const events = this.#waiting.slice(0, MOST_AT_ONCE);
    try {
      const answer = await postJson(this.url, { tab: this.tab, events }, this.csrf);
      const told = (await answer.json()) as { kept?: number; refused?: Record<string, string>; error?: string };
      for (const text of Object.values(told.refused ?? {})) this.hooks.refused(text);
      this.#waiting.splice(0, told.kept ?? 0);
      this.#keep();
      if (!answer.ok) throw new Error(told.error ?? `the server answers ${answer.status}.`);
      this.#pause = 0;
      this.trouble = "";
      this.hooks.stored();
    } catch (error) {
      this.trouble = error instanceof TypeError ? "The server cannot be reached." : error instanceof Error ? error.message : "Saving failed.";
      this.#pause = Math.min(LONGEST_PAUSE_MS, Math.max(1000, 2 * this.#pause));
      this.#timer = window.setTimeout(() => void this.#flush(), this.#pause);
    } finally {
      this.#sending = false;
      this.hooks.changed();
    }
    if (this.trouble === "") void this.#flush();
  }

  async #ask(since: number): Promise<Told> {
    const at = this.at === null ? "" : `&x=${this.at[0].toFixed(1)}&y=${this.at[1].toFixed(1)}`;
    const answer = await fetch(`${this.url}?tab=${this.tab}&since=${since}${at}`);
    const told = (await answer.json()) as Told & { error?: string };
    if (!answer.ok) throw new Error(told.error ?? `the server answers ${answer.status}.`);
    return told;
  }

  #wait(): void {
    if (!this.#ended) this.#poll = window.setTimeout(() => void this.#look().finally(() => this.#wait()), this.here.length > 0 ? POLL_TOGETHER_MS : POLL_MS);
  }

  async #look(): Promise<void> {
    if (document.hidden) return;
    try {
      const told = await this.#ask(this.revision);
      this.revision = told.revision;
      this.here = told.here ?? [];
      const events = told.events.filter((event) => !this.#known.has(nameOf(event)));
      for (const event of events) this.#known.add(nameOf(event));
      if (events.length > 0) this.hooks.remote(events);
      if (this.#waiting.length === 0) this.trouble = "";
      else this.#again();
    } catch (error) {
      this.trouble = error instanceof TypeError ? "The server cannot be reached." : String(error instanceof Error ? error.message : error);
    }
    this.hooks.changed();
  }
}

/** What tells an event from all others. */
function nameOf(event: Recorded): string {
  return `${event.at ?? ""} ${event.event} ${"id" in event ? event.id : ""}`;
}

export function randomName(letters: number): string {
  return [...crypto.getRandomValues(new Uint8Array(letters))].map((value) => (value % 36).toString(36)).join("");
}
