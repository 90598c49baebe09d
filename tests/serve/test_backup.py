"""A backup is proved by restoring it."""

import io
import tarfile

import pytest
from tests.serve.conftest import PASSWORD, only_sqlite

from depthgauge.errors import BadFile, CannotWrite, Misuse
from depthgauge.serve.accounts import people
from depthgauge.serve.backup import back_up, restore
from depthgauge.serve.site import Site
from depthgauge.serve.storage.database import engine_of
from depthgauge.serve.storage.models import Submission
from depthgauge.serve.submissions import worker
from depthgauge.serve.submissions.registry import add_benchmark

pytestmark = only_sqlite


@pytest.fixture
def backup(site, database, tiny, add_user, send, tmp_path):
    """A backup of a site with two submissions, one of them scored."""
    ann = add_user()
    send(ann, method="First")
    worker.work_once(site, database)
    send(add_user("bob@example.org"), method="Second")
    assert back_up(site, tmp_path / "site.tar") == 1  # the same archive
    return tmp_path / "site.tar"


def test_a_restored_site_goes_on(backup, tiny, tiny_data, tmp_path):
    again = tmp_path / "again"
    assert restore(backup, again) == 1
    site = Site(again)
    database = site.open()
    assert people.log_in(database, "ann@example.org", PASSWORD, "1.2.3.4")
    add_benchmark(
        site,
        database,
        str(tiny_data / "tiny.toml"),
        tiny_data / "public",
        hidden=tiny_data / "hidden",
    )
    assert worker.work_once(site, database)  # what was waiting
    with database.begin() as session:
        states = {one.method: (one.state, len(one.scores)) for one in session.query(Submission)}
    assert states == {"First": ("scored", 2), "Second": ("scored", 2)}
    engine_of(database).dispose()


def test_the_truth_is_not_in_a_backup(backup, tiny):
    with tarfile.open(backup) as packed:
        names = packed.getnames()
        assert all(name == "site.db" or name.startswith("blobs/") for name in names)
        assert str(tiny.hidden).encode() not in backup.read_bytes()


def test_nothing_is_overwritten(backup, site, tmp_path):
    with pytest.raises(CannotWrite, match="exists already"):
        back_up(site, backup)
    with pytest.raises(CannotWrite, match="not empty"):
        restore(backup, site.root)
    with pytest.raises(CannotWrite, match="is no site"):
        restore(backup, tmp_path, overwrite=True)
    assert back_up(site, backup, overwrite=True) == 1
    assert restore(backup, site.root, overwrite=True) == 1
    with pytest.raises(Misuse, match="pg_dump"):
        back_up(Site(site.root, "postgresql://x/y"), tmp_path / "other.tar")


def damaged(backup, how):
    whole = bytearray(backup.read_bytes())
    if how == "cut":
        return bytes(whole[: len(whole) // 2])
    with tarfile.open(backup) as packed:
        names = {"archive": "blobs/", "database": "site.db"}
        member = next(m for m in packed.getmembers() if m.name.startswith(names[how]))
    place = member.offset_data
    whole[place : place + 100] = bytes(100)
    return bytes(whole)


@pytest.mark.parametrize("how", ["cut", "archive", "database"])
def test_a_damaged_backup_leaves_nothing(backup, tmp_path, how):
    (tmp_path / "bad.tar").write_bytes(damaged(backup, how))
    with pytest.raises(BadFile):
        restore(tmp_path / "bad.tar", tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "blobs/aa/../../x", "web/site.db"])
def test_a_backup_cannot_write_elsewhere(tmp_path, name):
    with tarfile.open(tmp_path / "evil.tar", "w") as made:
        entry = tarfile.TarInfo(name)
        entry.size = 4
        made.addfile(entry, io.BytesIO(b"evil"))
    with pytest.raises(BadFile, match="which no backup has"):
        restore(tmp_path / "evil.tar", tmp_path / "again")
    assert {path.name for path in tmp_path.iterdir()} == {"evil.tar"}


def test_links_in_a_backup_are_refused(tmp_path):
    with tarfile.open(tmp_path / "evil.tar", "w") as made:
        entry = tarfile.TarInfo("site.db")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        made.addfile(entry)
    with pytest.raises(BadFile):
        restore(tmp_path / "evil.tar", tmp_path / "again")
