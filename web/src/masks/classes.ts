// The four classes of materials, from easy to hard, and their colours (as in serve/desk/masking.py).

import { css as style } from "lit";

export interface MaterialClass {
  colour: [number, number, number];
  about: string;
}

export const CLASSES: MaterialClass[] = [
  { colour: [255, 255, 255], about: "opaque and diffuse: wood, paper, cloth, walls" },
  { colour: [255, 200, 0], about: "no image to be recognised in it: rough metal, glossy tiles, frosted glass" },
  { colour: [230, 60, 200], about: "distorts what it reflects or lets through: coloured glass, rough mirrors" },
  { colour: [0, 170, 255], about: "reflects or lets through almost perfectly: mirrors, clear glass" },
];

export function css(label: number, opacity = 1): string {
  const [r, g, b] = CLASSES[label]?.colour ?? [255, 255, 255];
  return `rgb(${r} ${g} ${b} / ${opacity})`;
}

/** A colour as pixels of a canvas have it in memory. */
export function pixel(label: number, opacity: number): number {
  const [r, g, b] = CLASSES[label]?.colour ?? [255, 255, 255];
  return ((Math.round(255 * opacity) << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export const swatches = style`
  .swatch { display: inline-block; width: .9em; height: .9em; border-radius: 2px; border: 1px solid var(--soft); margin-right: .35em; vertical-align: -.1em; }
  .c0 { background: rgb(255 255 255); }
  .c1 { background: rgb(255 200 0); }
  .c2 { background: rgb(230 60 200); }
  .c3 { background: rgb(0 170 255); }
`;
