"""What pages and the API show: plain data, and who may see which."""

from __future__ import annotations

import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from depthgauge.errors import Refused
from depthgauge.serve.board import leaderboard
from depthgauge.serve.storage.database import now
from depthgauge.serve.storage.models import Benchmark, Phase, Submission, User
from depthgauge.serve.submissions.messages import MESSAGES
from depthgauge.serve.submissions.queue import position


def day(moment: int) -> str:
    """A date.

    >>> day(0)
    '1970-01-01'
    """
    return datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%d")


def minute(moment: int) -> str:
    """A date with its time.

    >>> minute(90)
    '1970-01-01 00:01 UTC'
    """
    return datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def benchmark_view(session: Session, benchmark: Benchmark, *, rows: bool = True) -> dict[str, Any]:
    """A benchmark as everybody may see it."""
    shown = {
        "id": benchmark.id,
        "title": benchmark.title,
        "about": benchmark.about,
        "protocol_hash": benchmark.protocol_hash,
        "hidden": benchmark.hidden,
        "quantity": benchmark.quantity,
        "samples": benchmark.samples,
        "columns": benchmark.columns,
        "step": (benchmark.facts or {}).get("step"),
        "monthly_quota": benchmark.monthly_quota,
        "most_bytes": benchmark.most_bytes,
        "terms": benchmark.terms,
        "phases": [_phase(phase) for phase in benchmark.phases],
    }
    return {**shown, "rows": leaderboard(session, benchmark.id)} if rows else shown


def _phase(phase: Phase) -> dict[str, Any]:
    """A phase with its times."""
    present = now()
    before, closes = present < phase.opens_at, phase.closes_at
    return {
        "name": phase.name,
        "opens": minute(phase.opens_at),
        "closes": None if closes is None else minute(closes),
        "state": "not open yet"
        if before
        else "closed"
        if closes is not None and present >= closes
        else "open",
    }


def find_benchmark_row(session: Session, benchmark_id: str) -> Benchmark:
    """A benchmark of this site.

    Raises:
        Refused: There is none.
    """
    found = session.get(Benchmark, benchmark_id)
    if found is None:
        raise Refused("not-found", "There is no such benchmark here; see the list of benchmarks")
    return found


def find_submission(session: Session, user: User | None, submission_id: str) -> Submission:
    """A submission that this visitor may see; all others do not exist.

    Raises:
        Refused: There is none.
    """
    found = session.get(Submission, submission_id)
    if found is None or not (is_own(found, user) or is_public(found)):
        raise Refused("not-found", "There is no such submission")
    return found


def own_submission(session: Session, user: User, submission_id: str) -> Submission:
    """A submission that this user may change.

    Raises:
        Refused: There is none.
    """
    found = find_submission(session, user, submission_id)
    if not is_own(found, user):
        raise Refused("not-found", "There is no such submission")
    return found


def is_own(submission: Submission, user: User | None) -> bool:
    """Whether it is of the user's team; admins see everything."""
    return user is not None and (submission.team_id == user.team_id or user.role == "admin")


def is_public(submission: Submission) -> bool:
    """Whether everybody may see it."""
    return submission.state == "scored" and submission.visibility in ("public", "baseline")


def submission_view(session: Session, submission: Submission, user: User | None) -> dict[str, Any]:
    """A submission as this visitor may see it."""
    shown: dict[str, Any] = {
        "id": submission.id,
        "benchmark": submission.benchmark_id,
        "method": submission.method,
        "version": submission.version,
        "team": submission.team.name,
        "details": submission.details,
        "submitted": day(submission.created_at),
        "state": submission.state,
        "visibility": submission.visibility,
        "versions": _versions(session, submission, user),
        "scores": [
            {"sample": s.sample, "score": s.score, "value": s.value}
            for s in sorted(submission.scores, key=lambda s: (s.sample, s.score))
        ],
    }
    if not is_own(submission, user):
        return shown
    return {
        **shown,
        "archive": submission.archive,
        "size": submission.size,
        "dry_run": submission.dry_run,
        "terms": submission.terms,
        "message": MESSAGES[submission.message],
        "problems": submission.problems,
        "position": position(session, submission),
    }


def _versions(session: Session, submission: Submission, user: User | None) -> list[dict[str, str]]:
    """The other versions of the same method that this visitor may see, the oldest first."""
    same = select(Submission).where(
        Submission.benchmark_id == submission.benchmark_id,
        Submission.team_id == submission.team_id,
        Submission.method == submission.method,
        Submission.id != submission.id,
        Submission.state == "scored",
        Submission.dry_run.is_(False),
    )
    found = session.scalars(same.order_by(Submission.created_at, Submission.id))
    return [
        {"id": one.id, "version": one.version}
        for one in found
        if is_own(one, user) or is_public(one)
    ]


def submissions_of(session: Session, user: User) -> list[dict[str, Any]]:
    """All submissions of the user's team, the newest first."""
    found = session.scalars(
        select(Submission)
        .where(Submission.team_id == user.team_id)
        .order_by(Submission.created_at.desc(), Submission.id)
    )
    return [submission_view(session, one, user) for one in found]
