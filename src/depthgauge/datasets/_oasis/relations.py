"""Pairs in OASIS and DIW: which of two pixels is deeper, and how their normals are related.

A pair consists of two pixels and their relation; a row of an array is xA, yA, xB, yB and a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io.text import read_text

Pairs = NDArray[np.int32]

DEEPER = {">": 1, "<": -1}
"""`>`: the first pixel is deeper."""
RELATIONS = {"neither": 0, "parallel": 1, "perpendicular": 2, "orthogonal": 2}
RELATION_NAMES = {0: "neither", 1: "parallel", 2: "perpendicular"}
"""As written in the files."""
RELATIVE_NORMALS = "relative_normal.csv"


def read_depth_pairs(path: Path, width: int, height: int) -> Pairs:
    """Pairs of a `DIW_style_rel_depth` file: one line `yA,xA,yB,xB,>,...` per pair.

    Coordinates start at 0. Those outside the image are moved to its last row or column, as in the
    public code, and fractions are truncated.

    Raises:
        BadFile: A line is wrong.
    """
    pairs = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            cells = line.strip().split(",")
            ya, xa, yb, xb = coordinates(f"{path}, line {number}", cells[:4])
            limits = (width - 1, height - 1, width - 1, height - 1)
            moved = [int(min(v, m)) for v, m in zip((xa, ya, xb, yb), limits, strict=True)]
            pairs.append((*moved, deeper(f"{path}, line {number}", cells[4:5])))
    return np.array(pairs, np.int32).reshape(-1, 5)


def coordinates(where: str, cells: Iterable[str]) -> list[float]:
    """Four numbers that are not negative.

    Raises:
        BadFile: They are not.
    """
    found = list(cells)
    try:
        values = [float(cell) for cell in found]
    except ValueError:
        values = []
    if len(values) != 4 or not all(0 <= value < math.inf for value in values):
        raise BadFile(
            f"{where}: expected four coordinates, at least 0, found '{','.join(found)[:80]}'."
        )
    return values


def deeper(where: str, cells: Iterable[str]) -> int:
    """1 for `>`, -1 for `<`.

    Raises:
        BadFile: It is neither.
    """
    text = next(iter(cells), "").strip()
    if text not in DEEPER:
        raise BadFile(f"{where}: the relation must be > or <, found '{text[:20]}'.")
    return DEEPER[text]


def depth_pairs_text(pairs: Pairs, width: int, height: int) -> str:
    """The lines of a file; each ends with a comma, as the public code drops the last character."""
    signs = {number: sign for sign, number in DEEPER.items()}
    return "".join(
        f"{ya},{xa},{yb},{xb},{signs[rel]},{width},{height},\n"
        for xa, ya, xb, yb, rel in pairs.tolist()
    )


def names_with_relations(path: Path) -> frozenset[str]:
    """The ids of all images with pairs in `relative_normal.csv`."""
    return frozenset(_grouped(path)) if path.is_file() else frozenset()


def read_normal_pairs(path: Path, sample: str, width: int, height: int) -> Pairs:
    """The pairs of one image: one line `image,xA,yA,xB,yB,parallel` per pair.

    Raises:
        BadFile: A line of that image is wrong, or a pixel is outside the image.
    """
    pairs = []
    for number, line in _grouped(path).get(sample, ()):
        where = f"{path}, line {number}"
        cells = [cell.strip() for cell in line.split(",")]
        values = coordinates(where, cells[1:5])
        xa, ya, xb, yb = (int(value) for value in values)
        if [xa, ya, xb, yb] != values or max(xa, xb) >= width or max(ya, yb) >= height:
            raise BadFile(
                f"{where}: the pixels {','.join(cells[1:5])} are not integers or not in the image, "
                f"which is {width}x{height}."
            )
        if len(cells) != 6 or cells[5] not in RELATIONS:
            known = ", ".join(list(RELATIONS)[:3])
            raise BadFile(
                f"{where}: the relation must be {known}, found '{','.join(cells[5:])[:40]}'."
            )
        pairs.append((xa, ya, xb, yb, RELATIONS[cells[5]]))
    return np.array(pairs, np.int32).reshape(-1, 5)


def normal_pairs_text(image: str, pairs: Pairs) -> str:
    """The lines of an image, which is identified by its path."""
    return "".join(
        f"{image},{xa},{ya},{xb},{yb},{RELATION_NAMES[rel]}\n"
        for xa, ya, xb, yb, rel in pairs.tolist()
    )


def other_lines(path: Path, samples: Iterable[str]) -> str:
    """The lines of all other images."""
    left = set(samples)
    groups = _grouped(path) if path.is_file() else {}
    kept = sorted(pair for name, lines in groups.items() if name not in left for pair in lines)
    return "".join(f"{line}\n" for _, line in kept)


def read_plane_relations(path: Path) -> NDArray[np.int32]:
    """Our own file: one line with two plane ids and their relation per pair.

    Raises:
        BadFile: A line is wrong.
    """
    found = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        cells = [cell.strip() for cell in line.split(",")]
        if cells == [""]:
            continue
        if (
            len(cells) != 3
            or cells[2] not in RELATIONS
            or not all(c.isdecimal() for c in cells[:2])
        ):
            raise BadFile(
                f"{path}, line {number}: expected two plane ids and parallel, perpendicular or "
                f"neither, found '{line[:60]}'."
            )
        found.append((int(cells[0]), int(cells[1]), RELATIONS[cells[2]]))
    return np.array(found, np.int32).reshape(-1, 3)


def plane_relations_text(relations: NDArray[np.int32]) -> str:
    """The lines of our own file."""
    return "".join(f"{a},{b},{RELATION_NAMES[rel]}\n" for a, b, rel in relations.tolist())


def _grouped(path: Path) -> Mapping[str, list[tuple[int, str]]]:
    """The lines of `relative_normal.csv` by image, read once until the file changes."""
    state = path.stat()
    return _read_grouped(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=2)
def _read_grouped(path: Path, _changed: int, _size: int) -> Mapping[str, list[tuple[int, str]]]:
    groups: dict[str, list[tuple[int, str]]] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        image = line.partition(",")[0].strip()
        # A header line, which the public file does not have, belongs to no image.
        if image and image.lower() != "image":
            groups.setdefault(Path(image).stem, []).append((number, line))
    return groups
