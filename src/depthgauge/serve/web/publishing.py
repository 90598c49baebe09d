"""What changes a leaderboard: publishing an entry, and taking it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import Request
from sqlalchemy.orm import Session

from depthgauge.serve import board
from depthgauge.serve.leaderboards.states import change_board
from depthgauge.serve.storage.database import reading
from depthgauge.serve.storage.models import Submission, User
from depthgauge.serve.submissions import queue
from depthgauge.serve.web import views
from depthgauge.serve.web.answers import caches_of
from depthgauge.serve.web.security import web_of


def publish(request: Request, user: User, submission_id: str, visibility: str) -> dict[str, Any]:
    """Shows an entry on the leaderboard, or takes it off; the submission as it is then.

    Raises:
        Refused: There is no such submission, or it cannot be done.
    """

    def change(session: Session, found: Submission) -> None:
        board.publish(session, found, user, visibility)

    return _change(request, user, submission_id, change)


def withdraw(request: Request, user: User, submission_id: str) -> dict[str, Any]:
    """Takes a submission back; the submission as it is then.

    Raises:
        Refused: There is no such submission, or it cannot be done.
    """

    def change(session: Session, found: Submission) -> None:
        queue.withdraw(session, found, user)
        session.flush()
        board.take_snapshot(session, found.benchmark_id)

    return _change(request, user, submission_id, change)


def _change(
    request: Request,
    user: User,
    submission_id: str,
    change: Callable[[Session, Submission], None],
) -> dict[str, Any]:
    database = web_of(request).database

    def make(session: Session) -> dict[str, Any]:
        found = views.own_submission(session, user, submission_id)
        change(session, found)
        return views.submission_view(session, found, user)

    with reading(database) as session:
        benchmark = views.own_submission(session, user, submission_id).benchmark_id
    return change_board(database, caches_of(request).states, benchmark, make)
