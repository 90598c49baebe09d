"""States of leaderboards: the table as it stands, or as it stood on a day."""

from __future__ import annotations

import datetime
import functools
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from depthgauge.analysis.boards.board import Board
from depthgauge.benchmarks import Protocol, find_benchmark, make_protocol
from depthgauge.errors import DepthgaugeError, Refused
from depthgauge.serve import board as boards
from depthgauge.serve.leaderboards.released import ReleasedEntry, make_entries, released_board
from depthgauge.serve.storage.database import Database
from depthgauge.serve.storage.models import Benchmark, Rescoring, ScoreSheet, Snapshot

_Value = TypeVar("_Value")
_DAY_S = 86_400
_DRAWN = 8
"""Tables that are kept for each state; one may have a megabyte."""


@dataclass(frozen=True)
class State:
    """A leaderboard at some time; computed from it once, its statistics are kept with it."""

    benchmark: str
    title: str
    hidden: bool
    """Whether the truth is."""
    protocol: Protocol
    samples: tuple[str, ...]
    scenes: Mapping[str, str]
    number: int | None
    """Of its permanent address; None before the first entry."""
    taken_at: int | None
    sha256: str
    protocol_hash: str
    columns: tuple[Mapping[str, Any], ...]
    """The scores: `id`, `unit`, `better`; the first one ranks."""
    entries: tuple[ReleasedEntry, ...]
    drawn: LeastRecent[Any] = field(default_factory=lambda: LeastRecent(_DRAWN), compare=False)
    """Tables that were drawn of it."""
    computed: LeastRecent[Board] | None = field(default=None, compare=False, repr=False)
    """Boards by what they are computed from."""

    @functools.cached_property
    def board(self) -> Board:
        """All scores of all samples together, with intervals, ranks and ties."""
        if self.computed is None:
            return self._compute()
        # The snapshot's hash covers all values; names change when an entry is withdrawn.
        labels = tuple(entry.label for entry in self.entries)
        key = (self.sha256, self.protocol_hash, self.protocol.truth_accuracy, labels)
        return self.computed.get(key, self._compute)

    def _compute(self) -> Board:
        ids = [column["id"] for column in self.columns]
        return released_board(self.protocol, self.samples, self.scenes, self.entries, ids)

    @property
    def has_samples(self) -> bool:
        """Whether values of single samples are released."""
        return any(entry.has_samples for entry in self.entries)


def find_state(
    session: Session,
    benchmark_id: str,
    *,
    number: int | None = None,
    on: str = "",
    cache: StateCache | None = None,
) -> State:
    """The state of a leaderboard, with its board.

    Args:
        session: A transaction.
        benchmark_id: The benchmark.
        number: The state of this number; by default the newest.
        on: A date, `2027-01-05`: the last state of that day (in UTC).
        cache: Where states are kept.

    Raises:
        Refused: There is no such benchmark, state or date.
    """
    snapshot = _snapshot_number(session, benchmark_id, number, on)
    shown = boards.shown_submissions(session, benchmark_id)

    def load() -> State:
        computed = None if cache is None else cache.boards
        made = _load(session, benchmark_id, snapshot, shown, computed)
        if made.entries:
            _ = made.board  # here, where no other thread does the same
        return made

    return load() if cache is None else cache.get((benchmark_id, snapshot, shown), load)


def _snapshot_number(
    session: Session, benchmark_id: str, number: int | None, on: str
) -> int | None:
    if number is not None:
        return boards.read_snapshot(session, benchmark_id, number).id
    wanted = select(Snapshot.id).where(Snapshot.benchmark_id == benchmark_id)
    if on:
        wanted = wanted.where(Snapshot.taken_at < end_of_day(on))
    found = session.scalar(wanted.order_by(Snapshot.id.desc()).limit(1))
    if found is None and on:
        raise Refused("not-found", f"The leaderboard had no entry yet on {on}")
    return found


def end_of_day(text: str) -> int:
    """The first second after a day.

    Raises:
        Refused: It is no date.

    >>> end_of_day("1970-01-01")
    86400
    """
    try:
        day = datetime.datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=datetime.UTC)
    except ValueError:
        raise Refused("invalid", "Write the date as 2027-01-05") from None
    return int(day.timestamp()) + _DAY_S


