"""What is still to be drawn, and what was: one row for each submission and benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, literal, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import InstrumentedAttribute, Session

from depthgauge.serve.storage.database import Database, audit, now
from depthgauge.serve.storage.models import Benchmark, Exhibit, Submission

LEASE_S = 1800
"""The longest that one drawing may take."""
MOST_ATTEMPTS = 2
_SUBMISSION, _BENCHMARK = "submission:", "benchmark:"


@dataclass(frozen=True, slots=True)
class Drawing:
    """Something that a worker draws."""

    subject: str
    benchmark: str
    archive: str = ""
    """SHA-256 of the estimates; empty: the samples of the benchmark."""


def of_submission(submission_id: str) -> str:
    """The subject of a submission's exhibit."""
    return f"{_SUBMISSION}{submission_id}"


def of_benchmark(benchmark_id: str) -> str:
    """The subject of a benchmark's exhibit."""
    return f"{_BENCHMARK}{benchmark_id}"


def take(database: Database) -> Drawing | None:
    """What to draw next: samples of benchmarks first, then submissions; None if there is nothing.

    Submissions with hidden truth are never drawn. The worker's own registry has the last word on
    that, not the database.
    """
    moment = now()
    try:
        with database.begin() as session:
            found = _next(session, moment)
            if found is None:
                return None
            row = session.get(Exhibit, found.subject, with_for_update=True)
            if row is None:
                row = Exhibit(subject=found.subject, attempts=0)
                session.add(row)
            row.attempts, row.lease_until = row.attempts + 1, moment + LEASE_S
            return found
    except IntegrityError:  # another worker was first
        return None


def _next(session: Session, moment: int) -> Drawing | None:
    benchmark = session.scalar(
        select(Benchmark)
        .where(_undone(_BENCHMARK, Benchmark.id, moment))
        .order_by(Benchmark.id)
        .limit(1)
    )
    if benchmark is not None:
        return Drawing(of_benchmark(benchmark.id), benchmark.id)
    submission = session.scalar(
        select(Submission)
        .where(_undone(_SUBMISSION, Submission.id, moment))
        .join(Benchmark, Benchmark.id == Submission.benchmark_id)
        .where(Submission.state == "scored", Submission.dry_run.is_(False))
        .where(Benchmark.hidden.is_(False))
        .order_by(Submission.created_at, Submission.id)
        .limit(1)
    )
    if submission is None:
        return None
    return Drawing(of_submission(submission.id), submission.benchmark_id, submission.archive)


def _undone(before: str, key: InstrumentedAttribute[str], moment: int) -> ColumnElement[bool]:
    """Whether something has no exhibit, is not being drawn, and has not failed too often."""
    settled = or_(
        Exhibit.sha256.is_not(None),
        Exhibit.attempts >= MOST_ATTEMPTS,
        Exhibit.lease_until >= moment,
    )
    return ~exists().where(Exhibit.subject == literal(before) + key, settled)


def finish(database: Database, drawing: Drawing, sha256: str | None) -> None:
    """Notes what was drawn; None if it failed, so that it is tried once more."""
    with database.begin() as session:
        row = session.get(Exhibit, drawing.subject)
        if row is not None:
            row.sha256, row.lease_until = sha256, 0
            audit(session, "not drawn" if sha256 is None else "drawn", drawing.subject)


def forget(session: Session, subject: str) -> None:
    """Has something drawn again, as after its scores have changed."""
    row = session.get(Exhibit, subject)
    if row is not None:
        session.delete(row)


def forget_all(session: Session, subjects: Sequence[str]) -> set[str]:
    """Removes exhibits for good; returns the packs that nothing else shows."""
    rows = list(session.scalars(select(Exhibit).where(Exhibit.subject.in_(subjects))))
    packs = {row.sha256 for row in rows if row.sha256}
    for row in rows:
        session.delete(row)
    session.flush()
    return packs - set(session.scalars(select(Exhibit.sha256).where(Exhibit.sha256.in_(packs))))


def pack_of(session: Session, subject: str) -> str:
    """The hash of what was drawn; empty if there is nothing yet."""
    row = session.get(Exhibit, subject)
    return "" if row is None else row.sha256 or ""
