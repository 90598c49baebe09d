// The bar that says what colours mean.
import { css } from "lit";
import type { Palette } from "./paint.js";

export const legendStyles = css`
  .legend { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .6rem; font-size: .82rem; color: var(--soft); margin-top: .4rem; font-variant-numeric: tabular-nums; min-height: 1.4em; }
  .legend .bar { width: min(12rem, 30vw); height: .7rem; margin: 0; border-radius: 2px; }
  .legend .missing { width: .7rem; height: .7rem; margin-left: .4rem; border-radius: 2px; }
`;

/** Fills an element with low end, bar, high end, and the colour of what is missing. */
export function legend(element: Element, palette: Palette | null, unit: string): void {
  if (palette === null) return;
  const part = (name: string, text = "", background = ""): HTMLElement => {
    const span = document.createElement("span");
    span.className = name;
    span.textContent = text;
    if (background !== "") span.style.background = background;
    return span;
  };
  const number = (value: number): string => `${Number(value.toPrecision(3))}${unit === "" ? "" : ` ${unit}`}`;
  element.replaceChildren(
    part("end", number(palette.low)),
    part("bar", "", `linear-gradient(to right, ${palette.colours.join(", ")})`),
    part("end", number(palette.high)),
    part("missing", "", palette.missing),
    part("end", "no value"),
  );
}
