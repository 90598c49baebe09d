"""Opens the database of a site: SQLite in a file, or PostgreSQL by its URL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.orm import Session, sessionmaker

from depthgauge.errors import BadData
from depthgauge.serve.storage.models import AuditEntry

MIGRATIONS = Path(__file__).parent / "migrations"
_BUSY_MS = 15_000
"""How long a writer waits for another one in SQLite."""

_READS = "depthgauge_reads"

Database = sessionmaker[Session]
"""Makes sessions: `with database.begin() as session` is one transaction."""


def open_database(url: str) -> Database:
    """Connects; the tables are made or brought up to date by `migrate`."""
    engine = create_engine(url, pool_pre_ping=not url.startswith("sqlite"))
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin)
    return sessionmaker(engine, expire_on_commit=False)


@contextmanager
def reading(database: Database) -> Iterator[Session]:
    """A transaction that only reads; others can write meanwhile."""
    with database.begin() as session:
        session.connection(execution_options={_READS: True})
        yield session


def migrate(url: str) -> None:
    """Makes the tables, or brings those of an older version up to date.

    Raises:
        BadData: The database was made by a newer version.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["url"] = url
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise BadData(
            f"{_shown(url)}: its tables are of a version that is not known here ({error}); "
            "install the newer depthgauge, or restore a backup."
        ) from None


def now() -> int:
    """Seconds since 1970."""
    return int(time.time())


def audit(session: Session, action: str, subject: str = "", user_id: int | None = None) -> None:
    """Notes who did what, in the transaction that does it."""
    entry = AuditEntry(at=now(), user_id=user_id, action=action, subject=subject[:200])
    session.add(entry)


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    # Without this, Python's module decides when transactions begin.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    cursor.close()


def _begin(connection: Any) -> None:
    # A transaction that reads first and writes later fails if another one wrote in between; so
    # writers wait at the beginning. Those that only read wait for nobody.
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def engine_of(database: Database) -> Engine:
    """The engine behind a maker of sessions."""
    engine: Engine = database.kw["bind"]
    return engine


def _shown(url: str) -> str:
    from sqlalchemy import make_url

    return make_url(url).render_as_string(hide_password=True)
