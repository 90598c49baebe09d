"""From records to the annotation they give, and from an annotation to records that lead to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, get_args

from depthgauge.annotate.records.annotation import Annotation, Header, Origin, Record, Thing

_PLURALS: dict[Thing, str] = {
    "stroke": "strokes",
    "surface": "surfaces",
    "normal": "normals",
    "relation": "relations",
}
"""What has ids, and where an annotation keeps it."""


def replayed(header: Header, records: Iterable[Record]) -> Annotation:
    """Replays the records one after the other."""
    state = Annotation(header.picture, header.focal, header.must_contain_px, origin=header.origin)
    things: dict[str, dict[str, Any]] = {thing: {} for thing in get_args(Thing)}
    origin = header.origin
    for record in records:
        origin = _originated(origin, record)
        if record.event in things:
            things[record.event][record.id] = record.value
        elif record.event == "remove":
            things[str(record.value)].pop(record.id, None)
        else:
            state = _changed(state, record)
    return replace(
        state,
        strokes=things["stroke"],
        surfaces=things["surface"],
        normals=things["normal"],
        relations=things["relation"],
        origin=origin,
    )


def after(annotation: Annotation, record: Record) -> Annotation:
    """The annotation after one more record, as `replayed` would give it."""
    state = replace(annotation, origin=_originated(annotation.origin, record))
    thing = str(record.value) if record.event == "remove" else record.event
    if thing not in _PLURALS:
        return _changed(state, record)
    things = dict(getattr(annotation, _PLURALS[thing]))
    if record.event == "remove":
        things.pop(record.id, None)
    else:
        things[record.id] = record.value
    new: dict[str, Any] = {_PLURALS[thing]: things}
    return replace(state, **new)


def _originated(origin: Origin, record: Record) -> Origin:
    return replace(
        origin,
        who=origin.who or record.who,
        source=origin.source or record.source,
        begun=origin.begun or record.at,
        seconds=origin.seconds + record.seconds,
    )


def _changed(state: Annotation, record: Record) -> Annotation:
    value: Any = record.value
    if record.event == "region":
        return replace(state, region_px=value)
    if record.event == "focal":
        return replace(state, focal=value)
    return replace(state, finished=record.event == "finish")


def difference(before: Annotation, wanted: Annotation) -> Iterator[Record]:
    """Records that turn one annotation of a picture into another, the order of its parts included.

    Who drew it, and how long it took, stay as they are.
    """
    if wanted.region_px != before.region_px:
        yield Record("region", value=wanted.region_px)
    if wanted.focal != before.focal:
        yield Record("focal", value=wanted.focal)
    for thing, plural in _PLURALS.items():
        old, new = getattr(before, plural), getattr(wanted, plural)
        # What is drawn again comes last, so all that follows it is drawn again as well.
        there = [name for name in old if name in new]
        same = 0
        for same, (kept, name) in enumerate(zip(there, new, strict=False), 1):
            if kept != name:
                same -= 1
                break
        first = set(there[:same])
        yield from (Record("remove", name, thing) for name in old if name not in first)
        yield from (
            Record(thing, name, value)
            for name, value in new.items()
            if name not in first or old[name] != value
        )
    if wanted.finished != before.finished:
        yield Record("finish" if wanted.finished else "reopen")
