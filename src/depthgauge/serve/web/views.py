"""What pages and the API show: plain data, and who may see which."""

from __future__ import annotations

import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from depthgauge.errors import Refused
from depthgauge.serve.board import leaderboard
from depthgauge.serve.storage.models import Benchmark, Submission, User
from depthgauge.serve.submissions.messages import MESSAGES
from depthgauge.serve.submissions.queue import position


def day(moment: int) -> str:
    """A date.

    >>> day(0)
    '1970-01-01'
    """
    return datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%d")


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
        "monthly_quota": benchmark.monthly_quota,
        "most_bytes": benchmark.most_bytes,
        "phases": [
            {
                "name": phase.name,
                "opens": day(phase.opens_at),
                "closes": None if phase.closes_at is None else day(phase.closes_at),
            }
            for phase in benchmark.phases
        ],
    }
    return {**shown, "rows": leaderboard(session, benchmark)} if rows else shown


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
        "message": MESSAGES[submission.message],
        "problems": submission.problems,
        "position": position(session, submission),
    }


def submissions_of(session: Session, user: User) -> list[dict[str, Any]]:
    """All submissions of the user's team, the newest first."""
    found = session.scalars(
        select(Submission)
        .where(Submission.team_id == user.team_id)
        .order_by(Submission.created_at.desc(), Submission.id)
    )
    return [submission_view(session, one, user) for one in found]
