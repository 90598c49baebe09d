// How the page to clean clouds looks.
import { css } from "lit";

export const views = css`
  .views { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .5rem; }
  .box { height: min(68vh, 52rem); min-height: 16rem; }
  .box canvas.over { position: absolute; inset: 0; pointer-events: none; }
  .box canvas.tool { cursor: crosshair; }
  input[type="number"] { font: inherit; width: 5rem; color: var(--ink); background: var(--paper); border: 1px solid var(--soft); border-radius: 5px; padding: .3rem .5rem; }
  .numbers { font-variant-numeric: tabular-nums; }
  .trouble { color: var(--bad, #b3261e); font-weight: 600; }
  table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
  th, td { text-align: left; padding: .2rem .9rem .2rem 0; font-weight: 400; }
  td { text-align: right; }
  thead th { color: var(--soft); }
  kbd { font: inherit; border: 1px solid var(--soft); border-radius: 3px; padding: 0 .3em; }
  @media (max-width: 60rem) { .views { grid-template-columns: minmax(0, 1fr); } .box { height: 46vh; } }
`;
