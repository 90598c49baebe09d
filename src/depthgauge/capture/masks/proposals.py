"""Regions that follow from a few clicks: by colour from one, or learned from several."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.masks.edges import Colours, parts_at, snapped, without_specks
from depthgauge.capture.masks.shapes import Region
from depthgauge.errors import BadData
from depthgauge.types import Mask

_BLUR_PX = 1.2
_STEEP, _LEAST_STEEP = 1 / 6, 2.5
"""The slope of a blurred edge of half the tolerance, in parts of that; noise is less steep."""
_WORKING_PX = 480
_ROUNDS = 4
_SEED = 0.008
"""Radius of what a click says about its surroundings, in parts of the longer side."""
MOST_CLICKS = 200
_alone = threading.Lock()


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a picture, in its pixels."""

    x: int
    y: int
    width: int
    height: int

    @classmethod
    def of(cls, image: Colours, given: Sequence[int] | None = None) -> Window:
        """The part of a picture that is inside of what is given; all of it without that.

        Raises:
            BadData: Nothing of it is.
        """
        height, width = image.shape[:2]
        x, y, wide, high = given or (0, 0, width, height)
        left, top = max(0, x), max(0, y)
        right, bottom = min(width, x + wide), min(height, y + high)
        if right <= left or bottom <= top:
            raise BadData("no part of the picture is seen; zoom out.")
        return cls(left, top, right - left, bottom - top)

    def cut(self, image: Colours) -> Colours:
        """This part of the picture."""
        return image[self.y : self.y + self.height, self.x : self.x + self.width]

    def region(self, inside: Mask) -> Region:
        """A region of this part as one of the picture."""
        return Region(self.x, self.y, inside).trimmed()


@dataclass(frozen=True, slots=True)
class Click:
    """A place that belongs to what is meant, or does not."""

    x: float
    y: float
    wanted: bool = True


def places_in(clicks: Sequence[Click], window: Window) -> NDArray[np.intp]:
    """The pixels (n, 2) x, y of clicks in a part of the picture.

    Raises:
        BadData: One is outside.
    """
    at = np.array([[round(c.x) - window.x, round(c.y) - window.y] for c in clicks], np.intp)
    inside = (at >= 0).all(axis=1) & (at < [window.width, window.height]).all(axis=1)
    if not inside.all():
        lost = clicks[int(np.flatnonzero(~inside)[0])]
        raise BadData(f"the click at {lost.x:.0f}, {lost.y:.0f} is outside of what is seen.")
    return at


