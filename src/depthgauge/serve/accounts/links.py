"""Links that work once: for the first admin, invitations, resets, and recovery codes."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from depthgauge.errors import Refused
from depthgauge.serve.accounts.secrets import new_secret, secret_hash
from depthgauge.serve.storage.database import audit, now
from depthgauge.serve.storage.models import OneTimeLink, User

Kind = Literal["admin", "invitation", "registration", "reset", "recovery"]
_HOUR_S, _DAY_S = 3600, 86_400
LIFETIMES_S: dict[Kind, int] = {
    "admin": _HOUR_S,
    "invitation": 14 * _DAY_S,
    "registration": _DAY_S,
    "reset": _HOUR_S,
    "recovery": 3650 * _DAY_S,
}
RECOVERY_CODES = 8


def make_link(
    session: Session,
    kind: Kind,
    *,
    user_id: int | None = None,
    team_id: int | None = None,
    email: str | None = None,
) -> str:
    """A new secret; it cannot be shown again."""
    secret = new_secret()
    moment = now()
    link = OneTimeLink(
        kind=kind,
        token_hash=secret_hash(secret),
        user_id=user_id,
        team_id=team_id,
        email=email,
        created_at=moment,
        expires_at=moment + LIFETIMES_S[kind],
    )
    session.add(link)
    return secret


def use_link(session: Session, kinds: tuple[Kind, ...], secret: str) -> OneTimeLink:
    """Takes a link, so that nobody can take it again.

    Raises:
        Refused: There is no such link, or it was used, or it is too old: all the same.
    """
    moment = now()
    taken = session.execute(
        update(OneTimeLink)
        .where(
            OneTimeLink.token_hash == secret_hash(secret),
            OneTimeLink.kind.in_(kinds),
            OneTimeLink.used_at.is_(None),
            OneTimeLink.expires_at > moment,
        )
        .values(used_at=moment)
        .returning(OneTimeLink.id)
    ).scalar_one_or_none()
    if taken is None:
        raise Refused("invalid", "This link was used already or is too old; ask for a new one")
    return session.execute(select(OneTimeLink).where(OneTimeLink.id == taken)).scalar_one()


def has_admin(session: Session) -> bool:
    """Whether somebody administers the site."""
    return session.scalar(select(User.id).where(User.role == "admin").limit(1)) is not None


def first_admin_link(session: Session) -> str | None:
    """The secret of a link that makes the first admin; None if there is an admin.

    Earlier links of this kind stop working.
    """
    if has_admin(session):
        return None
    session.execute(delete(OneTimeLink).where(OneTimeLink.kind == "admin"))
    audit(session, "link for the first admin made")
    return make_link(session, "admin")


def reset_link(session: Session, email: str) -> str:
    """The secret of a link that sets a new password; for the command line, which may know.

    Raises:
        Refused: There is no such account.
    """
    user = session.scalar(select(User).where(User.email == email.strip().lower()))
    if user is None:
        raise Refused("not-found", f"There is no account of {email}; see `serve user list`.")
    audit(session, "reset link made", user.email)
    return make_link(session, "reset", user_id=user.id)


def new_recovery_codes(session: Session, user: User) -> list[str]:
    """Codes for when the password is lost; earlier ones stop working."""
    session.execute(
        delete(OneTimeLink).where(OneTimeLink.kind == "recovery", OneTimeLink.user_id == user.id)
    )
    return [make_link(session, "recovery", user_id=user.id) for _ in range(RECOVERY_CODES)]
