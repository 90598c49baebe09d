"""Whether the passive pictures of L and R were exchanged: disparities then lead the wrong way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.geometry.warping import warp_backward
from depthgauge.types import Image, Map

_BETTER = 0.6
"""Exchanged pictures must fit so much better; shiny parts fit badly either way."""


def swapped_warnings(rectified: Path, disparity: Map) -> list[str]:
    """A sentence for every illumination whose two pictures seem to be exchanged.

    Args:
        rectified: The folder of a rectified pair, with pictures in `L` and `R`.
        disparity: (H, W) of the left view.
    """
    said = []
    for left in sorted((rectified / "L").glob("*.png")):
        right = rectified / "R" / left.name
        if right.is_file() and seem_swapped(io.read_image(left), io.read_image(right), disparity):
            said.append(
                f"the passive pictures {left.stem} of L and R seem to be exchanged: the labels fit "
                "the other way round; look at their folders."
            )
    return said


def seem_swapped(left: Image, right: Image, disparity: Map) -> bool:
    """Whether two pictures fit the left view's disparities better when they are exchanged."""
    one, other = _grey(left), _grey(right)
    if one.shape != disparity.shape or other.shape != disparity.shape:
        return False
    as_given, exchanged = _misfit(one, other, disparity), _misfit(other, one, disparity)
    return bool(exchanged < _BETTER * as_given)


def _misfit(left: Map, right: Map, disparity: Map) -> float:
    """Median difference of pictures whose pixels should show the same."""
    off = np.abs(left - warp_backward(right, disparity))
    known = off[np.isfinite(off)]
    return float(np.median(known)) if known.size else np.inf


def _grey(image: Image) -> Map:
    values: NDArray[np.float32] = np.asarray(image, np.float32)
    return values if values.ndim == 2 else values.mean(axis=2, dtype=np.float32)
