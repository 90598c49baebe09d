"""Files are compared with the SHA-256 in `dataset.json` when they are first read, and remembered.

A file is known by device, inode, size and the times of its content and its record. While these stay
as they were, it is not hashed again, in no process of the same user.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from depthgauge.datasets._manifest_folder.item_kinds import read_file
from depthgauge.datasets._manifest_folder.manifest_file import file_hash
from depthgauge.errors import BadFile

_TOO_YOUNG_NS = 2_000_000_000
"""A file that changed so recently may change again without another time; it is not remembered."""
_MOST_BYTES = 1 << 20
"""Of one file of the memory; then it begins anew."""


def read_listed(kind: str, path: Path, sha256: str, trust: bool) -> Any:
    """Reads a file of a dataset folder.

    Args:
        kind: Its kind of item.
        path: Where it is.
        sha256: What `dataset.json` says about it.
        trust: Whether it is read without a look at its hash.

    Raises:
        BadFile: It cannot be read, or is not the listed file.
    """
    if not trust:
        _require_listed(path, sha256)
    return read_file(kind, path)


def _require_listed(path: Path, sha256: str) -> None:
    try:
        mark = _mark(path)
        if f"{sha256} {mark}" in _known(sha256[:2]):
            return
        found = file_hash(path)
    except OSError:
        return  # whoever reads it says why that cannot be done
    if found != sha256:
        raise BadFile(
            f"{path}: its SHA-256 is not the one in dataset.json; fetch the file again, or use it "
            "as it is with --trust (in Python: trust=True)."
        )
    _remember(sha256, mark, path)


def _mark(path: Path) -> str:
    told = os.stat(path)
    times = (told.st_mtime_ns, told.st_ctime_ns)
    return " ".join(map(str, (told.st_dev, told.st_ino, told.st_size, *times)))


def _remember(sha256: str, mark: str, path: Path) -> None:
    """Also for other processes, where there is a place for that."""
    with suppress(OSError):
        told = os.stat(path)
        young = time.time_ns() - max(told.st_mtime_ns, told.st_ctime_ns) < _TOO_YOUNG_NS
        if young or _mark(path) != mark:
            return
    _known(sha256[:2]).add(f"{sha256} {mark}")
    with suppress(OSError, RuntimeError):
        place = _place(sha256[:2])
        place.parent.mkdir(parents=True, exist_ok=True)
        full = place.exists() and place.stat().st_size > _MOST_BYTES
        # One short line in one call: others may write at the same time.
        with place.open("wb" if full else "ab", buffering=0) as file:
            file.write(f"{sha256} {mark}\n".encode())


@cache
def _known(first: str) -> set[str]:
    """What is known about files whose hash begins so."""
    with suppress(OSError, RuntimeError, ValueError):
        return set(_place(first).read_text(encoding="ascii").splitlines())
    return set()


def _place(first: str) -> Path:
    own = os.environ.get("DEPTHGAUGE_CACHE")
    if own:
        return Path(own) / "verified" / first
    caches = os.environ.get("XDG_CACHE_HOME")
    folder = Path(caches) if caches else Path.home() / ".cache"
    return folder / "depthgauge" / "verified" / first
