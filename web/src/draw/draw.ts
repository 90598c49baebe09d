// <dg-draw>: what a person sees in one photograph, drawn on it, and the surfaces that follow from it.
import { LitElement, html, nothing, type TemplateResult } from "lit";
import { View } from "../compare/view.js";
import { controls } from "../shared/controls.js";
import { TURNS } from "../shared/turns.js";
import { fitted, loadImage, oncePerFrame, viewer } from "../shared/viewer.js";
import { Board, type ToolName } from "./board.js";
import { Edges } from "./edges.js";
import { Input } from "./input.js";
import type { MeshScene } from "./mesh.js";
import { empty, type Change, type Recorded } from "./model.js";
import { Painter } from "./paint.js";
import { actionBar, helpTable, problemList, savedState, toolBar, toolOptions, type Action } from "./panel.js";
import { Asker, type Preview, type Problem } from "./preview.js";
import { Sender, type Here } from "./sender.js";
import { sheet } from "./style.js";
import { NOTHING, toolsOf, type Tool } from "./tools.js";
import { TOOLS } from "./words.js";

/** Around the whole picture, in pixels of the page. */
const MARGIN = 12;

export class DrawPage extends LitElement {
  static override styles = [controls, viewer, sheet];

  #sender: Sender | null = null;
  #board: Board | null = null;
  #asker: Asker | null = null;
  #painter: Painter | null = null;
  #input: Input | null = null;
  #scene: MeshScene | null = null;
  #tools: Record<ToolName, Tool> | null = null;
  #problems: Problem[] = [];
  #notes: string[] = [];
  #problem = -1;
  #said = "Loading ...";
  #refused = "";
  #offline = "";
  #help = false;
  /** When the person last changed something. */
  #acted = performance.now();
  readonly #redraw = oncePerFrame(() => this.#paint());
  readonly #sizes = new ResizeObserver(() => this.#resized());

  override connectedCallback(): void {
    super.connectedCallback();
    this.addEventListener("keydown", this.#hostKey);
    void this.#begin();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sizes.disconnect();
    this.#sender?.end();
    this.#scene?.dispose();
  }

  /** Whether somebody else's drawing is looked at. */
  get #watching(): boolean {
    return this.dataset["watch"] !== undefined;
  }

