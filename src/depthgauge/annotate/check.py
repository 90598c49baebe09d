"""What people should mend in many files of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from depthgauge.annotate.problems import problems_of
from depthgauge.annotate.reconstruct import reconstruct
from depthgauge.annotate.record_folders import find_records
from depthgauge.annotate.records import history
from depthgauge.errors import DepthgaugeError


def check_records(
    places: Iterable[Path], *, progress: Callable[[str, int, int], None] | None = None
) -> dict[Path, tuple[str, ...]]:
    """The problems of every file, in sentences; none for a file that is right.

    Depth orders are checked by reconstructing.

    Args:
        places: Files and folders of records.
        progress: Called before each file.

    Raises:
        BadData: There are no records.
    """
    paths = find_records(places)
    found: dict[Path, tuple[str, ...]] = {}
    for done, path in enumerate(paths):
        if progress is not None:
            progress(path.stem, done, len(paths))
        found[path] = tuple(_problems(path))
    return found


def _problems(path: Path) -> list[str]:
    try:
        told = history(path)
        annotation = told.annotation
        problems = [*told.notes, *problems_of(annotation)]
        made = reconstruct(annotation)
    except DepthgaugeError as error:
        return [str(error).removeprefix(f"{path}: ")]
    if made.violated:
        strokes = ", ".join(made.violated)
        problems.append(f"The depth orders of strokes {strokes} do not hold; check their sides.")
    return problems