def flood(image: Colours, click: Click, tolerance: float, window: Window | None = None) -> Region:
    """What is connected with a click and has its colour; edges end it, and its rim is on them.

    Args:
        image: The picture.
        click: Where it begins.
        tolerance: How far each colour may be from that of the click, 0 to 255. Edges as steep as
            a step of half this height end it, even if the colour beyond is near again.
        window: The part of the picture in which it stays.

    Raises:
        BadData: The click is outside.
    """
    import cv2

    part = window or Window.of(image)
    (at,) = places_in([click], part)
    blurred = cv2.GaussianBlur(part.cut(image), (0, 0), _BLUR_PX)
    barrier = np.pad(_steeper(blurred, max(_LEAST_STEEP, tolerance * _STEEP)).astype(np.uint8), 1)
    barrier[at[1] + 1, at[0] + 1] = 0
    limit = (float(tolerance),) * 3
    flags = 4 | (255 << 8) | cv2.FLOODFILL_FIXED_RANGE | cv2.FLOODFILL_MASK_ONLY
    cv2.floodFill(blurred, barrier, (int(at[0]), int(at[1])), 0, limit, limit, flags)
    inside = without_specks(barrier[1:-1, 1:-1] == 255)
    # The barrier is as wide as the blurred edge; its ridge is in the middle.
    grown = cv2.dilate(inside.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return part.region(snapped(part.cut(image), grown, 3))


def _steeper(blurred: Colours, limit: float) -> Mask:
    """Where any colour changes by more than the limit from pixel to pixel."""
    import cv2

    ways = ((1, 0), (0, 1))
    slopes = (cv2.Sobel(blurred, cv2.CV_16S, *way, ksize=3, scale=0.125) for way in ways)
    across, down = (cv2.convertScaleAbs(slope) for slope in slopes)
    red, green, blue = cv2.split(cv2.max(across, down))
    return np.asarray(cv2.max(cv2.max(red, green), blue) > limit)


def from_clicks(image: Colours, clicks: Sequence[Click], window: Window | None = None) -> Region:
    """What some clicks mean: colours are learned from them (GrabCut), the rim is on edges.

    It is found at a working size and its rim then at full size. Without a click on what is not
    meant, the border of the window probably is not.

    Args:
        image: The picture.
        clicks: At least one wanted; later ones correct what was found with earlier ones.
        window: The part of the picture in which it stays; the smaller, the finer.

    Raises:
        BadData: No click is wanted, or one is outside.
    """
    import cv2

    part = window or Window.of(image)
    at = places_in(check_clicks(clicks), part)
    wanted = np.array([c.wanted for c in clicks])
    full = part.cut(image)
    scale = min(1.0, _WORKING_PX / max(part.width, part.height))
    size = max(1, round(part.width * scale)), max(1, round(part.height * scale))
    small = np.ascontiguousarray(cv2.resize(full, size, interpolation=cv2.INTER_AREA))
    ratio = np.array(size) / (part.width, part.height)
    seeds = np.clip(((at + 0.5) * ratio).astype(np.intp), 0, np.array(size) - 1)
    found = _learned(small, seeds, wanted)
    found = parts_at(without_specks(found), seeds[wanted])
    shares = cv2.resize(
        found.astype(np.float32), (part.width, part.height), interpolation=cv2.INTER_LINEAR
    )
    inside = snapped(full, np.asarray(shares > 0.5), math.ceil(1.5 / scale))
    inside[at[:, 1], at[:, 0]] = wanted
    return part.region(parts_at(inside, at[wanted]))


def check_clicks(clicks: Sequence[Click]) -> Sequence[Click]:
    """Clicks of which at least one is wanted.

    Raises:
        BadData: None is, or there are too many.
    """
    if not any(click.wanted for click in clicks):
        raise BadData("no click says what is meant; click on it first.")
    if len(clicks) > MOST_CLICKS:
        raise BadData(f"{len(clicks)} clicks are too many; accept what is right, and begin anew.")
    return clicks


def _learned(small: Colours, seeds: NDArray[np.intp], wanted: NDArray[np.bool_]) -> Mask:
    """GrabCut, begun with what a watershed from the clicks gives."""
    import cv2

    height, width = small.shape[:2]
    radius = max(1, round(_SEED * max(width, height)))
    marks = np.zeros((height, width), np.int32)
    if wanted.all():
        for edge in (marks[0], marks[-1], marks[:, 0], marks[:, -1]):
            edge[:] = 1
    # Later clicks say more; a wanted one always remains.
    for (x, y), yes in zip(seeds, wanted, strict=True):
        cv2.circle(marks, (int(x), int(y)), radius, 2 if yes else 1, -1)
    for x, y in seeds[wanted]:
        marks[y, x] = 2
    grown = np.pad(marks, 1)
    around = np.pad(cv2.GaussianBlur(small, (0, 0), 1.0), ((1, 1), (1, 1), (0, 0)), mode="edge")
    cv2.watershed(np.ascontiguousarray(around), grown)
    state = np.full((height, width), cv2.GC_PR_BGD, np.uint8)
    state[grown[1:-1, 1:-1] == 2] = cv2.GC_PR_FGD
    state[marks == 2] = cv2.GC_FGD
    if not wanted.all():
        state[marks == 1] = cv2.GC_BGD
    if (state & 1).all() or not (state & 1).any():
        return np.asarray(state & 1 == 1)
    with _alone:  # its random numbers are those of the process
        cv2.setRNGSeed(1)
        models = np.zeros((1, 65)), np.zeros((1, 65))
        cv2.grabCut(small, state, None, *models, _ROUNDS, cv2.GC_INIT_WITH_MASK)
    return np.asarray((state == cv2.GC_FGD) | (state == cv2.GC_PR_FGD))
