"""The pickle of a scene: where the corners of tags are, their material and their layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge._shorten import first_few
from depthgauge.errors import BadFile
from depthgauge.geometry.layers import MATERIALS
from depthgauge.io.pickles import safe_pickle

OPTICAL, STEREO, ANNOTATIONS = "optical_points", "stereo_points", "annotations"
_PICTURES = 4
_MOST_BYTES = 2**26
_MOST_LAYER = 100

Tag = tuple[int, int]
"""The number of a tag and of one of its corners."""


class Annotation(NamedTuple):
    """What a person said about the corner of a tag."""

    valid: bool
    material: str
    """As in the file; of a point that is not valid it means nothing."""
    layer: int
    """From 0, as in the file."""


class Place(NamedTuple):
    """The corner of a tag in one picture."""

    tag: Tag
    u: float
    """Column, in px of the full size."""
    v: float
    """Row."""


@dataclass(frozen=True)
class TagFile:
    """The content of such a file; picture stereo + 2 * time."""

    optical: tuple[list[Place], ...]
    stereo: tuple[list[Place], ...]
    """Empty lists if the file has none."""
    annotations: Mapping[Tag, Annotation]


@dataclass(frozen=True)
class PointPairs:
    """Corners that are seen in two pictures, those that are valid only."""

    tags: list[Tag]
    first: NDArray[np.float64]
    """(n, 2), u and v in px of the full size."""
    second: NDArray[np.float64]
    layer: NDArray[np.int64]
    """From 0."""
    material: NDArray[np.uint8]
    """Index into `MATERIALS`."""


def read_tag_file(path: Path) -> TagFile:
    """The points of a scene; nothing of the pickle is run.

    Raises:
        BadFile: It is damaged, contains more than data, or is something else.
    """
    body = safe_pickle.load(path, most_bytes=_MOST_BYTES)
    found = safe_pickle.require_dict(path, body, (OPTICAL, ANNOTATIONS))
    return TagFile(
        _pictures(path, OPTICAL, found[OPTICAL]),
        _pictures(path, STEREO, found.get(STEREO, [[]] * _PICTURES)),
        _annotations(path, found[ANNOTATIONS]),
    )


def _pictures(path: Path, name: str, found: Any) -> tuple[list[Place], ...]:
    if not (isinstance(found, (list, tuple)) and len(found) == _PICTURES):
        raise BadFile(f"{path}: '{name}' must be four lists of points, one for each picture.")
    return tuple(
        [_place(path, f"{name}[{k}]", p) for p in _list(path, name, k, found[k])]
        for k in range(_PICTURES)
    )


def _list(path: Path, name: str, index: int, found: Any) -> Sequence[Any]:
    if not isinstance(found, (list, tuple)):
        raise BadFile(f"{path}: {name}[{index}] is a {type(found).__name__}, not a list of points.")
    return found


def _place(path: Path, where: str, point: Any) -> Place:
    """A point: two whole numbers and the pair (column, row)."""
    if isinstance(point, (list, tuple)) and len(point) == 3:
        pair = point[2]
        if isinstance(pair, np.ndarray) and pair.shape == (2,):
            pair = pair.tolist()
        tag = _tag(point[:2])
        if tag is not None and isinstance(pair, (list, tuple)) and len(pair) == 2:
            u, v = (_number(value) for value in pair)
            if math.isfinite(u) and math.isfinite(v):
                return Place(tag, u, v)
    raise BadFile(
        f"{path}: {where} has a point that is not (tag, corner, (column, row)): {_shown(point)}."
    )


def _annotations(path: Path, found: Any) -> dict[Tag, Annotation]:
    if not isinstance(found, dict):
        raise BadFile(f"{path}: '{ANNOTATIONS}' is a {type(found).__name__}, not a dict.")
    kept: dict[Tag, Annotation] = {}
    for key, value in found.items():
        tag = _tag(key)
        fine = tag is not None and isinstance(value, (list, tuple)) and len(value) == 3
        if tag is None or not fine or not _is_annotation(*value):
            raise BadFile(
                f"{path}: the annotation of {_shown(key)} must be (valid, material, layer) of a "
                f"pair (tag, corner), found {_shown(value)}."
            )
        valid, material, layer = value
        if valid and material.lower() not in MATERIALS:
            raise BadFile(
                f"{path}: the material of {tag} is '{material[:40]}'; expected one of "
                f"{', '.join(MATERIALS)}."
            )
        kept[tag] = Annotation(bool(valid), material, int(layer))
    return kept


def _is_annotation(valid: Any, material: Any, layer: Any) -> bool:
    is_flag = isinstance(valid, bool) or valid in (0, 1)
    is_layer = isinstance(layer, int) and 0 <= layer < _MOST_LAYER
    return is_flag and isinstance(material, str) and is_layer


def _tag(found: Any) -> Tag | None:
    pair = tuple(found) if isinstance(found, (list, tuple)) else ()
    if len(pair) != 2 or not all(type(n) in (int, float) and n == int(n) for n in pair):
        return None
    return int(pair[0]), int(pair[1])


def _number(value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else math.nan


def _shown(thing: Any) -> str:
    return repr(thing)[:80]


def flow_pairs(path: Path, file: TagFile, stereo: int) -> PointPairs:
    """Corners in the first and the second time of one camera, in the order of the file.

    Raises:
        BadFile: The two lists name different tags at the same place.
    """
    return _pairs(path, file, OPTICAL, file.optical, (stereo, stereo + 2))


def stereo_pairs(path: Path, file: TagFile, time: int) -> PointPairs:
    """Corners in the left and the right picture of one time (0 or 1)."""
    return _pairs(path, file, STEREO, file.stereo, (2 * time, 2 * time + 1))


def _pairs(
    path: Path,
    file: TagFile,
    name: str,
    pictures: tuple[list[Place], ...],
    which: tuple[int, int],
) -> PointPairs:
    rows: list[tuple[Place, Place, Annotation]] = []
    # A surplus at the end of one list has no partner, as in the public scripts.
    for index, (a, b) in enumerate(zip(pictures[which[0]], pictures[which[1]], strict=False)):
        if a.tag != b.tag:
            raise BadFile(
                f"{path}: point {index} of {name}[{which[0]}] is {a.tag} but that of "
                f"{name}[{which[1]}] is {b.tag}; the lists must name the same corners in one order."
            )
        said = file.annotations.get(a.tag)
        if said is None:
            raise BadFile(f"{path}: {a.tag} of {name}[{which[0]}] has no annotation.")
        if said.valid:
            rows.append((a, b, said))
    return PointPairs(
        [a.tag for a, _, _ in rows],
        _columns([(a.u, a.v) for a, _, _ in rows]),
        _columns([(b.u, b.v) for _, b, _ in rows]),
        np.array([said.layer for _, _, said in rows], np.int64),
        np.array([MATERIALS.index(said.material.lower()) for _, _, said in rows], np.uint8),
    )


def _columns(pairs: list[tuple[float, float]]) -> NDArray[np.float64]:
    return np.array(pairs, np.float64).reshape(-1, 2)


def write_tag_file(
    path: Path,
    optical: Sequence[Iterable[Place]],
    stereo: Sequence[Iterable[Place]],
    annotations: Mapping[Tag, Annotation],
) -> None:
    """Writes the pickle of a scene as the public scripts read it: coordinates are float64 arrays.

    Args:
        path: The file.
        optical: Corners in the four pictures, stereo + 2 * time; those that pictures 0 and 2, and 1
            and 3, share must be in one order.
        stereo: The same for the pairs 0 and 1, 2 and 3.
        annotations: Of every corner; layers from 0.

    Raises:
        BadFile: The lists do not fit each other; nothing is written.
    """
    lists = {OPTICAL: [list(one) for one in optical], STEREO: [list(one) for one in stereo]}
    plain = {
        tag: Annotation(bool(valid), material.capitalize(), int(layer))
        for tag, (valid, material, layer) in annotations.items()
    }
    file = TagFile(tuple(lists[OPTICAL]), tuple(lists[STEREO]), plain)
    checks: list[tuple[Callable[[Path, TagFile, int], PointPairs], int]] = [
        (read, index) for read in (flow_pairs, stereo_pairs) for index in (0, 1)
    ]
    for read, index in checks:
        read(path, file, index)
    _refuse_unknown_materials(path, plain)
    body: dict[str, Any] = {
        name: [[(*p.tag, np.array([p.u, p.v], np.float64)) for p in one] for one in pictures]
        for name, pictures in lists.items()
    }
    body[ANNOTATIONS] = {tag: tuple(said) for tag, said in plain.items()}
    safe_pickle.dump(path, body)


def _refuse_unknown_materials(path: Path, annotations: Mapping[Tag, Annotation]) -> None:
    wrong = {s.material for s in annotations.values() if s.valid} - {
        name.capitalize() for name in MATERIALS
    }
    if wrong:
        raise BadFile(f"{path}: unknown materials {first_few(sorted(wrong), 5)}.")
