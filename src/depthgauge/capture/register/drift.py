"""How R and C moved against L since the calibration: R under patterns, C in the scene."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._progress import Progress
from depthgauge.capture.calibrate.calibration import Calibration
from depthgauge.capture.photographs.movements import Movements
from depthgauge.capture.rectify.pairs import balanced_pair, unbalanced_pair
from depthgauge.capture.register.camera import read_or_none, spread_evenly
from depthgauge.capture.register.views import Drift, Rows, fit_drift, row_differences
from depthgauge.capture.spacetime.engine import Pairs
from depthgauge.capture.spacetime.eye import Eye
from depthgauge.capture.spacetime.patterns import make_stacks, remove_stacks, small_size
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.sessions import Session

_PATTERNS = 8
"""Patterns whose rows are compared."""
_SCENES = 3
"""Photographs of the scene whose rows are compared."""
_WIDTH = 640


def drift_of_right(
    session: Session,
    calibration: Calibration,
    names: Sequence[str],
    movements: Movements,
    folder: Path,
    progress: Progress,
) -> tuple[Drift, Rows] | None:
    """How camera R moved, from the rows of patterns; None if too little matches.

    Args:
        session: The session.
        calibration: As the photographs of the board gave it.
        names: The patterns that can be read.
        movements: What is known already about the photographs.
        folder: For files that are removed again.
        progress: Called after each pattern.
    """
    if not names:
        return None
    cameras = calibration.cameras
    pair = balanced_pair(cameras["L"], cameras["R"], calibration.pairs["LR"])
    size = small_size(pair, min(1.0, _WIDTH / pair.left.camera.size_px[0]))
    some = spread_evenly(names, _PATTERNS)
    pairs, _ = make_stacks(session, pair, some, size, folder, progress, movements)
    rows = row_differences(pairs, pair)
    remove_stacks(folder)
    return None if rows is None else (fit_drift(rows, pair.right), rows)


def drift_of_centre(
    session: Session, calibration: Calibration, movements: Movements
) -> Drift | None:
    """How camera C moved, from the rows of the scene; None if too little matches.

    There are no patterns, so this is ten times less precise; in px of C.
    """
    if "LC" not in calibration.pairs:
        return None
    cameras = calibration.cameras
    pair = unbalanced_pair(cameras["L"], cameras["C"], calibration.pairs["LC"])
    pairs = _scene_pairs(session, pair, movements)
    rows = None if pairs is None else row_differences(pairs, pair)
    if rows is None:
        return None
    ratio = pair.right.camera.size_px[1] / pair.left.camera.size_px[1]
    own = Rows(rows.left_px, pair.from_left_size(rows.right_px), rows.lower_px * ratio)
    return fit_drift(own, pair.right)


def _scene_pairs(session: Session, pair: RectifiedPair, movements: Movements) -> Pairs | None:
    """Photographs of the scene, both at the smaller size of C, or less."""
    files = {camera: session.passive_images(camera) for camera in "LC"}
    common = [name for name in files["L"] if name in files["C"]]
    width, height = pair.right.camera.size_px
    scale = min(1.0, _WIDTH / width)
    size = (max(round(width * scale), 1), max(round(height * scale), 1))
    eyes = {"L": Eye(pair.left, size), "C": Eye(pair.right, size)}
    stacks: dict[str, list[NDArray[np.float32]]] = {"L": [], "C": []}
    for name in spread_evenly(common, _SCENES) if common else []:
        seen = {}
        for camera, eye in eyes.items():
            path = files[camera][name]
            image = read_or_none(partial(io.read_image, path), eye.view.raw.size_px)
            if image is not None:
                seen[camera] = eye.see(image, movements.of("passive", camera, name))
        if len(seen) == len(eyes):
            for camera, picture in seen.items():
                stacks[camera].append(picture)
    if not stacks["L"]:
        return None
    left, right = (np.stack(stacks[camera]) for camera in "LC")
    return Pairs(left, right, eyes["L"].known(), eyes["C"].known())
