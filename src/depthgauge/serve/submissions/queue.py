"""The queue of submissions, in the database: who works on what, and how it ended.

A worker holds a lease that it renews. If it dies, the lease runs out and another worker takes the
submission. Only the holder of the present lease can end it, so nothing is scored twice, whatever
clocks do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from depthgauge.errors import Refused
from depthgauge.serve.accounts.notices import notify
from depthgauge.serve.accounts.secrets import new_id
from depthgauge.serve.storage.database import Database, audit, now
from depthgauge.serve.storage.models import ReleasedScore, Rescoring, Similarity, Submission, User

LEASE_S = 90
MOST_ATTEMPTS = 3
QUEUE_S = 3 * 86_400
"""A submission that waited so long is given up."""
ALLOWED = {
    "queued": {"running", "failed", "withdrawn"},
    "running": {"scored", "failed", "withdrawn"},
    "scored": {"withdrawn", "failed"},  # failed: a benchmark was revised, see `rescoring`
    "failed": set[str](),
    "withdrawn": set[str](),
}


@dataclass(frozen=True, slots=True)
class Job:
    """A submission that a worker has taken."""

    submission: str
    benchmark: str
    archive: str
    dry_run: bool
    lease: str
    rescoring: int | None = None
    """The rescoring that it belongs to; none: it is scored for the first time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a submission ended."""

    state: str
    """`scored` or `failed`."""
    message: str = ""
    """A code of `messages`."""
    problems: Sequence[dict[str, str]] = ()
    """What is wrong with the author's files."""
    scores: Sequence[tuple[str, str, float | None]] = field(default=())
    """Sample (empty: all), score id, value."""
    similar: Sequence[tuple[str, float, float]] = ()
    """Other submissions that are nearly the same: id, agreement, distance."""


def take(database: Database) -> Job | None:
    """The submission that waits longest, or whose worker has died; None if there is none."""
    moment = now()
    with database.begin() as session:
        give_up(session, moment)
        waiting = (Submission.state == "queued") | (
            (Submission.state == "running") & (Submission.lease_until < moment)
        )
        # What is revised is scored again first: a table never has scores of two protocols.
        revised = select(Rescoring.benchmark_id).where(Rescoring.ended_at.is_(None))
        found = session.scalar(
            select(Submission)
            .where(waiting, Submission.benchmark_id.not_in(revised))
            .order_by(Submission.created_at, Submission.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        if found is None:
            return None
        found.state, found.attempts, found.changed_at = "running", found.attempts + 1, moment
        found.lease, found.lease_until = new_id(), moment + LEASE_S
        return Job(found.id, found.benchmark_id, found.archive, found.dry_run, found.lease)


def renew(database: Database, job: Job) -> bool:
    """Keeps a lease; False if it is lost: somebody withdrew it, or another worker has it."""
    with database.begin() as session:
        renewed = session.execute(
            update(Submission)
            .where(Submission.id == job.submission, Submission.lease == job.lease)
            .where(Submission.state == "running")
            .values(lease_until=now() + LEASE_S)
            .returning(Submission.id)
        )
        return renewed.scalar_one_or_none() is not None


def release(database: Database, job: Job) -> None:
    """Puts a submission back that this machine cannot score now; it counts as no attempt."""
    with database.begin() as session:
        session.execute(
            update(Submission)
            .where(Submission.id == job.submission, Submission.lease == job.lease)
            .where(Submission.state == "running")
            .values(state="queued", lease=None, lease_until=None, attempts=Submission.attempts - 1)
        )


def end(database: Database, job: Job, outcome: Outcome) -> bool:
    """Writes the outcome, all of it or nothing; False if the lease is lost."""
    if outcome.state not in ALLOWED["running"]:
        raise ValueError(outcome.state)
    with database.begin() as session:
        ended = session.execute(
            update(Submission)
            .where(Submission.id == job.submission, Submission.lease == job.lease)
            .where(Submission.state == "running")
            .values(
                state=outcome.state,
                message=outcome.message,
                problems=list(outcome.problems),
                changed_at=now(),
                lease=None,
                lease_until=None,
            )
            .returning(Submission.id)
        )
        if ended.scalar_one_or_none() is None:
            return False
        session.add_all(
            ReleasedScore(submission_id=job.submission, sample=sample, score=name, value=value)
            for sample, name, value in outcome.scores
        )
        audit(session, f"submission {outcome.state}", job.submission)
        ended_one = session.get_one(Submission, job.submission)
        _note_similar(session, ended_one, outcome.similar)
        notify(session, ended_one, "scored" if outcome.state == "scored" else "failed")
        return True


def _note_similar(
    session: Session, one: Submission, similar: Sequence[tuple[str, float, float]]
) -> None:
    """Notes near-duplicates of other teams; those of the same team are its own business."""
    for name, agreement, distance in similar:
        other = session.get(Submission, name)
        if other is not None and other.team_id != one.team_id:
            numbers = {"agreement": agreement, "distance": distance, "at": now()}
            session.add(Similarity(first_id=other.id, second_id=one.id, **numbers))


def give_up(session: Session, moment: int) -> None:
    """Ends what nobody can score: taken too often, or waiting too long."""
    too_often = (
        update(Submission)
        .where(Submission.state == "running", Submission.lease_until < moment)
        .where(Submission.attempts >= MOST_ATTEMPTS)
        .values(state="failed", message="not-scored", lease=None, changed_at=moment)
    )
    too_long = (
        update(Submission)
        .where(Submission.state == "queued", Submission.created_at < moment - QUEUE_S)
        .values(state="failed", message="late", changed_at=moment)
    )
    for given_up in (too_often, too_long):
        for name in session.scalars(given_up.returning(Submission.id)).all():
            notify(session, session.get_one(Submission, name), "failed")


def withdraw(session: Session, submission: Submission, user: User) -> None:
    """Takes a submission back; a worker that has it finds its lease lost.

    Raises:
        Refused: It has ended in another way.
    """
    if "withdrawn" not in ALLOWED[submission.state]:
        raise Refused("conflict", f"A submission that is {submission.state} cannot be withdrawn.")
    submission.state, submission.message = "withdrawn", "withdrawn"
    submission.lease, submission.changed_at = None, now()
    audit(session, "submission withdrawn", submission.id, user.id)


def position(session: Session, submission: Submission) -> int:
    """How many are scored before it; 0: it is next, or not waiting."""
    if submission.state != "queued":
        return 0
    earlier = or_(
        Submission.created_at < submission.created_at,
        (Submission.created_at == submission.created_at) & (Submission.id < submission.id),
    )
    count = select(func.count()).where(Submission.state == "queued", earlier)
    return int(session.scalar(count) or 0)
