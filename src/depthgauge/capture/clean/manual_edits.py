"""Manual removals: polygons in an image, boxes, balls and lassos in space, in a JSON file.

    {
      "schema": 1,
      "polygons": [{"view": "left", "points_px": [[x, y], ...], "note": "..."}],
      "boxes": [{"low_m": [x, y, z], "high_m": [x, y, z], "note": "..."}],
      "balls": [{"centres_m": [[x, y, z], ...], "radius_m": 0.002, "note": "..."}],
      "lassos": [{"projection": [[...], [...], [...]], "points": [[u, v], ...], "note": "..."}]
    }

Polygons are in px of the rectified view (pixel centres at integers) and remove the pixels of that
view whose centres they enclose. Boxes and balls are in metres in the axes of the left rectified
camera (x right, y down, z forward) and remove the pixels of both views whose points lie in them.
A lasso is a closed line on a screen that shows the points: `projection` is the 3x4 matrix from
those axes to (u w, v w, w), w > 0 is the distance in front of the screen's eye in metres, and
`depth_m` [low, high], if given, keeps what is nearer or farther. Lists and notes are optional.

Polygons, balls and lassos may have `least_sigma_px`: then only pixels with a standard deviation of
at least that are removed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
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
    least_sigma_px: float = 0.0
    """Pixels with a smaller standard deviation stay; 0: none does."""


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
    least_sigma_px: float = 0.0


@dataclass(frozen=True, slots=True)
class Lasso:
    """Everything inside a closed line on a screen; even-odd rule if it crosses itself."""

    projection: tuple[tuple[float, float, float, float], ...]
    """Three rows: (x, y, z, 1) in metres to (u w, v w, w)."""
    points: tuple[tuple[float, float], ...]
    """The line's corners (u, v)."""
    note: str = ""
    depth_m: tuple[float, float] | None = None
    """Only points whose w is within these limits; None: all in front of the eye."""
    least_sigma_px: float = 0.0


Edit = Polygon | Box | Balls | Lasso


@dataclass(frozen=True, slots=True)
class ManualEdits:
    """Everything that a person wants removed."""

    polygons: tuple[Polygon, ...] = ()
    boxes: tuple[Box, ...] = ()
    balls: tuple[Balls, ...] = ()
    lassos: tuple[Lasso, ...] = ()


def write_manual_edits(path: Path, chosen: ManualEdits) -> None:
    """Writes the file that `read_manual_edits` reads."""
    lists = {kind: [edit_entry(one) for one in getattr(chosen, kind)] for kind in _READERS}
    # A list without entries is left out where older versions do not know its name.
    data = {"schema": SCHEMA, **{k: v for k, v in lists.items() if v or k != "lassos"}}
    io.write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n")


def edit_entry(entry: Edit) -> dict[str, Any]:
    """An entry as a file has it; limits that are not set are left out."""
    unset = {"depth_m": None, "least_sigma_px": 0.0}
    return {
        name: _as_lists(value)
        for name, value in asdict(entry).items()
        if name not in unset or value != unset[name]
    }


def _as_lists(value: Any) -> Any:
    return [_as_lists(part) for part in value] if isinstance(value, tuple) else value


def edit_from_json(kind: object, entry: object) -> Edit:
    """One entry of the list `kind` (`polygons`, `lassos` ...).

    Raises:
        BadData: There is no such list, or the entry does not belong to it.
    """
    if not isinstance(kind, str) or kind not in _READERS:
        raise BadData(f"{kind!r:.60} is unknown; known are {', '.join(_READERS)}.")
    made: Edit = next(iter(_entries(Path("this"), {kind: [entry]}, kind, _READERS[kind])))
    return made


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


def manually_removed(
    chosen: ManualEdits,
    pair: RectifiedPair,
    disparity: Map,
    side: str,
    variance: Map | None = None,
    points: NDArray[np.float32] | None = None,
) -> Mask:
    """The pixels of one view that a person wants removed.

    Args:
        chosen: See `read_manual_edits`.
        pair: The balanced pair.
        disparity: The view's map, NaN where missing.
        side: `left` or `right`.
        variance: Of the disparity, for edits with `least_sigma_px`; None: nothing is known, so
            that those remove nothing.
        points: What `points_m` gives for this view, if it is known already.
    """
    mask = np.zeros(disparity.shape, np.bool_)
    for polygon in chosen.polygons:
        if polygon.view == side:
            inside = polygon_mask(disparity.shape, polygon.points_px)
            mask |= _doubtful(inside, variance, polygon.least_sigma_px)
    if chosen.boxes or chosen.balls or chosen.lassos:
        if points is None:
            points = points_m(disparity, pair, side)
        for box in chosen.boxes:
            inside = (points >= np.array(box.low_m)) & (points <= np.array(box.high_m))
            mask |= inside.all(axis=2)  # false where there is no point
        for balls in chosen.balls:
            mask |= _doubtful(_near(points, balls), variance, balls.least_sigma_px)
        for lasso in chosen.lassos:
            mask |= _doubtful(_in_lasso(points, lasso), variance, lasso.least_sigma_px)
    return mask


def _doubtful(inside: Mask, variance: Map | None, least_sigma_px: float) -> Mask:
    """Those with at least this standard deviation; a pixel without one has none."""
    if not least_sigma_px:
        return inside
    if variance is None:
        return np.zeros_like(inside)
    return np.asarray(inside & (variance >= least_sigma_px**2), np.bool_)


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


def _in_lasso(points: NDArray[np.float32], lasso: Lasso) -> Mask:
    """Points that a screen shows inside the line."""
    from depthgauge.capture.clean._lasso_kernels import in_lasso

    corners = np.array(lasso.points, np.float64)
    (u0, v0), (u1, v1) = corners.min(axis=0), corners.max(axis=0)
    bounds = np.array([u0, u1, v0, v1, *(lasso.depth_m or (0.0, np.inf))], np.float64)
    mask = np.zeros(points.shape[:2], np.bool_)
    in_lasso(points, np.array(lasso.projection, np.float64), corners, bounds, mask)
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
    return Polygon(
        entry["view"], polygon_points(entry), str(entry.get("note", "")), _least_sigma(entry)
    )


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
    return Balls(centres, radius, str(entry.get("note", "")), _least_sigma(entry))


def _lasso(entry: Mapping[str, Any]) -> Lasso:
    rows = tuple(_numbers(row, 4) for row in _listed(entry["projection"], "projection"))
    points = tuple(_numbers(p, 2) for p in _listed(entry["points"], "points"))
    if len(rows) != 3 or len(points) < 3:
        raise ValueError(
            f"a lasso needs 3 rows of a projection and 3 points, found {len(rows)} and "
            f"{len(points)}"
        )
    depth = entry.get("depth_m")
    limits = None if depth is None else _numbers(depth, 2)
    if limits is not None and limits[0] > limits[1]:
        raise ValueError(f"depth_m must not fall, found {list(limits)}")
    return Lasso(rows, points, str(entry.get("note", "")), limits, _least_sigma(entry))


def _least_sigma(entry: Mapping[str, Any]) -> float:
    (least,) = _numbers([entry.get("least_sigma_px", 0.0)], 1)
    if least < 0:
        raise ValueError(f"least_sigma_px must not be below 0, found {least}")
    return float(least)


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
    "lassos": _lasso,
}
