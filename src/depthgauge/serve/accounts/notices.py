"""What authors are told about their submissions: on the account page, and by mail.

A notice is written in the transaction of what it tells, so neither is without the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session, selectinload

from depthgauge.serve.mail.outbox import put_notification
from depthgauge.serve.storage.database import now
from depthgauge.serve.storage.models import Notification, Submission, User

Kind = Literal["scored", "failed", "rescored", "not-rescored"]
TEXTS: dict[str, str] = {
    "scored": "was scored",
    "failed": "could not be scored; its page says what to do",
    "rescored": "has new scores, since the benchmark was revised; the former table is kept",
    "not-rescored": "could not be scored again after the benchmark was revised; ask its organisers",
}
"""The closed list: what happened to a method. No number and no name of a file is in it."""
_MOST_SHOWN = 50


def notify(session: Session, submission: Submission, kind: Kind) -> None:
    """Tells everybody in the team of a submission."""
    moment = now()
    team = select(User).where(User.team_id == submission.team_id, User.disabled_at.is_(None))
    for user in session.scalars(team.order_by(User.id)):
        told = Notification(user_id=user.id, submission_id=submission.id, kind=kind, at=moment)
        session.add(told)
        if user.mail:
            session.flush()
            put_notification(session, user.email, told.id)


def notices_of(session: Session, user: User) -> Sequence[Notification]:
    """The newest notices of a person, the newest first."""
    own = select(Notification).where(Notification.user_id == user.id)
    own = own.options(selectinload(Notification.submission))
    return list(session.scalars(own.order_by(Notification.id.desc()).limit(_MOST_SHOWN)))


def unread(session: Session, user: User) -> int:
    """How many notices a person has not read."""
    own = select(func.count()).where(
        Notification.user_id == user.id, Notification.read_at.is_(None)
    )
    return int(session.scalar(own) or 0)


def mark_read(session: Session, user: User) -> None:
    """Marks all notices of a person as read."""
    own = update(Notification).where(
        Notification.user_id == user.id, Notification.read_at.is_(None)
    )
    session.execute(own.values(read_at=now()))
