"""Uploaded files by the hash of their content, written once and never changed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from depthgauge.errors import BadData, CannotWrite

_BLOCK = 1 << 20
_MARGIN_BYTES = 256 << 20
"""Space that is left free for the database."""


class Blobs:
    """A folder of files that are named by their SHA-256."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, sha256: str) -> Path:
        """Where a blob is, or would be.

        Raises:
            BadData: It is no SHA-256, so it is no name of a blob either.
        """
        return self.folder / blob_name(sha256)

    def keep(self, file: Path, sha256: str) -> bool:
        """Takes a file in, if it is what it should be; it is moved, and synced before that.

        Returns:
            False if its content has another hash; the file is left then.
        """
        if file_sha256(file) != sha256:
            return False
        self.move_in(file, sha256)
        return True

    def stage(self, file: Path, sha256: str) -> None:
        """Nothing: a file on the same disk is only moved."""

    def fetch(self, sha256: str, to: Path) -> None:
        """Copies a blob to a file.

        Raises:
            OSError: There is none, or it cannot be copied.
        """
        shutil.copyfile(self.path(sha256), to)

    def move_in(self, file: Path, sha256: str) -> None:
        """Takes in a file whose hash is known to be right; synced before it is moved."""
        place = self.path(sha256)
        place.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "rb+") as written:
            os.fsync(written.fileno())
        # The same content may be there already: replacing it by itself changes nothing.
        os.replace(file, place)

    def remove(self, sha256: str) -> None:
        """Removes a blob; nothing happens if there is none."""
        self.path(sha256).unlink(missing_ok=True)

    def __iter__(self) -> Iterator[str]:
        if self.folder.is_dir():
            yield from sorted(path.name for path in self.folder.glob("??/*"))


def blob_name(sha256: str) -> str:
    """The path of a blob below the folder of all.

    Raises:
        BadData: It is no SHA-256, so it is no name of a blob either.
    """
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise BadData(f"'{sha256[:80]}' is no SHA-256.")
    return f"{sha256[:2]}/{sha256}"


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def require_space(folder: Path, size: int) -> None:
    """Requires room for a file before any of it is written.

    Raises:
        CannotWrite: The disk would be full.
    """
    free = shutil.disk_usage(folder).free
    if size + _MARGIN_BYTES > free:
        raise CannotWrite(f"{folder}: there is no room for {size >> 20} MiB; free some.")
