"""What one person said about one photograph, and the records of it: the classes of annotation.

Coordinates are in pixels (x right, y down, pixel centres at integers). Normals are unit vectors in
camera axes (x right, y down, z forward), so the z of a visible surface is negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Point = tuple[float, float]
"""x, y in pixels."""
Vector = tuple[float, float, float]
"""x, y, z in camera axes."""
StrokeKind = Literal["occlusion", "fold"]
Side = Literal["left", "right"]
"""The side of a line, as seen when walking along it: going right, `right` is below."""
Shape = Literal["planar", "curved"]
RelationKind = Literal["parallel", "orthogonal", "neither"]


@dataclass(frozen=True, slots=True)
class Picture:
    """The photograph that is annotated."""

    id: str
    width_px: int
    height_px: int
    sha256: str = ""
    """SHA-256 of the file's bytes; empty if it is not known."""


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line that someone drew: depth jumps there (occlusion), or the normal does (fold)."""

    kind: StrokeKind
    points_px: tuple[Point, ...]
    """Two or more; a closed line ends where it starts."""
    closer: Side | None = None
    """Which side of an occlusion is closer to the viewer; None for a fold."""
    smooth: bool = False
    """Whether the closer surface curves away from the viewer here (a smooth occlusion)."""


@dataclass(frozen=True, slots=True)
class SurfaceMark:
    """Says whether the smooth surface around a point is planar or curved."""

    at_px: Point
    shape: Shape


@dataclass(frozen=True, slots=True)
class NormalMark:
    """The normal at a point: the only one of a plane, or one of several of a curved surface."""

    at_px: Point
    normal: Vector


@dataclass(frozen=True, slots=True)
class Relation:
    """How two planar surfaces are oriented to each other; named by the ids of their marks."""

    first: str
    second: str
    kind: RelationKind


@dataclass(frozen=True, slots=True)
class Focal:
    """The focal length of the photograph."""

    focal_px: float
    source: Literal["exif", "given", "assumed"] = "given"


@dataclass(frozen=True, slots=True)
class Origin:
    """Who annotated, for whom, when, and how long it took."""

    who: str = ""
    source: str = ""
    """Where the annotation comes from: a crowd platform, a company, `simulated` ..."""
    begun: str = ""
    """ISO 8601 with time zone; empty if it is not known."""
    seconds: float = 0.0
    """Time spent on it."""


@dataclass(frozen=True)
class Annotation:
    """The annotation of one image after the last of its records.

    Strokes, marks, normals and relations have ids, unique within their kind, that never change.
    """

    picture: Picture
    focal: Focal
    must_contain_px: tuple[Point, ...] = ()
    """Points, chosen in advance by a seed, that the region must contain."""
    region_px: tuple[Point, ...] = ()
    """The polygon of the region of interest; empty for the whole image."""
    strokes: Mapping[str, Stroke] = field(default_factory=dict)
    surfaces: Mapping[str, SurfaceMark] = field(default_factory=dict)
    normals: Mapping[str, NormalMark] = field(default_factory=dict)
    relations: Mapping[str, Relation] = field(default_factory=dict)
    origin: Origin = Origin()
    finished: bool = False
    """Whether the person declared it finished."""


Thing = Literal["stroke", "surface", "normal", "relation"]
"""What has ids."""
Event = Literal[
    "region", "stroke", "surface", "normal", "relation", "focal", "remove", "finish", "reopen"
]
Value = Stroke | SurfaceMark | NormalMark | Relation | Focal | tuple[Point, ...] | str | None


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a file: what is annotated, and what was decided before drawing began."""

    picture: Picture
    focal: Focal
    must_contain_px: tuple[Point, ...] = ()
    points_seed: int | None = None
    """The seed that chose the points; None if it is not known."""
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True, slots=True)
class Record:
    """One event: something was drawn, changed, removed or declared finished."""

    event: Event
    id: str = ""
    """Id of a stroke, surface, normal or relation, or of what is removed."""
    value: Value = None
    """What was drawn: the noun of the event; the corners of a region; for `remove`, the kind of
    thing."""
    at: str = ""
    """When, ISO 8601 with time zone."""
    who: str = ""
    source: str = ""
    seconds: float = 0.0
    """Time spent on it."""
