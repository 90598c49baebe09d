"""Points that a person removes from a session's cloud: from a history to the list for `clean`.

The history is `by-hand/removals.jsonl` of the session, one event per line:

    {"id": "...", "kind": "remove", "shape": "lassos", "entry": {...}}
    {"id": "...", "kind": "undo", "of": "..."}

`shape` and `entry` are those of the file that `capture clean --by-hand` reads. That file,
`by-hand/removals.json`, follows from the history and is written anew after every event.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.by_hand.history import Event, checked_id, standing, take_back
from depthgauge.capture.clean.manual_edits import (
    ManualEdits,
    edit_entry,
    edit_from_json,
    manually_removed,
    points_m,
)
from depthgauge.capture.clean.step import CleanOptions, find_removals
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.refine.step import SIDES, read_measured
from depthgauge.capture.step_options import remembered
from depthgauge.capture.steps import read_step
from depthgauge.errors import BadData
from depthgauge.types import Mask

FOLDER = "by-hand"
HISTORY = "removals.jsonl"
LIST = "removals.json"
REMOVE = "remove"
_MOST_CORNERS = 20_000
_KEPT = 400
"""Actions whose pixels are remembered; more are found again."""


def removal_event(event: object) -> dict[str, Any]:
    """An event of this history, checked, with nothing that does not belong to it.

    Raises:
        BadData: It is none; the sentence says what is wrong.
    """
    name = checked_id(event)
    assert isinstance(event, dict)
    if back := take_back(event):
        return back
    if event.get("kind") != REMOVE:
        raise BadData(f"an event is a remove, an undo or a redo, not {event.get('kind')!r:.60}.")
    shape, entry = event.get("shape"), event.get("entry")
    made = edit_from_json(shape, entry)
    points = max(len(v) for v in edit_entry(made).values() if isinstance(v, list))
    if points > _MOST_CORNERS:
        raise BadData(f"{shape}: has {points} points; at most {_MOST_CORNERS} are removed at once.")
    return {"id": name, "kind": REMOVE, "shape": shape, "entry": edit_entry(made)}


def removal_list(events: Iterable[Event]) -> ManualEdits:
    """What a history removes, as `capture clean --by-hand` reads it."""
    lists: dict[str, list[Any]] = {}
    for event in standing(events):
        lists.setdefault(event["shape"], []).append(edit_from_json(event["shape"], event["entry"]))
    return ManualEdits(**{shape: tuple(entries) for shape, entries in lists.items()})


class RemovalView:
    """The maps of a session that is cleaned by hand, and what each action removes from them."""

    def __init__(self, work: Path) -> None:
        """Reads the refined maps of both views.

        Raises:
            BadData: They are not there yet; the sentence says which step to run.
        """
        read_step(work, "refine")
        self.pair = read_pair(work, "LR")
        self.maps = {side: read_measured(work / "refine", side) for side in SIDES}
        nothing = {side: np.zeros(self.maps[side].disparity.shape, np.bool_) for side in SIDES}
        given = {k: v for k, v in remembered(work).get("clean", {}).items() if k != "by_hand"}
        self.codes = find_removals(self.maps, nothing, CleanOptions(**given))
        """What cleaning removes without a person, by the codes of its `REASONS`."""
        self._made: dict[str, NDArray[np.float32]] = {}
        self._found: dict[str, dict[str, NDArray[np.int64]]] = {}

    def removed(self, events: Iterable[Event]) -> dict[str, int]:
        """How many values that cleaning would keep the standing actions remove, by view."""
        actions = standing(events)
        return {side: int(self._mask(actions, side).sum()) for side in SIDES}

    def removed_by(self, event: Event) -> dict[str, int]:
        """How many values that cleaning would keep one action removes, by view."""
        return {side: len(places) for side, places in self._places(event).items()}

    def _mask(self, actions: Iterable[Event], side: str) -> Mask:
        mask = np.zeros(self.maps[side].disparity.shape, np.bool_)
        for event in actions:
            mask.ravel()[self._places(event)[side]] = True
        return mask

    def _places(self, event: Event) -> dict[str, NDArray[np.int64]]:
        """The pixels that an action removes and cleaning would keep, as places in each map."""
        name = event["id"]
        if name not in self._found:
            chosen = removal_list([event])
            self._found[name] = {side: self._search(chosen, side) for side in SIDES}
            while len(self._found) > _KEPT:
                self._found.pop(next(iter(self._found)))
        return self._found[name]

    def _search(self, chosen: ManualEdits, side: str) -> NDArray[np.int64]:
        maps = self.maps[side]
        points = self._points(side) if chosen != ManualEdits(polygons=chosen.polygons) else None
        mask = manually_removed(chosen, self.pair, maps.disparity, side, maps.variance, points)
        return np.flatnonzero(mask & (self.codes[side] == 0))

    def _points(self, side: str) -> NDArray[np.float32]:
        """All points of a view: made with the first action in space, used by the others."""
        if side not in self._made:
            self._made[side] = points_m(self.maps[side].disparity, self.pair, side)
        return self._made[side]
