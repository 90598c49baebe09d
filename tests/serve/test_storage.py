"""Tables, migrations and blobs."""

import hashlib

import pytest
from sqlalchemy import create_engine, event, inspect, text
from sqlalchemy.pool import Pool
from tests.serve.conftest import only_sqlite

from depthgauge.errors import BadData, CannotWrite
from depthgauge.serve.storage.blobs import Blobs, require_space
from depthgauge.serve.storage.database import engine_of, migrate, open_database
from depthgauge.serve.storage.models import AuditEntry, Base, Team


def shape(engine):
    """Tables with their columns, types, keys and indices."""
    seen = inspect(engine)
    return {
        table: (
            {c["name"]: (str(c["type"]), c["nullable"]) for c in seen.get_columns(table)},
            sorted(str(sorted(i["column_names"])) for i in seen.get_indexes(table)),
            sorted(
                (k["constrained_columns"][0], k["referred_table"], str(k["options"]))
                for k in seen.get_foreign_keys(table)
            ),
            sorted(str(u["column_names"]) for u in seen.get_unique_constraints(table)),
        )
        for table in seen.get_table_names()
        if table != "alembic_version"
    }


@pytest.fixture
def connections():
    """The connections to any database that are open, from here on."""
    open_now = set()
    listeners = {
        "connect": lambda connection, _record: open_now.add(id(connection)),
        "close": lambda connection, _record: open_now.discard(id(connection)),
    }
    for name, listener in listeners.items():
        event.listen(Pool, name, listener)
    yield open_now
    for name, listener in listeners.items():
        event.remove(Pool, name, listener)


@only_sqlite
def test_the_migrations_make_the_tables_of_the_models(database, tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'models.db'}")
    Base.metadata.create_all(engine)
    assert shape(engine_of(database)) == shape(engine)
    engine.dispose()


@only_sqlite
def test_migrating_again_changes_nothing_and_a_newer_version_is_refused(database, connections):
    engine = engine_of(database)
    with database.begin() as session:
        session.add(Team(name="A", created_at=1))
    migrate(str(engine.url))
    with database.begin() as session:
        assert session.query(Team).count() == 1
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    before = len(connections)
    with pytest.raises(BadData, match="not known here"):
        migrate(str(engine.url))
    assert len(connections) == before


@only_sqlite
def test_sqlite_writes_ahead_and_checks_foreign_keys(database):
    with database.begin() as session:
        assert session.execute(text("PRAGMA journal_mode")).scalar() == "wal"
        assert session.execute(text("PRAGMA foreign_keys")).scalar() == 1


@only_sqlite
def test_two_writers_wait_for_each_other(database):
    from threading import Thread

    def write():
        for _ in range(8):
            with database.begin() as session:
                count = session.query(AuditEntry).count()
                session.add(AuditEntry(at=count, action="x"))

    threads = [Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.begin() as session:
        assert sorted(e.at for e in session.query(AuditEntry)) == list(range(32))


def test_blobs_are_what_their_names_say(tmp_path):
    blobs, file = Blobs(tmp_path / "blobs"), tmp_path / "new"
    file.write_bytes(b"abc")
    right = hashlib.sha256(b"abc").hexdigest()
    assert not blobs.keep(file, "0" * 64)
    assert file.exists()
    assert blobs.keep(file, right)
    file.write_bytes(b"abc")
    assert blobs.keep(file, right)  # twice is once
    assert list(blobs) == [right]
    assert blobs.path(right).read_bytes() == b"abc"
    blobs.remove(right)
    blobs.remove(right)
    assert list(blobs) == []


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_only_hashes_name_blobs(tmp_path, name):
    with pytest.raises(BadData, match="no SHA-256"):
        Blobs(tmp_path).path(name)


def test_no_room_is_said_before_anything_is_written(tmp_path):
    require_space(tmp_path, 1)
    with pytest.raises(CannotWrite, match="no room"):
        require_space(tmp_path, 1 << 60)


def test_a_password_in_the_address_of_a_database_is_not_shown(monkeypatch):
    from alembic import command
    from alembic.util import CommandError

    def fail(*_args):
        raise CommandError("no such revision")

    monkeypatch.setattr(command, "upgrade", fail)
    with pytest.raises(BadData) as caught:
        migrate("postgresql://me:secret@host/site")
    assert "secret" not in str(caught.value)


def test_a_database_is_opened_by_its_address(tmp_path):
    made = open_database(f"sqlite:///{tmp_path / 'a.db'}")
    assert engine_of(made).dialect.name == "sqlite"
    engine_of(made).dispose()
