"""Annotation records as lines of JSON, schema 1: one header, then one event per line.

The pydantic models are the format. A line is parsed as strict JSON, validated by its model, and
turned into the plain classes of `annotation`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from depthgauge.annotate.records._strict_model import (
    SCHEMA,
    Name,
    PointField,
    PointsField,
    Seconds,
    StrictModel,
    Text,
    Time,
    VectorField,
    between,
    expected,
    parse_line,
    validate,
    whole,
    wrong,
)
from depthgauge.annotate.records.annotation import (
    Focal,
    Header,
    NormalMark,
    Origin,
    Picture,
    Record,
    Relation,
    RelationKind,
    Shape,
    Side,
    Stroke,
    StrokeKind,
    SurfaceMark,
    Thing,
    Value,
)
from depthgauge.errors import BadFile, Misuse
from depthgauge.io.json_lines import parse_object, shown

__all__ = ["VoteModel", "header_line", "parse_header", "parse_line", "parse_record", "record_line"]

FORMAT = "depthgauge-annotation"
"""First field of every file; it distinguishes them from other JSON lines."""
MOST_PIXELS = 2**26
"""Most pixels of a picture: a line of text must not cost gigabytes."""
_LONGEST_SIDE_PX = 2**16


def _sha256(text: str) -> str:
    if text and not (len(text) == 64 and set(text) <= set("0123456789abcdef")):
        raise expected("64 hex digits")
    return text


_Side = Annotated[int, whole(1, _LONGEST_SIDE_PX)]


class PictureModel(StrictModel):
    """`picture` of a header."""

    id: Name
    width_px: _Side
    height_px: _Side
    sha256: Annotated[Text, AfterValidator(_sha256)] = ""

    @model_validator(mode="after")
    def _is_not_huge(self) -> PictureModel:
        if self.width_px * self.height_px > MOST_PIXELS:
            raise wrong(
                f"is {self.width_px}x{self.height_px}; pictures of at most "
                f"{MOST_PIXELS // 10**6} million pixels are read, so annotate a smaller copy"
            )
        return self


class FocalModel(StrictModel):
    """A focal length: `focal` of a header, or an event."""

    focal_px: Annotated[float, between(1, 1e7, "a focal length of 1 to 1e+07 px")]
    source: Literal["exif", "given", "assumed"] = "given"


class OriginModel(StrictModel):
    """`origin` of a header."""

    who: Text = ""
    source: Text = ""
    begun: Time = ""
    seconds: Seconds = 0.0


class HeaderModel(StrictModel):
    """The first line."""

    format: Literal["depthgauge-annotation"]
    version: int = Field(alias="schema")
    picture: PictureModel
    focal: FocalModel
    must_contain_px: PointsField
    points_seed: Annotated[int, whole(0, 2**63)] = None  # type: ignore[assignment]  # never null
    origin: OriginModel


class EventModel(StrictModel):
    """What every event may have; `by` is its source, because a focal length has one too."""

    noun: ClassVar[type[Stroke | SurfaceMark | NormalMark | Relation | Focal] | None] = None
    event: str
    at: Time = ""
    who: Text = ""
    by: Text = ""
    seconds: Seconds = 0.0

    def value(self) -> Value:
        """What was drawn or said."""
        if self.noun is None:
            return None
        return self.noun(**{name: getattr(self, name) for name in self.noun.__slots__})


class StrokeEvent(EventModel):
    """A line was drawn, or drawn again."""

    noun = Stroke
    id: Name
    kind: StrokeKind
    points_px: PointsField
    smooth: bool = False
    closer: Side = Field(default=None)  # type: ignore[arg-type]  # may be absent, never null


class SurfaceEvent(EventModel):
    """A surface was said to be planar or curved."""

    noun = SurfaceMark
    id: Name
    at_px: PointField
    shape: Shape


class NormalEvent(EventModel):
    """A normal was set."""

    noun = NormalMark
    id: Name
    at_px: PointField
    normal: VectorField


class RelationEvent(EventModel):
    """Two planes were said to be parallel, orthogonal or neither."""

    noun = Relation
    id: Name
    first: Name
    second: Name
    kind: RelationKind


class FocalEvent(EventModel, FocalModel):
    """Another focal length was given."""

    noun = Focal


class RegionEvent(EventModel):
    """The corners of the region; none for the whole image."""

    points_px: PointsField

    def value(self) -> Value:
        """The corners."""
        return self.points_px


class RemoveEvent(EventModel):
    """Something was removed."""

    id: Name
    what: Thing

    def value(self) -> Value:
        """The kind of thing."""
        return self.what


class VoteModel(StrictModel):
    """A line of a file of votes."""

    version: int = Field(alias="schema")
    annotation: Name
    who: Name
    good: bool
    at: Time = ""


_EVENTS: Mapping[str, type[EventModel]] = {
    "region": RegionEvent,
    "stroke": StrokeEvent,
    "surface": SurfaceEvent,
    "normal": NormalEvent,
    "relation": RelationEvent,
    "focal": FocalEvent,
    "remove": RemoveEvent,
    "finish": EventModel,
    "reopen": EventModel,
}


def parse_header(where: str, line: bytes) -> Header:
    """Reads the first line.

    Raises:
        BadFile: It is not a header, or has another schema.
    """
    data = parse_object(where, line)
    if data.get("format") != FORMAT:
        raise BadFile(f'{where}: is not a header of annotation records (no "format": "{FORMAT}").')
    found = validate(where, data, HeaderModel)
    return Header(
        picture=Picture(**dict(found.picture)),
        focal=Focal(**dict(found.focal)),
        must_contain_px=found.must_contain_px,
        points_seed=found.points_seed,
        origin=Origin(**dict(found.origin)),
    )


def parse_record(where: str, line: bytes) -> Record:
    """Reads the line of an event.

    Raises:
        BadFile: It is not one, or its event is not in this schema.
    """
    data = parse_object(where, line)
    event = data.get("event")
    if isinstance(event, str) and event not in _EVENTS:
        raise BadFile(
            f"{where}: the event {shown(event)} is not known, expected one of {', '.join(_EVENTS)}."
        )
    model = _EVENTS[event] if isinstance(event, str) else EventModel
    found = validate(where, data, model)
    return Record(
        event=found.event,  # type: ignore[arg-type]  # a key of _EVENTS
        id=getattr(found, "id", ""),
        value=found.value(),
        at=found.at,
        who=found.who,
        source=found.by,
        seconds=found.seconds,
    )


def header_line(header: Header) -> str:
    """The first line of a file, without its end.

    Raises:
        Misuse: It could not be read again.
    """
    body: dict[str, Any] = {
        "format": FORMAT,
        "schema": SCHEMA,
        "picture": asdict(header.picture),
        "focal": asdict(header.focal),
        "must_contain_px": header.must_contain_px,
        "origin": asdict(header.origin),
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
    about = {"at": record.at, "who": record.who, "by": record.source, "seconds": record.seconds}
    body |= {key: value for key, value in about.items() if value}
    return _checked(body, parse_record)


def _checked(body: dict[str, Any], parse: Callable[[str, bytes], object]) -> str:
    """Every line is read back before it is written, so that no unreadable line is appended."""
    try:
        line = json.dumps(body, separators=(",", ":"), allow_nan=False)
        parse("it", line.encode())
    except BadFile as error:
        raise Misuse(f"this cannot be recorded: {error}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise Misuse(f"this cannot be recorded: {error}.") from None
    return line


def _value_fields(value: Value) -> dict[str, Any]:
    """The fields in the order in which files have always had them."""
    if isinstance(value, Stroke):
        fields = {"kind": value.kind, "points_px": value.points_px, "smooth": value.smooth}
        return fields if value.closer is None else {**fields, "closer": value.closer}
    if isinstance(value, SurfaceMark | NormalMark | Relation | Focal):
        return {name: getattr(value, name) for name in value.__slots__}
    if isinstance(value, tuple):
        return {"points_px": value}
    return {} if value is None else {"what": value}
