"""Archives of strangers: everything is checked before a byte is written, and nothing escapes."""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO, Any

from depthgauge.errors import BadFile, CannotWrite

MOST_ENTRIES = 2_000_000
MOST_RATIO = 200
"""An archive may unpack to this many times its size ..."""
SMALL = 1 << 30
"""... or to this many bytes, if that is more."""
_BLOCK = 1 << 20
_RESERVE = 64 << 20
_ENCRYPTED = 1
_HEADER = 30
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_IGNORED = ("__MACOSX", ".DS_Store", "Thumbs.db")
_ERRORS: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    LZMAError,
    EOFError,
    NotImplementedError,
    ValueError,
)


@dataclass(frozen=True)
class _Entry:
    name: str
    size: int
    is_folder: bool
    why: str
    """Why it is refused; empty: it is a plain file or a folder."""
    source: Any


def unpack(archive: Path, kind: str, folder: Path) -> int:
    """Unpacks an archive into a folder, beside what is there; returns the number of files.

    It is unpacked aside and then moved, so that an interrupted call leaves no half file.

    Args:
        archive: The file.
        kind: `zip` or `tar` (plain, gzip, bzip2 or xz).
        folder: Where its content goes.

    Raises:
        BadFile: It is damaged, or holds something that an archive of a dataset must not hold:
            names that lead elsewhere, links, devices, encrypted or endless files.
        CannotWrite: The disk has too little space.
    """
    aside = folder / f".unpacking-{archive.name}"
    shutil.rmtree(aside, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _opened(archive, kind) as opened:
            entries = list(_entries(opened))
            _check(archive, entries)
            _require_space(folder, sum(entry.size for entry in entries))
            aside.mkdir()
            for entry in entries:
                _write(opened, entry, aside)
        return _move(aside, folder)
    except BadFile:
        raise  # it is a ValueError, as those of damaged files are
    except _ERRORS as error:
        raise BadFile(f"{archive}: is damaged ({' '.join(str(error).split())[:100]}).") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _opened(archive: Path, kind: str) -> zipfile.ZipFile | tarfile.TarFile:
    return (
        zipfile.ZipFile(archive) if kind == "zip" else tarfile.open(archive)
    )  # the caller closes it


def _entries(opened: zipfile.ZipFile | tarfile.TarFile) -> Iterator[_Entry]:
    found = _zip_entries(opened) if isinstance(opened, zipfile.ZipFile) else _tar_entries(opened)
    for entry in found:
        if not any(part in _IGNORED for part in PurePosixPath(entry.name).parts):
            yield entry


def _zip_entries(opened: zipfile.ZipFile) -> Iterator[_Entry]:
    end = 0
    for each in sorted(opened.infolist(), key=lambda e: e.header_offset):
        kind = stat.S_IFMT(each.external_attr >> 16)
        why = ""
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            why = "is a link or a device"
        elif each.flag_bits & _ENCRYPTED:
            why = "is encrypted"
        elif each.compress_type not in _METHODS:
            why = "is compressed in an unusual way"
        elif each.header_offset < end:
            why = "overlaps another file"
        end = each.header_offset + _HEADER + len(each.filename.encode()) + each.compress_size
        yield _Entry(each.filename, each.file_size, each.is_dir(), why, each)


def _tar_entries(opened: tarfile.TarFile) -> Iterator[_Entry]:
    for number, each in enumerate(opened):
        if number > MOST_ENTRIES:
            break
        why = "" if each.isreg() or each.isdir() else "is a link or a device"
        yield _Entry(each.name, each.size if each.isreg() else 0, each.isdir(), why, each)


def _check(archive: Path, entries: list[_Entry]) -> None:
    files = [entry for entry in entries if not entry.is_folder]
    if not files:
        raise BadFile(f"{archive}: there is no file in it.")
    if len(entries) > MOST_ENTRIES:
        raise BadFile(f"{archive}: has more than {MOST_ENTRIES:,} files.")
    seen: set[str] = set()
    for entry in entries:
        why = entry.why or _unfit(entry.name)
        if not why and not entry.is_folder:
            why = "is there twice" if entry.name in seen else ""
            seen.add(entry.name)
        if why:
            shown = "".join(c if c.isprintable() else "?" for c in entry.name)[:120]
            raise BadFile(f"{archive}: '{shown}' {why}; nothing was unpacked.")
    total = sum(entry.size for entry in files)
    most = max(MOST_RATIO * archive.stat().st_size, SMALL)
    if total > most:
        raise BadFile(
            f"{archive}: claims to unpack to {total / 1e9:.1f} GB, {MOST_RATIO} times its size and "
            "more; nothing was unpacked."
        )


def _unfit(name: str) -> str:
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts:
        return "leads out of its folder"
    if "\\" in name or ":" in parts[0] or "\0" in name:
        return "has a name that means something else on other systems"
    return ""


def _require_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed + _RESERVE > free:
        raise CannotWrite(
            f"{folder}: {needed / 1e9:.2f} GB are needed to unpack and {free / 1e9:.2f} GB are "
            "free; make room and repeat the command."
        )


def _write(opened: Any, entry: _Entry, aside: Path) -> None:
    path = aside.joinpath(*PurePosixPath(entry.name).parts)
    if entry.is_folder:
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(opened, zipfile.ZipFile):
        packed: IO[bytes] | None = opened.open(entry.source)
    else:
        packed = opened.extractfile(entry.source)
    if packed is None:
        raise ValueError(f"{entry.name} cannot be read")
    left = entry.size
    with packed, open(path, "xb") as file:
        while block := packed.read(_BLOCK):
            left -= len(block)
            if left < 0:
                raise ValueError(f"{entry.name} unpacks to more bytes than it says")
            file.write(block)
    if left:
        raise ValueError(f"{entry.name} is cut off")


def _move(aside: Path, folder: Path) -> int:
    """Moves everything to its place; files that are there already are replaced."""
    moved = 0
    for path in _files(aside):
        target = folder / path.relative_to(aside)
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, target)
        moved += 1
    return moved


def _files(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
