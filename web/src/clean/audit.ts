// Cleans the session again with what was removed, and shows its audit before and now.
import { html, nothing, type TemplateResult } from "lit";

interface Figures {
  true_error?: { mean_abs_px: number; bad_2_percent: number; kept_percent: number };
  planar_residual_px?: number | null;
}

export interface Job {
  state: "idle" | "running" | "done" | "failed";
  text?: string;
  before?: Figures | null;
  after?: Figures;
  removed?: { left: number; right: number };
}

/** What the page asks of whoever cleans again. */
interface Hooks {
  changed(): void;
  /** How many actions the server does not have yet. */
  waiting(): number;
  tab(): string;
  connected(): boolean;
}

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

export class Auditor {
  job: Job = { state: "idle" };

  constructor(readonly hooks: Hooks) {}

  async again(): Promise<void> {
    this.#set({ state: "running", text: "waiting until everything is saved" });
    while (this.hooks.waiting() > 0) await pause(150);
    try {
      const body = JSON.stringify({ tab: this.hooks.tab() });
      await fetch("/api/clean/again", { method: "POST", headers: { "Content-Type": "application/json" }, body });
      await this.poll();
    } catch {
      this.#set({ state: "failed", text: "there is no connection" });
    }
  }

  async poll(): Promise<void> {
    do {
      const answer = await fetch("/api/clean/again");
      this.#set((await answer.json()) as Job);
      if (this.job.state === "running") await pause(300);
    } while (this.job.state === "running" && this.hooks.connected());
  }

  render(): TemplateResult {
    const { state, text } = this.job;
    return html`<div class="bar"><button type="button" class="again" ?disabled=${state === "running"} @click=${() => void this.again()}>Clean again and audit</button>
        <span role="status">${state === "running" ? `Working: ${text ?? ""} ...` : state === "failed" ? html`<span class="trouble">It did not work: ${text}</span>` : nothing}</span></div>
      ${state === "done" ? auditTable(this.job) : nothing}`;
  }

  #set(job: Job): void {
    this.job = job;
    this.hooks.changed();
  }
}

function auditTable(job: Job): TemplateResult {
  const rows: [string, number | undefined, number | undefined, string][] = [];
  const [before, after] = [job.before ?? {}, job.after ?? {}];
  if (after.true_error !== undefined) {
    const [was, is] = [before.true_error, after.true_error];
    rows.push(["mean error", was?.mean_abs_px, is.mean_abs_px, "px"]);
    rows.push(["wrong by more than 2 px", was?.bad_2_percent, is.bad_2_percent, "%"]);
    rows.push(["kept", was?.kept_percent, is.kept_percent, "%"]);
  }
  rows.push(["mean residual on planes", before.planar_residual_px ?? undefined, after.planar_residual_px ?? undefined, "px"]);
  const shown = (value: number | undefined, unit: string): string => (value === undefined ? "-" : `${value.toFixed(3)} ${unit}`);
  return html`<table class="audit"><caption class="hidden">The audit before and after</caption>
    <thead><tr><th scope="col">audit</th><th scope="col">before</th><th scope="col">now</th></tr></thead>
    <tbody>${rows.map(([name, was, is, unit]) => html`<tr><th scope="row">${name}</th><td>${shown(was, unit)}</td><td>${shown(is, unit)}</td></tr>`)}</tbody></table>`;
}
