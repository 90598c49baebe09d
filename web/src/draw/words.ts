// Names of the tools, their keys, and the help.
import type { ToolName } from "./board.js";

export interface ToolWords {
  name: ToolName;
  label: string;
  key: string;
  hint: string;
}

export const TOOLS: ToolWords[] = [
  { name: "select", label: "Select", key: "V", hint: "Click a line, an arrow or a mark; drag its corners. Pull a line between corners to bend it." },
  { name: "region", label: "Region", key: "R", hint: "Click around the part that you annotate. It must contain both targets." },
  { name: "sharp", label: "Sharp occlusion", key: "O", hint: "Along an edge where something hides what is behind it." },
  { name: "smooth", label: "Smooth occlusion", key: "S", hint: "Where a round surface turns away from you and hides what is behind it." },
  { name: "fold", label: "Fold", key: "F", hint: "Where a surface bends sharply but goes on." },
  { name: "planar", label: "Planar", key: "P", hint: "Click every surface that is flat." },
  { name: "curved", label: "Curved", key: "C", hint: "Click every surface that is not flat." },
  { name: "normal", label: "Normal", key: "N", hint: "Press on a surface and drag, until the grid lies on it and the arrow stands on it." },
  { name: "relation", label: "Relation", key: "L", hint: "Choose parallel, orthogonal or neither, then click two planes." },
  { name: "focal", label: "Focal length", key: "K", hint: "Drag along two edges that are parallel in space, then along two that are orthogonal to them." },
];

export const HELP: [string, string][] = [
  ["V R O S F P C N L K", "choose a tool; with a line chosen, Shift with O, S or F changes its kind"],
  ["Arrow keys", "move the cursor; with Shift far, with Alt a pixel, with Ctrl the picture"],
  ["Space", "press at the cursor: sets a corner, or holds what is there until Space again"],
  ["Enter, double click", "end a line; a click on its beginning closes it"],
  ["Backspace", "take back the last corner; Delete removes what is chosen"],
  ["Escape", "give up what is being drawn; then choose nothing"],
  ["X", "put the nearer side of an occlusion on the other side"],
  [", and .", "choose the thing before or after"],
  ["[ and ]", "choose the corner before or after; Space then holds it"],
  ["G", "go to the next problem"],
  ["Ctrl Z, Ctrl Y", "undo, redo"],
  ["E, T, I", "snap on and off, follow edges, tints"],
  ["+, −, 0", "zoom; show the whole picture"],
  ["Alt while drawing", "snaps to nothing"],
  ["Wheel, two fingers", "zoom; drag with the right button or two fingers to move the picture"],
  ["?", "this help"],
];
