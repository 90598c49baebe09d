"""Views by kind and seed."""

from __future__ import annotations

import numpy as np

from depthgauge._registry import unknown
from depthgauge.errors import Misuse
from depthgauge.synth.sets.single_views._cast import exact_view
from depthgauge.synth.sets.single_views._furnish import KINDS, furnish
from depthgauge.synth.sets.single_views._rooms import ROOMS, room_view
from depthgauge.synth.sets.single_views._view import ExactView

SIZE_PX = (640, 480)
REVISION = 1
"""Raised whenever the generator may give other bytes."""
_SMALLEST_PX = 32
_TRIALS = 200
_FEWEST, _LARGE = 6, 0.004
"""So many surfaces have at least this share of the picture."""
_DEEPEST = 8.0
"""Largest depth over the smallest: beyond it a picture shows little but its far end."""


def make_view(
    kind: str, seed: int, size_px: tuple[int, int] = SIZE_PX, *, held: bool = False
) -> ExactView:
    """One picture and its exact geometry.

    Scenes that show too few surfaces, or too much distance, are drawn again.

    Args:
        kind: `planar`, `curved`, `mixed`, or the name of a room.
        seed: Of the scene, the camera and the picture's noise.
        size_px: Width and height; the scene is the same at every size.
        held: The camera is held by hand: it looks down further and is not level, so floors are
            seen less flatly and have other depths along a row. Rooms have one camera only.

    Raises:
        UnknownName: There is no such kind.
        Misuse: The size or the seed is too small.
        MissingExtra: A room was asked for and Embree is not installed.
    """
    if kind not in (*KINDS, *ROOMS):
        raise unknown("kind of view", kind, (*KINDS, *ROOMS))
    if min(size_px) < _SMALLEST_PX or seed < 0:
        wanted = f"a view needs {_SMALLEST_PX} px or more and a seed from 0"
        raise Misuse(f"{wanted}; found {size_px} and seed {seed}.")
    if held and kind in ROOMS:
        raise Misuse(f"held: a room has one camera; found {kind}, give one of {', '.join(KINDS)}.")
    if kind in ROOMS:
        return room_view(kind, seed, size_px)
    for trial in range(_TRIALS):
        # A small picture decides: the same scene is taken at every size.
        scene, camera = furnish(kind, seed, trial, _small(size_px), held=held)
        if _shows_enough(exact_view("", scene, camera, 0, quick=True)):
            break
    scene, camera = furnish(kind, seed, trial, size_px, held=held)
    return exact_view(f"{kind}-{seed:04d}{'-held' if held else ''}", scene, camera, seed)


def _small(size_px: tuple[int, int]) -> tuple[int, int]:
    width, height = size_px
    return 160, max(_SMALLEST_PX, round(160 * height / width))


def _shows_enough(view: ExactView) -> bool:
    if not np.isfinite(view.depth).all() or view.depth.max() > _DEEPEST * view.depth.min():
        return False
    size = np.bincount(view.smooth_labels.ravel())
    return int(np.count_nonzero(size[1:] >= _LARGE * view.depth.size)) >= _FEWEST
