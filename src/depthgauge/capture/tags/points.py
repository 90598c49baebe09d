"""Corners of an object's tags in its rectified pictures: what belongs together, what is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.rectified import inside_image
from depthgauge.sessions.tags import MATERIALS, TAGGED_TIMES, TagNote

Points = NDArray[np.float64]
View = tuple[int, int]
"""Time and camera."""
SCHEMA: Final = 1
PAIRS: Final[dict[str, tuple[View, View]]] = {
    "flow left": ((1, 0), (2, 0)),
    "flow right": ((1, 1), (2, 1)),
    "stereo before": ((1, 0), (1, 1)),
    "stereo after": ((2, 0), (2, 1)),
}
"""The four pairs of pictures with correspondences, as times and cameras of the tagged ones."""
_CAMERAS = ("left", "right")
_WHEN = {1: "before", 2: "after"}


@dataclass(frozen=True, slots=True, eq=False)
class TagPoints:
    """One tag of an object."""

    identity: int
    note: TagNote
    """What a person said about it."""
    corners_px: Mapping[View, Points]
    """(4, 2) in the rectified picture of a time and camera; NaN for a corner outside of it. Views
    in which it was not found are not there."""
    positions_m: Mapping[int, Points] = field(default_factory=dict)
    """By time: (4, 3) in the axes of the rectified left camera; NaN where rows differ too much."""

    def rows_px(self, time: int) -> Points | None:
        """(4,): row in the right picture minus row in the left one; None without a pair."""
        left, right = self.corners_px.get((time, 0)), self.corners_px.get((time, 1))
        return None if left is None or right is None else right[:, 1] - left[:, 1]

    @property
    def usable(self) -> NDArray[np.bool_]:
        """(4,): the corners that may be used, as its note says."""
        kept = np.full(4, self.note.valid and self.note.filled_in)
        kept[list(self.note.bad_corners)] = False
        return kept


class Pair(NamedTuple):
    """A corner that is seen in two pictures."""

    tag: TagPoints
    corner: int
    first: Points
    """(2,) px of the first picture."""
    second: Points


@dataclass(frozen=True, slots=True, eq=False)
class ObjectPoints:
    """All tags of an object, and what was excluded."""

    tags: Sequence[TagPoints]
    """By identity; those that occur twice in a photograph are not among them."""
    row_limit_px: float
    repeated: Mapping[int, Sequence[View]] = field(default_factory=dict)
    """Identities that occur twice in a photograph, and where."""

    def pairs(self, name: str, *, annotated: bool = True) -> list[Pair]:
        """The correspondences of one of `PAIRS`, by identity and corner.

        Args:
            name: Such as `flow left`.
            annotated: Only corners that somebody annotated as usable.
        """
        first, second = PAIRS[name]
        found = []
        for tag in self.tags:
            if first in tag.corners_px and second in tag.corners_px:
                a, b = tag.corners_px[first], tag.corners_px[second]
                kept = np.isfinite(a).all(axis=1) & np.isfinite(b).all(axis=1)
                if first[0] == second[0]:
                    kept &= np.abs(b[:, 1] - a[:, 1]) <= self.row_limit_px
                if annotated:
                    kept &= tag.usable
                found += [Pair(tag, int(k), a[k], b[k]) for k in np.flatnonzero(kept)]
        return found

    def rows_px(self) -> Points:
        """Row differences of all stereo pairs, excluded ones too."""
        every = (tag.rows_px(time) for tag in self.tags for time in TAGGED_TIMES)
        found = np.concatenate([np.zeros(0), *(rows for rows in every if rows is not None)])
        return np.asarray(found[np.isfinite(found)])

    def table(self) -> dict[str, dict[str, int]]:
        """Points by material and layer, of flow and of stereo: the document's table 6."""
        return {
            kind: _counted([p for name in PAIRS if name.startswith(kind) for p in self.pairs(name)])
            for kind in ("flow", "stereo")
        }

    def losses(self) -> dict[str, list[str]]:
        """What is missing in the correspondences, by reason: which tags, and where."""
        return {why: found for why, of in _REASONS.items() if (found := list(of(self)))}


def _counted(pairs: Sequence[Pair]) -> dict[str, int]:
    found = {"all": len(pairs)}
    for material in MATERIALS:
        found[material] = sum(pair.tag.note.material == material for pair in pairs)
    deepest = max((pair.tag.note.layer for pair in pairs), default=1)
    for layer in range(1, max(deepest, 3) + 1):
        found[f"layer {layer}"] = sum(pair.tag.note.layer == layer for pair in pairs)
    return found


