"""The two points, chosen in advance, that an annotator's region must contain."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from depthgauge.annotate.records.annotation import Picture, Point

_BORDER = 0.05
"""Share of each side: no point is chosen this close to the edge."""
_APART = 0.1
"""Share of the diagonal: the two points are at least this far apart."""


def preselected_points(picture: Picture, seed: int = 0) -> tuple[Point, Point]:
    """Two pixels of a picture, always the same for the same id, size and seed.

    They are not in the outer 5 % of the image, and at least a tenth of its diagonal apart if the
    image is large enough.

    >>> preselected_points(Picture("street", 640, 480))
    ((439.0, 275.0), (236.0, 137.0))
    """
    key = f"{picture.id}\0{picture.width_px}\0{picture.height_px}\0{seed}"
    # An id may contain anything; Python's own hash differs from process to process.
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
    rng = np.random.default_rng(list(digest))
    columns, rows = _inner(picture.width_px), _inner(picture.height_px)
    apart = _APART * math.hypot(picture.width_px, picture.height_px)
    first = _drawn(rng, columns, rows)
    second = first
    for _ in range(10_000):
        candidate = _drawn(rng, columns, rows)
        if math.dist(first, candidate) > math.dist(first, second):
            second = candidate
        if math.dist(first, candidate) >= apart:
            return first, candidate
    return first, second  # a picture of a few pixels


def _inner(length_px: int) -> tuple[int, int]:
    """First and last pixel of a side without its border."""
    first = math.ceil(_BORDER * length_px)
    last = length_px - 1 - first
    return (first, last) if last >= first else ((length_px - 1) // 2, (length_px - 1) // 2)


def _drawn(rng: np.random.Generator, columns: tuple[int, int], rows: tuple[int, int]) -> Point:
    x = rng.integers(columns[0], columns[1], endpoint=True)
    y = rng.integers(rows[0], rows[1], endpoint=True)
    return float(x), float(y)
