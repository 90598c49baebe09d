"""Finds and reads the records of many annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from depthgauge._progress import Progress
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.annotate.records.files import history
from depthgauge.errors import BadData, DepthgaugeError

RECORDS = "records"
SUFFIX = ".jsonl"


@dataclass(frozen=True)
class RecordFile:
    """One file of records."""

    path: Path
    who: str
    """The folder's name if each person has a folder; otherwise what the records say."""
    annotation: Annotation


def find_records(places: Iterable[Path]) -> list[Path]:
    """All files of records, sorted: files as given; for folders, the files in or below them.

    In a folder with a subfolder `records`, only that is searched.

    Raises:
        BadData: A place does not exist, or has no records.
    """
    found: list[Path] = []
    for place in places:
        if place.is_file():
            found.append(place)
            continue
        if not place.is_dir():
            raise BadData(f"{place}: there is no such file or folder of records.")
        root = place / RECORDS if (place / RECORDS).is_dir() else place
        inside = sorted(path for path in root.rglob(f"*{SUFFIX}") if path.is_file())
        if not inside:
            raise BadData(f"{root}: has no records; expected files that end in {SUFFIX}.")
        found += inside
    return found


def read_all(
    places: Iterable[Path],
    *,
    notes: Callable[[str], None],
    progress: Progress | None = None,
) -> Iterator[RecordFile]:
    """Reads records one after the other; a damaged file is left out, the others are read.

    Args:
        places: Files and folders.
        notes: Called with a sentence about each file that was left out.
        progress: Called before each file.

    Raises:
        BadData: No file can be read.
    """
    given = list(places)
    paths = find_records(given)
    read = 0
    for done, path in enumerate(paths):
        if progress is not None:
            progress(path.stem, done, len(paths))
        try:
            told = history(path)
            annotation = told.annotation
        except DepthgaugeError as error:
            notes(f"left out: {error}")
            continue
        for note in told.notes:
            notes(note)
        read += 1
        yield RecordFile(path, _who(path, given, annotation), annotation)
    if not read:
        raise BadData(f"none of the {len(paths)} files of records can be read.")


def _who(path: Path, places: list[Path], annotation: Annotation) -> str:
    tops = {place for place in places} | {place / RECORDS for place in places}
    if path not in tops and path.parent not in tops:
        return path.parent.name
    return annotation.origin.who or path.parent.name