def _repeated(points: ObjectPoints) -> Iterator[str]:
    for identity, views in sorted(points.repeated.items()):
        yield f"{identity} ({', '.join(f'{time}_{camera}' for time, camera in views)})"


def _one_view(points: ObjectPoints) -> Iterator[str]:
    for tag in points.tags:
        for time in TAGGED_TIMES:
            seen = [camera for camera in (0, 1) if (time, camera) in tag.corners_px]
            if len(seen) == 1:
                yield f"{tag.identity} ({_WHEN[time]}, {_CAMERAS[seen[0]]})"


def _one_time(points: ObjectPoints) -> Iterator[str]:
    for tag in points.tags:
        for camera in (0, 1):
            seen = [time for time in TAGGED_TIMES if (time, camera) in tag.corners_px]
            if len(seen) == 1:
                yield f"{tag.identity} ({_CAMERAS[camera]}, {_WHEN[seen[0]]})"


def _rows(points: ObjectPoints) -> Iterator[str]:
    for tag in points.tags:
        for time in TAGGED_TIMES:
            rows = tag.rows_px(time)
            far = 0 if rows is None else int((np.abs(rows) > points.row_limit_px).sum())
            if far:
                yield f"{tag.identity} ({_WHEN[time]}, {far} of 4 corners)"


def _outside(points: ObjectPoints) -> Iterator[str]:
    for tag in points.tags:
        for (time, camera), corners in sorted(tag.corners_px.items()):
            if not np.isfinite(corners).all():
                yield f"{tag.identity} ({time}_{camera})"


def _not_annotated(points: ObjectPoints) -> Iterator[str]:
    yield from (str(tag.identity) for tag in points.tags if not tag.note.filled_in)


def _not_valid(points: ObjectPoints) -> Iterator[str]:
    for tag in points.tags:
        if tag.note.filled_in and not tag.usable.all():
            yield str(tag.identity)


_REASONS: Final[dict[str, Callable[[ObjectPoints], Iterator[str]]]] = {
    "identity twice in a photograph": _repeated,
    "found by one camera only": _one_view,
    "found at one time only": _one_time,
    "rows differ too much": _rows,
    "outside of a rectified picture": _outside,
    "not annotated": _not_annotated,
    "annotated as not valid": _not_valid,
}


def inside_or_nan(corners: Points, size_px: tuple[int, int]) -> Points:
    """Corners of a rectified picture; NaN for those outside of it."""
    inside = inside_image(corners[:, 0], corners[:, 1], size_px)
    return np.where(inside[:, None], corners, np.nan)


def points_to_json(points: ObjectPoints) -> dict[str, Any]:
    """Plain data that `points_from_json` reads."""
    return {
        "schema": SCHEMA,
        "row_limit_px": points.row_limit_px,
        "repeated": {str(k): [list(view) for view in v] for k, v in points.repeated.items()},
        "tags": [_tag_json(tag) for tag in points.tags],
    }


def points_from_json(data: Mapping[str, Any]) -> ObjectPoints:
    """The points that `points_to_json` wrote; others raise KeyError, TypeError, ValueError."""
    if data["schema"] != SCHEMA:
        raise ValueError(f"expected schema {SCHEMA}, found {data['schema']!r}")
    repeated = {int(k): [(int(t), int(c)) for t, c in v] for k, v in data["repeated"].items()}
    tags = [_tag(tag) for tag in data["tags"]]
    return ObjectPoints(tags, float(data["row_limit_px"]), repeated)


def _tag_json(tag: TagPoints) -> dict[str, Any]:
    note = tag.note
    return {
        "id": tag.identity,
        "material": note.material,
        "layer": note.layer,
        "valid": note.valid,
        "bad_corners": list(note.bad_corners),
        "corners_px": {f"{t}_{c}": _plain(px) for (t, c), px in sorted(tag.corners_px.items())},
        "positions_m": {str(t): _plain(m) for t, m in sorted(tag.positions_m.items())},
    }


def _tag(data: Mapping[str, Any]) -> TagPoints:
    note = TagNote(data["material"], data["layer"], data["valid"], tuple(data["bad_corners"]))
    corners = {(int(v[0]), int(v[2])): _numbers(px) for v, px in data["corners_px"].items()}
    positions = {int(t): _numbers(m) for t, m in data["positions_m"].items()}
    return TagPoints(int(data["id"]), note, corners, positions)


def _plain(values: Points) -> list[list[float | None]]:
    return [[float(v) if np.isfinite(v) else None for v in row] for row in values]


def _numbers(rows: Sequence[Sequence[float | None]]) -> Points:
    return np.array([[np.nan if v is None else float(v) for v in row] for row in rows], np.float64)
