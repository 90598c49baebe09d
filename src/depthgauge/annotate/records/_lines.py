"""Annotation records as lines of JSON, schema 1: one header, then one event a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from depthgauge.annotate.records._json_fields import Fields, parse_object, shown
from depthgauge.annotate.records.annotation import (
    Focal,
    NormalMark,
    Origin,
    Picture,
    Point,
    Relation,
    RelationKind,
    Shape,
    Side,
    Stroke,
    StrokeKind,
    SurfaceMark,
)
from depthgauge.errors import BadFile, Misuse

SCHEMA = 1
FORMAT = "depthgauge-annotation"
"""First field of every file, so that another JSONL is told apart."""

Thing = Literal["stroke", "surface", "normal", "relation"]
"""What has ids."""
Event = Literal[
    "region", "stroke", "surface", "normal", "relation", "focal", "remove", "finish", "reopen"
]
Value = Stroke | SurfaceMark | NormalMark | Relation | Focal | tuple[Point, ...] | str | None

_SOURCES = ("exif", "given", "assumed")
_LONGEST_SIDE_PX = 2**16
MOST_PIXELS = 2**26
"""Of a picture: a line of text must not cost gigabytes."""
_FOCAL_PX = (1.0, 1e7)


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: what is annotated, and what was decided before anybody drew."""

    picture: Picture
    focal: Focal
    must_contain_px: tuple[Point, ...] = ()
    points_seed: int | None = None
    """The seed that chose the points; None where it is not known."""
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True, slots=True)
class Record:
    """One event: something was drawn, changed, taken away or declared done."""

    event: Event
    id: str = ""
    """Of a stroke, surface, normal or relation, and of what is removed."""
    value: Value = None
    """What was drawn: the noun of the event; the corners of a region; of `remove` the kind of
    thing: stroke, surface, normal, relation."""
    at: str = ""
    """When, ISO 8601 with time zone."""
    who: str = ""
    source: str = ""
    seconds: float = 0.0
    """Time spent on it."""


def header_line(header: Header) -> str:
    """The first line of a file, without its end."""
    picture, focal, origin = header.picture, header.focal, header.origin
    body: dict[str, Any] = {
        "format": FORMAT,
        "schema": SCHEMA,
        "picture": {
            "id": picture.id,
            "width_px": picture.width_px,
            "height_px": picture.height_px,
            "sha256": picture.sha256,
        },
        "focal": {"focal_px": focal.focal_px, "source": focal.source},
        "must_contain_px": header.must_contain_px,
        "origin": {
            "who": origin.who,
            "source": origin.source,
            "begun": origin.begun,
            "seconds": origin.seconds,
        },
    }
    if header.points_seed is not None:
        body["points_seed"] = header.points_seed
    return _checked(body, parse_header)


def record_line(record: Record) -> str:
    """The line of an event, without its end.

    Raises:
        Misuse: It could not be read again.

    >>> record_line(Record("remove", "s1", "stroke", who="ann"))
    '{"event":"remove","id":"s1","what":"stroke","who":"ann"}'
    """
    body: dict[str, Any] = {"event": record.event}
    if record.id:
        body["id"] = record.id
    body |= _value_fields(record.value)
    about = {"at": record.at, "who": record.who, "source": record.source}
    # The focal length has a source of its own.
    body |= {"by" if key == "source" else key: text for key, text in about.items() if text}
    if record.seconds:
        body["seconds"] = record.seconds
    return _checked(body, parse_record)


def parse_header(where: str, line: bytes) -> Header:
    """Reads the first line.

    Raises:
        BadFile: It is not such a header, or of another schema.
    """
    fields = Fields(where, parse_object(where, line))
    if not fields.has("format") or fields.take("format") != FORMAT:
        raise fields.fail(f'is no header of annotation records (no "format": "{FORMAT}")')
    schema = fields.take("schema")
    if schema != SCHEMA or type(schema) is not int:
        raise fields.fail(
            f"is of schema {shown(schema)}, this version reads schema {SCHEMA}; "
            "update depthgauge or get the file again"
        )
    header = Header(
        picture=_picture(fields.fields("picture")),
        focal=_focal(fields.fields("focal"), done=True),
        must_contain_px=fields.points("must_contain_px"),
        points_seed=fields.count("points_seed", 0, 2**63) if fields.has("points_seed") else None,
        origin=_origin(fields.fields("origin")),
    )
    fields.done()
    return header


