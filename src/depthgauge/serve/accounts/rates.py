"""How often something may be tried; counted in the database, for all processes together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from depthgauge.errors import Refused
from depthgauge.serve.accounts.secrets import secret_hash
from depthgauge.serve.storage.database import Database, now
from depthgauge.serve.storage.models import RateCounter


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` times in a window of `seconds`."""

    name: str
    count: int
    seconds: int


LOGIN_BY_ACCOUNT = Limit("login-account", 10, 900)
LOGIN_BY_ADDRESS = Limit("login-address", 50, 900)
LINKS_BY_ADDRESS = Limit("links-address", 20, 900)
MAIL_BY_ADDRESS = Limit("mail-address", 10, 3600)
MAIL_TO_ACCOUNT = Limit("mail-account", 3, 3600)
UPLOADS_BY_TEAM = Limit("uploads-team", 50, 86_400)


def require_rate(database: Database, limit: Limit, who: str) -> None:
    """Counts one attempt, in a transaction of its own, so that it counts whatever follows.

    Raises:
        Refused: It was one too many.
    """
    moment = now()
    window = moment // limit.seconds
    with database.begin() as session:
        count = _count(session, secret_hash(f"{limit.name}:{who}"), window, limit.seconds)
        session.execute(delete(RateCounter).where(RateCounter.expires_at < moment))
    if count > limit.count:
        wait = (window + 1) * limit.seconds - moment
        raise Refused("rate", f"Too many attempts; try again in {max(1, wait // 60)} minutes")


def _count(session: Session, key: str, window: int, seconds: int) -> int:
    """The count with this attempt; two processes never read the same one."""
    insert = _insert_of(session)
    row = {"key": key, "window": window, "count": 1, "expires_at": (window + 2) * seconds}
    statement = insert(RateCounter).values(row)
    statement = statement.on_conflict_do_update(
        index_elements=["key", "window"], set_={"count": RateCounter.count + 1}
    ).returning(RateCounter.count)
    return int(session.execute(statement).scalar_one())


def _insert_of(session: Session) -> Any:
    """An insert that knows what to do if the row is there: each database has its own."""
    if session.get_bind().dialect.name == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_there

        return insert_there
    from sqlalchemy.dialects.sqlite import insert

    return insert
