"""What KITTI's development kits make of a submitted PNG: its values, and the filled map.

Both kits fill holes before they score (`interpolateBackground`). Pixels that stay empty keep what
the kit stores for them: a disparity of -1, a flow of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from depthgauge.errors import BadFile, WrongShape
from depthgauge.geometry.filling import fill
from depthgauge.io import map_size, read_map, stored_dtype
from depthgauge.types import Map, Mask, is_known

EMPTY = {"disparity": -1.0, "flow": 0.0}
"""What a kit has where neither a row nor a column gives a value."""
_CHANNELS = {"disparity": 1, "flow": 3}


@dataclass(frozen=True, slots=True)
class SubmittedMap:
    """A submitted map as a kit sees it."""

    given: Mask
    """Where the submission has a value."""
    filled: Map
    """With all holes filled."""


def read_submitted(path: Path, quantity: str) -> SubmittedMap:
    """A map as it was submitted; other formats than PNG are read as any estimate is.

    Raises:
        BadFile: A PNG has other bits or channels than the kit reads.
    """
    values = _read_png(path, quantity) if path.suffix == ".png" else read_map(path, quantity)
    given = is_known(values)
    if given.all():
        return SubmittedMap(given, values)
    filled = fill(values, "background")
    lost = ~is_known(filled)
    filled[lost] = EMPTY[quantity]
    return SubmittedMap(given, filled)


def _read_png(path: Path, quantity: str) -> Map:
    """Codes as the kit reads them: 16 bits, and 1/256 px whatever else a file says."""
    channels = _CHANNELS[quantity]
    found = map_size(path)[2]
    bits = 8 * stored_dtype(path).itemsize
    if (bits, found) != (16, channels):
        raise BadFile(
            f"{path}: the official program takes PNG with {channels} channel(s) of 16 bits, this "
            f"one has {found} of {bits}"
        )
    return read_map(path, quantity=quantity, scale=256 if channels == 1 else None)


def check_size(path: Path, found: SubmittedMap, truth: Map) -> None:
    """A kit stops at another size.

    Raises:
        WrongShape: The sizes differ.
    """
    if found.given.shape != truth.shape[:2]:
        (h, w), (th, tw) = found.given.shape, truth.shape[:2]
        raise WrongShape(f"{path}: is {w}x{h} but the truth is {tw}x{th}; both must be equal.")


def read_truth(path: Path, quantity: str) -> Map:
    """A map of the truth, NaN where it has none."""
    if not path.is_file():
        raise BadFile(f"{path}: there is no such file, which the official program needs")
    return read_map(path, quantity=quantity)


def lengths(vectors: Map) -> Map:
    """Lengths of vectors (N, 2) in float32, as the kit computes them."""
    u, v = vectors[..., 0], vectors[..., 1]
    return np.sqrt(u * u + v * v)
