"""Cameras that are not where the calibration says.

The truth belongs to the pixels of the reference view, so only the other views are moved. A coin
toss for each view decides its direction, independent of the level: if all cameras of a grid moved
in the same way, they would still agree with each other.
"""

from __future__ import annotations

import numpy as np

from depthgauge.perturbations._effect import Pixels, effect
from depthgauge.perturbations._resample import rotated, shifted_down


@effect(
    "decalibration",
    unit="px",
    neutral=0,
    levels=(0, 0.25, 0.5, 1, 2),
    bounds=(0, 100),
    moves=True,
    cite="Scharstein et al. 2014; Häusler & Kondermann 2013",
)
def decalibration(image: Pixels, *, level: float, rng: np.random.Generator) -> Pixels:
    """The view is that many pixels too high or too low: rows no longer match.

    Up or down is a coin thrown for each sample and view.
    """
    return shifted_down(image, level * _coin(rng))


@effect(
    "rotation",
    unit="deg",
    neutral=0,
    levels=(0, 0.05, 0.1, 0.2, 0.4),
    bounds=(0, 45),
    moves=True,
    cite="van der Mark & Gavrila 2006",
)
def rotation(image: Pixels, *, level: float, rng: np.random.Generator) -> Pixels:
    """The view is turned about its middle by that many degrees.

    Clockwise or not is a coin thrown for each sample and view.
    """
    return rotated(image, level * _coin(rng))


def _coin(rng: np.random.Generator) -> float:
    return 1.0 if rng.integers(2) else -1.0
