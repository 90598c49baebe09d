// What the viewers of pictures share: a dark box with a canvas, and canvases as sharp as the screen.
import { css } from "lit";

export const viewer = css`
  .box { position: relative; background: #0c0d0f; border-radius: 4px; overflow: hidden; min-width: 0; }
  .box canvas { display: block; width: 100%; height: 100%; touch-action: none; cursor: grab; outline-offset: -3px; }
  .box canvas:active { cursor: grabbing; }
  .name {
    position: absolute; left: .5rem; top: .5rem; max-width: calc(100% - 1rem); padding: .1rem .5rem; border-radius: 4px;
    background: rgb(12 13 15 / .85); color: #f2f1ed; font-size: .82rem; pointer-events: none; overflow-wrap: anywhere;
  }
  .name.right { left: auto; right: .5rem; }
  input[type="range"] { min-height: 1.6rem; }
  .wide { display: flex; font-size: .9rem; align-items: center; gap: .6rem; }
  .wide input { flex: 1 1 8rem; min-width: 0; max-width: 30rem; }
`;

/** Gives a canvas the pixels of its place on the screen; returns its context. */
export function fitted(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  return canvas.getContext("2d");
}

/** Decodes an image of the page, wherever it stands. */
export async function loadImage(url: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}

/** Calls at most once for each frame, however often it is asked. */
export function oncePerFrame(draw: () => void): () => void {
  let asked = 0;
  return () => {
    if (asked === 0) {
      asked = requestAnimationFrame(() => {
        asked = 0;
        draw();
      });
    }
  };
}
