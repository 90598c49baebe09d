"""A file of events that pages append to: nothing is lost, nothing is there twice.

Nothing is kept in memory that is not in the file. An event has an id that its page gave it: sent
again after a lost answer, a restart or a crash, it is in the file already and is not written
twice. So a page may send what it has as often as it likes.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge.errors import BadFile, CannotWrite, DepthgaugeError
from depthgauge.io.json_lines import append_line, is_whole, parse_object, without_mark
from depthgauge.serve.desk.presence import Presence

Event = dict[str, Any]
Check = Callable[[object], Event]
"""Returns an event with nothing that does not belong to it, or raises a `DepthgaugeError`."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of events that a page sent."""

    revision: int
    """How many events the file has."""
    refused: Mapping[str, str]
    """By id or place: events that can never be stored, and why."""
    full: str = ""
    """Why the others could not be stored now; empty if they were."""


class Journal:
    """The events of one file; every method may be called from any thread."""

    def __init__(self, path: Path, check: Check) -> None:
        """Reads what is there.

        Args:
            path: The file; it is made with the first event.
            check: What an event of this file is.

        Raises:
            BadFile: The file is damaged; the sentence names the line.
        """
        self.path = path
        self._check = check
        self._alone = threading.RLock()
        self._present = Presence()
        self._size = -1
        self._events: list[Event] = []
        self._known: set[str] = set()
        self._read()

    def events(self, since: int = 0) -> list[Event]:
        """All events after the first `since`, in their order."""
        with self._alone:
            self._read()
            return self._events[since:]

    def store(self, events: Sequence[object]) -> Stored:
        """Appends events in their order; those that are there are not repeated."""
        refused: dict[str, str] = {}
        with self._alone:
            self._read()
            for place, given in enumerate(events):
                try:
                    event = self._check(given)
                except DepthgaugeError as error:
                    name = given.get("id") if isinstance(given, Mapping) else None
                    refused[name if isinstance(name, str) else str(place)] = str(error)
                    continue
                if event["id"] in self._known:
                    continue
                try:
                    self._append(event)
                except (CannotWrite, OSError) as error:
                    return Stored(len(self._events), refused, _said(error))
            return Stored(len(self._events), refused)

    def seen(self, tab: str) -> int:
        """Notes that a tab is open; returns how many others are."""
        return len(self._present.seen(tab))

    def leave(self, tab: str) -> None:
        """Notes that a tab was closed."""
        self._present.leave(tab)

    def _append(self, event: Event) -> None:
        line = json.dumps(event, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        append_line(self.path, line)
        # A line that a killed process left half written has made room meanwhile.
        self._size = self.path.stat().st_size
        self._take(event)

    def _read(self) -> None:
        """Reads the file again if another program has written to it."""
        size = self.path.stat().st_size if self.path.exists() else -1
        if size == self._size:
            return
        self._events, self._known = [], set()
        for event in read_events(self.path, self._check) if size > 0 else ():
            self._take(event)
        self._size = size

    def _take(self, event: Event) -> None:
        if event["id"] not in self._known:
            self._known.add(event["id"])
            self._events.append(event)


def read_events(path: Path, check: Check) -> list[Event]:
    """The events of a file; a last line that a killed process left half written is left out.

    Raises:
        BadFile: The file cannot be read, or a line is no event; the sentence names it.
    """
    try:
        lines = without_mark(path.read_bytes()).split(b"\n")
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error.strerror}.") from None
    if lines[-1].strip() and not is_whole(lines[-1]):
        lines.pop()
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            found.append(check(parse_object(where, line)))
        except BadFile:
            raise
        except DepthgaugeError as error:
            raise BadFile(f"{where}: {error}") from None
    return found


def _said(error: DepthgaugeError | OSError) -> str:
    if isinstance(error, OSError):
        return f"it cannot be written: {error.strerror or error}."
    return str(error)
