"""Unpacks an archive of estimates: only the files that the benchmark expects, nothing else.

This runs in the sandbox. Everything about the archive is checked before a byte is unpacked, and
all problems are reported at once.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

_BLOCK = 1 << 20
_MOST_ENTRIES = 100_000
_MOST_LISTED = 20
_HEADER = 30
_ENCRYPTED = 1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_IGNORED = ("__MACOSX/", ".DS_Store", "Thumbs.db")
"""What file managers add by themselves."""


def unpack(archive: Path, out: Path, allowed: Mapping[str, int]) -> list[str]:
    """Unpacks the allowed files of a ZIP file.

    Args:
        archive: The file.
        out: An empty folder.
        allowed: Names that may be in it, with the most bytes of each.

    Returns:
        All problems; if there are any, nothing was unpacked, or not everything.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = [e for e in opened.infolist() if not _is_ignored(e)]
            problems = list(_problems(entries, allowed))
            if problems:
                more = len(problems) - _MOST_LISTED
                return problems[:_MOST_LISTED] + ([f"and {more} more problems"] if more > 0 else [])
            return [p for entry in entries if (p := _unpack_one(opened, entry, out))]
    except (zipfile.BadZipFile, zlib.error, OSError, NotImplementedError, ValueError) as error:
        return [f"the archive cannot be read as a ZIP file ({str(error)[:100]})"]


def _is_ignored(entry: zipfile.ZipInfo) -> bool:
    return entry.filename.startswith(_IGNORED[0]) or entry.filename.endswith(("/", *_IGNORED[1:]))


def _problems(entries: list[zipfile.ZipInfo], allowed: Mapping[str, int]) -> Iterator[str]:
    if not entries:
        yield "the archive is empty"
    if len(entries) > _MOST_ENTRIES:
        yield f"the archive has {len(entries)} files, at most {_MOST_ENTRIES} are possible"
        return
    for name, count in Counter(entry.filename for entry in entries).items():
        if count > 1:
            yield f"{_shown(name)}: is in the archive {count} times"
    for entry in entries:
        if why := _why_refused(entry, allowed):
            yield f"{_shown(entry.filename)}: {why}"
    yield from _overlaps(entries)


def _why_refused(entry: zipfile.ZipInfo, allowed: Mapping[str, int]) -> str:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "is no plain file but a link or a device"
    if entry.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if entry.compress_type not in _METHODS:
        return "is compressed in an unusual way; use stored or deflated"
    if entry.filename not in allowed:
        return "is not expected here; see how the benchmark names its files"
    if entry.file_size > allowed[entry.filename]:
        return f"has {entry.file_size:,} bytes, at most {allowed[entry.filename]:,} are expected"
    return ""


def _overlaps(entries: list[zipfile.ZipInfo]) -> Iterator[str]:
    """Entries that share their bytes: how small archives become huge."""
    end = 0
    for entry in sorted(entries, key=lambda e: e.header_offset):
        if entry.header_offset < end:
            yield f"{_shown(entry.filename)}: overlaps another file of the archive"
        length = _HEADER + len(entry.filename.encode()) + entry.compress_size
        end = entry.header_offset + length


def _unpack_one(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, out: Path) -> str:
    """Writes one file; what unpacks to more than it says is given up at once."""
    path = out / entry.filename  # one of the allowed names, so it stays inside
    path.parent.mkdir(parents=True, exist_ok=True)
    left = entry.file_size
    with opened.open(entry) as packed, open(path, "wb") as file:
        while block := packed.read(_BLOCK):
            left -= len(block)
            if left < 0:
                return f"{_shown(entry.filename)}: unpacks to more bytes than it says"
            file.write(block)
    return f"{_shown(entry.filename)}: is cut off" if left else ""


def _shown(name: str) -> str:
    """A name from the archive as a person may read it."""
    plain = "".join(c if c.isprintable() else "?" for c in name)
    return plain if len(plain) <= 120 else f"{plain[:117]}..."
