// The look of the page that draws masks.
import { css } from "lit";

export const style = css`
  .box { height: min(70vh, 60rem); min-height: 18rem; }
  .box canvas { position: absolute; inset: 0; cursor: crosshair; }
  .box canvas.moves { cursor: grab; }
  .box canvas.base { pointer-events: none; }
  .numbers { font-variant-numeric: tabular-nums; }
  .trouble { color: var(--bad, #b3261e); font-weight: 600; }
  button.go:not(:disabled) { border-color: var(--accent); color: var(--accent); font-weight: 600; }
  @media (max-width: 60rem) { .box { height: 56vh; } }
`;
