"""Reads JSON that other programs wrote; what is wrong with it is one sentence that says where."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from depthgauge.annotate.records.annotation import Annotation, Focal, Point
from depthgauge.errors import BadFile
from depthgauge.io.json_lines import kind_of, shown

MOST_POINTS = 20_000
"""Most points of one line or polygon, as in records."""
MOST_SIDE_PX = 100_000
_ASSUMED_FOCAL = 1.2
"""Times the longer side, as on the pages: for formats that hold no focal length."""
_DECIMALS = 4
"""Of pixels: percent of a side and back is not exact in the last digits."""
_UPLOADED = re.compile(r"^[0-9a-f]{8}-(?=.)")


@dataclass(frozen=True, slots=True)
class Document:
    """What a format holds of annotations."""

    body: Any
    """JSON."""
    left_out: Mapping[str, int] = field(default_factory=Counter)
    """What it cannot hold, and how much of it there was."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Annotations of a document."""

    annotations: tuple[Annotation, ...]
    left_out: Mapping[str, int] = field(default_factory=Counter)
    """What is in the document and is no annotation of ours, and how much."""


def of_kind(where: str, value: Any, kind: type) -> Any:
    """A value of a kind: `dict`, `list`, `str`, `int` or `bool`.

    Raises:
        BadFile: It is something else.
    """
    if type(value) is not kind:
        raise BadFile(f"{where}: expected {kind_of(kind())}, found {shown(value)}.")
    return value


def get(where: str, data: Mapping[str, Any], name: str, kind: type) -> Any:
    """A field that must be there."""
    if name not in data:
        raise BadFile(f"{where}: has no '{name}'.")
    return of_kind(f"{where}, {name}", data[name], kind)


def number(where: str, value: Any) -> float:
    """A finite number."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise BadFile(f"{where}: expected a number, found {shown(value)}.")
    return float(value)


def side(where: str, data: Mapping[str, Any], name: str) -> int:
    """The width or height of a picture."""
    found = number(f"{where}, {name}", data.get(name))
    if found != int(found) or not 1 <= found <= MOST_SIDE_PX:
        raise BadFile(f"{where}, {name}: expected 1 to {MOST_SIDE_PX} px, found {found:g}.")
    return int(found)


def points_from(where: str, listed: Sequence[Any], scale: Point = (1.0, 1.0)) -> tuple[Point, ...]:
    """Pairs of numbers in pixels of ours.

    Other programs count from the corner of the first pixel, records from its centre.
    """
    if len(listed) > MOST_POINTS:
        raise BadFile(f"{where}: has {len(listed)} points; {MOST_POINTS} are possible.")
    return tuple(_point(f"{where}, point {k}", pair, scale) for k, pair in enumerate(listed, 1))


def _point(where: str, pair: Any, scale: Point) -> Point:
    if type(pair) is not list or len(pair) != 2:
        raise BadFile(f"{where}: expected two numbers, found {shown(pair)}.")
    x, y = (number(where, value) * s - 0.5 for value, s in zip(pair, scale, strict=True))
    return round(x, _DECIMALS), round(y, _DECIMALS)


def picture_id(where: str, address: str) -> str:
    """The name of a photograph from a path or an address, without its ending.

    Label Studio puts eight digits before the name of an uploaded file.
    """
    path = unquote(urlsplit(address).path if "://" in address else address).replace("\\", "/")
    name = PurePosixPath(path).name
    if "/upload/" in path:
        name = _UPLOADED.sub("", name)
    stem = PurePosixPath(name).stem
    if not is_name(stem):
        raise BadFile(f"{where}: {shown(address)} names no photograph.")
    return stem


def is_name(text: str) -> bool:
    """Whether a text can be the name of a file, or of a person's folder."""
    plain = text.isprintable() and not set(text) & set("/\\:")
    return bool(text) and plain and not text.startswith(".") and len(text.encode()) <= 200


def assumed_focal(width: int, height: int) -> Focal:
    """A focal length where none is known."""
    return Focal(_ASSUMED_FOCAL * max(width, height), "assumed")
