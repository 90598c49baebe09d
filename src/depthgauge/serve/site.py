"""The folder of a site, and who may read what in it.

DIR/web        database, uploads, archives: the web process and the workers
DIR/workers    where the truth of each benchmark is, jobs, logs: the workers alone
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from depthgauge.errors import CannotWrite
from depthgauge.serve.storage.blobs import Blobs
from depthgauge.serve.storage.database import Database, engine_of, migrate, open_database
from depthgauge.serve.storage.remote import RemoteArchives


@dataclass(frozen=True, slots=True)
class Site:
    """A folder with everything that a site has, but the data of its benchmarks."""

    root: Path
    database_url: str = ""
    """Empty: SQLite in the folder."""
    archives_url: str = ""
    """Empty: on the disk, among the blobs."""

    @property
    def web(self) -> Path:
        """What the web process reads and writes."""
        return self.root / "web"

    @property
    def workers(self) -> Path:
        """What workers read and write; the web process cannot open it."""
        return self.root / "workers"

    @property
    def uploads(self) -> Path:
        """Archives that are still arriving."""
        return self.web / "uploads"

    @property
    def blobs(self) -> Blobs:
        """What is kept on the disk by its hash."""
        return Blobs(self.web / "blobs")

    @property
    def archives(self) -> Blobs | RemoteArchives:
        """Archives of submissions: on the disk, or in a store elsewhere."""
        return RemoteArchives(self.archives_url) if self.archives_url else self.blobs

    @property
    def url(self) -> str:
        """The address of the database."""
        return self.database_url or f"sqlite:///{self.web / 'site.db'}"

    def open(self) -> Database:
        """Connects to the database."""
        return open_database(self.url)

    @contextmanager
    def connected(self) -> Iterator[Database]:
        """Connects to the database for a while."""
        database = self.open()
        try:
            yield database
        finally:
            engine_of(database).dispose()


def open_site(root: Path, database_url: str = "", archives_url: str = "") -> Site:
    """Opens the folder of a site; makes it, and the tables, if they are not there.

    Raises:
        CannotWrite: The folder cannot be made.
        BadData: The database was made by a newer version.
    """
    site = Site(Path(root).resolve(), database_url, archives_url)
    make_folders(site)
    _share(site)
    migrate(site.url)
    return site


def _share(site: Site) -> None:
    """Where web and workers are two users of one group, each must write what the other made.

    SQLite makes files that only their owner can write, whatever the process permits.
    """
    if site.web.stat().st_mode & stat.S_IWGRP:
        os.umask(os.umask(0o077) & ~0o070)
    if not site.database_url:
        with suppress(OSError):  # of another owner: then it is as it should be, or SQLite says so
            os.close(os.open(site.web / "site.db", os.O_CREAT | os.O_RDWR, 0o660))


def make_folders(site: Site) -> None:
    """Makes what is missing of the folder of a site.

    Raises:
        CannotWrite: It cannot be made.
    """
    try:
        for folder in (site.uploads, site.blobs.folder, site.web / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        with suppress(PermissionError) if site.workers.is_dir() else nullcontext():
            # As the web's own user, the folder of the workers is closed, which is the purpose.
            for name in ("benchmarks", "fingerprints", "jobs", "logs"):
                (site.workers / name).mkdir(parents=True, exist_ok=True)
            os.chmod(site.workers, 0o700)
    except OSError as error:
        text = f"{site.root}: cannot be made ({error.strerror}); choose another."
        raise CannotWrite(text) from None
