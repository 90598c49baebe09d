// How the page to draw on is laid out.
import { css } from "lit";

export const sheet = css`
  .work { display: grid; grid-template-columns: minmax(0, 1fr) minmax(18rem, 30%); gap: .8rem; align-items: start; }
  .left, .right { min-width: 0; }
  .paper { height: clamp(18rem, 100vh - 16rem, 90rem); }
  .solid { aspect-ratio: 4 / 3; width: 100%; max-height: 50vh; }
  .box canvas.sheet { cursor: crosshair; }
  .box canvas.sheet:active { cursor: crosshair; }
  .tools button { padding: .25rem .55rem; border-left-width: 4px; }
  .tools button.sharp { border-left-color: #f0424a; }
  .tools button.smooth { border-left-color: #2fc04f; }
  .tools button.fold { border-left-color: #ff9a1f; }
  .tools button.normal { border-left-color: #3d8bff; }
  kbd { font: .75rem/1 var(--mono, monospace); color: var(--soft); border: 1px solid var(--line); border-radius: 3px; padding: 0 .25rem; }
  .said { min-height: 1.5em; }
  .saved { margin: .4rem 0; font-size: .92rem; }
  .bad { color: var(--bad, #b42318); }
  @media (prefers-color-scheme: dark) { .bad { color: #ff9a8f; } }
  .notice { border-left: 3px solid var(--accent); background: var(--wash); padding: .4rem .7rem; margin: .4rem 0; font-size: .9rem; }
  h2 { font-size: 1rem; margin: .8rem 0 .3rem; }
  .problems { margin: 0; padding-left: 1.6rem; font-size: .88rem; max-height: 40vh; overflow-y: auto; }
  .problems li { margin: .2rem 0; }
  .problems button { border: 0; padding: .15rem .3rem; min-height: 1.6rem; text-align: left; vertical-align: top; background: none; white-space: normal; overflow-wrap: anywhere; }
  .problems button[aria-current="true"] { background: var(--wash); color: var(--accent); }
  details { font-size: .88rem; margin: .5rem 0; }
  summary { cursor: pointer; color: var(--accent); }
  fieldset { border: 1px solid var(--line); border-radius: 5px; padding: .2rem .7rem; }
  legend { font-size: .85rem; color: var(--soft); padding: 0 .3rem; }
  input[type="number"] { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 5px; padding: .25rem .5rem; width: 8rem; min-height: 2.1rem; }
  .help dl { display: grid; grid-template-columns: minmax(7rem, max-content) minmax(0, 1fr); gap: .2rem 1.2rem; margin: 0; }
  .help dt { font-weight: 600; max-width: 14rem; }
  .help dd { margin: 0; }
  @media (max-width: 56rem) {
    .work { grid-template-columns: minmax(0, 1fr); }
    .paper { height: auto; aspect-ratio: var(--ratio, 4 / 3); min-height: 14rem; max-height: 70vh; width: 100%; }
    .tools button { padding: .2rem .4rem; font-size: .85rem; }
    kbd { display: none; }
  }
`;
