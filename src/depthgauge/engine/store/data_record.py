"""What a run read: hashes of its inputs by content, and the marks of the files they came from.

`data.json` in the run folder has, for each sample, the hash of every input that a method was given,
and the size, times, device and inode of every file of the sample. While the marks of all files are
the same, nothing is read again; where one differs, the values are hashed and compared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from depthgauge.errors import BadFile
from depthgauge.io import write_text
from depthgauge.types import Frames, Sample

SCHEMA = 1
NAME = "data.json"

Mark = list[int]
"""Size, time of change and of its record in ns, device, inode."""


@dataclass(frozen=True)
class DataRecord:
    """What the folder's `data.json` says; empty for runs of earlier versions."""

    files: Mapping[str, Mapping[str, Mark]] = field(default_factory=dict)
    """By sample, then by path."""
    inputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By sample, then by item: SHA-256 of its values."""

    def with_files(self, marks: Mapping[str, Mapping[str, Mark]]) -> DataRecord:
        """The same with the marks of some samples as they are now."""
        return DataRecord({**self.files, **marks}, self.inputs)

    def to_json(self) -> dict[str, Any]:
        """As it is written."""
        return {"schema": SCHEMA, "files": self.files, "inputs": self.inputs}


def read_record(folder: Path) -> DataRecord:
    """The record of a run folder; an empty one where there is none.

    Raises:
        BadFile: It is damaged.
    """
    path = folder / NAME
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body["schema"] != SCHEMA:
            raise BadFile(f"{path}: schema {body['schema']}, this version reads {SCHEMA}.")
        return DataRecord(_tables(body["files"], list), _tables(body["inputs"], str))
    except FileNotFoundError:
        return DataRecord()
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}).") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BadFile(
            f"{path}: is damaged ({type(error).__name__}); put it back as it was, or begin a new "
            "run in another folder."
        ) from error


def write_record(folder: Path, record: DataRecord) -> None:
    """Replaces the record."""
    write_text(folder / NAME, json.dumps(record.to_json(), separators=(",", ":")) + "\n")


def _tables(body: Mapping[str, Any], kind: type) -> dict[str, dict[str, Any]]:
    found = {name: dict(table) for name, table in body.items()}
    if not all(isinstance(v, kind) for table in found.values() for v in table.values()):
        raise ValueError("an entry of another type")
    return found


def marks_of(sample: Sample, root: Path) -> dict[str, Mark]:
    """The marks of the files behind a sample, by path below the data's folder where they are."""
    found: dict[str, Mark] = {}
    truth = {} if sample.truth is None else sample.truth.unread()
    for path in _paths((*sample.inputs.unread().values(), *truth.values())):
        for file in _files(path):
            try:
                told = os.stat(file)
            except OSError:
                continue  # whoever reads it says so
            name = str(file.relative_to(root)) if file.is_relative_to(root) else str(file)
            times = (told.st_mtime_ns, told.st_ctime_ns)
            found[name] = [told.st_size, *times, told.st_dev, told.st_ino]
    return found


def _paths(things: Iterable[Any]) -> Iterator[Path]:
    """The paths that loaders were given; a loader of another form has none that can be seen."""
    for thing in things:
        if isinstance(thing, Path):
            yield thing
        elif isinstance(thing, partial):
            yield from _paths((thing.func, *thing.args, *thing.keywords.values()))
        elif isinstance(thing, Frames):
            yield from _paths(thing.unread())
        elif isinstance(thing, (tuple, list)):
            yield from _paths(thing)


def _files(path: Path) -> list[Path]:
    """The file; of a folder, the files in it."""
    return sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]
