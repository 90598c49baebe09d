"""Camouflage: backgammon in one colour, seen by noisy sensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.sets.stratified._paint import Paint, tones
from depthgauge.synth.sets.stratified._scene import Region, VisiblePoints
from depthgauge.synth.sets.stratified.backgammon import Backgammon

_CONTRAST = 0.35


@dataclass(frozen=True, slots=True)
class Camouflage(Backgammon):
    """The peaks and gaps of `backgammon`, where nothing but disparity tells peaks from gaps.

    All planes have the same pale texture, so edges cannot be found in the images. A map that is
    exact at the images' resolution scores as well as on `backgammon`; methods do not.
    """

    name: ClassVar[str] = "camouflage"
    sensor_noise: ClassVar[float] = 5.0

    def paints(self) -> tuple[Paint, Paint, Paint]:
        """One paint for all; each plane has its own random texture of it."""
        paint = Paint(tones("#343a30", "#84907a", "#dce4cc"), contrast=(_CONTRAST, 0.0, 0.0))
        return paint, paint, paint

    def regions(self, seen: VisiblePoints) -> dict[str, Region]:
        """Those of `backgammon`, under names of their own."""
        found = Backgammon.regions(self, seen)
        return {
            "hidden_thinning": found["foreground_thinning"],
            "hidden_fattening": found["foreground_fattening"],
            "camouflage_bins": found["vertical_bins"],
        }

    def levels(self) -> dict[str, NDArray[np.float64]]:
        """Gaps in the middles of bands."""
        return {"camouflage_bins": self.gap.middles()}