def protocol_of(benchmark: Benchmark) -> Protocol:
    """The protocol of a benchmark.

    Raises:
        Refused: This version of depthgauge does not know it.
    """
    try:
        if benchmark.protocol:
            return make_protocol(benchmark.protocol, benchmark.id)
        return find_benchmark(benchmark.id)  # added by an older version
    except DepthgaugeError:
        raise Refused("not-found", "The organisers have to add this benchmark again") from None


def change_board(
    database: Database, cache: StateCache, benchmark_id: str, change: Callable[[Session], _Value]
) -> _Value:
    """Changes what a leaderboard shows, after its board has been computed.

    Computing takes seconds if there are a hundred entries, and nobody else should wait for it: so
    the change is made and taken back, the board is computed from what it would leave, and the
    change is made again. Readers then find the board among those that are known.

    Args:
        database: The database.
        cache: Where boards are kept.
        benchmark_id: The benchmark.
        change: Makes the change in a transaction; called twice.

    Returns:
        What the second call of `change` gives.
    """
    with database() as session:
        try:
            change(session)
            session.flush()
            snapshot = _snapshot_number(session, benchmark_id, None, "")
            shown = boards.shown_submissions(session, benchmark_id)
            coming = _load(session, benchmark_id, snapshot, shown, cache.boards)
        finally:
            session.rollback()
    if coming.entries:
        _ = coming.board
    with database.begin() as session:
        return change(session)


def _load(
    session: Session,
    benchmark_id: str,
    number: int | None,
    shown: frozenset[str],
    computed: LeastRecent[Board] | None,
) -> State:
    benchmark = session.get_one(Benchmark, benchmark_id)
    snapshot = None if number is None else session.get_one(Snapshot, number)
    body = {} if snapshot is None else snapshot.body
    rows = boards.named_rows(body.get("rows", []), shown)
    sheets = _sheets(session, [row.get("sheet", "") for row in rows])
    return State(
        benchmark=benchmark.id,
        title=benchmark.title,
        hidden=benchmark.hidden,
        protocol=_protocol_then(session, benchmark, body.get("protocol_hash", "")),
        samples=tuple(body.get("samples", benchmark.samples)),
        scenes=body.get("scenes", benchmark.scenes),
        number=number,
        taken_at=None if snapshot is None else snapshot.taken_at,
        sha256="" if snapshot is None else snapshot.sha256,
        protocol_hash=body.get("protocol_hash", benchmark.protocol_hash),
        columns=tuple(body.get("columns", benchmark.columns)),
        entries=make_entries(rows, sheets),
        computed=computed,
    )


def _protocol_then(session: Session, benchmark: Benchmark, protocol_hash: str) -> Protocol:
    """The protocol of a state; before a revision it was another one."""
    if protocol_hash in ("", benchmark.protocol_hash):
        return protocol_of(benchmark)
    former = session.scalar(
        select(Rescoring.former_protocol)
        .where(Rescoring.benchmark_id == benchmark.id, Rescoring.former_hash == protocol_hash)
        .order_by(Rescoring.id.desc())
        .limit(1)
    )
    return make_protocol(former, benchmark.id) if former else protocol_of(benchmark)


def _sheets(session: Session, wanted: Sequence[str]) -> dict[str, Any]:
    found = select(ScoreSheet.sha256, ScoreSheet.body).where(ScoreSheet.sha256.in_(set(wanted)))
    return {sha256: body for sha256, body in session.execute(found)}


class LeastRecent(Generic[_Value]):
    """Keeps the values that were asked for last; each is made once, also by threads at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[object, _Value] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[object, threading.Lock] = {}

    def get(self, key: object, make: Callable[[], _Value]) -> _Value:
        """The value of a key; made if it is not there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            own = self._making.setdefault(key, threading.Lock())
        with own:
            with self._lock:
                if key in self._kept:
                    return self._kept[key]
            try:
                made = make()
                with self._lock:
                    self._kept[key] = made
                    while len(self._kept) > self._most:
                        self._kept.popitem(last=False)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return made


class StateCache(LeastRecent[State]):
    """States that were asked for last, and the boards that were computed last."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.boards: LeastRecent[Board] = LeastRecent(most)
