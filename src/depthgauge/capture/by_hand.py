"""Removal by hand: polygons in an image, boxes and balls in space, kept in a JSON file.

    {
      "schema": 1,
      "polygons": [{"view": "left", "points_px": [[x, y], ...], "note": "..."}],
      "boxes": [{"low_m": [x, y, z], "high_m": [x, y, z], "note": "..."}],
      "balls": [{"centres_m": [[x, y, z], ...], "radius_m": 0.002, "note": "..."}]
    }

Polygons are in px of the rectified view (pixel centres at integers) and remove the pixels of that
view whose centres they enclose. Boxes and balls are in metres in the axes of the left rectified
camera (x right, y down, z forward) and remove the pixels of both views whose points lie in them; a
selection of points with a lasso is one entry of `balls`, with all of its points. Each list may be
left out, and so may a note.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.errors import BadData
from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.types import Map, Mask

SCHEMA = 1
Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed line in one rectified view; even-odd where it crosses itself."""

    view: str
    """`left` or `right`."""
    points_px: tuple[tuple[float, float], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A part of space along the left rectified camera's axes."""

    low_m: Point
    high_m: Point
    note: str = ""


@dataclass(frozen=True, slots=True)
class Balls:
    """Everything near some points, as a lasso in a point cloud selects them."""

    centres_m: tuple[Point, ...]
    radius_m: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class ByHand:
    """All that a person wants removed."""

    polygons: tuple[Polygon, ...] = ()
    boxes: tuple[Box, ...] = ()
    balls: tuple[Balls, ...] = ()


def write_by_hand(path: Path, chosen: ByHand) -> None:
    """Writes the file that `read_by_hand` reads."""
    data = {
        "schema": SCHEMA,
        "polygons": [
            {"view": p.view, "points_px": [list(q) for q in p.points_px], "note": p.note}
            for p in chosen.polygons
        ],
        "boxes": [
            {"low_m": list(b.low_m), "high_m": list(b.high_m), "note": b.note} for b in chosen.boxes
        ],
        "balls": [
            {"centres_m": [list(c) for c in b.centres_m], "radius_m": b.radius_m, "note": b.note}
            for b in chosen.balls
        ],
    }
    io.write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n")


def read_by_hand(path: Path) -> ByHand:
    """What a file wants removed.

    Raises:
        BadData: The file cannot be read, or says something else; the sentence says where.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise BadData(f"{path}: no readable JSON file of removals: {said}.") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else type(data).__name__
        raise BadData(f"{path}: expected an object with schema {SCHEMA}, found {found!r}.")
    extra = sorted(set(data) - {"schema", *_READERS})
    if extra:
        raise BadData(f"{path}: {extra[0]!r} is not known; there are {', '.join(_READERS)}.")
    found = {kind: tuple(_entries(path, data, kind)) for kind in _READERS}
    return ByHand(**found)


def removed_by_hand(chosen: ByHand, pair: RectifiedPair, disparity: Map, side: str) -> Mask:
    """The pixels of one view that a person wants removed.

    Args:
        chosen: See `read_by_hand`.
        pair: The balanced pair.
        disparity: The view's map, NaN where missing.
        side: `left` or `right`.
    """
    mask = np.zeros(disparity.shape, np.bool_)
    for polygon in chosen.polygons:
        if polygon.view == side:
            mask |= polygon_mask(disparity.shape, polygon.points_px)
    if chosen.boxes or chosen.balls:
        points = points_m(disparity, pair, side)
        for box in chosen.boxes:
            inside = (points >= np.array(box.low_m)) & (points <= np.array(box.high_m))
            mask |= inside.all(axis=2)  # false where there is no point
        for balls in chosen.balls:
            mask |= _near(points, balls)
    return mask


def polygon_mask(shape: tuple[int, ...], points_px: Iterable[tuple[float, float]]) -> Mask:
    """The pixels whose centres a polygon encloses, even-odd.

    >>> polygon_mask((3, 4), [(0.5, -0.5), (2.5, -0.5), (2.5, 1.5), (0.5, 1.5)]).astype(int)
    array([[0, 1, 1, 0],
           [0, 1, 1, 0],
           [0, 0, 0, 0]])
    """
    height, width = shape[:2]
    corners = np.array(list(points_px), np.float64)
    ends = np.roll(corners, -1, axis=0)
    mask = np.zeros((height, width), np.bool_)
    low, high = max(0, int(np.ceil(corners[:, 1].min()))), int(np.floor(corners[:, 1].max()))
    columns = np.arange(width)
    for y in range(low, min(high, height - 1) + 1):
        # Half-open, so that a corner on the row counts once.
        crossing = (corners[:, 1] <= y) != (ends[:, 1] <= y)
        (x0, y0), (x1, y1) = corners[crossing].T, ends[crossing].T
        crossed = np.sort(x0 + (y - y0) * (x1 - x0) / (y1 - y0))
        mask[y] = np.searchsorted(crossed, columns, side="right") % 2 == 1
    return mask


def points_m(disparity: Map, pair: RectifiedPair, side: str) -> NDArray[np.float32]:
    """The pixels' points (H, W, 3) in the axes of the left rectified camera; NaN for missing."""
    rig = pair.rig()
    left = pair.left.camera
    depth = depth_from_disparity(
        disparity, left.focal_px[0], pair.baseline_m, rig.principal_offset_px
    )
    camera = left if side == "left" else pair.right_camera()
    height, width = disparity.shape
    x = (np.arange(width) - camera.centre_px[0]) / camera.focal_px[0]
    y = (np.arange(height) - camera.centre_px[1]) / camera.focal_px[1]
    start_m = 0.0 if side == "left" else pair.baseline_m
    stacked = np.stack([x * depth + start_m, y[:, None] * depth, depth], axis=-1)
    return stacked.astype(np.float32)


def _near(points: NDArray[np.float32], balls: Balls) -> Mask:
    """Points within the radius of a centre; only those near all centres' box are searched."""
    from scipy.spatial import cKDTree

    centres = np.array(balls.centres_m)
    low, high = centres.min(axis=0) - balls.radius_m, centres.max(axis=0) + balls.radius_m
    close = ((points >= low) & (points <= high)).all(axis=2)
    mask = np.zeros(close.shape, np.bool_)
    if close.any():
        distance, _ = cKDTree(centres).query(points[close], distance_upper_bound=balls.radius_m)
        mask[close] = np.isfinite(distance)
    return mask


def _entries(path: Path, data: Mapping[str, Any], kind: str) -> Iterable[Any]:
    listed = data.get(kind, [])
    if not isinstance(listed, list):
        raise BadData(f"{path}: {kind} is a list, found {type(listed).__name__}.")
    for number, entry in enumerate(listed):
        try:
            yield _READERS[kind](entry)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise BadData(f"{path}: {kind}[{number}]: {what}.") from None


def _polygon(entry: Mapping[str, Any]) -> Polygon:
    if entry["view"] not in ("left", "right"):
        raise ValueError(f"view is 'left' or 'right', found {entry['view']!r}")
    points = tuple(_numbers(p, 2) for p in entry["points_px"])
    if len(points) < 3:
        raise ValueError(f"a polygon has at least 3 points, found {len(points)}")
    return Polygon(entry["view"], points, str(entry.get("note", "")))


def _box(entry: Mapping[str, Any]) -> Box:
    low, high = _numbers(entry["low_m"], 3), _numbers(entry["high_m"], 3)
    if any(a > b for a, b in zip(low, high, strict=True)):
        raise ValueError(f"low_m is not above high_m, found {list(low)} and {list(high)}")
    return Box(low, high, str(entry.get("note", "")))


def _balls(entry: Mapping[str, Any]) -> Balls:
    (radius,) = _numbers([entry["radius_m"]], 1)
    centres = tuple(_numbers(p, 3) for p in entry["centres_m"])
    if not radius > 0 or not centres:
        raise ValueError(f"expected a radius_m above 0 and centres, found {radius}, {len(centres)}")
    return Balls(centres, radius, str(entry.get("note", "")))


def _numbers(values: Any, count: int) -> Any:
    """So many finite numbers."""
    numbers = tuple(float(v) for v in values)
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise ValueError(f"expected {count} finite numbers, found {values!r}")
    return numbers


_READERS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "polygons": _polygon,
    "boxes": _box,
    "balls": _balls,
}
