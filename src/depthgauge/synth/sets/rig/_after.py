"""Checks of rendered frames: depth, visibility, and near things at the border."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._stereogen import names
from depthgauge.errors import DepthgaugeError
from depthgauge.synth.render.shaded import View
from depthgauge.synth.sets.rig._limits import Limits, Rejected

Frame = list[tuple[NDArray[np.uint8], NDArray[np.float32]]]
_PAIR = 2


@dataclass(slots=True, eq=False)
class Watch:
    """Looks at frames as they pass on their way to the files."""

    limits: Limits
    far_m: float
    """Distance of the subject."""
    faults: dict[str, int] = field(default_factory=dict)
    frames: int = 0
    subject: list[float] = field(default_factory=list)
    """Share of pixels that show the subject, of cameras 00 and 01."""

    def over(self, film: Iterator[Sequence[View]]) -> Iterator[Frame]:
        """The same frames as pictures and depth; faults are noted."""
        for views in film:
            for number, view in enumerate(views):
                self._look(view, number)
            self.frames += 1
            yield [(view.image, view.depth) for view in views]

    def _look(self, view: View, camera: int) -> None:
        limits = self.limits
        known = np.isfinite(view.depth)
        if known.mean() < limits.valid_depth or not (view.depth[known] > 0).all():
            self._note("invalid depth")
        grey = view.image[::2, ::2].mean(axis=-1)
        if camera < _PAIR:
            self.subject.append(float(view.moving.mean()))
        if float(grey.mean()) < limits.dark or float(grey.std()) < limits.contrast:
            self._note("poor visibility")
        if _near_border(view.depth, limits.near * self.far_m) > limits.near_share:
            self._note("edge occlusion")

    def _note(self, reason: str) -> None:
        self.faults[reason] = self.faults.get(reason, 0) + 1

    def conclude(self, folder: Path, frames: int) -> None:
        """Says whether the scene in a folder is kept.

        Raises:
            Rejected: It is not.
        """
        if self.frames != frames or not _complete(folder, frames):
            raise Rejected("missing frames")
        if float(np.mean(self.subject)) < self.limits.subject_px:
            self._note("poor visibility")
        for reason in ("invalid depth", "poor visibility", "edge occlusion"):
            if self.faults.get(reason):
                raise Rejected(reason)


def _near_border(depth: NDArray[np.float32], near_m: float) -> float:
    """Share of the border's pixels, but not of its lower edge, that are nearer than that."""
    height, width = depth.shape
    wide, tall = max(1, width // 16), max(1, height // 16)
    border = [depth[:tall].ravel(), depth[:, :wide].ravel(), depth[:, -wide:].ravel()]
    with np.errstate(invalid="ignore"):
        return float(max((part < near_m).mean() for part in border))


def _complete(folder: Path, frames: int) -> bool:
    """Whether all videos have all frames."""
    for camera in range(names.CAMERAS):
        for name in (names.rgb_name(camera), names.depth_name(camera)):
            try:
                if io.video_info(folder / name).frames != frames:
                    return False
            except DepthgaugeError:
                return False
    return True
