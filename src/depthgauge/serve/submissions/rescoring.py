"""Scores all entries of a benchmark again, after its protocol or its truth was revised.

The old table stands until the last entry has new scores; then one transaction switches to the new
ones, keeps the old table as a state of the leaderboard, and tells the authors. Submissions that
come meanwhile wait. As in the queue, a lease makes sure that nothing is written twice.
"""

from __future__ import annotations

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from depthgauge.serve import board
from depthgauge.serve.accounts.notices import notify
from depthgauge.serve.accounts.secrets import new_id
from depthgauge.serve.exhibits.queue import forget, of_submission
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import Database, audit, now
from depthgauge.serve.storage.models import (
    Benchmark,
    ReleasedScore,
    Rescore,
    Rescoring,
    Submission,
)
from depthgauge.serve.submissions.queue import LEASE_S, MOST_ATTEMPTS, Job, Outcome
from depthgauge.serve.submissions.registry import public_facts, read_registered

_OPEN = ("waiting", "running")


def begin(database: Database, benchmark_id: str, reason: str) -> int:
    """Has all entries of a benchmark scored again; returns how many there are.

    What was begun before for this benchmark begins anew: its scores may be older than the change.

    Args:
        database: Of the site.
        benchmark_id: The benchmark.
        reason: `protocol`, `truth`, or `asked`.
    """
    moment = now()
    with database.begin() as session:
        session.get_one(Benchmark, benchmark_id, with_for_update=True)
        _drop_unfinished(session, benchmark_id)
        # Whoever works on a submission works with the old protocol: the lease is taken away.
        session.execute(
            update(Submission)
            .where(Submission.benchmark_id == benchmark_id, Submission.state == "running")
            .values(state="queued", lease=None, lease_until=None, attempts=Submission.attempts - 1)
        )
        begun = Rescoring(benchmark_id=benchmark_id, reason=reason, begun_at=moment)
        session.add(begun)
        session.flush()
        entries = select(Submission.id).where(
            Submission.benchmark_id == benchmark_id,
            Submission.state == "scored",
            Submission.dry_run.is_(False),
        )
        names = list(session.scalars(entries))
        session.add_all(Rescore(rescoring_id=begun.id, submission_id=name) for name in names)
        audit(session, f"scoring again begun ({reason})", benchmark_id)
    return len(names)


def _drop_unfinished(session: Session, benchmark_id: str) -> None:
    unfinished = select(Rescoring.id).where(
        Rescoring.benchmark_id == benchmark_id, Rescoring.ended_at.is_(None)
    )
    names = list(session.scalars(unfinished))
    session.execute(delete(Rescore).where(Rescore.rescoring_id.in_(names)))
    session.execute(delete(Rescoring).where(Rescoring.id.in_(names)))


def take(database: Database) -> Job | None:
    """An entry that is to be scored again, or whose worker has died; None if there is none."""
    moment = now()
    with database.begin() as session:
        over = (Rescore.state == "running") & (Rescore.lease_until < moment)
        session.execute(
            update(Rescore).where(over, Rescore.attempts >= MOST_ATTEMPTS).values(state="failed")
        )
        found = session.scalar(
            select(Rescore)
            .where((Rescore.state == "waiting") | over)
            .order_by(Rescore.rescoring_id, Rescore.submission_id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        if found is None:
            return None
        found.state, found.attempts = "running", found.attempts + 1
        found.lease, found.lease_until = new_id(), moment + LEASE_S
        one = session.get_one(Submission, found.submission_id)
        return Job(
            one.id, one.benchmark_id, one.archive, False, found.lease, rescoring=found.rescoring_id
        )


def renew(database: Database, job: Job) -> bool:
    """Keeps a lease; False if it is lost."""
    return _change(database, job, lease_until=now() + LEASE_S)


def release(database: Database, job: Job) -> None:
    """Puts an entry back that this machine cannot score now; it counts as no attempt."""
    values = {"lease": None, "lease_until": None, "attempts": Rescore.attempts - 1}
    _change(database, job, state="waiting", **values)


def end(database: Database, job: Job, outcome: Outcome) -> bool:
    """Keeps the new scores of an entry until the switch; False if the lease is lost."""
    state = "done" if outcome.state == "scored" else "failed"
    scores = [list(score) for score in outcome.scores]
    return _change(database, job, state=state, scores=scores, lease=None, lease_until=None)


def _change(database: Database, job: Job, **values: object) -> bool:
    with database.begin() as session:
        changed = session.execute(
            update(Rescore)
            .where(Rescore.rescoring_id == job.rescoring, Rescore.submission_id == job.submission)
            .where(Rescore.state == "running", Rescore.lease == job.lease)
            .values(**values)
            .returning(Rescore.submission_id)
        )
        return changed.scalar_one_or_none() is not None


def switch_finished(site: Site, database: Database) -> list[str]:
    """Switches every benchmark whose entries all have new scores; returns their ids."""
    with database.begin() as session:
        unfinished = select(Rescore.rescoring_id).where(Rescore.state.in_(_OPEN))
        ready = select(Rescoring.id, Rescoring.benchmark_id).where(
            Rescoring.ended_at.is_(None), Rescoring.id.not_in(unfinished)
        )
        found = [(row[0], row[1]) for row in session.execute(ready)]
    return [name for number, name in found if _switch(site, database, number, name)]


def _switch(site: Site, database: Database, rescoring_id: int, benchmark_id: str) -> bool:
    """All of it or nothing; False if another worker has done it."""
    facts = public_facts(read_registered(site, benchmark_id))
    with database.begin() as session:
        benchmark = session.get_one(Benchmark, benchmark_id, with_for_update=True)
        done = session.execute(
            update(Rescoring)
            .where(Rescoring.id == rescoring_id, Rescoring.ended_at.is_(None))
            .values(
                ended_at=now(),
                former_hash=benchmark.protocol_hash,
                former_protocol=benchmark.protocol,
            )
            .returning(Rescoring.id)
        )
        if done.scalar_one_or_none() is None:
            return False
        board.take_snapshot(session, benchmark_id)  # the old table, if it has not been kept yet
        rows = list(session.scalars(select(Rescore).where(Rescore.rescoring_id == rescoring_id)))
        for row in rows:
            _replace(session, row)
            session.delete(row)
        for name, value in facts.items():
            setattr(benchmark, name, value)
        audit(session, "benchmark scored again", benchmark_id)
        session.flush()
        session.expire_all()
        board.take_snapshot(session, benchmark_id)
    return True


def _replace(session: Session, row: Rescore) -> None:
    """Gives an entry its new scores, unless it was withdrawn meanwhile."""
    one = session.get_one(Submission, row.submission_id)
    if one.state != "scored":
        return
    session.execute(delete(ReleasedScore).where(ReleasedScore.submission_id == one.id))
    forget(session, of_submission(one.id))
    one.changed_at = now()
    if row.state == "failed":
        one.state, one.message = "failed", "not-rescored"
        notify(session, one, "not-rescored")
        return
    session.add_all(
        ReleasedScore(submission_id=one.id, sample=sample, score=name, value=value)
        for sample, name, value in row.scores
    )
    notify(session, one, "rescored")
