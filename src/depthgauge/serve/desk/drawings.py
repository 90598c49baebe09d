"""One photograph that is drawn on: its records, and its preview.

Nothing is kept in memory that is not in the file of records. An event is its line: sent again
after a lost answer, a restart or a crash, it is in the file already and is not written twice. So a
page may send what it has as often as it likes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from depthgauge.annotate.records import (
    Header,
    History,
    Origin,
    Record,
    append_record,
    history,
    start_records,
)
from depthgauge.annotate.records.events import event_from_json, event_from_line, event_line
from depthgauge.annotate.records.region_points import preselected_points
from depthgauge.annotate.session import Session
from depthgauge.errors import BadFile, Cancelled, CannotWrite, DepthgaugeError, Misuse, Refused
from depthgauge.serve.desk.photographs import Shown
from depthgauge.serve.desk.previews import preview_of

_POINTS_SEED = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of events that a page sent."""

    revision: int
    """How many lines the file has after its header."""
    refused: Mapping[int, str]
    """Place of each event that can never be stored, and why."""
    full: str = ""
    """Why the others could not be stored now; empty if they were."""
    kept: int = 0
    """How many of the events, from the first, need not be sent again."""


class Drawing:
    """One person's drawing on one photograph; every method may be called from any thread."""

    def __init__(self, shown: Shown, path: Path, who: str) -> None:
        """Reads the records if there are any.

        Raises:
            Refused: The records are damaged, or belong to another picture.
        """
        self._path = path
        self._alone = threading.RLock()
        self._previewing = threading.Lock()
        self._newest: dict[str, int] = {}
        self._header = _new_header(shown, who)
        self._lines: list[str] = []
        self._known: set[str] = set()
        self._session: Session | None = None
        self._drawn = 0
        self._working = ""
        self._size = -1
        self._read()

    @property
    def header(self) -> Header:
        """The first line of the records, or what it will be."""
        return self._header

    def story(self, since: int = 0) -> tuple[int, list[str]]:
        """The number of events, and the lines of those after the first `since`."""
        with self._alone:
            self._read()
            return len(self._lines), self._lines[since:]

    def forget(self, tab: str) -> None:
        """Notes that a tab was closed: nobody waits for its previews."""
        with self._alone:
            self._newest.pop(tab, None)

    def store(self, events: Sequence[Mapping[str, Any]]) -> Stored:
        """Appends events to the records, in their order; those that are there are not repeated."""
        refused: dict[int, str] = {}
        with self._alone:
            self._read()
            for place, event in enumerate(events):
                try:
                    record = event_from_json(event)
                    line = event_line(record)
                except (BadFile, Misuse) as error:
                    refused[place] = str(error)
                    continue
                if line in self._known:
                    continue
                try:
                    self._append(record, line)
                except (CannotWrite, OSError) as error:
                    return Stored(len(self._lines), refused, _said(error), place)
            return Stored(len(self._lines), refused, kept=len(events))

    def preview(self, tab: str, number: int, draft: Iterable[Mapping[str, Any]]) -> bytes:
        """The surfaces of what is stored and of a draft, as bytes for the page.

        Args:
            tab: Who asks.
            number: Of its question; while a newer one waits, an older one is not answered.
            draft: Events that are not stored, such as a normal that is being turned.

        Raises:
            Cancelled: The tab has asked again since.
            BadFile: The draft is no list of events.
        """
        records = [event_from_json(event, "the draft") for event in draft]
        with self._alone:
            self._newest[tab] = max(number, self._newest.get(tab, number))
            if self._session is not None and self._working == tab:
                self._session.cancel()
        with self._previewing:
            with self._alone:
                self._working = tab
                if self._newest.get(tab, number) != number:
                    raise Cancelled("a newer preview was asked for.")
                self._read()
                session, revision = self._synced(), len(self._lines)
                for record in records:
                    session.apply(record)
            try:
                return preview_of(session, revision, with_problems=not records)
            finally:
                for _ in records:
                    session.undo()

    def _synced(self) -> Session:
        """The session, after the last line of the file."""
        records = [event_from_line(line) for line in self._lines[self._drawn :]]
        if self._session is None:
            self._session = Session(self._header, records)
        else:
            for record in records:
                self._session.apply(record)
        self._drawn = len(self._lines)
        return self._session

    def _append(self, record: Record, line: str) -> None:
        if self._size < 0:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            start_records(self._path, self._header)
            self._size = self._path.stat().st_size
        append_record(self._path, record)
        self._size += len(line.encode()) + 1
        self._take([line])

    def _read(self) -> None:
        """Reads the file again if another program has written to it."""
        size = self._path.stat().st_size if self._path.exists() else -1
        if size == self._size:
            return
        told = self._history() if size > 0 else History(self._header, ())
        if told.header.picture.id != self._header.picture.id or (
            told.header.picture.width_px,
            told.header.picture.height_px,
        ) != (self._header.picture.width_px, self._header.picture.height_px):
            raise Refused(
                "invalid",
                f"{self._path.name}: belongs to another picture; the photograph was exchanged, or "
                "the records were moved",
            )
        self._header = told.header
        self._lines, self._known = [], set()
        self._session, self._drawn = None, 0
        self._size = size
        self._take(event_line(record) for record in told.records)

    def _history(self) -> History:
        """What the file says; a page is told what is wrong with it, not where it is."""
        try:
            return history(self._path)
        except BadFile as error:
            text = str(error).replace(str(self._path), self._path.name)
            raise Refused("invalid", text.rstrip(".")) from None

    def _take(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._lines.append(line)
            self._known.add(line)


def _new_header(shown: Shown, who: str) -> Header:
    begun = datetime.now(UTC).isoformat(timespec="seconds")
    return Header(
        shown.picture,
        shown.focal,
        preselected_points(shown.picture, _POINTS_SEED),
        _POINTS_SEED,
        Origin(who=who, begun=begun),
    )


def _said(error: DepthgaugeError | OSError) -> str:
    if isinstance(error, OSError):
        return f"the records cannot be written: {error.strerror or error}."
    return str(error)
