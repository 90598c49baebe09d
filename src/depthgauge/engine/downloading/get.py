"""Gets a public dataset: licence, files, checksums, unpacking, and a record of all of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from depthgauge.engine.downloading.fetch import Fetched, fetch
from depthgauge.engine.downloading.manifest import Manifest, RemoteFile, find_manifest
from depthgauge.engine.downloading.unpack import unpack
from depthgauge.errors import BadFile, Misuse
from depthgauge.io import write_text
from depthgauge.io.text import read_json

RECORD = "download.json"
ARCHIVES = "downloads"
"""The folder of the files as they came."""
Progress = Callable[[str, int, int | None], None]
"""Called with the name of a file, the bytes that are there, and all of them if that is known."""


@dataclass(frozen=True)
class Got:
    """A dataset that is there."""

    manifest: Manifest
    folder: Path
    data: Path
    """What `--data` takes."""
    fetched: tuple[str, ...]
    """Files that came with this call."""
    known: tuple[str, ...]
    """Files that were there already."""
    unchecked: Mapping[str, str]
    """SHA-256 of files for which none was known: recorded now, to compare later downloads with."""
    unpacked: int
    """Files that were unpacked by this call."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "schema": 1,
            "id": self.manifest.id,
            "dataset": self.manifest.dataset,
            "licence": self.manifest.licence,
            "folder": str(self.folder),
            "data": str(self.data),
            "fetched": list(self.fetched),
            "already_there": list(self.known),
            "recorded_sha256": dict(self.unchecked),
            "unpacked": self.unpacked,
        }


def get_data(
    name: str,
    out: str | Path,
    *,
    accept: bool = False,
    keep_archives: bool = False,
    progress: Progress | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> Got:
    """Downloads a dataset and unpacks it; continues an interrupted call.

    Args:
        name: The id of a manifest, or the path of one.
        out: The folder.
        accept: Whether the user has read and accepts the terms.
        keep_archives: Whether archives stay in `downloads` after they were unpacked.
        progress: Called while files are read.
        wait: Waits that many seconds between attempts.

    Raises:
        Misuse: The terms are not accepted.
        Unavailable: A file cannot be reached; says what to do.
        BadFile: A file is not the expected one, or an archive is damaged or hostile.
        CannotWrite: The disk has too little space.
    """
    manifest = find_manifest(name)
    folder = Path(out)
    record = _read_record(folder, manifest)
    if not accept and not record.get("accepted"):
        raise Misuse(f"{manifest.id}: {manifest.terms} Accept these terms to download it.")
    record.setdefault("accepted", _now())
    fetched, known, unpacked = [], [], 0
    unchecked: dict[str, str] = {}
    for file in manifest.files:
        before = record["files"].get(file.file_name, {})
        if before.get("done") and _is_there(file, folder):
            known.append(file.file_name)
            continue
        found = fetch(
            file,
            folder / ARCHIVES,
            expected=before.get("sha256"),
            progress=None if progress is None else _named(progress, file.file_name),
            wait=wait,
        )
        entry = _entry(found, before)
        if not found.checked:
            unchecked[file.file_name] = found.sha256
        _write_record(folder, record, file, entry)
        unpacked += _place(file, found.path, folder, keep_archives)
        _write_record(folder, record, file, {**entry, "done": True})
        fetched.append(file.file_name)
    return Got(
        manifest,
        folder,
        folder / manifest.folder,
        tuple(fetched),
        tuple(known),
        unchecked,
        unpacked,
    )


def _place(file: RemoteFile, path: Path, folder: Path, keep: bool) -> int:
    """Unpacks an archive, or moves a plain file to its place."""
    target = folder / file.into
    if file.unpack == "none":
        target.mkdir(parents=True, exist_ok=True)
        os.replace(path, target / file.file_name)
        return 1
    n = unpack(path, file.unpack, target)
    if not keep:
        path.unlink()
    return n


def _is_there(file: RemoteFile, folder: Path) -> bool:
    """Whether what a finished file left is still there; of an archive, only its folder is asked."""
    place = folder / file.into
    return (place / file.file_name).is_file() if file.unpack == "none" else place.is_dir()


def _entry(found: Fetched, before: Mapping[str, Any]) -> dict[str, Any]:
    listed = "manifest" if found.checked and not before.get("sha256") else "first download"
    return {
        "url": found.url or before.get("url", ""),
        "size": found.size,
        "sha256": found.sha256,
        "sha256_from": before.get("sha256_from", listed),
        "date": _now(),
    }


def _named(progress: Progress, name: str) -> Callable[[int, int | None], None]:
    return lambda done, whole: progress(name, done, whole)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _read_record(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """What earlier calls recorded in the folder."""
    path = folder / RECORD
    if not path.is_file():
        return {"schema": 1, "id": manifest.id, "licence": manifest.licence, "files": {}}
    found = read_json(path)
    if not isinstance(found, dict) or not isinstance(found.get("files"), dict):
        raise BadFile(f"{path}: is not a record of a download; delete it or use another folder.")
    if found.get("id") != manifest.id:
        raise Misuse(
            f"{folder}: has the dataset '{found.get('id')}'; choose another folder with --out."
        )
    return found


def _write_record(
    folder: Path, record: dict[str, Any], file: RemoteFile, entry: Mapping[str, Any]
) -> None:
    record["files"][file.file_name] = dict(entry)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / RECORD, json.dumps(record, indent=1, sort_keys=True) + "\n")
