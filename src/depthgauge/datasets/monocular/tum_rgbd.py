"""TUM RGB-D: sequences of colour and depth pictures that are paired by their times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, expected, reader
from depthgauge.datasets._paths import inside
from depthgauge.datasets.monocular._frames import (
    depth_of,
    frame,
    in_order,
    read_codes,
    split_id,
    write_codes,
    write_picture,
)
from depthgauge.errors import BadData
from depthgauge.io.text import read_text
from depthgauge.types import Sample

_PER_METRE = 5000
_MOST_APART_S = 0.02

SPEC = DatasetSpec(
    id="tum-rgbd",
    title="TUM RGB-D sequences",
    quantities=("depth",),
    splits=("all",),
    licence="CC BY 4.0",
    cite="Sturm et al., A benchmark for the evaluation of RGB-D SLAM systems, IROS 2012",
    homepage="https://cvg.cit.tum.de/data/datasets/rgbd-dataset",
    sample_layout="<sequence>/ with rgb.txt and depth.txt, whose lines are a time and a file, "
    "rgb/<time>.png and depth/<time>.png (metres * 5000, 0 is missing)",
    png_scales={"depth": _PER_METRE},
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """Samples `<sequence>/<time of the picture>`, each with the depth map nearest in time.

    Pairs are at most 0.02 s apart and are chosen as by the authors' `associate.py`: the nearest
    pair first, each file once. Pictures without a partner are left out.
    """
    yield from in_order(SPEC, root, _found(root))


def _found(root: Path) -> Iterator[Sample]:
    own = (root / "depth.txt").is_file()
    folders = [root.resolve()] if own else sorted(p for p in root.iterdir() if p.is_dir())
    for folder in folders:
        if (folder / "depth.txt").is_file():
            yield from _sequence(folder)


def _sequence(folder: Path) -> Iterator[Sample]:
    pictures, depths = (_entries(folder / name) for name in ("rgb.txt", "depth.txt"))
    read = partial(read_codes, per_metre=_PER_METRE)
    for i, j in pair_by_time([t for t, _, _ in pictures], [t for t, _, _ in depths]):
        _, time, file = pictures[i]
        picture, depth = inside(folder, file), inside(folder, depths[j][2])
        yield frame(f"{folder.name}/{time}", picture, depth, read, folder.name)


def _entries(path: Path) -> list[tuple[float, str, str]]:
    """Times (as numbers and as written) and files of a list."""
    if not path.is_file():
        raise BadData(f"{path.parent}: there is no {path.name}. {expected(SPEC)}")
    found = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        try:
            found.append((float(words[0]), words[0], words[1]))
        except (ValueError, IndexError):
            raise BadData(f"{path}, line {number}: expected a time and a file.") from None
    return found


def pair_by_time(
    first: list[float], second: list[float], most_apart_s: float = _MOST_APART_S
) -> list[tuple[int, int]]:
    """Indices of pairs of times, nearest pairs first chosen, in the order of the first list.

    >>> pair_by_time([0.0, 0.03, 1.0], [0.001, 0.028, 0.5])
    [(0, 0), (1, 1)]
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    order = np.argsort(b, kind="stable")
    low = np.searchsorted(b[order], a - most_apart_s, "left")
    high = np.searchsorted(b[order], a + most_apart_s, "right")
    near = [(abs(a[i] - b[j]), i, int(j)) for i in range(a.size) for j in order[low[i] : high[i]]]
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for apart, i, j in sorted(near):
        if apart < most_apart_s and i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return sorted(pairs.items())


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes sequences; the times of a picture and of its depth are the same."""
    lists: dict[Path, list[str]] = {}
    for sample in samples:
        sequence, time = split_id(sample.id, "/", "<sequence>/<time>")
        folder = inside(Path(root), sequence)
        write_codes(folder / "depth" / f"{time}.png", depth_of(sample), _PER_METRE)
        write_picture(folder / "rgb" / f"{time}.png", sample.inputs)
        lists.setdefault(folder, []).append(time)
    for folder, times in lists.items():
        for name in ("rgb", "depth"):
            lines = [f"{time} {name}/{time}.png\n" for time in sorted(times, key=float)]
            io.write_text(folder / f"{name}.txt", "# timestamp filename\n" + "".join(lines))
