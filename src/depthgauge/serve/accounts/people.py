"""What people do with their accounts: join, log in, recover; and who they are afterwards.

No reply tells whether an account exists.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from depthgauge.errors import Refused
from depthgauge.serve.accounts import rates
from depthgauge.serve.accounts.links import (
    RECOVERY_CODES,
    has_admin,
    new_recovery_codes,
    use_link,
)
from depthgauge.serve.accounts.secrets import (
    is_password,
    new_secret,
    password_hash,
    secret_hash,
)
from depthgauge.serve.mail import outbox
from depthgauge.serve.storage.database import Database, audit, now
from depthgauge.serve.storage.models import ApiToken, LoginSession, Team, User

SESSION_S = 14 * 86_400
SCOPES = ("submit", "read")
"""`submit`: upload and submit; `read`: see one's own submissions."""
_MOST_DAYS = 366
_MAIL = re.compile(r"[^@\s,;<>\"']{1,64}@[^@\s,;<>\"']{1,190}")


def join(session: Session, secret: str, email: str, name: str, password: str) -> list[str]:
    """Makes an account with a link: of the first admin, an invitation, or one that was mailed.

    If there is an account of that address already, nothing happens but that the link is used.

    Returns:
        Recovery codes, which cannot be shown again.

    Raises:
        Refused: The link does not work, or an entry is not possible.
    """
    address, shown = _address(email), plain_line(name, "name")
    hashed = password_hash(password)  # before the link is used, so that it can be used again
    link = use_link(session, ("admin", "invitation", "registration"), secret)
    if link.kind == "admin" and has_admin(session):
        raise Refused("invalid", "This link was used already or is too old; ask for a new one")
    if link.email not in (None, address):
        raise Refused("invalid", "Use the address that this link was sent to")
    if session.scalar(select(User.id).where(User.email == address)) is not None:
        return [new_secret() for _ in range(RECOVERY_CODES)]
    moment = now()
    team_id = link.team_id
    if team_id is None:
        team = Team(name=shown, created_at=moment)
        session.add(team)
        session.flush()
        team_id = team.id
    user = User(
        email=address,
        name=shown,
        password_hash=hashed,
        role="admin" if link.kind == "admin" else "author",
        team_id=team_id,
        created_at=moment,
    )
    session.add(user)
    session.flush()
    audit(session, f"account made ({user.role})", address, user.id)
    return new_recovery_codes(session, user)


def log_in(database: Database, email: str, password: str, address: str) -> str:
    """The secret of a new session, for a cookie.

    Args:
        database: Of the site.
        email: Of the account.
        password: Its password.
        address: Where the request comes from; attempts are counted by it and by the account.

    Raises:
        Refused: Account and password do not match, or there were too many attempts.
    """
    name = email.strip().lower()
    rates.require_rate(database, rates.LOGIN_BY_ADDRESS, address)
    rates.require_rate(database, rates.LOGIN_BY_ACCOUNT, name)
    with database.begin() as session:
        user = session.scalar(select(User).where(User.email == name))
    # Outside of a transaction: it takes long on purpose.
    right = is_password(password, None if user is None else user.password_hash)
    if user is None or not right or user.disabled_at is not None:
        raise Refused("login", "Address and password do not match; try again, or recover")
    with database.begin() as session:
        return open_session(session, user)


def open_session(session: Session, user: User) -> str:
    """The secret of a new session; old sessions of anybody that ended are removed."""
    secret, moment = new_secret(), now()
    session.execute(delete(LoginSession).where(LoginSession.expires_at < moment))
    opened = LoginSession(
        user_id=user.id,
        token_hash=secret_hash(secret),
        created_at=moment,
        expires_at=moment + SESSION_S,
    )
    session.add(opened)
    audit(session, "logged in", user.email, user.id)
    return secret


def user_of_session(session: Session, secret: str) -> User | None:
    """Who is logged in with a cookie."""
    found = session.scalar(
        select(LoginSession).where(
            LoginSession.token_hash == secret_hash(secret), LoginSession.expires_at > now()
        )
    )
    return None if found is None or found.user.disabled_at is not None else found.user


