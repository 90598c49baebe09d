"""`depthgauge capture masks`: a session's material mask for all its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from depthgauge.capture.masks.session_masks import CarryOptions
from depthgauge.cli._options import json_option, options_of
from depthgauge.cli._output import print_table, progress_bar, say, write_json

_FOLDER = click.Path(path_type=Path, file_okay=False)
_CAMERAS = {"LR": "right view (R)", "LC": "third camera (C)"}


@click.command("masks")
@click.argument("session", type=_FOLDER)
@click.option("--work", type=_FOLDER, help="Where steps are kept.  [default: SESSION/work]")
@click.option("--again", is_flag=True, help="Do it even if nothing has changed.")
@options_of(CarryOptions)
@json_option
def masks(
    session: Path, work: Path | None, again: bool, options: CarryOptions, json_to: str | None
) -> None:
    """Carries the material mask of the left view to every picture of a session.

    Disparity carries it to the right view and to camera C, without hidden surfaces; the motion that
    step `register` found carries it to the other illuminations of each camera. Writes masks of
    classes 0 to 3 to SESSION/work/masks; 255 is unlabelled. A pixel that only the other view sees
    gets, of the nearest labels in its row and column, the one with the most similar disparity;
    without a disparity, it gets the farther one of its row.

    \b
      depthgauge capture edit kitchen --open
      depthgauge capture masks kitchen
    """
    from depthgauge.capture.masks.session_masks import carry_masks
    from depthgauge.sessions import open_session

    opened, place = open_session(session), work or session / "work"
    with progress_bar("masks") as progress:
        step = carry_masks(opened, place, options=options, progress=progress, again=again)
    if json_to is not None:
        write_json(json_to, {"folder": str(step.folder), "pairs": dict(step.figures)})
    if json_to != "-":
        columns = [("view", "left"), ("seen by it alone", "right"), ("unlabelled", "right")]
        columns += [(f"class {k}", "right") for k in range(4)]
        columns += [("true IoU of classes", "left")] if opened.simulated else []
        rows = [_row(name, found) for name, found in step.figures.items()]
        print_table(columns, rows, f"{step.folder}")
        say(f"Masks of all pictures: {step.folder}.")


def _row(name: str, found: dict[str, Any]) -> list[str]:
    known = found["pixels"]
    row = [_CAMERAS[name], f"{found['holes_percent']:.1f} %", str(found["unlabelled"])]
    row += [f"{100 * pixels / known:.1f} %" for pixels in found["classes"]]
    if "true_iou" in found:
        shares = ("-" if v is None else f"{v:.3f}" for v in found["true_iou"])
        row.append(" ".join(shares))
    return row
