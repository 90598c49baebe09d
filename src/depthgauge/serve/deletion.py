"""Deletes an account with everything that names the person."""

from __future__ import annotations

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from depthgauge.serve import board
from depthgauge.serve.accounts.people import require_other_admin, revoke_all
from depthgauge.serve.exhibits.queue import forget_all, of_submission
from depthgauge.serve.reports import forget_reports
from depthgauge.serve.storage.database import audit
from depthgauge.serve.storage.models import (
    AuditEntry,
    OneTimeLink,
    OutgoingMail,
    Snapshot,
    Submission,
    User,
)
from depthgauge.serve.submissions.queue import ALLOWED, withdraw

NAMELESS = "deleted account"


def delete_account(session: Session, user_id: int) -> list[str]:
    """Removes an account; what its team submitted stays if somebody else is in the team.

    Else its submissions are withdrawn and lose their names, also in old leaderboards.

    Returns:
        Hashes of archives, and of what was drawn of them, that nobody needs any more.

    Raises:
        Refused: It is the only admin's.
    """
    user = session.get_one(User, user_id)
    require_other_admin(session, user)
    others = select(func.count()).where(User.team_id == user.team_id, User.id != user.id)
    archives = [] if session.scalar(others) else _clear_team(session, user)
    revoke_all(session, user)
    session.execute(delete(OneTimeLink).where(OneTimeLink.user_id == user.id))
    session.execute(delete(OneTimeLink).where(OneTimeLink.email == user.email))
    session.execute(delete(OutgoingMail).where(OutgoingMail.email == user.email))
    own = update(AuditEntry).where(AuditEntry.subject == user.email)
    session.execute(own.values(subject=NAMELESS))
    session.delete(user)
    audit(session, "account deleted")
    return archives


def _clear_team(session: Session, user: User) -> list[str]:
    """Withdraws all submissions of a team and takes its names away."""
    found = list(session.scalars(select(Submission).where(Submission.team_id == user.team_id)))
    for one in found:
        if "withdrawn" in ALLOWED[one.state]:
            withdraw(session, one, user)
        one.method, one.version, one.details, one.problems = NAMELESS, "", {}, []
    user.team.name = NAMELESS
    session.flush()
    _clear_snapshots(session, {one.id for one in found})
    for benchmark in {one.benchmark_id for one in found}:
        board.take_snapshot(session, benchmark)
    sent = {one.archive for one in found}
    needed = select(Submission.archive).where(
        Submission.archive.in_(sent), Submission.team_id != user.team_id
    )
    unneeded = sent - set(session.scalars(needed))
    drawn = forget_all(session, [of_submission(one.id) for one in found])
    return sorted(unneeded | drawn | forget_reports(session, [one.id for one in found]))


def _clear_snapshots(session: Session, submissions: set[str]) -> None:
    """Old tables keep their numbers; their hash stays that of the table as it was shown."""
    for snapshot in session.scalars(select(Snapshot)):
        rows = snapshot.body["rows"]
        if any(row["submission"] in submissions for row in rows):
            nameless = {"method": NAMELESS, "version": "", "team": ""}
            cleared = [
                {**row, **nameless} if row["submission"] in submissions else row for row in rows
            ]
            snapshot.body = {**snapshot.body, "rows": cleared}
