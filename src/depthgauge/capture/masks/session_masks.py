"""A session's material mask for every picture: other illuminations, the other view, camera C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from depthgauge import io
from depthgauge._options import Options
from depthgauge._progress import Progress, no_progress
from depthgauge.capture.exact_truth import exact_truth
from depthgauge.capture.labels import rectified_labels
from depthgauge.capture.masks.carry import (
    UNLABELLED,
    CarriedLabels,
    Labels,
    carry_right,
    filled,
    intersection_over_union,
    to_right_size,
)
from depthgauge.capture.masks.drawn_on import MATERIALS, label_path
from depthgauge.capture.photographs.motion import moved_along
from depthgauge.capture.photographs.movements import Movements, Way, read_movements
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.resample import take_nearest
from depthgauge.capture.step_options import plain_options
from depthgauge.capture.steps import Step, StepOutput, do_step, has_step, read_step
from depthgauge.capture.warp.step import warp_disparity
from depthgauge.errors import BadData
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.sessions import Session, read_simulated
from depthgauge.types import Camera, Map

FOLDER = "masks"
REVISION = 1
_BAND = 256
_ROUNDS = 4
"""Motions are small and smooth; each round makes the error a hundred times smaller."""


class CarryOptions(Options):
    """How labels get into the other views."""

    threshold_px: float = Field(default=2.0, gt=0.0)
    """Largest difference between the disparities of one point in the two views."""
    fill: bool = True
    """Fill what only the other view sees from what is beside it; otherwise it stays 255."""


@dataclass(frozen=True, slots=True)
class _Job:
    session: Session
    work: Path
    options: CarryOptions
    folder: Path
    progress: Progress

    def do(self) -> StepOutput:
        balanced = read_pair(self.work, "LR")
        left, right = (
            io.read_map(self.work / "clean" / f"{side}_disparity.npy") for side in ("left", "right")
        )
        figures: dict[str, Any] = {"LR": self._pair("LR", balanced, balanced, left, right)}
        if (self.work / "rectify" / "LC.json").is_file():
            pair = read_pair(self.work, "LC")
            warped = warp_disparity(left, np.zeros_like(left), balanced, pair).disparity
            figures["LC"] = self._pair("LC", balanced, pair, warped, None)
        return StepOutput(figures)

    def _pair(
        self, name: str, balanced: RectifiedPair, pair: RectifiedPair, left: Map, right: Map | None
    ) -> dict[str, Any]:
        self.progress(f"pair {name}", 0, 1)
        labels = rectified_labels(self.session, MATERIALS, balanced, pair.left)
        assert labels is not None
        found = carry_right(labels, left, right, threshold_px=self.options.threshold_px)
        carried = self._finished(found, pair)
        self._write(name, "left", labels)
        self._write(name, "right", carried)
        movements = read_movements(self.work)
        for camera, made, view in ((name[1], carried, pair.right), ("L", labels, pair.left)):
            if camera != "L" or name == "LR":
                self._photographs(camera, made, view, movements)
        holes = int(found.holes.sum())
        return {
            "pixels": int(carried.size),
            "holes": holes,
            "holes_percent": 100.0 * holes / labels.size,
            "unlabelled": int(np.count_nonzero(carried == UNLABELLED)),
            "classes": np.bincount(carried.ravel(), minlength=4)[:4].tolist(),
            **self._agreement(name, pair, carried),
        }

    def _finished(self, found: CarriedLabels, pair: RectifiedPair) -> Labels:
        whole = filled(found) if self.options.fill else found.labels
        if pair.right.camera.size_px == pair.left.camera.size_px:
            return whole
        return to_right_size(whole, pair)

    def _agreement(self, name: str, pair: RectifiedPair, carried: Labels) -> dict[str, Any]:
        """On simulated sessions: overlap of what has a label with the true materials, by class."""
        if not self.session.simulated:
            return {}
        truth = exact_truth(read_simulated(self.session.truth_folder), pair, name, "right")
        labelled = np.where(carried == UNLABELLED, -1, truth.materials)
        shares = intersection_over_union(carried, labelled)
        return {"true_iou": [None if np.isnan(v) else float(v) for v in shares]}

    def _photographs(
        self, camera: str, labels: Labels, view: RectifiedView, movements: Movements
    ) -> None:
        """The mask of every photograph of a camera; those that did not move have the same."""
        made: dict[Way, Labels] = {}
        for name in self.session.passive_images(camera):
            self.progress(f"photographs of {camera}", 0, 1)
            way = movements.of("passive", camera, name)
            if way not in made and camera == "L" and self.session.labels_on == "raw":
                made[way] = moved_labels(self._drawn(), way, view.raw)
            elif way not in made:
                made[way] = on_photograph(labels, view, way)
            self._write(f"passive/{camera}", name, made[way])

    def _drawn(self) -> Labels:
        return io.read_labels(label_path(self.session)).astype(np.uint8)

    def _write(self, place: str, name: str, labels: Labels) -> None:
        path = self.folder / place / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        io.write_image(path, labels)


def carry_masks(
    session: Session,
    work: Path,
    *,
    options: CarryOptions | None = None,
    progress: Progress | None = None,
    again: bool = False,
) -> Step:
    """Carries a session's material mask to all its pictures.

    Writes to `masks` in the work folder: `LR/left.png`, `LR/right.png`, `LC/left.png`,
    `LC/right.png` (rectified) and `passive/<camera>/<illumination>.png` (as photographed), with
    classes 0 to 3 and 255 where nothing is known. Figures are of the right views: pixels that only
    they see, what is still without a label, pixels of each class; on simulated sessions also the
    intersection over union of what has a label with the true materials.

    Raises:
        BadData: There is no mask, or the session is not cleaned yet.
    """
    path = label_path(session)
    if not path.is_file():
        raise BadData(
            f"{path}: there is no material mask; draw one with `depthgauge capture edit`."
        )
    chosen = options or CarryOptions()
    before = [read_step(work, name) for name in ("rectify", "clean")]
    before += [read_step(work, "register")] if has_step(work, "register") else []

    def make(folder: Path) -> StepOutput:
        return _Job(session, work, chosen, folder, progress or no_progress).do()

    return do_step(
        work,
        FOLDER,
        make,
        options={**plain_options(chosen), "labels_on": session.labels_on},
        revision=REVISION,
        after=before,
        files=[path],
        again=again,
    )


def on_photograph(labels: Labels, view: RectifiedView, way: Way = ()) -> Labels:
    """Labels of a rectified view on the raw photograph, which may have moved; 255 beyond them."""
    return _taken(labels, view.raw, way, view)


def moved_labels(labels: Labels, way: Way, camera: Camera) -> Labels:
    """Labels that were drawn on a raw photograph, on one that moved; 255 beyond them."""
    return _taken(labels, camera, way, None) if way else labels


def _taken(labels: Labels, camera: Camera, way: Way, view: RectifiedView | None) -> Labels:
    """The labels of a raw photograph's pixels, from another photograph or a rectified view."""
    width, height = camera.size_px
    out = np.full((height, width), UNLABELLED, np.uint8)
    for start in range(0, height, _BAND):
        rows = slice(start, min(start + _BAND, height))
        y, x = np.mgrid[rows, 0:width].astype(np.float64)
        seen = np.stack([x, y], axis=-1)
        still = seen
        for _ in range(_ROUNDS if way else 0):
            still = still + seen - moved_along(still, way, camera)
        place = still if view is None else view.from_raw(still)
        take_nearest(labels, place[..., 0], place[..., 1], out[rows])
    return out