  async #begin(): Promise<void> {
    const { events, leave, preview, picture, csrf = "", owner = "" } = this.dataset;
    try {
      const sender = new Sender(events ?? "", leave ?? "", csrf, owner, {
        remote: (changes) => this.#taken(changes),
        changed: () => {
          this.#redraw();
          this.requestUpdate();
        },
        refused: (text) => {
          this.#refused = text;
        },
        stored: () => {
          if (this.#board?.trial.length === 0) this.#asker?.ask();
        },
      });
      this.#sender = sender;
      const [told, image] = await Promise.all([this.#watching ? sender.watch() : sender.begin(), loadImage(picture ?? "")]);
      const { width_px: width, height_px: height } = told.header.picture;
      const board = new Board(told.header, empty(told.header), new View(width, height), {
        committed: (changes) => this.#committed(changes),
        tried: (changes) => {
          this.#acted = performance.now();
          this.#asker?.ask(changes);
        },
        redraw: () => {
          this.#redraw();
          this.requestUpdate();
        },
        say: (text) => this.#say(text),
      });
      this.style.setProperty("--ratio", `${width} / ${height}`);
      board.story.take(told.events, { asSteps: true });
      board.edges = new Edges(image, width, height);
      this.#board = board;
      this.#tools = toolsOf(board);
      this.#painter = new Painter(image);
      this.#asker = new Asker(preview ?? "", sender.tab, csrf, { shown: (found, ms) => this.#shown(found, ms), failed: (text) => void ((this.#offline = text), this.requestUpdate()) });
      this.#say(this.#watching ? "Turn the surfaces, and compare them with the photograph." : (TOOLS.find((tool) => tool.name === board.tool)?.hint ?? ""));
      await this.updateComplete;
      this.#attach(board);
      this.#asker.ask();
      await this.#openMesh(image, width, height);
    } catch (error) {
      this.#say(`This photograph cannot be opened: ${error instanceof Error ? error.message : "something failed."}`);
    }
  }

  #attach(board: Board): void {
    const canvas = this.#sheet;
    if (canvas === null) return;
    if (this.#watching) board.tool = "select";
    canvas.addEventListener("pointermove", () => this.#point(board));
    canvas.addEventListener("keydown", () => this.#point(board));
    this.#input = new Input(canvas, board, () => (this.#watching ? NOTHING : (this.#tools as Record<ToolName, Tool>)[board.tool]), () => {
      this.#redraw();
      this.requestUpdate();
    });
    for (const each of this.renderRoot.querySelectorAll("canvas")) this.#sizes.observe(each);
    this.dataset["ready"] = "yes";
  }

  /** Tells the others where this page points. */
  #point(board: Board): void {
    const at = board.cursor ?? this.#input?.at ?? null;
    if (this.#sender !== null && at !== null) this.#sender.at = at;
  }

  async #openMesh(image: HTMLImageElement, width: number, height: number): Promise<void> {
    try {
      const { MeshScene } = await import("./mesh.js");
      const canvas = this.renderRoot.querySelector<HTMLCanvasElement>("canvas.mesh");
      if (canvas === null) return;
      this.#scene = new MeshScene(canvas, image, width, height);
      this.#resized();
      if (this.#board?.preview) this.#scene.show(this.#board.preview);
    } catch {
      this.#say("This browser shows nothing in 3D; drawing works without it.");
    }
  }

  get #sheet(): HTMLCanvasElement | null {
    return this.renderRoot.querySelector("canvas.sheet");
  }

  #resized(): void {
    const canvas = this.#sheet;
    const board = this.#board;
    if (canvas !== null && board !== null) {
      const whole = !board.view.closer;
      fitted(canvas);
      if (whole || !board.view.sized) this.#whole();
      this.#redraw();
    }
    const mesh = this.renderRoot.querySelector<HTMLCanvasElement>("canvas.mesh");
    if (mesh !== null && this.#scene !== null) this.#scene.resize(mesh.clientWidth, mesh.clientHeight);
  }

  #paint(): void {
    const canvas = this.#sheet;
    if (canvas === null || this.#board === null || this.#painter === null) return;
    const context = fitted(canvas);
    if (context !== null) this.#painter.paint(context, this.#board, this.#problems.map((problem) => problem.at_px), this.others());
  }

  /** Takes what another tab drew; says so if it is what is chosen here. */
  #taken(changes: Recorded[]): void {
    const board = this.#board;
    if (board === null) return;
    const touched = changes.some((change) => "id" in change && change.id === board.chosen?.id);
    if (touched) this.#say(`What you have chosen was changed in another tab; your next change of it counts again.`);
    board.story.take(changes);
    this.#asker?.ask();
    this.#redraw();
  }

