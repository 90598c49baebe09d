"""What a person paints on a material mask: from a history to the labels of every pixel.

The history is `by-hand/materials.jsonl` of the session, one event per line:

    {"id": "...", "kind": "paint", "class": 3, "shape": "polygon", "entry": {"points_px": [...]}}
    {"id": "...", "kind": "paint", "class": 0, "shape": "brush",
     "entry": {"points_px": [...], "radius_px": 12}}
    {"id": "...", "kind": "paint", "class": 2, "shape": "region",
     "entry": {"box_px": [x, y, width, height], "runs": "...", "made_by": "flood"}}
    {"id": "...", "kind": "labels", "size_px": [width, height], "runs": "...", "note": "..."}
    {"id": "...", "kind": "undo", "of": "..."}

A `region` is what a tool proposed and a person accepted, pixel by pixel (`masks/runs.py`): the same
whichever version of the tool is installed. `labels` are a whole map from elsewhere. Later events
paint over earlier ones; what nothing was painted on is class 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.by_hand.history import Event, checked_id, standing, take_back
from depthgauge.capture.labels import CLASSES
from depthgauge.capture.masks.runs import packed, unpacked
from depthgauge.capture.masks.shapes import LEAST_RADIUS_PX, Region, brush, polygon
from depthgauge.errors import BadData

FOLDER, HISTORY = "by-hand", "materials.jsonl"
PAINT, LABELS = "paint", "labels"
MATERIALS = ("opaque", "glossy", "distorting", "clear")
"""A word for each class, from easy to hard: diffuse surfaces; rough metal, tiles, frosted glass;
coloured glass, rough mirrors; mirrors and clear glass."""
MOST_POINTS = 5000
_MOST_PX = 1e6
_MOST_RADIUS_PX = 4096.0
_MOST_WORDS = 200
_KEPT_BYTES = 256 * 2**20
_FIELDS = {
    "polygon": {"points_px"},
    "brush": {"points_px", "radius_px"},
    "region": {"box_px", "runs", "made_by"},
}
_FEWEST = {"polygon": 3, "brush": 1}


def mask_event(event: object, size_px: tuple[int, int]) -> dict[str, Any]:
    """An event of this history, checked.

    Args:
        event: What a page sent, or a line of the file.
        size_px: Width and height of the picture.

    Raises:
        BadData: It is none; the sentence says what is wrong.
    """
    name = checked_id(event)
    assert isinstance(event, dict)
    if back := take_back(event):
        return back
    if event.get("kind") == LABELS:
        return _checked_labels(event, size_px)
    if event.get("kind") != PAINT:
        raise BadData(f"an event is paint, labels, undo or redo, not {event.get('kind')!r:.60}.")
    if set(event) != {"id", "kind", "class", "shape", "entry"}:
        raise BadData("paint has id, kind, class, shape and entry.")
    number, shape, entry = event["class"], event["shape"], event["entry"]
    if type(number) is not int or not 0 <= number < CLASSES["materials"]:
        raise BadData(f"a class is from 0 to {CLASSES['materials'] - 1}, not {number!r:.20}.")
    if not isinstance(shape, str) or shape not in _FIELDS:
        raise BadData(f"a shape is one of {', '.join(_FIELDS)}, not {shape!r:.20}.")
    if not isinstance(entry, dict) or set(entry) != _FIELDS[shape]:
        raise BadData(f"a {shape} has {' and '.join(sorted(_FIELDS[shape]))}.")
    if shape == "region":
        _check_region(entry, size_px)
    else:
        _check_points(entry["points_px"], shape)
    if shape == "brush":
        _check_radius(entry["radius_px"])
    return {"id": name, "kind": PAINT, "class": number, "shape": shape, "entry": dict(entry)}


def _checked_labels(event: Event, size_px: tuple[int, int]) -> dict[str, Any]:
    if set(event) != {"id", "kind", "size_px", "runs", "note"}:
        raise BadData("labels have id, kind, size_px, runs and note.")
    if event["size_px"] != list(size_px):
        width, height = size_px
        raise BadData(f"labels are of {event['size_px']!r:.30}, the picture is {width}x{height}.")
    _check_words(event["note"], "note")
    unpacked(event["runs"], size_px)
    return dict(event)


def _check_points(points: object, shape: str) -> None:
    few = _FEWEST[shape]
    if not isinstance(points, list) or not few <= len(points) <= MOST_POINTS:
        found = len(points) if isinstance(points, list) else 0
        raise BadData(f"a {shape} has {few} to {MOST_POINTS} points, found {found}.")
    for point in points:
        pair = isinstance(point, list) and len(point) == 2
        if not pair or not all(type(v) in (int, float) and abs(v) <= _MOST_PX for v in point):
            raise BadData(f"a point is [x, y] in px of the picture, not {point!r:.60}.")
        # As pages round them: no side of a shape is so flat that its slope overflows.
        if any(round(v, 2) != v for v in point):
            raise BadData(f"a point has two decimals at most, not {point!r:.60}.")


def _check_radius(radius: object) -> None:
    known = type(radius) in (int, float)
    if not known or not LEAST_RADIUS_PX <= radius <= _MOST_RADIUS_PX:  # type: ignore[operator]
        raise BadData(
            f"a brush has a radius of {LEAST_RADIUS_PX:g} to {_MOST_RADIUS_PX:g} px, "
            f"not {radius!r:.20}."
        )


def _check_region(entry: Event, size_px: tuple[int, int]) -> None:
    box = entry["box_px"]
    if not isinstance(box, list) or len(box) != 4 or not all(type(v) is int for v in box):
        raise BadData("box_px has four whole numbers: x, y, width and height.")
    x, y, width, height = box
    if x < 0 or y < 0 or width < 1 or height < 1:
        raise BadData(f"the box {box} has no pixel.")
    if x + width > size_px[0] or y + height > size_px[1]:
        raise BadData(f"the box {box} is not inside the picture of {size_px[0]}x{size_px[1]}.")
    _check_words(entry["made_by"], "made_by")
    if unpacked(entry["runs"], (width, height)).max() > 1:
        raise BadData("the runs of a region have the labels 0 and 1 only.")


def _check_words(words: object, name: str) -> None:
    if not isinstance(words, str) or len(words) > _MOST_WORDS:
        raise BadData(f"{name} is a text of at most {_MOST_WORDS} letters.")


def labels_event(labels: NDArray[np.generic], name: str, note: str) -> dict[str, Any]:
    """A whole map as an event, for masks that were made elsewhere."""
    height, width = labels.shape
    size = [width, height]
    return {"id": name, "kind": LABELS, "size_px": size, "runs": packed(labels), "note": note}


def region_entry(region: Region, made_by: str) -> dict[str, Any]:
    """The `entry` of some pixels that a tool proposes.

    Raises:
        BadData: They have too many small parts.
    """
    height, width = region.inside.shape
    box = [region.x, region.y, width, height]
    return {"box_px": box, "runs": packed(region.inside), "made_by": made_by}


def painted_region(event: Event, size_px: tuple[int, int]) -> Region:
    """The pixels that a `paint` is about."""
    entry = event["entry"]
    if event["shape"] == "region":
        x, y, width, height = entry["box_px"]
        return Region(x, y, unpacked(entry["runs"], (width, height)).astype(np.bool_))
    points = np.array(entry["points_px"], np.float64)
    if event["shape"] == "brush":
        return brush(points, float(entry["radius_px"]), size_px)
    return polygon(points, size_px)


@dataclass(slots=True)
class _Layer:
    """An action that is applied, and what was there before."""

    name: str
    box: tuple[slice, slice]
    before: NDArray[np.uint8] | None
    """None if it was forgotten to save memory."""


class MaskReplay:
    """The labels after a history; a history that goes on costs only what is new in it."""

    def __init__(self, size_px: tuple[int, int]) -> None:
        """Begins with class 0 everywhere."""
        self.size_px = size_px
        self.labels = np.zeros(size_px[::-1], np.uint8)
        self._layers: list[_Layer] = []

    def follow(self, events: Iterable[Event]) -> NDArray[np.uint8]:
        """The labels after these events; the array is changed by the next call."""
        actions = standing(events)
        same = 0
        for layer, event in zip(self._layers, actions, strict=False):
            if layer.name != event["id"]:
                break
            same += 1
        same = self._back_to(same)
        for event in actions[same:]:
            self._apply(event)
        self._forget()
        return self.labels

    def _back_to(self, count: int) -> int:
        """Takes layers off until so many are left, or all of them; returns how many are."""
        while len(self._layers) > count:
            layer = self._layers.pop()
            if layer.before is None:
                self._layers.clear()
                self.labels[:] = 0
                return 0
            self.labels[layer.box] = layer.before
        return count

    def _apply(self, event: Event) -> None:
        if event["kind"] == LABELS:
            box = slice(None), slice(None)
            self._layers.append(_Layer(event["id"], box, self.labels.copy()))
            self.labels[:] = unpacked(event["runs"], self.size_px)
            return
        region = painted_region(event, self.size_px)
        part = self.labels[region.box]
        self._layers.append(_Layer(event["id"], region.box, part.copy()))
        part[region.inside] = event["class"]

    def _forget(self) -> None:
        kept = 0
        for layer in reversed(self._layers):
            kept += 0 if layer.before is None else layer.before.nbytes
            if kept > _KEPT_BYTES:
                layer.before = None


def replayed(events: Iterable[Event], size_px: tuple[int, int]) -> NDArray[np.uint8]:
    """The labels after a history, from its beginning."""
    return MaskReplay(size_px).follow(events)
