// Events on their way to the server. They are kept in the browser until the server has them, and sent
// again after lost connections and restarts; the server stores each of them once.

export interface SentEvent {
  id: string;
  kind: string;
}

export interface Answer {
  ok: boolean;
  revision?: number;
  refused?: Record<string, string>;
  events?: SentEvent[];
  others?: number;
  error?: string;
}

const PAUSES = [500, 1000, 2000, 4000, 8000];
const POLL = 4000;
const MOST = 200;

/** A name that nobody else gives. */
export function newId(): string {
  return crypto.randomUUID();
}

export class Outbox<E extends SentEvent> {
  readonly tab = newId();
  readonly #key: string;
  #waiting: E[] = [];
  #sending = false;
  #failures = 0;
  #timer = 0;
  #seen = 0;
  #stopped = false;

  /**
   * @param address where events are sent (POST) and read (GET)
   * @param name of the work, for the browser's storage
   * @param onEvents called with events of the server, also those of other tabs
   * @param onState called with a sentence for people, and whether it is about trouble
   */
  constructor(
    readonly address: string,
    name: string,
    readonly onEvents: (events: E[], answer: Answer) => void,
    readonly onState: (text: string, trouble: boolean) => void,
  ) {
    this.#key = `dg:${name}:`;
    this.#adopt();
    window.addEventListener("online", this.#now);
    document.addEventListener("visibilitychange", this.#now);
    void this.#round();
  }

  /** How many events the server does not have yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  push(event: E): void {
    this.#waiting.push(event);
    this.onState("Saving ...", false);
    this.#keep();
    this.#now();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    window.removeEventListener("online", this.#now);
    document.removeEventListener("visibilitychange", this.#now);
  }

  readonly #now = (): void => {
    clearTimeout(this.#timer);
    void this.#round();
  };

  /** Sends what waits, or asks for news; then sleeps. */
  async #round(): Promise<void> {
    if (this.#sending || this.#stopped) return;
    this.#sending = true;
    try {
      if (this.#waiting.length > 0) await this.#send();
      await this.#read();
      this.#failures = 0;
      this.onState(this.#waiting.length > 0 ? `Saving ${this.#waiting.length} ...` : "Everything is saved.", false);
    } catch (error) {
      this.#failures += 1;
      const many = this.#waiting.length;
      const kept = many > 0 ? ` ${many} ${many === 1 ? "action is" : "actions are"} kept in this browser and sent later.` : "";
      this.onState(`${error instanceof Refusal ? error.message : "There is no connection."}${kept}`, true);
    } finally {
      this.#sending = false;
    }
    if (this.#stopped) return;
    const pause = this.#failures > 0 ? (PAUSES[Math.min(this.#failures, PAUSES.length) - 1] ?? POLL) : this.#waiting.length > 0 ? 0 : POLL;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#round(), pause);
  }

  async #send(): Promise<void> {
    const sent = this.#waiting.slice(0, MOST);
    const answer = await fetch(this.address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ tab: this.tab, events: sent }),
    });
    const body = await said(answer);
    const refused = Object.entries(body.refused ?? {});
    const names = new Set(sent.map((event) => event.id));
    this.#waiting = this.#waiting.filter((event) => !names.has(event.id));
    this.#keep();
    if (refused.length > 0) this.onEvents([], { ...body, error: refused.map(([, text]) => text).join(" ") });
  }

  async #read(): Promise<void> {
    const mark = this.address.includes("?") ? "&" : "?";
    const body = await said(await fetch(`${this.address}${mark}tab=${this.tab}&since=${this.#seen}`));
    // A history that became shorter was exchanged; it is read from its beginning.
    if ((body.revision ?? 0) < this.#seen) {
      this.#seen = 0;
      return;
    }
    this.#seen = body.revision ?? 0;
    this.onEvents((body.events ?? []) as E[], body);
  }

  /** Takes over what closed tabs left. */
  #adopt(): void {
    try {
      for (const key of Object.keys(localStorage).filter((each) => each.startsWith(this.#key))) {
        this.#waiting.push(...(JSON.parse(localStorage.getItem(key) ?? "[]") as E[]));
        localStorage.removeItem(key);
      }
      this.#keep();
    } catch {
      this.onState("This browser keeps nothing; leave the page only when everything is saved.", true);
    }
  }

  #keep(): void {
    try {
      if (this.#waiting.length > 0) localStorage.setItem(this.#key + this.tab, JSON.stringify(this.#waiting));
      else localStorage.removeItem(this.#key + this.tab);
    } catch {
      this.onState("This browser has no more room; leave the page only when everything is saved.", true);
    }
  }
}

class Refusal extends Error {}

async function said(answer: Response): Promise<Answer> {
  let body: Answer;
  try {
    body = (await answer.json()) as Answer;
  } catch {
    throw new Error("no answer");
  }
  if (!answer.ok) throw new Refusal(body.error ?? `The server says ${answer.status}.`);
  return body;
}
