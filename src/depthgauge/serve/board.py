"""Leaderboards, from released values only, and their states of former days."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from depthgauge._canonical import hash_json
from depthgauge.errors import Refused
from depthgauge.serve.storage.database import audit, now
from depthgauge.serve.storage.models import Benchmark, Snapshot, Submission, User

_WITHDRAWN = "withdrawn entry"


def leaderboard(session: Session, benchmark: Benchmark) -> list[dict[str, Any]]:
    """The published entries, best first; equal values have equal ranks."""
    found = session.scalars(
        select(Submission)
        .where(
            Submission.benchmark_id == benchmark.id,
            Submission.state == "scored",
            Submission.dry_run.is_(False),
            Submission.visibility.in_(("public", "baseline")),
        )
        .options(selectinload(Submission.scores), selectinload(Submission.team))
    )
    rows = [
        {
            "submission": one.id,
            "method": one.method,
            "version": one.version,
            "team": one.team.name,
            "baseline": one.visibility == "baseline",
            "values": {s.score: s.value for s in one.scores if not s.sample},
        }
        for one in found
    ]
    return _ranked(rows, benchmark.columns[0]) if benchmark.columns else rows


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
        "columns": benchmark.columns,
        "rows": leaderboard(session, benchmark),
    }
    digest = hash_json(body)
    last = session.scalar(
        select(Snapshot)
        .where(Snapshot.benchmark_id == benchmark_id)
        .order_by(Snapshot.id.desc())
        .limit(1)
    )
    if last is not None and last.sha256 == digest:
        return last
    made = Snapshot(benchmark_id=benchmark_id, taken_at=now(), sha256=digest, body=body)
    session.add(made)
    return made


def read_snapshot(session: Session, benchmark_id: str, number: int) -> tuple[Snapshot, list[Any]]:
    """A leaderboard of a former day; entries that were withdrawn since have no names.

    Raises:
        Refused: There is no such state.
    """
    found = session.get(Snapshot, number)
    if found is None or found.benchmark_id != benchmark_id:
        raise Refused("not-found", "There is no such state of this leaderboard")
    return found, list(_without_withdrawn(session, found.body["rows"]))


def _without_withdrawn(
    session: Session, rows: Iterable[dict[str, Any]]
) -> Iterable[dict[str, Any]]:
    listed = list(rows)
    shown = set(
        session.scalars(
            select(Submission.id).where(
                Submission.id.in_([row["submission"] for row in listed]),
                Submission.state == "scored",
                Submission.visibility.in_(("public", "baseline")),
            )
        )
    )
    for row in listed:
        if row["submission"] in shown:
            yield row
        else:
            nameless = {"submission": "", "method": _WITHDRAWN, "version": "", "team": ""}
            yield {**row, **nameless}
