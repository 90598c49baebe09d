"""Many small files as one: a ZIP file without compression, read member by member."""

from __future__ import annotations

import functools
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

from depthgauge.errors import BadFile

INDEX = "index.json"
"""The member that says what the others are."""
_LOCAL_HEADER = struct.Struct("<26xHH")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_pack(folder: Path, file: Path) -> int:
    """Packs everything below a folder; the same files give the same bytes. Returns their number."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as made:
        for path in paths:
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _EPOCH)
            made.writestr(entry, path.read_bytes())
    return len(paths)


def read_member(file: Path, name: str) -> bytes | None:
    """One of the packed files; None if there is none of that name.

    Raises:
        BadFile: The pack is damaged.
    """
    place = _places(file).get(name)
    if place is None:
        return None
    offset, size = place
    with open(file, "rb") as opened:
        opened.seek(offset)
        lengths = _LOCAL_HEADER.unpack(opened.read(_LOCAL_HEADER.size))
        opened.seek(sum(lengths), 1)
        return opened.read(size)


@functools.lru_cache(maxsize=128)
def _places(file: Path) -> Mapping[str, tuple[int, int]]:
    """Where each member begins, and its size; blobs never change, so it is read once."""
    try:
        with zipfile.ZipFile(file) as packed:
            return {each.filename: (each.header_offset, each.file_size) for each in packed.filelist}
    except (OSError, zipfile.BadZipFile) as error:
        raise BadFile(f"{file}: is no pack, or damaged ({error}); have it drawn again.") from None
