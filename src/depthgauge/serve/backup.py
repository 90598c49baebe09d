"""Backs a site up and restores it: the database and the archives, never the truth.

Where the truth is, and what is released, is the workers' knowledge and not in a backup; after a
restore, benchmarks are added again.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from depthgauge._progress import Progress
from depthgauge.errors import BadFile, CannotWrite, Misuse
from depthgauge.serve.site import Site, make_folders
from depthgauge.serve.storage.blobs import file_sha256
from depthgauge.serve.storage.database import migrate

_DATABASE = "site.db"
_BLOB = re.compile(r"blobs/([0-9a-f]{2})/(\1[0-9a-f]{62})")
_PART = r"(?!\.{1,2}(?:/|$))[^/\\\0]+"
_DRAWN = re.compile(
    rf"annotation/{_PART}/(?:{_PART}/){{0,2}}{_PART}|studies/{_PART}/(?:{_PART}/){{0,3}}{_PART}"
)
"""Batches of photographs, and what people drew on them; ranking studies and their answers."""
_BY_PEOPLE = ("annotation", "studies")


def back_up(
    site: Site, file: Path, *, overwrite: bool = False, progress: Progress | None = None
) -> int:
    """Writes a site to one file, while it runs; returns the number of archives and drawn files.

    Archives in a store elsewhere are not in it: the store has its own backups.

    The database is copied first: every archive that it names is there by then.

    Raises:
        Misuse: The database is not SQLite; its own tools back it up.
        CannotWrite: The file exists, or cannot be written.
    """
    _require_sqlite(site)
    if file.exists() and not overwrite:
        raise CannotWrite(f"{file}: exists already; say --overwrite (overwrite=True).")
    part = file.with_name(f"{file.name}.part")
    try:
        with tempfile.TemporaryDirectory(dir=file.parent) as aside:
            copy = Path(aside) / _DATABASE
            with (
                closing(sqlite3.connect(site.web / _DATABASE)) as source,
                closing(sqlite3.connect(copy)) as target,
            ):
                source.backup(target)
            names = list(site.blobs)
            with tarfile.open(part, "w") as made:
                made.add(copy, _DATABASE)
                for done, name in enumerate(names):
                    if progress is not None:
                        progress(name[:12], done, len(names))
                    made.add(site.blobs.path(name), f"blobs/{name[:2]}/{name}")
                for kind in _BY_PEOPLE:
                    for path in sorted((site.web / kind).rglob("*")):
                        if path.is_file():
                            made.add(path, str(path.relative_to(site.web)))
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise CannotWrite(f"{file}: cannot be written ({error.strerror}).") from error
    return len(names)


def restore(
    file: Path, folder: Path, *, overwrite: bool = False, progress: Progress | None = None
) -> int:
    """Makes a site from a backup; returns the number of archives.

    Args:
        file: The backup.
        folder: The site's folder; it appears, or is replaced, when everything is in place.
        overwrite: Replaces a site; no process may work on it.
        progress: Called for each file.

    Raises:
        CannotWrite: There is something in the folder.
        BadFile: The backup is damaged; then the folder is as it was.
    """
    if folder.exists() and any(folder.iterdir()):
        if not overwrite:
            raise CannotWrite(f"{folder}: is not empty; say --overwrite (overwrite=True).")
        if not (folder / "web" / _DATABASE).is_file():
            raise CannotWrite(f"{folder}: is no site; restore to a new folder.")
    aside = folder.resolve().with_name(f"{folder.resolve().name}.restoring")
    shutil.rmtree(aside, ignore_errors=True)
    site = Site(aside)
    make_folders(site)
    try:
        count = _unpack(file, site, progress)
        _require_sound(site.web / _DATABASE, file)
        migrate(site.url)
        shutil.rmtree(folder, ignore_errors=True)
        aside.replace(folder)
    except (OSError, tarfile.TarError) as error:
        raise BadFile(f"{file}: is no backup of a site, or is damaged ({error}).") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return count


def _unpack(file: Path, site: Site, progress: Progress | None) -> int:
    count = 0
    with tarfile.open(file, "r:") as packed:
        members = packed.getmembers()
        for done, member in enumerate(members):
            source = packed.extractfile(member) if member.isreg() else None
            blob = _BLOB.fullmatch(member.name)
            drawn = _DRAWN.fullmatch(member.name)
            if source is None or not (blob or drawn or member.name == _DATABASE):
                raise BadFile(f"{file}: has '{member.name[:80]}', which no backup has.")
            target = site.blobs.path(blob[2]) if blob else site.web / member.name
            target.parent.mkdir(parents=True, exist_ok=True)
            with source, open(target, "wb") as written:
                shutil.copyfileobj(source, written)
            if blob:
                count += 1
                if file_sha256(target) != blob[2]:
                    raise BadFile(f"{file}: archive {blob[2][:12]} is damaged.")
            if progress is not None:
                progress(member.name, done, len(members))
    return count


def _require_sound(database: Path, file: Path) -> None:
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=rw", uri=True)) as opened:
            said = opened.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.Error as error:
        said = str(error)
    if said != "ok":
        raise BadFile(f"{file}: its database is damaged ({said}).")


def _require_sqlite(site: Site) -> None:
    if site.database_url and not site.database_url.startswith("sqlite"):
        raise Misuse(
            "the database is not in the folder; back it up with its own tools (pg_dump), then copy "
            f"{', '.join(str(site.web / name) for name in _BY_PEOPLE)} and {site.blobs.folder}."
        )
