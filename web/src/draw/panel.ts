// What stands around the sheet: tools, what each of them needs, whether everything is saved, what to fix.
import { html, nothing, type TemplateResult } from "lit";
import type { Board, ToolName } from "./board.js";
import { inside } from "./geometry.js";
import type { Relation } from "./model.js";
import type { Problem } from "./preview.js";
import type { Here } from "./sender.js";
import { HELP, TOOLS } from "./words.js";

export function toolBar(board: Board, choose: (name: ToolName, event: Event) => void): TemplateResult {
  return html`<div class="bar tools" role="group" aria-label="Tools">
    ${TOOLS.map((tool) => html`<button type="button" class=${tool.name} title=${tool.hint} aria-pressed=${String(board.tool === tool.name)} @click=${(event: Event) => choose(tool.name, event)}>${tool.label} <kbd aria-hidden="true">${tool.key}</kbd></button>`)}
  </div>`;
}

export interface Action {
  label: string;
  key: string;
  act: () => void;
  pressed?: boolean;
  disabled?: boolean;
}

export function actionBar(actions: Action[]): TemplateResult {
  return html`<div class="bar" role="group" aria-label="Actions">
    ${actions.map(({ label, key, act, pressed, disabled }) => html`<button type="button" title=${`${label} (${key})`} aria-pressed=${pressed === undefined ? nothing : String(pressed)} ?disabled=${disabled ?? false} @click=${act}>${label}${key.length === 1 ? html` <kbd aria-hidden="true">${key}</kbd>` : nothing}</button>`)}
  </div>`;
}

/** What the chosen tool needs to know. */
export function toolOptions(board: Board, say: (text: string) => void): TemplateResult | typeof nothing {
  if (board.tool === "relation") {
    const kinds: Relation["kind"][] = ["parallel", "orthogonal", "neither"];
    const choose = (kind: Relation["kind"]) => (): void => {
      board.relationKind = kind;
    };
    return html`<fieldset class="bar"><legend>The two planes are</legend>${kinds.map((kind) => html`<label><input type="radio" name="kind" .checked=${board.relationKind === kind} @change=${choose(kind)} />${kind}</label>`)}</fieldset>`;
  }
  if (board.tool !== "focal") return nothing;
  const { focal_px, source } = board.story.now.focal;
  const said = { exif: "from the camera's notes", given: "given by you", assumed: "assumed, because the photograph does not tell it" }[source];
  const changed = (event: Event): void => {
    const value = Number((event.target as HTMLInputElement).value);
    if (value >= 1 && value <= 1e7) board.commit([{ event: "focal", focal_px: value, source: "given" }]);
    else say("A focal length is between 1 and 10,000,000 px.");
  };
  return html`<div class="bar"><label>Focal length <input type="number" min="1" max="10000000" step="any" .value=${String(Math.round(focal_px * 10) / 10)} @change=${changed} /> px</label><span class="status">${said}</span></div>`;
}

export interface SavedState {
  waiting: number;
  trouble: string;
  here: Here[];
  refused: string;
  offline: string;
}

function people(many: number): string {
  return many === 1 ? "Somebody else draws" : `${many} others draw`;
}

export function savedState(board: Board, { waiting, trouble, here, refused, offline }: SavedState, finish: () => void): TemplateResult {
  const { finished, stroke, normal } = board.story.now;
  const { region } = board.shown;
  const missed = board.header.must_contain_px.filter((point) => region.length > 2 && !inside(region, point)).length;
  const kept = waiting > 0 ? `${waiting} ${waiting === 1 ? "change is" : "changes are"} kept in this browser and sent again by itself.` : "";
  return html`
    <p class="saved" role="status">${
      trouble !== ""
        ? html`<strong class="bad">Not saved.</strong> ${trouble} ${kept}`
        : waiting > 0
          ? "Saving ..."
          : html`<strong>Saved.</strong> ${finished ? "You said that it is finished." : ""}`
    }</p>
    ${here.some((one) => one.own) ? html`<p class="notice" role="alert">This photograph is open in another tab or window, too. Both save everything; what is changed in both is as the later one left it.</p>` : nothing}
    ${here.some((one) => !one.own) ? html`<p class="notice" role="status">${people(here.filter((one) => !one.own).length)} on this photograph at this moment. Everybody has a drawing of their own, so nobody changes yours.</p>` : nothing}
    ${refused === "" ? nothing : html`<p class="notice" role="alert">One change could not be kept: ${refused}</p>`}
    ${offline !== "" && trouble === "" ? html`<p class="status">No preview: ${offline}</p>` : nothing}
    ${missed > 0 ? html`<p class="status">The region leaves out ${missed === 1 ? "a target" : "both targets"}.</p>` : nothing}
    <div class="bar"><button type="button" aria-pressed=${String(finished)} @click=${finish}>${finished ? "Go on drawing" : "Finished"}</button>
      <span class="status">${stroke.size} lines, ${normal.size} normals</span></div>
  `;
}

export function problemList(problems: Problem[], current: number, notes: string[], go: (index: number) => void): TemplateResult {
  return html`
    <h2>${problems.length === 0 ? "Nothing to fix" : `To fix: ${problems.length}`}</h2>
    <ol class="problems">${problems.map((problem, index) => html`<li><button type="button" aria-current=${index === current ? "true" : nothing} @click=${() => go(index)}>${problem.text}</button></li>`)}</ol>
    ${notes.length === 0 ? nothing : html`<details><summary>What was assumed (${notes.length})</summary><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul></details>`}
  `;
}

export function helpTable(): TemplateResult {
  return html`<div class="panel help"><h2>Keys and gestures</h2><dl>${HELP.map(([keys, what]) => html`<dt>${keys}</dt><dd>${what}</dd>`)}</dl>
    <h2>Tools</h2><dl>${TOOLS.map((tool) => html`<dt>${tool.label} (${tool.key})</dt><dd>${tool.hint}</dd>`)}</dl></div>`;
}
