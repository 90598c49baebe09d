"""Manual removals: polygons in an image, boxes and balls in space, in a JSON file.

    {
      "schema": 1,
      "polygons": [{"view": "left", "points_px": [[x, y], ...], "note": "..."}],
      "boxes": [{"low_m": [x, y, z], "high_m": [x, y, z], "note": "..."}],
      "balls": [{"centres_m": [[x, y, z], ...], "radius_m": 0.002, "note": "..."}]
    }

Polygons are in px of the rectified view (pixel centres at integers) and remove the pixels of that
view whose centres they enclose. Boxes and balls are in metres in the axes of the left rectified
camera (x right, y down, z forward) and remove the pixels of both views whose points lie in them; a
selection of points with a lasso is one entry of `balls`, with all of its points. Lists and notes
are optional.
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
from depthgauge.geometry.polygons import polygon_mask
from depthgauge.geometry.rectified import RectifiedPair
from depthgauge.io.text import parse_json
from depthgauge.types import Map, Mask

SCHEMA = 1
Point = tuple[float, float, float]
Reader = Callable[[Mapping[str, Any]], Any]
"""Converts one entry of a list in a file."""
_MOST = 1e9
"""Coordinates beyond this, in px or m, are not possible."""


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed line in one rectified view; even-odd rule if it crosses itself."""

    view: str
    """`left` or `right`."""
    points_px: tuple[tuple[float, float], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A box along the axes of the left rectified camera."""

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
class ManualEdits:
    """Everything that a person wants removed."""

    polygons: tuple[Polygon, ...] = ()
    boxes: tuple[Box, ...] = ()
    balls: tuple[Balls, ...] = ()


def write_manual_edits(path: Path, chosen: ManualEdits) -> None:
    """Writes the file that `read_manual_edits` reads."""
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


def read_manual_edits(path: Path) -> ManualEdits:
    """The manual edits in a file.

    Raises:
        BadData: The file cannot be read, or has other content; the message says where.
    """
    return ManualEdits(**read_lists(path, "removals", _READERS))


def read_lists(path: Path, what: str, readers: Mapping[str, Reader]) -> dict[str, tuple[Any, ...]]:
    """The entries of a file that a person wrote: an object with a schema and lists.

    Args:
        path: A JSON file.
        what: What the file contains, for messages.
        readers: By the list's name: converts one entry, and raises `KeyError` or `ValueError` if it
            cannot. Lists are optional; other names are rejected.

    Raises:
        BadData: The file cannot be read, or has other content; the message says where.
    """
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise BadData(f"{path}: is not a readable JSON file of {what}: {said}.") from None
    schema = data.get("schema") if isinstance(data, dict) else type(data).__name__
    if schema != SCHEMA or isinstance(schema, bool):
        raise BadData(f"{path}: expected an object with schema {SCHEMA}, found {schema!r}.")
    extra = sorted(set(data) - {"schema", *readers})
    if extra:
        raise BadData(f"{path}: {extra[0]!r} is unknown; known are {', '.join(readers)}.")
    return {kind: tuple(_entries(path, data, kind, readers[kind])) for kind in readers}


def polygon_points(entry: Mapping[str, Any]) -> tuple[tuple[float, float], ...]:
    """The corners `points_px` of an entry.

    Raises:
        KeyError, ValueError: There are none, or they are not a polygon.
    """
    points = tuple(_numbers(p, 2) for p in _listed(entry["points_px"], "points_px"))
    if len(points) < 3:
        raise ValueError(f"a polygon needs at least 3 points, found {len(points)}")
    return points


def manually_removed(chosen: ManualEdits, pair: RectifiedPair, disparity: Map, side: str) -> Mask:
    """The pixels of one view that a person wants removed.

    Args:
        chosen: See `read_manual_edits`.
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


def _entries(path: Path, data: Mapping[str, Any], kind: str, reader: Reader) -> Iterable[Any]:
    listed = data.get(kind, [])
    if not isinstance(listed, list):
        raise BadData(f"{path}: {kind} must be a list, found {type(listed).__name__}.")
    for number, entry in enumerate(listed):
        try:
            if not isinstance(entry, dict):
                raise ValueError(f"expected an object, found {entry!r}")
            yield reader(entry)
        except (KeyError, ValueError) as error:
            what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise BadData(f"{path}: {kind}[{number}]: {what}.") from None


def _polygon(entry: Mapping[str, Any]) -> Polygon:
    if entry["view"] not in ("left", "right"):
        raise ValueError(f"view must be 'left' or 'right', found {entry['view']!r}")
    return Polygon(entry["view"], polygon_points(entry), str(entry.get("note", "")))


def _box(entry: Mapping[str, Any]) -> Box:
    low, high = _numbers(entry["low_m"], 3), _numbers(entry["high_m"], 3)
    if any(a > b for a, b in zip(low, high, strict=True)):
        raise ValueError(f"low_m must not be above high_m, found {list(low)} and {list(high)}")
    return Box(low, high, str(entry.get("note", "")))


def _balls(entry: Mapping[str, Any]) -> Balls:
    (radius,) = _numbers([entry["radius_m"]], 1)
    centres = tuple(_numbers(p, 3) for p in _listed(entry["centres_m"], "centres_m"))
    if not radius > 0 or not centres:
        raise ValueError(f"expected a radius_m above 0 and centres, found {radius}, {len(centres)}")
    return Balls(centres, radius, str(entry.get("note", "")))


def _listed(values: Any, name: str) -> list[Any]:
    if not isinstance(values, list):
        raise ValueError(f"{name} must be a list, found {values!r}")
    return values


def _numbers(values: Any, count: int) -> Any:
    """Exactly `count` finite numbers."""
    known = isinstance(values, list) and len(values) == count
    if not known or not all(type(v) in (int, float) and abs(v) < _MOST for v in values):
        raise ValueError(f"expected {count} finite numbers, found {values!r}")
    return tuple(float(v) for v in values)


_READERS: dict[str, Reader] = {
    "polygons": _polygon,
    "boxes": _box,
    "balls": _balls,
}
