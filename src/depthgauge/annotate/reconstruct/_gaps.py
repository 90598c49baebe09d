"""Closes small gaps: lines that end just before another line, the edge or their own other end.

The length of a gap is the distance between the two pixel centres minus 1. Along a row or column
that is the number of free pixels. What happens to each end is decided at one size of the picture
(`decide`) and then done at any other (`close_gaps`), so that all sizes have the same surfaces.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._lines import FOLD, Lines, Path, trace_points

_EDGE = -2
"""Stands for the region's edge among the indices of strokes."""


@dataclass(frozen=True)
class Gap:
    """A gap that was closed."""

    length_px: float
    stroke: int
    begins: bool
    """Whether it is at the stroke's beginning."""
    x: int
    y: int
    to: int
    """The stroke that was reached; -2 is the region's edge."""

    @property
    def at_edge(self) -> bool:
        """Whether the line was extended to the edge of the region."""
        return self.to == _EDGE


Target = tuple[float, int, int, int]
"""Distance, x, y and stroke of something that an end can be joined to."""
EndName = tuple[int, bool]
"""The number of a stroke, and whether it is its beginning."""
_TOUCH_PX = 1.5
"""Lines that end this close to each other continue each other."""
_BACK, _BACK_STEPS = 0.8, 6
"""A bridge runs back if its cosine with the line, so many pixels long, is larger."""
_ROUNDING_PX = 1.5
"""At another size, pixels of a line may lie this much farther apart."""


@dataclass(frozen=True)
class Joints:
    """What happens to the ends of all lines, in pixels of the photograph."""

    reach_px: Mapping[EndName, float]
    """Length of the gap of an end that is joined to something, 0 if it meets it already. Other ends
    stay as they are: they are open, or continue as a fold."""
    gaps: tuple[Gap, ...]
    open_ends: tuple[tuple[int, float, float], ...]
    """Stroke, x and y of ends that meet nothing."""

    def scaled(self, factor: float) -> dict[EndName, float]:
        """How far ends are extended in a picture of another size."""
        return {end: factor * length + _ROUNDING_PX for end, length in self.reach_px.items()}


@dataclass(frozen=True, eq=False)
class _End:
    """One end of a line: its path from there, and whether the stroke starts there."""

    stroke: int
    path: Path
    begins: bool
    steps: dict[tuple[int, int], tuple[int, int]]
    """Nearby pixel -> first and last step of the path (counted from this end) at that pixel."""

    @property
    def place(self) -> tuple[int, int]:
        x, y = self.path.pixels[0 if self.begins else -1].tolist()
        return x, y

    def recent(self, steps: int) -> list[tuple[int, int]]:
        """The first pixels of the path, counted from this end."""
        last = self.path.pixels[:steps] if self.begins else self.path.pixels[-steps:][::-1]
        return [(x, y) for x, y in last.tolist()]


def decide(lines: Lines, paths: Sequence[Path | None], gap_px: float, pixel_px: float) -> Joints:
    """Closes the gaps of painted lines and says what happened to each end.

    Args:
        lines: All strokes, painted; bridges are added.
        paths: The strokes.
        gap_px: The longest gap that is closed, in pixels of `lines`.
        pixel_px: Size of such a pixel in pixels of the photograph.
    """
    ends = _ends(lines, paths, gap_px)
    looking = [end for end in ends if not _continues(lines, end, ends, gap_px)]
    gaps = _closed(lines, [(end, gap_px) for end in looking], gap_px)
    reach = {(gap.stroke, gap.begins): gap.length_px * pixel_px for gap in gaps}
    open_ends = []
    for end in ends:
        closes, met = _met(lines, end, gap_px)
        name = (end.stroke, end.begins)
        if end in looking and (closes or (met and end.path.kind == FOLD)):
            reach.setdefault(name, 0.0)
        elif not met and name not in reach:
            x, y = end.place
            open_ends.append((end.stroke, _moved(x, pixel_px), _moved(y, pixel_px)))
    seen = tuple(
        replace(
            gap,
            length_px=gap.length_px * pixel_px,
            x=round(_moved(gap.x, pixel_px)),
            y=round(_moved(gap.y, pixel_px)),
        )
        for gap in gaps
        if gap.length_px > 0.5
    )
    return Joints(reach, seen, tuple(open_ends))


