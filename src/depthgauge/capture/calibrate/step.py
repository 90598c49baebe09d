"""The step that finds the cameras of a session from its photographs of the board."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from depthgauge import io
from depthgauge._options import Options
from depthgauge.capture.calibrate.calibration import (
    FILE,
    Calibration,
    Pose,
    horizontal_field_deg,
    read_calibration,
)
from depthgauge.capture.calibrate.camera_pairs import PairFit
from depthgauge.capture.calibrate.find_board import find_board
from depthgauge.capture.calibrate.images import (
    OUTLIER_FACTOR,
    BoardViews,
    RigCalibration,
    calibrate_images,
    calibrate_views,
    find_views,
)
from depthgauge.capture.calibrate.single_camera import FEWEST_VIEWS, Single
from depthgauge.capture.registry import StepPlan, StepSpec, StepTask, step_function
from depthgauge.capture.step_options import plain_options
from depthgauge.capture.steps import StepOutput
from depthgauge.errors import BadData, Misuse
from depthgauge.io.text import parse_json
from depthgauge.sessions import CAMERAS, Board
from depthgauge.sessions.session import META

__all__ = [
    "Calibration",
    "Pose",
    "RigCalibration",
    "calibrate",
    "calibrate_images",
    "calibrate_views",
    "read_calibration",
    "read_views",
]

VIEWS = "views.json"
_Images = Mapping[str, Mapping[str, Path]]
_CORNERS = ".corners"


class CalibrateOptions(Options):
    """What calibration drops and refines."""

    outlier_factor: float = Field(default=OUTLIER_FACTOR, ge=1.0)
    """Views whose error exceeds the median by more than this many robust standard deviations are
    dropped."""
    joint: bool = True
    """Refine all cameras and pairs together at the end."""
    square_m: Annotated[float, Field(gt=0.0)] | None = None
    """Side of the board's squares in metres, if session.json has no board; its corners are then
    counted in the photographs."""


SPEC = StepSpec(
    "calibrate",
    "Calibration",
    "Finds lenses and poses from photographs of a board.",
    about="""Corners are found to a fraction of a pixel. Views that do not fit the others are named
    and dropped. Then the pairs L-R and L-C are calibrated.""",
    options=CalibrateOptions,
    revision=5,
)


def plan(task: StepTask, options: CalibrateOptions) -> StepPlan:
    """Calibrates the cameras L, R and C, then the pairs LR and LC.

    Writes `calibration.json`, and `views.json` with the corners and residuals of every photograph.
    The corners of each photograph are stored in `.corners` in the work folder as soon as they are
    found, so a failed step, or one with some new photographs, does not search them again.

    Raises:
        BadData: The photographs do not determine L or R, or contradict each other.
    """
    session = task.session
    images = {name: session.board_images(name) for name in CAMERAS}
    images = {name: paths for name, paths in images.items() if paths}
    if not {"L", "R"} <= set(images):
        missing = " and ".join(name for name in "LR" if name not in images)
        raise BadData(
            f"{session.folder}: there are no photographs of the board by camera {missing}; they "
            "are expected in calibration/L, calibration/R and calibration/C."
        )

    def make(folder: Path) -> StepOutput:
        board = _board(task, images, options)
        seen = find_views(
            images,
            board,
            kept=task.work / _CORNERS,
            again=task.again,
            progress=task.progress,
        )
        _check_board(task, images, seen, board)
        found = calibrate_views(
            seen.views,
            board,
            listed=images,
            left_out=seen.left_out,
            outlier_factor=options.outlier_factor,
            joint=options.joint,
        )
        _write(folder / FILE, found.calibration.to_json())
        _write(folder / VIEWS, {"schema": 1, "cameras": _views_json(found)})
        counted = () if session.board else (_counted(board),)
        return StepOutput(_figures(found), (*counted, *found.warnings))

    return StepPlan(
        make,
        files=[path for paths in images.values() for path in paths.values() if _opens(path)],
        options={
            **plain_options(options),
            "board": None if session.board is None else session.board.to_json(),
            "poses": {name: list(paths) for name, paths in images.items()},
        },
    )


calibrate = step_function(SPEC, plan)


def read_views(work: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """By camera and pose: `used`, `why` not, `rms_px`, `corners_px` and `residuals_px`.

    Raises:
        BadData: The step is not done, or its file is damaged.
    """
    path = work / "calibrate" / VIEWS
    try:
        data = parse_json(path.read_text(encoding="utf-8"))["cameras"]
        return {name: dict(views) for name, views in data.items()}
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"{path}: cannot be read: {error!r}; run `capture calibrate`.") from error


def _board(task: StepTask, images: _Images, options: CalibrateOptions) -> Board:
    """The session's board; if it has none, the one that the photographs show."""
    known = task.session.board
    if known is not None:
        if options.square_m not in (None, known.square_m):
            raise Misuse(
                f"session.json has a board with squares of {known.square_m} m; leave out "
                "--square-m, or correct it there"
            )
        return known
    found = find_board(images, progress=task.progress)
    where = task.session.folder / META
    if found is None:
        raise BadData(
            f"{where}: has no board, and none is found in the photographs; write its number of "
            "inner corners and the side of a square into it (see docs/capture.md)."
        )
    if options.square_m is None:
        raise BadData(
            f"{where}: has no board; the photographs show {found.in_words()}. Measure a square, "
            f"and say `--square-m METRES`, or write {found.entry()}: without it, nothing is "
            "known in metres."
        )
    return found.of(options.square_m)


