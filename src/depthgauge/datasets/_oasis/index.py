"""The index of OASIS: one CSV per split, and the location of the files that it lists."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from depthgauge.datasets._dataset import DatasetSpec, expected
from depthgauge.datasets._paths import inside, unsafe
from depthgauge.errors import BadData, BadFile
from depthgauge.io.text import read_text

COLUMNS = (
    "Image",
    "FocalLength",
    "Mask",
    "Normal",
    "Depth",
    "RelativeDepth",
    "Fold",
    "Occlusion",
    "SharpOcc",
    "SmoothOcc",
    "SurfaceSemantic",
    "PlanarInstance",
    "SmoothInstance",
    "ContinuousInstance",
)
_PATHS = tuple(name for name in COLUMNS if name != "FocalLength")
FOLDERS = {"train": "OASIS_trainval", "val": "OASIS_trainval", "test": "OASIS_test"}
"""The folder of each split's files below the dataset's folder."""
SPLITS = tuple(FOLDERS)
_MARKS = ("OASIS_trainval", "OASIS_test")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}")
"""File names that need no further check; an index has a million of them."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an index: the image, and the files that belong to it."""

    id: str
    image: Path
    focal: str
    """As written in the file, in px; empty if unknown."""
    files: dict[str, Path]
    """By column; only the files that the line lists."""
    where: str
    """The index and the line, for error messages."""


def index_name(split: str) -> str:
    """The file name of a split's index.

    >>> index_name("val")
    'OASIS_val.csv'
    """
    return f"OASIS_{split}.csv"


def read_index(spec: DatasetSpec, root: Path, split: str) -> Iterator[Row]:
    """The rows of a split by id; for `all`, those of every existing index.

    Raises:
        BadData: There is no index, or one of its lines is wrong.
    """
    wanted = SPLITS if split == "all" else (split,)
    found = [path for path in (_find(root, name) for name in wanted) if path is not None]
    if not found:
        names = " or ".join(index_name(name) for name in wanted)
        raise BadData(f"{root}: there is no {names}. {expected(spec)}")
    rows: dict[str, Row] = {}
    for path in found:
        for row in read_rows(root, path):
            if row.id in rows:
                raise BadData(
                    f"{row.where}: image '{row.id}' is already in {rows[row.id].where}; "
                    "every image has one line."
                )
            rows[row.id] = row
    yield from (rows[name] for name in sorted(rows))


def _find(root: Path, split: str) -> Path | None:
    name = index_name(split)
    places = (root / name, root / FOLDERS[split] / name)
    return next((path for path in places if path.is_file()), None)


def read_rows(root: Path, path: Path) -> Iterator[Row]:
    """The rows of one index, in its order.

    Paths in it are relative to `root`. Indices made for another folder work too:
    `./OASIS_trainval/...` and, if that is not a file, the part after `OASIS_trainval` of
    `/home/me/OASIS/OASIS_trainval/...`.

    Raises:
        BadData: Columns are missing, or a path leads outside `root`.
    """
    lines = _lines(path)
    header = lines[0][1] if lines else []
    if [name.strip() for name in header] != list(COLUMNS):
        raise BadData(
            f"{path}: expected the {len(COLUMNS)} columns {','.join(COLUMNS)}, found "
            f"{','.join(header)[:200] or 'nothing'}."
        )
    place: Callable[[str], str] | None = None
    folder = Folder(root)
    for number, cells in lines[1:]:
        where = f"{path}, line {number}"
        row = _named(cells, where)
        if place is None:
            place = _placing(root, row["Image"])
        files = {name: folder.inside(place(row[name]), where) for name in _PATHS if row[name]}
        image = files.pop("Image", None)
        if image is None:
            raise BadData(f"{where}: has no image.")
        yield Row(image.stem, image, row["FocalLength"], files, where)


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers."""
    try:
        reader = csv.reader(read_text(path).split("\n"))
        return [(reader.line_num, cells) for cells in reader if any(c.strip() for c in cells)]
    except (BadFile, csv.Error) as error:
        raise BadData(f"{path}: the index cannot be read: {error}") from None


def _named(cells: list[str], where: str) -> dict[str, str]:
    if len(cells) != len(COLUMNS):
        raise BadData(
            f"{where}: expected {len(COLUMNS)} columns, found {len(cells)}; leave a cell empty "
            "if there is no file."
        )
    return dict(zip(COLUMNS, (cell.strip() for cell in cells), strict=True))


def _placing(root: Path, image: str) -> Callable[[str], str]:
    """How to make the paths of an index relative to `root`, judged by its first image."""
    for way in (_as_is, _from_mark, _after_mark):
        relative = way(image)
        if not unsafe(relative) and (root / relative).is_file():
            return way
    return _as_is if not unsafe(_as_is(image)) else _from_mark


def _as_is(text: str) -> str:
    while text.startswith("./"):
        text = text[2:].lstrip("/")
    return text


def _from_mark(text: str) -> str:
    parts = text.split("/")
    starts = [i for i, part in enumerate(parts) if part in _MARKS]
    return "/".join(parts[starts[-1] :]) if starts else text


def _after_mark(text: str) -> str:
    relative = _from_mark(text)
    return relative.partition("/")[2] if relative.startswith(_MARKS) else relative


class Folder:
    """Refuses paths that leave a folder; each folder on the way is resolved once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._below = lru_cache(maxsize=None)(lambda relative: inside(root, relative))

    def inside(self, relative: str, where: str) -> Path:
        """The path below the folder.

        Raises:
            BadData: It leads outside; the message says `where` it was found.
        """
        above, _, name = relative.rpartition("/")
        if (_NAME.fullmatch(name) is None or not above) and (why := unsafe(relative)):
            raise BadData(f"{where}: the path '{relative[:200]}' is refused: {why}.")
        try:
            return (self._below(above) if above else self._root) / name
        except BadData as error:
            raise BadData(f"{where}: {error}") from None
