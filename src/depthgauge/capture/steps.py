"""Steps on disk: each has a folder in the work folder, and is done or not.

A step's folder contains its results and `step.json`: its options, a key of everything that it was
made from, and figures for people to read. A step whose key is unchanged is not repeated. A step is
made in a temporary folder beside its own, which gets its name only when it is complete; a killed
step finds its earlier work there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge._canonical import hash_json
from depthgauge.errors import BadData, CannotWrite
from depthgauge.io._locks import only_one
from depthgauge.io.text import parse_json

SCHEMA = 1
_RECORD = "step.json"


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is done."""

    name: str
    folder: Path
    key: str
    """Key of options, code revision and everything that it was made from."""
    options: Mapping[str, Any]
    figures: Mapping[str, Any]
    """Figures for people: counts, errors, names of what was dropped."""
    warnings: tuple[str, ...] = ()
    """One sentence each."""
    after: Mapping[str, str] = field(default_factory=dict)
    """The steps that it was made from, and their keys at that time."""
    pictures: str = ""
    """Hash of the files that it shows and that no later step depends on."""
    fresh: bool = True
    """False if it was done before."""


@dataclass(frozen=True, slots=True)
class StepOutput:
    """What the function that makes a step returns."""

    figures: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


def do_step(
    work: Path,
    name: str,
    make: Callable[[Path], StepOutput],
    *,
    options: Mapping[str, Any],
    revision: int,
    after: Iterable[Step] = (),
    files: Iterable[Path] = (),
    pictures: Iterable[Path] = (),
    again: bool = False,
) -> Step:
    """Does a step, unless it was already done from the same inputs.

    Args:
        work: The work folder.
        name: The step's name, which is also the name of its folder.
        make: Fills the given folder, in which an interrupted attempt may have left files of the
            same key.
        options: All options of the step, as plain data.
        revision: Raised whenever the code may change a value.
        after: Steps whose files it reads.
        files: Other files that it reads; their content is part of the key.
        pictures: Files that no later step depends on: when they change, this step is repeated
            but the steps after it are not.
        again: Do it even if nothing has changed.
    """
    made_from = {step.name: step.key for step in after}
    hashes = [[path.name, file_hash(path)] for path in files]
    plain = {"step": name, "revision": revision, "options": options}
    key = hash_json({**plain, "after": made_from, "files": hashes})
    shown = hash_json([[path.name, file_hash(path)] for path in pictures])
    done = _read(work, name)
    if done is not None and not again and (done.key, done.pictures) == (key, shown):
        return done
    part = work / f".{name}-{hash_json([key, shown])[:16]}.part"
    _make_folder(work)
    with only_one(work / ".lock", f"{work}: another process is working here; wait for it."):
        _begin(work, name, part)
        made = make(part)
        record = {
            "schema": SCHEMA,
            "step": name,
            "key": key,
            "pictures": shown,
            "after": made_from,
            "options": dict(options),
            "figures": dict(made.figures),
            "warnings": list(made.warnings),
            "files": _sizes(part),
        }
        io.write_text(part / _RECORD, json.dumps(record, indent=2, allow_nan=False) + "\n")
        _put_in_place(part, work / name)
    return Step(
        name, work / name, key, dict(options), dict(made.figures), made.warnings, made_from, shown
    )


def read_step(work: Path, name: str) -> Step:
    """A step that is done and up to date.

    Raises:
        BadData: It is not done, or was made from another version of an earlier step; the message
            says what to run.
    """
    step = _read(work, name)
    if step is None:
        raise BadData(f"{work}: step '{name}' is not done yet; run `depthgauge capture {name}`.")
    other = _outdated(work, step)
    if other:
        raise BadData(
            f"{work}: step '{name}' is out of date because '{other}' has changed; run "
            "`depthgauge capture run` on the session again."
        )
    return step


def has_step(work: Path, name: str) -> bool:
    """Whether a step is done and up to date."""
    step = _read(work, name)
    return step is not None and not _outdated(work, step)


def is_outdated(work: Path, name: str) -> bool:
    """Whether a step is done but was made from something that has changed since."""
    step = _read(work, name)
    return step is not None and bool(_outdated(work, step))


def _outdated(work: Path, step: Step) -> str:
    """The first step before this one that has changed since; empty if none has."""
    for name, key in step.after.items():
        before = _read(work, name)
        if before is None or before.key != key:
            return name
        if found := _outdated(work, before):
            return found
    return ""


def file_hash(path: Path) -> str:
    """SHA-256 of a file's content."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadData(f"{path}: cannot be read: {error.strerror}.") from None


def _read(work: Path, name: str) -> Step | None:
    path = work / name / _RECORD
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            return None
        warnings = tuple(str(w) for w in data["warnings"])
        known = (str(data["key"]), dict(data["options"]), dict(data["figures"]), warnings)
        made_from = {str(n): str(k) for n, k in data["after"].items()}
        shown = str(data["pictures"])
        whole = all(_size(work / name / file) == size for file, size in data["files"].items())
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        return None  # not done, or damaged: it is done again
    if not whole:
        return None  # a file is missing
    return Step(name, work / name, *known, made_from, shown, fresh=False)


def _sizes(folder: Path) -> dict[str, int]:
    """Sizes of a step's files, to notice when some are missing."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1


def _make_folder(work: Path) -> None:
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"{work}: cannot be written: {error.strerror or error}.") from None


def _begin(work: Path, name: str, part: Path) -> None:
    try:
        for old in work.glob(f".{name}-*.part"):
            if old != part:  # made with other options: can never be completed
                shutil.rmtree(old, ignore_errors=True)
        part.mkdir(exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"{work}: cannot be written: {error.strerror or error}.") from None


def _put_in_place(part: Path, folder: Path) -> None:
    """The complete folder gets its name; the old one is removed last."""
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    try:
        if folder.exists():
            os.replace(folder, old)
        os.replace(part, folder)
    except OSError as error:
        raise CannotWrite(f"{folder}: cannot be written: {error.strerror or error}.") from None
    shutil.rmtree(old, ignore_errors=True)