def close_gaps(
    lines: Lines, paths: Sequence[Path | None], reach_px: Mapping[EndName, float], gap_px: float
) -> None:
    """Joins the ends that `decide` joined, in lines of any size.

    Args:
        lines: All strokes, painted; bridges are added.
        paths: The strokes.
        reach_px: How far each end may be extended; those without an entry stay as they are.
        gap_px: The longest gap that counts as one at this size.
    """
    ends = [(end, reach_px.get((end.stroke, end.begins))) for end in _ends(lines, paths, gap_px)]
    _closed(lines, [(end, reach) for end, reach in ends if reach is not None], gap_px)


def _closed(lines: Lines, ends: Sequence[tuple[_End, float]], gap_px: float) -> list[Gap]:
    """Joins ends to what lies within reach, the shortest gaps first."""
    looking = [(_nearest(lines, end, reach, gap_px), end, reach) for end, reach in ends]
    waiting = sorted(
        (
            (target[0], end.stroke, end.begins, end, reach)
            for target, end, reach in looking
            if target
        ),
        key=lambda item: item[:3],
    )
    closed = []
    for *_, end, reach in waiting:
        # A gap closed in the meantime may already have met this end.
        target = _nearest(lines, end, reach, gap_px)
        if target is not None:
            closed.append(_bridge(lines, end, target))
    return closed


def _continues(lines: Lines, end: _End, ends: Sequence[_End], gap_px: float) -> bool:
    """Whether an occlusion goes on as a fold: two surfaces that meet from here on.

    Not if another occlusion ends nearby, except one that the other end of this line meets, or if
    the region does: those are one line.
    """
    if end.path.kind == FOLD:
        return False
    x, y = end.place
    if any(lines.is_outside(x + dx, y + dy) for dx, dy in ((2, 0), (0, 2), (-2, 0), (0, -2))):
        return False
    back = end.path.pixels[-1 if end.begins else 0].tolist()
    near = [
        other
        for other in ends
        if other.stroke != end.stroke
        and math.dist(end.place, other.place) <= gap_px + 1
        and math.dist(back, other.place) > _TOUCH_PX
    ]
    folds = [other for other in near if other.path.kind == FOLD]
    touched = any(math.dist(end.place, fold.place) <= _TOUCH_PX for fold in folds)
    return touched and len(folds) == len(near)


def _moved(at: int, pixel_px: float) -> float:
    """A coordinate in the photograph; the image's corner (-0.5, -0.5) stays in place."""
    return (at + 0.5) * pixel_px - 0.5


def _ends(lines: Lines, paths: Sequence[Path | None], gap_px: float) -> list[_End]:
    ends = []
    for index, path in enumerate(paths):
        if path is None or not len(path.pixels):
            continue
        inside = lines.within(path.pixels[[0, -1]])
        (x0, y0), (x1, y1) = path.pixels[[0, -1]].tolist()
        if len(path.pixels) > 3 and abs(x1 - x0) + abs(y1 - y0) <= 1:
            continue  # a closed line
        ends += [
            _End(index, path, begins, _steps(path, begins, _overshoot(gap_px) + int(gap_px) + 2))
            for begins in (True, False)
            if inside[0 if begins else 1]
        ]
    return ends


def _steps(path: Path, begins: bool, reach: int) -> dict[tuple[int, int], tuple[int, int]]:
    pixels = path.pixels if begins else path.pixels[::-1]
    near = np.flatnonzero((np.abs(pixels - pixels[0]) <= reach).all(axis=1))
    steps: dict[tuple[int, int], tuple[int, int]] = {}
    for step, (x, y) in zip(near.tolist(), pixels[near].tolist(), strict=True):
        first, _ = steps.get((x, y), (step, step))
        steps[x, y] = (first, step)
    return steps


def _overshoot(gap_px: float) -> int:
    """How many pixels a line may run beyond the line that it was meant to end on."""
    return int(2 * gap_px) + 2


