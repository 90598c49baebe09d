"""Histories of actions: one event after another, undone by further events and never rewritten.

An event is an object with an `id` that nobody else gives, and a `kind`. `undo` and `redo` name the
event that they take back or bring back (`of`). So two people, two tabs or a page that sends
everything twice make the same history in any case: what has a known id is there already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from depthgauge.errors import BadData

Event = Mapping[str, Any]
UNDO, REDO = "undo", "redo"
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


def checked_id(event: object) -> str:
    """The id of an event.

    Raises:
        BadData: It is no object, or its id is none.
    """
    if not isinstance(event, Mapping):
        raise BadData(f"an event is an object, not {event!r:.60}.")
    name = event.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise BadData(f"an event needs an id of 8 to 64 letters and digits, found {name!r:.60}.")
    return name


def take_back(event: Event) -> dict[str, Any] | None:
    """An `undo` or `redo`, checked; None if the event is something else.

    Raises:
        BadData: It does not name what it takes back.
    """
    if event.get("kind") not in (UNDO, REDO):
        return None
    if extra := sorted(set(event) - {"id", "kind", "of"}):
        raise BadData(f"{event['kind']}: {extra[0]!r} is unknown; it has id, kind and of.")
    of = event.get("of")
    if not isinstance(of, str) or not _ID.fullmatch(of):
        raise BadData(f"{event['kind']} needs the id of an event as 'of', found {of!r:.60}.")
    return {"id": event["id"], "kind": event["kind"], "of": of}


def standing(events: Iterable[Event]) -> list[Event]:
    """The actions that stand after a history, in their order.

    >>> history = [{"id": "a", "kind": "x"}, {"id": "b", "kind": "x"}]
    >>> [each["id"] for each in standing([*history, {"id": "c", "kind": "undo", "of": "a"}])]
    ['b']
    """
    actions: dict[str, Event] = {}
    gone: set[str] = set()
    for event in events:
        if event["kind"] == UNDO:
            gone.add(event["of"])
        elif event["kind"] == REDO:
            gone.discard(event["of"])
        else:
            actions.setdefault(event["id"], event)
    return [event for name, event in actions.items() if name not in gone]