  #committed(changes: Change[]): void {
    this.#acted = performance.now();
    this.#refused = "";
    this.#sender?.add(changes);
    this.requestUpdate();
  }

  #shown(preview: Preview, milliseconds: number): void {
    if (this.#board === null) return;
    this.#board.preview = preview;
    this.#offline = "";
    if (preview.problems !== null) {
      this.#problems = preview.problems;
      this.#notes = preview.notes;
      if (this.#problem >= this.#problems.length) this.#problem = -1;
    }
    this.#scene?.show(preview);
    // A draft may come with events that were stored meanwhile, but it does not say what to fix in them.
    if (preview.problems !== null) this.dataset["revision"] = String(preview.revision);
    this.dataset["milliseconds"] = milliseconds.toFixed(0);
    this.dataset["waited"] = (performance.now() - this.#acted).toFixed(0);
    this.dataset["previews"] = String(Number(this.dataset["previews"] ?? 0) + 1);
    this.#redraw();
    this.requestUpdate();
  }

  #say(text: string): void {
    this.#said = text;
    this.requestUpdate();
  }

  #choose(name: ToolName, event?: Event): void {
    const board = this.#board;
    if (board === null) return;
    board.cancel();
    this.#input?.release();
    board.tool = name;
    if (name !== "select") board.chosen = null;
    this.#say(TOOLS.find((tool) => tool.name === name)?.hint ?? "");
    this.#redraw();
    if (event instanceof MouseEvent && event.detail > 0) this.#sheet?.focus({ preventScroll: true });
  }

  #undo(again: boolean): void {
    const board = this.#board;
    if (board === null || board.cancel()) return;
    const changes = again ? board.story.redo() : board.story.undo();
    if (changes.length === 0) return;
    board.chosen = null;
    this.#committed(changes);
    this.#redraw();
  }

  #hostKey = (event: KeyboardEvent): void => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || (key !== "z" && key !== "y") || this.#watching || event.composedPath()[0] instanceof HTMLInputElement) return;
    event.preventDefault();
    this.#undo(key === "y" || event.shiftKey);
  };

  #sheetKey = (event: KeyboardEvent): void => {
    const board = this.#board;
    if (board === null || this.#input === null) return;
    if (this.#input.key(event)) return event.preventDefault();
    if (event.ctrlKey || event.metaKey || this.#watching) return;
    if (this.#act(event.key, event.shiftKey, board)) event.preventDefault();
  };

  /** Does what a key says; whether it says anything. */
  #act(key: string, shift: boolean, board: Board): boolean {
    const tool = TOOLS.find((one) => one.key === key.toUpperCase());
    if (tool !== undefined) {
      if (shift && (tool.name === "sharp" || tool.name === "smooth" || tool.name === "fold") && board.retypeChosen(tool.name)) return true;
      this.#choose(tool.name);
      return true;
    }
    const current = (this.#tools as Record<ToolName, Tool>)[board.tool];
    const acts: Record<string, () => void> = {
      Enter: () => current.finish?.(),
      Escape: () => {
        this.#input?.release();
        if (!board.cancel()) board.chosen = null;
      },
      Backspace: () => {
        if (!(current.back?.() ?? false)) board.removeChosen();
      },
      Delete: () => board.removeChosen(),
      x: () => board.flipChosen(),
      e: () => this.#toggle("snaps"),
      t: () => this.#toggle("follows"),
      i: () => this.#toggle("tints"),
      "0": () => this.#whole(),
      ",": () => this.#next(-1),
      ".": () => this.#next(1),
      "[": () => this.#corner(-1),
      "]": () => this.#corner(1),
      g: () => this.#go((this.#problem + 1) % Math.max(1, this.#problems.length)),
      "?": () => this.#toggleHelp(),
    };
    const act = acts[key.length === 1 ? key.toLowerCase() : key];
    act?.();
    this.#redraw();
    this.requestUpdate();
    return act !== undefined;
  }

  #toggle(what: "snaps" | "follows" | "tints"): void {
    const board = this.#board;
    if (board === null) return;
    board[what] = !board[what];
    const names = { snaps: "Snapping to edges and lines", follows: "Following edges between clicks", tints: "Tints of surfaces" };
    this.#say(`${names[what]}: ${board[what] ? "on" : "off"}.`);
    this.#redraw();
  }

  #toggleHelp(): void {
    this.#help = !this.#help;
    this.requestUpdate();
  }

  #whole(): void {
    const canvas = this.#sheet;
    // A margin, so that lines can be drawn up to the picture's edge and beyond it.
    const margin = 2 * MARGIN * (window.devicePixelRatio || 1);
    if (canvas !== null) this.#board?.view.fit(Math.max(1, canvas.width - margin), Math.max(1, canvas.height - margin));
    this.#redraw();
  }

  /** Chooses the thing before or after the chosen one. */
  #next(step: number): void {
    const thing = this.#board?.neighbour(step) ?? null;
    if (this.#board === null || thing === null) return;
    this.#choose("select");
    [this.#board.chosen, this.#board.cursor] = thing;
    this.#say(`Chosen: ${this.#board.called}.`);
  }

  #corner(step: number): void {
    const said = this.#board?.chooseCorner(step) ?? "";
    if (said !== "") this.#say(said);
  }

  /** Shows a problem where it is. */
  #go(index: number): void {
    const problem = this.#problems[index];
    const board = this.#board;
    if (problem === undefined || board === null) return;
    this.#problem = index;
    if (problem.at_px !== null) {
      board.view.x = problem.at_px[0] + 0.5;
      board.view.y = problem.at_px[1] + 0.5;
      if (!board.view.closer) board.view.enlarge(2);
      board.cursor = [...problem.at_px];
    }
    this.#say(problem.text);
    this.#redraw();
  }

  #meshKey = (event: KeyboardEvent): void => {
    if (event.key === "0") this.#scene?.reset();
    const turn = TURNS[event.key];
    if (turn === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.#scene?.turn(...turn);
  };

  /** The other tabs that have this photograph open. */
  others(): Here[] {
    return this.#sender?.here ?? [];
  }

  #finish(): void {
    const board = this.#board;
    if (board !== null) board.commit([{ event: board.story.now.finished ? "reopen" : "finish" }]);
  }

  override render(): TemplateResult {
    const board = this.#board;
    if (board === null) return html`<slot></slot><p class="status" role="status">${this.#said}</p>`;
    return html`
      ${this.#watching ? nothing : html`${toolBar(board, (name, event) => this.#choose(name, event))} ${actionBar(this.#actions(board))}`}
      <div class="work">
        <div class="left">
          <div class="box paper"><canvas class="sheet" tabindex="0" role="application" aria-label="The photograph with what is drawn on it. Letters choose tools, arrow keys move a cursor, Space presses there, question mark shows the help."
            aria-describedby="said" @keydown=${this.#sheetKey}></canvas></div>
          <p class="status said" id="said" role="status">${this.#said}</p>
          ${toolOptions(board, (text) => this.#say(text))}
        </div>
        <div class="right">
          <div class="box solid"><canvas class="mesh" tabindex="0" role="img" aria-label="The surfaces in 3D; arrow keys turn, plus and minus zoom, 0 goes back" @keydown=${this.#meshKey}></canvas></div>
          <div class="bar"><button type="button" @click=${() => this.#scene?.reset()}>As the camera saw it</button><span class="status">Drag to turn.</span></div>
          ${this.#watching ? nothing : this.#saved(board)} ${problemList(this.#problems, this.#problem, this.#notes, (index) => this.#go(index))}
        </div>
      </div>
      ${this.#help ? helpTable() : nothing}
    `;
  }

  #actions(board: Board): Action[] {
    return [
      { label: "Undo", key: "Ctrl Z", act: () => this.#undo(false), disabled: !board.story.canUndo },
      { label: "Redo", key: "Ctrl Y", act: () => this.#undo(true), disabled: !board.story.canRedo },
      { label: "Snap", key: "E", act: () => this.#toggle("snaps"), pressed: board.snaps },
      { label: "Follow edges", key: "T", act: () => this.#toggle("follows"), pressed: board.follows },
      { label: "Tints", key: "I", act: () => this.#toggle("tints"), pressed: board.tints },
      { label: "Other side nearer", key: "X", act: () => board.flipChosen() },
      { label: "Remove", key: "Delete", act: () => board.removeChosen(), disabled: board.chosen === null },
      { label: "Whole picture", key: "0", act: () => this.#whole() },
      { label: "Help", key: "?", act: () => this.#toggleHelp(), pressed: this.#help },
    ];
  }

  #saved(board: Board): TemplateResult {
    const { waiting = 0, trouble = "" } = this.#sender ?? {};
    return savedState(board, { waiting, trouble, here: this.others(), refused: this.#refused, offline: this.#offline }, () => this.#finish());
  }
}

customElements.define("dg-draw", DrawPage);