def parse_record(where: str, line: bytes) -> Record:
    """Reads the line of an event.

    Raises:
        BadFile: It is none, or of an event that this schema lacks.
    """
    fields = Fields(where, parse_object(where, line))
    event = fields.text("event")
    if event not in _READERS:
        raise fields.fail(
            f"the event {shown(event)} is not known, expected one of {', '.join(_READERS)}"
        )
    name = fields.name("id") if event in (*get_args(Thing), "remove") else ""
    record = Record(
        event=event,  # type: ignore[arg-type]  # one of the readers' names
        id=name,
        at=fields.time("at"),
        who=fields.text("who", ""),
        source=fields.text("by", ""),
        seconds=fields.seconds("seconds"),
        value=_READERS[event](fields),
    )
    fields.done()
    return record


def _checked(body: dict[str, Any], parse: Callable[[str, bytes], object]) -> str:
    """What is written is read first: no line may ever be appended that cannot be read."""
    try:
        line = json.dumps(body, separators=(",", ":"), allow_nan=False)
        parse("it", line.encode())
    except BadFile as error:
        raise Misuse(f"this cannot be recorded: {error}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise Misuse(f"this cannot be recorded: {error}.") from None
    return line


def _value_fields(value: Value) -> dict[str, Any]:
    if isinstance(value, Stroke):
        fields = {"kind": value.kind, "points_px": value.points_px, "smooth": value.smooth}
        return fields if value.closer is None else {**fields, "closer": value.closer}
    if isinstance(value, SurfaceMark):
        return {"at_px": value.at_px, "shape": value.shape}
    if isinstance(value, NormalMark):
        return {"at_px": value.at_px, "normal": value.normal}
    if isinstance(value, Relation):
        return {"first": value.first, "second": value.second, "kind": value.kind}
    if isinstance(value, Focal):
        return {"focal_px": value.focal_px, "source": value.source}
    if isinstance(value, tuple):
        return {"points_px": value}
    return {} if value is None else {"what": value}


def _picture(fields: Fields) -> Picture:
    picture = Picture(
        id=fields.name("id"),
        width_px=fields.count("width_px", 1, _LONGEST_SIDE_PX),
        height_px=fields.count("height_px", 1, _LONGEST_SIDE_PX),
        sha256=fields.text("sha256", ""),
    )
    if picture.width_px * picture.height_px > MOST_PIXELS:
        raise fields.fail(
            f"is {picture.width_px}x{picture.height_px}; pictures of at most "
            f"{MOST_PIXELS // 10**6} million pixels are read, so annotate a smaller copy"
        )
    if picture.sha256 and not _is_sha256(picture.sha256):
        raise fields.fail(f"'sha256' is {shown(picture.sha256)}, expected 64 hex digits")
    fields.done()
    return picture


def _is_sha256(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _focal(fields: Fields, done: bool = False) -> Focal:
    focal = Focal(fields.number("focal_px"), fields.choice("source", _SOURCES, "given"))
    least, most = _FOCAL_PX
    if not least <= focal.focal_px <= most:
        raise fields.fail(
            f"'focal_px' is {focal.focal_px:g}, expected a focal length of {least:g} to {most:g} px"
        )
    if done:
        fields.done()
    return focal


def _origin(fields: Fields) -> Origin:
    origin = Origin(
        who=fields.text("who", ""),
        source=fields.text("source", ""),
        begun=fields.time("begun"),
        seconds=fields.seconds("seconds"),
    )
    fields.done()
    return origin


def _stroke(fields: Fields) -> Stroke:
    return Stroke(
        kind=fields.choice("kind", get_args(StrokeKind)),
        points_px=fields.points("points_px"),
        closer=fields.choice("closer", get_args(Side)) if fields.has("closer") else None,
        smooth=fields.flag("smooth", False),
    )


def _surface(fields: Fields) -> SurfaceMark:
    return SurfaceMark(fields.point("at_px"), fields.choice("shape", get_args(Shape)))


def _normal(fields: Fields) -> NormalMark:
    return NormalMark(fields.point("at_px"), fields.vector("normal"))


def _relation(fields: Fields) -> Relation:
    kind = fields.choice("kind", get_args(RelationKind))
    return Relation(fields.name("first"), fields.name("second"), kind)


_READERS: Mapping[str, Callable[[Fields], Value]] = {
    "region": lambda fields: fields.points("points_px"),
    "stroke": _stroke,
    "surface": _surface,
    "normal": _normal,
    "relation": _relation,
    "focal": _focal,
    "remove": lambda fields: str(fields.choice("what", get_args(Thing))),
    "finish": lambda fields: None,
    "reopen": lambda fields: None,
}
