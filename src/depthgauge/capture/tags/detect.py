"""AprilTags in a photograph: identities and the four corners of each, to a fraction of a pixel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.calibrate.boards import _light, grey_levels
from depthgauge.capture.tags._edges import refine_corners
from depthgauge.types import Image

Points = NDArray[np.float64]

_ORDER = [1, 0, 3, 2]
"""OpenCV begins at the upper left and goes clockwise; `TAG_CORNERS` says how we count."""
_ENLARGED_BELOW_PX = 2600
"""Smaller photographs are also searched at twice their size: small tags are found there."""
_ENLARGED = 2
_WRONG_BITS = 0.4
"""Of the 5 bits that the family can correct, as the AprilTag library does by default."""
_SAME = 0.5
"""Two findings whose centres are nearer than this share of a side are one tag."""


@dataclass(frozen=True, slots=True, eq=False)
class FoundTag:
    """A tag in a photograph."""

    identity: int
    corners: Points
    """(4, 2) px of the photograph, in the order of `TAG_CORNERS`."""


def find_tags(image: Image) -> list[FoundTag]:
    """The tags of the family tag36h11 in a photograph, by identity, then from left to right.

    Edges are located in light, not in codes of sRGB. A tag whose edges cannot be followed (cut by
    the border of the photograph, half covered) is not among them. One identity may occur twice.

    Args:
        image: Grey or RGB; pixel centres at whole numbers. sRGB codes: uint8, or float32
            from 0 to 1 for photographs of more bits.
    """
    grey = grey_levels(image)
    light = _light(image, grey)
    kept: list[FoundTag] = []
    for identity, rough in _search(grey):
        if any(_is_same(tag, identity, rough) for tag in kept):
            continue
        corners = refine_corners(light, rough)
        if corners is not None:
            kept.append(FoundTag(identity, corners))
    return sorted(kept, key=lambda tag: (tag.identity, *tag.corners.mean(axis=0).tolist()))


def snapped(image: Image, rough: Points) -> Points | None:
    """Corners that a person pointed at, moved to where the edges of the tag meet; None if not.

    Args:
        image: The photograph.
        rough: (4, 2) px, in the order of `TAG_CORNERS`.
    """
    return refine_corners(_light(image, grey_levels(image)), rough)


def _search(grey: NDArray[np.uint8]) -> Iterator[tuple[int, Points]]:
    """Identities and rough corners; tags come several times."""
    import cv2

    yield from _found(grey, 1)
    if max(grey.shape) < _ENLARGED_BELOW_PX:
        size = (_ENLARGED * grey.shape[1], _ENLARGED * grey.shape[0])
        yield from _found(cv2.resize(grey, size, interpolation=cv2.INTER_CUBIC), _ENLARGED)


def _found(grey: NDArray[Any], factor: int) -> Iterator[tuple[int, Points]]:
    import cv2

    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    # AprilTag's own search of quadrangles has pixel centres at halves, and is the more exact one.
    ways = ((cv2.aruco.CORNER_REFINE_APRILTAG, 0.5), (cv2.aruco.CORNER_REFINE_NONE, 0.0))
    for way, offset in ways:
        search = cv2.aruco.ArucoDetector(family, _parameters(way))
        corners, identities, _ = search.detectMarkers(grey)
        if identities is None:
            continue
        for quad, identity in zip(corners, np.ravel(identities).tolist(), strict=True):
            px = np.asarray(quad, np.float64).reshape(4, 2)[_ORDER] - offset
            yield int(identity), (px + 0.5) / factor - 0.5


def _parameters(way: int) -> Any:
    import cv2

    found = cv2.aruco.DetectorParameters()
    found.cornerRefinementMethod = way
    found.adaptiveThreshWinSizeMin = 3
    found.adaptiveThreshWinSizeMax = 43
    found.adaptiveThreshWinSizeStep = 8
    found.minMarkerPerimeterRate = 0.008
    found.errorCorrectionRate = _WRONG_BITS
    return found


def _is_same(tag: FoundTag, identity: int, rough: Points) -> bool:
    if tag.identity != identity:
        return False
    side = float(np.linalg.norm(tag.corners[0] - tag.corners[1]))
    apart = float(np.linalg.norm(tag.corners.mean(axis=0) - rough.mean(axis=0)))
    return apart < _SAME * side