def _nearest(lines: Lines, end: _End, reach_px: float, gap_px: float) -> Target | None:
    """The nearest thing to join the end to; None if there is none, or if the line already meets
    one.

    An occlusion looks for occlusions and the edge first: a fold does not close it.
    """
    closes, met = _met(lines, end, gap_px)
    if closes or (met and end.path.kind == FOLD):
        return None
    beside = None
    for distance, dx, dy in _offsets(reach_px):
        target = _thing_at(lines, end, distance, dx, dy, gap_px)
        if target is None or _runs_back(end, dx, dy):
            continue
        _, x, y, stroke = target
        if end.path.kind == FOLD or stroke == _EDGE or lines.kind[y, x] != FOLD:
            return target
        beside = beside or target
    return None if met else beside


def _runs_back(end: _End, dx: int, dy: int) -> bool:
    """Whether a bridge would run back along its own line, and turn its closer side around."""
    x, y = end.recent(_BACK_STEPS)[-1]
    back = x - end.place[0], y - end.place[1]
    length = math.hypot(*back) * math.hypot(dx, dy)
    return length > 0 and back[0] * dx + back[1] * dy > _BACK * length


@functools.lru_cache(maxsize=256)
def _offsets(gap_px: float) -> tuple[tuple[float, int, int], ...]:
    """Offsets of the pixels that a gap may span, the nearest first."""
    reach = range(-int(gap_px) - 1, int(gap_px) + 2)
    steps = ((math.hypot(dx, dy), dx, dy) for dx in reach for dy in reach)
    return tuple(sorted(step for step in steps if 0.0 < step[0] <= gap_px + 1.0))


def _thing_at(
    lines: Lines, end: _End, distance: float, dx: int, dy: int, gap_px: float
) -> Target | None:
    x, y = end.place[0] + dx, end.place[1] + dy
    if lines.is_outside(x, y):
        return distance, x, y, _EDGE
    if lines.kind[y, x] and _is_other(lines, end, x, y, 0, gap_px):
        return distance, x, y, int(lines.stroke[y, x])
    return None


def _met(lines: Lines, end: _End, gap_px: float) -> tuple[bool, bool]:
    """Whether the line meets something that closes an occlusion, and whether it meets anything.

    At its end or just before it: the line may have been drawn a little too far.
    """
    short = max(1, min(_overshoot(gap_px), (len(end.path.pixels) + 1) // 2))
    anything = False
    for step, (x, y) in enumerate(end.recent(short)):
        for qx, qy in ((x, y), (x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)):
            if lines.is_outside(qx, qy):
                return True, True
            if lines.kind[qy, qx] and _is_other(lines, end, qx, qy, step, gap_px):
                anything = True
                if lines.kind[qy, qx] != FOLD:
                    return True, True
    return False, anything


def _is_other(lines: Lines, end: _End, x: int, y: int, step: int, gap_px: float) -> bool:
    """Whether a line pixel belongs to another stroke, or to this one but far along it."""
    if lines.stroke[y, x] != end.stroke:
        return True
    if (x, y) not in end.steps:
        return True  # it closed a gap at the other end
    first, last = end.steps[x, y]
    far = 3 * (int(gap_px) + 2)
    return abs(first - step) > far or abs(last - step) > far


def _bridge(lines: Lines, end: _End, target: Target) -> Gap:
    distance, to_x, to_y, to = target
    x, y = end.place
    straight: NDArray[np.float64] = np.array([(x, y), (to_x, to_y)], np.float64)
    pixels, _, _ = trace_points(straight, lines.region.shape)
    way = (straight[1] - straight[0]) / distance * (-1.0 if end.begins else 1.0)
    toward = np.tile(end.path.side * np.array([-way[1], way[0]]), (len(pixels) - 2, 1))
    # Without its two ends: they are lines already, or outside.
    lines.paint(Path(pixels[1:-1], toward, end.path.kind, end.path.side), end.stroke)
    return Gap(distance - 1.0, end.stroke, end.begins, x, y, to)
