// Buttons, fields and lines of text: the same in every island, in the colours of the page.
import { css } from "lit";

export const controls = css`
  :host { display: block; color: var(--ink); font: 400 1rem/1.5 var(--sans, system-ui, sans-serif); }
  * { box-sizing: border-box; }
  .bar { display: flex; flex-wrap: wrap; gap: .45rem .6rem; align-items: center; margin: .4rem 0; font-size: .9rem; }
  button, select, input[type="search"] {
    font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--soft);
    border-radius: 5px; padding: .3rem .7rem; min-height: 2.1rem; max-width: 100%;
  }
  button { cursor: pointer; }
  button:hover { border-color: var(--accent); color: var(--accent); }
  button[aria-expanded="true"], button[aria-pressed="true"] { background: var(--wash); border-color: var(--accent); color: var(--accent); }
  button:disabled { opacity: .55; cursor: default; }
  input[type="search"] { min-width: min(16rem, 100%); flex: 0 1 20rem; }
  input[type="checkbox"], input[type="radio"], input[type="range"] { accent-color: var(--accent); }
  label { display: inline-flex; align-items: center; gap: .4rem; min-height: 1.6rem; }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
  .status, .explain { color: var(--soft); font-size: .88rem; margin: .3rem 0; max-width: 60rem; }
  .panel { background: var(--raised); border-radius: 6px; padding: .7rem 1rem .9rem; margin: .3rem 0 .7rem; font-size: .9rem; }
  .panel > p { margin: 0 0 .6rem; }
  .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  [hidden] { display: none !important; }
  @media (max-width: 40rem) { .panel { padding-inline: .7rem; } }
`;