def log_out(session: Session, secret: str) -> None:
    """Ends a session."""
    session.execute(delete(LoginSession).where(LoginSession.token_hash == secret_hash(secret)))


def make_token(session: Session, user: User, name: str, scopes: Sequence[str], days: int) -> str:
    """A token for programs; it cannot be shown again.

    Raises:
        Refused: A scope does not exist, or the time is not possible.
    """
    wanted = [scope for scope in SCOPES if scope in scopes]
    if not wanted or set(scopes) - set(SCOPES):
        raise Refused("invalid", f"A token needs at least one of the scopes {', '.join(SCOPES)}")
    if not 1 <= days <= _MOST_DAYS:
        raise Refused("invalid", f"A token is good for 1 to {_MOST_DAYS} days")
    secret, moment = f"dg_{new_secret()}", now()
    token = ApiToken(
        user_id=user.id,
        name=plain_line(name, "name"),
        token_hash=secret_hash(secret),
        scopes=" ".join(wanted),
        created_at=moment,
        expires_at=moment + days * 86_400,
    )
    session.add(token)
    audit(session, "token made", name, user.id)
    return secret


def user_of_token(session: Session, secret: str, scope: str) -> User:
    """Whose token it is.

    Raises:
        Refused: It does not exist, is too old, or is not good for this.
    """
    found = session.scalar(
        select(ApiToken).where(
            ApiToken.token_hash == secret_hash(secret), ApiToken.expires_at > now()
        )
    )
    if found is None or found.user.disabled_at is not None:
        raise Refused("login", "This token is not known here, or is too old; make a new one")
    if scope not in found.scopes.split():
        raise Refused("forbidden", f"This token has not the scope '{scope}'; make one that has")
    return found.user


def reset(session: Session, secret: str, password: str) -> None:
    """Sets a new password with a reset link or a recovery code; ends all sessions and tokens.

    Raises:
        Refused: The link does not work, or the password is not possible.
    """
    hashed = password_hash(password)
    link = use_link(session, ("reset", "recovery"), secret)
    user = session.get_one(User, link.user_id)
    user.password_hash = hashed
    revoke_all(session, user)
    audit(session, f"password set ({link.kind})", user.email, user.id)


def ask_for_mail(database: Database, kind: str, email: str, address: str) -> None:
    """Asks for a mail with a link, `reset` or `registration`, whether or not there is an account.

    The same row is written in both cases; whether there is anything to send, the mailer finds out.
    Too many mails to one account are dropped in silence.

    Args:
        database: Of the site.
        kind: What the link is for.
        email: Where it goes.
        address: Where the request comes from; requests are counted by it.

    Raises:
        Refused: That is no e-mail address, or there were too many requests.
    """
    rates.require_rate(database, rates.MAIL_BY_ADDRESS, address)
    name = _address(email)
    with suppress(Refused):
        rates.require_rate(database, rates.MAIL_TO_ACCOUNT, f"{kind}:{name}")
        with database.begin() as session:
            outbox.put(session, kind, name)


def revoke_all(session: Session, user: User) -> None:
    """Ends all sessions and tokens of an account."""
    session.execute(delete(LoginSession).where(LoginSession.user_id == user.id))
    session.execute(delete(ApiToken).where(ApiToken.user_id == user.id))


def require_other_admin(session: Session, user: User) -> None:
    """Requires that somebody else administers the site, too; two who leave at once wait here.

    Raises:
        Refused: Nobody else does.
    """
    active = select(User.id).where(User.role == "admin", User.disabled_at.is_(None))
    admins = session.scalars(active.order_by(User.id).with_for_update()).all()
    if user.role == "admin" and not set(admins) - {user.id}:
        raise Refused("conflict", "This is the only admin; make somebody else admin first")


def plain_line(text: str, what: str, most: int = 100) -> str:
    """Text of a person: one line, without control characters.

    Raises:
        Refused: It is empty or too long.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if not 1 <= len(line) <= most:
        raise Refused("invalid", f"The {what} has 1 to {most} characters; change it")
    return line


def _address(email: str) -> str:
    found = email.strip().lower()
    if not _MAIL.fullmatch(found):
        raise Refused("invalid", "That is no e-mail address; write name@example.org")
    return found
