"""Leaderboards, from released values only, and their states of former days."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from depthgauge._canonical import hash_json
from depthgauge.errors import Refused
from depthgauge.serve.storage.database import audit, now
from depthgauge.serve.storage.models import (
    Benchmark,
    ReleasedScore,
    ScoreSheet,
    Snapshot,
    Submission,
    User,
)

WITHDRAWN = "withdrawn entry"
SHOWN = (
    Submission.state == "scored",
    Submission.dry_run.is_(False),
    Submission.visibility.in_(("public", "baseline")),
)
"""Conditions of a published entry."""


def leaderboard(session: Session, benchmark_id: str) -> list[dict[str, Any]]:
    """The published entries, best first by the first column; equal values have equal ranks.

    `values` are those of all samples together, `sheet` is the hash of all released values.
    """
    last = newest_snapshot(session, benchmark_id)
    shown = shown_submissions(session, benchmark_id)
    return [] if last is None else named_rows(last.body["rows"], shown)


def _present_rows(session: Session, benchmark: Benchmark) -> list[dict[str, Any]]:
    """The rows as they are now; stores released values that no state had before."""
    found = list(
        session.scalars(
            select(Submission)
            .where(Submission.benchmark_id == benchmark.id, *SHOWN)
            .options(selectinload(Submission.team))
        )
    )
    values = _released_values(session, [one.id for one in found])
    rows = [
        {
            "submission": one.id,
            "method": one.method,
            "version": one.version,
            "team": one.team.name,
            "baseline": one.visibility == "baseline",
            "tier": one.details.get("tier", ""),
            "values": values[one.id].get("", {}),
            "sheet": _keep(session, values[one.id]),
        }
        for one in found
    ]
    return _ranked(rows, benchmark.columns[0]) if benchmark.columns else rows


def _released_values(
    session: Session, submissions: Sequence[str]
) -> dict[str, dict[str, dict[str, float | None]]]:
    """Submission -> sample (empty: all) -> score -> value."""
    found: dict[str, dict[str, dict[str, float | None]]] = {one: {} for one in submissions}
    columns = (ReleasedScore.submission_id, ReleasedScore.sample, ReleasedScore.score)
    wanted = ReleasedScore.submission_id.in_(submissions)
    # Columns, not objects: there may be many thousands.
    for submission, sample, score, value in session.execute(
        select(*columns, ReleasedScore.value).where(wanted).order_by(*columns)
    ):
        found[submission].setdefault(sample, {})[score] = value
    return found


def _keep(session: Session, values: dict[str, dict[str, float | None]]) -> str:
    """Stores released values under their hash."""
    digest = hash_json(values)
    if session.get(ScoreSheet, digest) is None:
        session.add(ScoreSheet(sha256=digest, body=values))
        session.flush()
    return digest


def _ranked(rows: list[dict[str, Any]], column: dict[str, Any]) -> list[dict[str, Any]]:
    def key(row: dict[str, Any]) -> float:
        value = row["values"].get(column["id"])
        if value is None:
            return math.inf
        sign = {"lower": value, "higher": -value, "zero": abs(value)}
        return float(sign[column["better"]])

    ordered = sorted(rows, key=lambda row: (key(row), row["method"], row["submission"]))
    keys = [key(row) for row in ordered]
    return [{"rank": 1 + keys.index(key(row)), **row} for row in ordered]


def publish(session: Session, submission: Submission, user: User, visibility: str) -> None:
    """Shows an entry on its leaderboard, or takes it off again.

    Raises:
        Refused: It has no scores, or a baseline is not for this user to make.
    """
    if submission.state != "scored" or submission.dry_run:
        raise Refused("conflict", "Only a submission with scores can be published")
    if visibility not in ("private", "public", "baseline"):
        raise Refused("invalid", "An entry is private, public or baseline")
    if "baseline" in (visibility, submission.visibility) and user.role == "author":
        raise Refused("forbidden", "Only organisers make baselines")
    submission.visibility = visibility
    audit(session, f"submission made {visibility}", submission.id, user.id)
    session.flush()
    take_snapshot(session, submission.benchmark_id)


def take_snapshot(session: Session, benchmark_id: str) -> Snapshot:
    """Keeps the leaderboard as it stands; the last one, if nothing has changed since."""
    # One by one: else each of two changes at once would miss the other.
    benchmark = session.get_one(Benchmark, benchmark_id, with_for_update=True)
    body = {
        "benchmark": benchmark.id,
        "protocol_hash": benchmark.protocol_hash,
        # Intervals need them, and they may be others one day.
        "samples": benchmark.samples,
        "scenes": benchmark.scenes,
        "columns": benchmark.columns,
        "rows": _present_rows(session, benchmark),
    }
    digest = hash_json(body)
    last = newest_snapshot(session, benchmark_id)
    if last is not None and last.sha256 == digest:
        return last
    made = Snapshot(benchmark_id=benchmark_id, taken_at=now(), sha256=digest, body=body)
    session.add(made)
    return made


def newest_snapshot(
    session: Session, benchmark_id: str, *, before: int | None = None
) -> Snapshot | None:
    """The last state of a leaderboard, or the last one before a moment; None if there is none."""
    wanted = select(Snapshot).where(Snapshot.benchmark_id == benchmark_id)
    if before is not None:
        wanted = wanted.where(Snapshot.taken_at < before)
    return session.scalar(wanted.order_by(Snapshot.id.desc()).limit(1))


def read_snapshot(session: Session, benchmark_id: str, number: int) -> Snapshot:
    """A leaderboard of a former day.

    Raises:
        Refused: There is no such state.
    """
    found = session.get(Snapshot, number) if number < _MOST_NUMBER else None
    if found is None or found.benchmark_id != benchmark_id:
        raise Refused("not-found", "There is no such state of this leaderboard")
    return found


def shown_submissions(session: Session, benchmark_id: str) -> frozenset[str]:
    """The entries that are published now; all others have no name, in old states neither."""
    wanted = select(Submission.id).where(Submission.benchmark_id == benchmark_id, *SHOWN)
    return frozenset(session.scalars(wanted))


def named_rows(rows: Iterable[dict[str, Any]], shown: Container[str]) -> list[dict[str, Any]]:
    """The rows of a state; those that are not published any more have no names."""
    nameless = {"submission": "", "method": WITHDRAWN, "version": "", "team": "", "baseline": False}
    return [row if row["submission"] in shown else {**row, **nameless} for row in rows]


_MOST_NUMBER = 1 << 62
"""Databases cannot look for larger ones."""
