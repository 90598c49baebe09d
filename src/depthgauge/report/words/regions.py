"""The regions and shared maps of a protocol in plain sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import format_value
from depthgauge.regions import REGIONS, SHARED_MAPS, parse

_NUMBERED = re.compile(r"(?P<stem>.+)_(?P<number>\d+)")


def region_words(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Each region with its meaning; consecutive numbers of one family together."""
    families: dict[tuple[str, str], list[str]] = {}
    for name, text in protocol.region_texts.items():
        families.setdefault(_without_number(name, text), []).append(name)
    for (stem, text), names in families.items():
        if len(names) > 1:
            yield f"Region {names[0]} to {names[-1]}", _family(protocol, stem, text)
        else:
            yield f"Region {names[0]}", _region(protocol, names[0], protocol.region_texts[names[0]])


def _without_number(name: str, text: str) -> tuple[str, str]:
    """The name before its number, and the text with a star for that number.

    >>> _without_number("gap_3", "gaps & bins_3 - dots_13")
    ('gap', 'gaps & bins_* - dots_13')
    """
    found = _NUMBERED.fullmatch(name)
    if found is None:
        return name, text
    return found["stem"], re.sub(rf"_{found['number']}\b", "_*", text)


def _family(protocol: Protocol, stem: str, text: str) -> str:
    """What numbered regions share, and what their numbers mean."""
    axis = protocol.axes.get(stem)
    along = f" Along the axis: {axis.label}." if axis is not None and axis.label else ""
    own = "Masks or labels of the dataset." if text == f"{stem}_*" else f"{text}."
    return f"{own}{along}"


def _region(protocol: Protocol, name: str, text: str) -> str:
    if name in protocol.given_regions:
        return "A mask that was given with the call."
    parts = dict.fromkeys(str(atom) for atom in parse(text).atoms())
    meanings = [_meaning(protocol, part) for part in parts]
    if list(parts) == [name]:
        return meanings[0]
    return " ".join([f"{text}."] + [f"{p}: {m}" for p, m in zip(parts, meanings, strict=True)])


def _meaning(protocol: Protocol, part: str) -> str:
    name, _, words = part.partition(":")
    if name in REGIONS:
        params = REGIONS[name].bind(words.split(",") if words else [])
        given = ", ".join(f"{key} {format_value(value)}" for key, value in params.items())
        return first_paragraph(REGIONS[name].doc) + (f" Here: {given}." if given else "")
    if name in protocol.regions:
        return f"{protocol.regions[name]}."
    return "A mask or label of the dataset."


def derived_words(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """What regions and metrics share, with its parameters."""
    for name, text in protocol.resolved().get("derived", {}).items():
        maker, _, words = text.partition(":")
        made = SHARED_MAPS[maker]
        params = made.bind(words.split(",") if words else [])
        given = ", ".join(f"{key} {format_value(value)}" for key, value in params.items())
        about = first_paragraph(made.doc)
        yield f"Shared map {name}", f"{about} Made by {maker}{f', {given}' if given else ''}."


def first_paragraph(doc: str) -> str:
    """The first paragraph on one line."""
    return " ".join(doc.strip().split("\n\n")[0].split()).replace("`", "'")
