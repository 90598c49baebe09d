// Keys that turn a view in three dimensions.
const STEP = Math.PI / 36;

/** How far each key turns (radians) or comes nearer (a factor). */
export const TURNS: Record<string, [number, number, number]> = {
  ArrowLeft: [-STEP, 0, 1],
  ArrowRight: [STEP, 0, 1],
  ArrowUp: [0, STEP, 1],
  ArrowDown: [0, -STEP, 1],
  "+": [0, 0, 1.15],
  "=": [0, 0, 1.15],
  "-": [0, 0, 1 / 1.15],
};
