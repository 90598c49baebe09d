"""What a person says about the tags of an object: from a history to the files of `capture tags`.

The history is `tags.jsonl` beside the object's photographs:

    {"id": "...", "kind": "note", "tag": 20, "material": "diffuse", "layer": 2, "valid": true,
     "bad_corners": []}
    {"id": "...", "kind": "corners", "tag": 20, "view": "1_0", "corners_px": [[x, y], ...]}
    {"id": "...", "kind": "reject", "tag": 31, "view": "2_1"}
    {"id": "...", "kind": "undo", "of": "..."}

The last note of a tag counts, and the last word about a tag in a photograph.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from depthgauge.capture.by_hand.history import Event, checked_id, standing, take_back
from depthgauge.capture.tags.corrections import TAGGED_VIEWS, Points
from depthgauge.capture.tags.points import View
from depthgauge.errors import BadData
from depthgauge.sessions.tags import MATERIALS, TagNote

HISTORY = "tags.jsonl"
MOST_TAG = 586
_FIELDS = {
    "note": {"tag", "material", "layer", "valid", "bad_corners"},
    "corners": {"tag", "view", "corners_px"},
    "reject": {"tag", "view"},
}
_MOST_LAYER = 9
_MOST_PX = 1e6


def tag_event(event: object) -> dict[str, Any]:
    """An event of this history, checked.

    Raises:
        BadData: It is none; the sentence says what is wrong.
    """
    checked_id(event)
    assert isinstance(event, dict)
    if back := take_back(event):
        return back
    kind = event.get("kind")
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise BadData(f"an event is one of {', '.join(_FIELDS)}, undo, redo, not {kind!r:.60}.")
    if set(event) != {"id", "kind", *_FIELDS[kind]}:
        raise BadData(f"{kind} has id, kind, {', '.join(sorted(_FIELDS[kind]))}.")
    if type(event["tag"]) is not int or not 0 <= event["tag"] <= MOST_TAG:
        raise BadData(f"a tag has a number from 0 to {MOST_TAG}, not {event['tag']!r:.20}.")
    if kind == "note":
        _check_note(event)
    elif event["view"] not in TAGGED_VIEWS:
        raise BadData(f"a view is one of {', '.join(TAGGED_VIEWS)}, not {event['view']!r:.20}.")
    if kind == "corners":
        _check_corners(event["corners_px"])
    return dict(event)


def _check_note(event: Event) -> None:
    if event["material"] not in ("", *MATERIALS):
        raise BadData(f"a material is one of {', '.join(MATERIALS)}.")
    if type(event["layer"]) is not int or not 0 <= event["layer"] <= _MOST_LAYER:
        raise BadData(f"a layer is from 1 to {_MOST_LAYER}, or 0 if it is not known.")
    bad = event["bad_corners"]
    if type(event["valid"]) is not bool or not isinstance(bad, list):
        raise BadData("valid is true or false, bad_corners a list.")
    if not all(type(k) is int and 0 <= k <= 3 for k in bad) or len(set(bad)) < len(bad):
        raise BadData("bad_corners are numbers from 0 to 3, once each.")


def _check_corners(corners: object) -> None:
    def is_point(point: object) -> bool:
        if not isinstance(point, list) or len(point) != 2:
            return False
        return all(type(v) in (int, float) and abs(v) < _MOST_PX for v in point)

    if not isinstance(corners, list) or len(corners) != 4 or not all(map(is_point, corners)):
        raise BadData("a tag has four corners [x, y], in px of the photograph.")


def tag_notes(events: Iterable[Event]) -> dict[int, TagNote]:
    """What a history says about each tag."""
    return {
        e["tag"]: TagNote(e["material"], e["layer"], e["valid"], tuple(e["bad_corners"]))
        for e in standing(events)
        if e["kind"] == "note"
    }


def tag_corrections(events: Iterable[Event]) -> dict[View, dict[int, Points | None]]:
    """What a history corrects in each photograph."""
    found: dict[View, dict[int, Points | None]] = {}
    for event in standing(events):
        if event["kind"] == "note":
            continue
        corners = np.array(event["corners_px"], np.float64) if event["kind"] == "corners" else None
        found.setdefault(TAGGED_VIEWS[event["view"]], {})[event["tag"]] = corners
    return found


def note_event(tag: int, note: TagNote, name: str) -> dict[str, Any]:
    """A note as an event, for notes that were written before the history began."""
    return {
        "id": name,
        "kind": "note",
        "tag": tag,
        "material": note.material,
        "layer": note.layer,
        "valid": note.valid,
        "bad_corners": list(note.bad_corners),
    }