def _check_board(task: StepTask, images: _Images, seen: BoardViews, board: Board) -> None:
    """Says which board the photographs show, if they do not show the given one.

    Raises:
        BadData: They show another one.
    """
    if all(len(seen.views.get(name, {})) >= FEWEST_VIEWS for name in "LR"):
        return
    found = find_board(images, progress=task.progress)
    if found is None or found.seen < 2:
        return
    other = found.board
    if replace(other, square_m=board.square_m, marker_m=board.marker_m) == board:
        return  # it is the given one; other photographs are too few or damaged
    part = other.columns <= board.columns and other.rows <= board.rows
    if part and other.kind == board.kind and 2 * found.seen < found.searched:
        return  # the same board, partly outside of its photographs: each shows another part
    raise BadData(
        f"{task.session.folder / META}: the board there has {board.columns}x{board.rows} inner "
        f"corners ({board.kind}), but the photographs show {found.in_words()}; write "
        f"{found.entry()}."
    )


def _counted(board: Board) -> str:
    return (
        f"session.json has no board; its corners were counted in the photographs, write "
        f'"board": {json.dumps(board.to_json())}'
    )


def _opens(path: Path) -> bool:
    """Whether a file is not empty; an empty one is left out with a warning."""
    try:
        path.open("rb").close()
    except OSError:
        return False
    return True


def _views_json(found: RigCalibration) -> dict[str, Any]:
    return {name: _camera_views(found, name, single) for name, single in found.singles.items()}


def _camera_views(found: RigCalibration, name: str, single: Single) -> dict[str, Any]:
    pair = found.pairs.get(f"L{name}")
    views: dict[str, Any] = {
        pose: {
            "used": True,
            "rms_px": view.rms_px,
            "corners_px": np.round(view.corners.pixels, 4).tolist(),
            "ids": view.corners.ids.tolist(),
            "residuals_px": np.round(view.residual_px, 5).tolist(),
        }
        for pose, view in single.views.items()
    }
    gone = dict.fromkeys(found.not_found[name], "the board was not found")
    gone |= {**(pair.dropped if pair else {}), **single.dropped}
    views |= {pose: {"used": False, "why": why} for pose, why in gone.items()}
    return dict(sorted(views.items()))


def _figures(found: RigCalibration) -> dict[str, Any]:
    return {
        "cameras": {
            name: _camera_figures(found, name, single) for name, single in found.singles.items()
        },
        "pairs": {name: _pair_figures(fit) for name, fit in found.pairs.items()},
    }


def _camera_figures(found: RigCalibration, name: str, single: Single) -> dict[str, Any]:
    return {
        "rms_px": single.rms_px,
        "views_used": len(single.views),
        "views_dropped": dict(single.dropped),
        "views_not_found": list(found.not_found[name]),
        "focal_px": list(single.camera.focal_px),
        "focal_error_px": single.focal_error_px,
        "centre_px": list(single.camera.centre_px),
        "horizontal_field_deg": horizontal_field_deg(single.camera),
    }


def _pair_figures(fit: PairFit) -> dict[str, Any]:
    return {
        "rms_px": fit.pose.rms_px,
        "views_used": len(fit.used),
        "views_dropped": dict(fit.dropped),
        "baseline_m": fit.pose.baseline_m,
    }


def _write(path: Path, data: Mapping[str, Any]) -> None:
    io.write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n")
