"""Mails that wait to be sent, in the database.

A request only puts a row here, the same one whether or not an account exists; everything else
happens in the mailer. Who sends a mail holds a lease, and says so before the server gets the text:
a mailer that dies earlier leaves the mail to be tried again; one that dies later leaves it as
`handed-over`, which is never sent a second time.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from depthgauge.serve.accounts.secrets import new_id
from depthgauge.serve.storage.database import Database, now
from depthgauge.serve.storage.models import OutgoingMail

LEASE_S = 120
_SHORTEST_PAUSE_S, _LONGEST_PAUSE_S = 30, 3600
GIVE_UP_S = {"notification": 3 * 86_400, "reset": 3600, "registration": 3600}
"""How long each kind is tried; an old link would help nobody."""
KEPT_S = 7 * 86_400
"""How long a row stays, whatever became of it."""


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail that the mailer has taken."""

    id: int
    kind: str
    email: str
    notification_id: int | None
    lease: str


def put(session: Session, kind: str, email: str) -> None:
    """Asks for a mail with a link: `reset` or `registration`."""
    moment = now()
    session.add(OutgoingMail(kind=kind, email=email, created_at=moment, next_at=moment))


def put_notification(session: Session, email: str, notification_id: int) -> None:
    """Asks for a mail about a notification; also where no mailer runs: old rows are removed."""
    moment = now()
    session.execute(delete(OutgoingMail).where(OutgoingMail.created_at < moment - KEPT_S))
    session.add(
        OutgoingMail(
            kind="notification",
            email=email,
            notification_id=notification_id,
            created_at=moment,
            next_at=moment,
        )
    )


def take(database: Database) -> Letter | None:
    """The mail that waits longest; None if none is due."""
    moment = now()
    with database.begin() as session:
        _give_up(session, moment)
        found = session.scalar(
            select(OutgoingMail)
            .where(OutgoingMail.state == "waiting", OutgoingMail.next_at <= moment)
            .order_by(OutgoingMail.next_at, OutgoingMail.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        if found is None:
            return None
        found.lease, found.next_at, found.attempts = new_id(), moment + LEASE_S, found.attempts + 1
        return Letter(found.id, found.kind, found.email, found.notification_id, found.lease)


def hand_over(database: Database, letter: Letter) -> bool:
    """Says that the server gets the text now; False if somebody else has the mail."""
    return _move(database, letter, "waiting", "handed-over")


def sent(database: Database, letter: Letter) -> bool:
    """Says that the server has taken it."""
    return _move(database, letter, "handed-over", "sent")


def drop(database: Database, letter: Letter) -> bool:
    """Says that there is nothing to send."""
    return _move(database, letter, "waiting", "given-up")


def retry(database: Database, letter: Letter) -> None:
    """Puts a mail back that the server did not take, to be tried after a pause that grows."""
    with database.begin() as session:
        found = session.scalar(
            select(OutgoingMail).where(
                OutgoingMail.id == letter.id, OutgoingMail.lease == letter.lease
            )
        )
        if found is not None and found.state in ("waiting", "handed-over"):
            pause = min(_SHORTEST_PAUSE_S * 2 ** (found.attempts - 1), _LONGEST_PAUSE_S)
            found.state, found.lease, found.next_at = "waiting", None, now() + pause


def _move(database: Database, letter: Letter, before: str, after: str) -> bool:
    with database.begin() as session:
        moved = session.execute(
            update(OutgoingMail)
            .where(OutgoingMail.id == letter.id, OutgoingMail.lease == letter.lease)
            .where(OutgoingMail.state == before)
            .values(state=after)
            .returning(OutgoingMail.id)
        )
        return moved.scalar_one_or_none() is not None


def _give_up(session: Session, moment: int) -> None:
    for kind, seconds in GIVE_UP_S.items():
        session.execute(
            update(OutgoingMail)
            .where(OutgoingMail.state == "waiting", OutgoingMail.kind == kind)
            .where(OutgoingMail.created_at < moment - seconds)
            .values(state="given-up", lease=None)
        )
    session.execute(delete(OutgoingMail).where(OutgoingMail.created_at < moment - KEPT_S))
