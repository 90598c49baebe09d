"""Truths of Middlebury that are not part of the repository, from a folder of real data."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from depthgauge.io import read_image
from depthgauge.types import Map

_CODED = {
    "Teddy": ("middlebury-classic/teddy/disp2.png", 4),
    "Cones": ("middlebury-classic/cones/disp2.png", 4),
    "Reindeer": ("middlebury-2005-2006/Reindeer/disp1.png", 2),
}
"""File, and what its numbers are divided by; 0 is missing."""


def real_truths(folder: Path) -> dict[str, Map]:
    """Disparities of the left view by scene, NaN where missing."""
    with np.load(folder / "middlebury-motorcycle" / "motorcycle_disp.npz") as file:
        motorcycle = file["arr_0"].astype(np.float32)
    motorcycle[~np.isfinite(motorcycle)] = np.nan
    found = {"Motorcycle": motorcycle}
    for name, (path, scale) in _CODED.items():
        codes = read_image(folder / path)
        values = codes.reshape(*codes.shape[:2], -1)[..., 0].astype(np.float32) / scale
        values[values == 0] = np.nan
        found[name] = values
    return found
