"""Depth in the Wild: pictures with one pair of pixels each, one of them deeper (Michigan)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, expected, reader
from depthgauge.datasets._oasis.index import Folder
from depthgauge.datasets._oasis.reading import picture_size, read_picture
from depthgauge.datasets._oasis.relations import DEEPER, deeper
from depthgauge.datasets._paths import inside
from depthgauge.errors import BadData, BadFile, CannotWrite, DoesNotFit, Unavailable
from depthgauge.io.text import read_text
from depthgauge.types import Inputs, Map, Sample, Truth

__all__ = ["SPEC", "samples", "write"]

_FILES = {
    "test": ("DIW_test.csv",),
    "train": ("DIW_train.csv",),
    "val": ("DIW_val.csv",),
    "train-val": ("DIW_train_val.csv",),
    "all": ("DIW_test.csv", "DIW_train_val.csv", "DIW_train.csv", "DIW_val.csv"),
}
_FOLDERS = ("", "DIW_Annotations/")
_OF_BOTH = "DIW_train_val"

SPEC = DatasetSpec(
    id="diw",
    title="Depth in the Wild, pairs of pixels",
    quantities=("depth",),
    splits=tuple(_FILES),
    licence="images have their own licences",
    cite="Chen, Fu, Yang & Deng, Single-image depth perception in the wild, NeurIPS 2016",
    homepage="http://www-personal.umich.edu/~wfchen/depth-in-the-wild/",
    sample_layout="DIW_test.csv (or _train, _val, _train_val), here or in DIW_Annotations/, in "
    "which a line with an image's path is followed by one with yA,xA,yB,xB,>,width,height; the "
    "images as the paths say",
    estimate_layouts=("depth/{sample}.npy",),
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample per image, named after its file; the truth has the pair, and no depth map.

    Coordinates in the files start at 1, as the authors' own code reads them; in `relative_depth`
    they start at 0. `all` contains every existing list; `DIW_train.csv` and `DIW_val.csv` are used
    only if there is no `DIW_train_val.csv`, which contains both.
    """
    lists = _lists(root, split)
    if not lists:
        raise BadData(f"{root}: there is no {' or '.join(_FILES[split])}. {expected(SPEC)}")
    found: dict[str, tuple[Path, list[str]]] = {}
    for path in lists:
        for image, line, where in _pairs(root, path):
            known = found.setdefault(image.stem, (image, []))
            if known[0] != image:
                raise BadData(f"{where}: two images are called '{image.stem}'; rename one.")
            known[1].append(f"{where}\t{line}")
    for name in sorted(found):
        image, lines = found[name]
        truth = {
            "depth": partial(_nothing, image),
            "relative_depth": partial(_read_pairs, image, "\n".join(lines)),
        }
        yield Sample(name, Inputs({"left_image": partial(read_picture, image)}), Truth(truth))


def _lists(root: Path, split: str) -> list[Path]:
    named = ([root / f"{folder}{name}" for folder in _FOLDERS] for name in _FILES[split])
    found = [next((p for p in places if p.is_file()), None) for places in named]
    lists = [path for path in found if path is not None]
    if any(path.stem == _OF_BOTH for path in lists):
        lists = [path for path in lists if path.stem in (_OF_BOTH, "DIW_test")]
    return lists


def _pairs(root: Path, path: Path) -> Iterator[tuple[Path, str, str]]:
    """Each image with the line that follows it, and the place of that line."""
    try:
        lines = enumerate(read_text(path).split("\n"), start=1)
        filled = [(number, line.strip()) for number, line in lines if line.strip()]
    except BadFile as error:
        raise BadData(f"{path}: the list cannot be read: {error}") from None
    if len(filled) % 2:
        raise BadData(
            f"{path}: expected pairs of lines, an image and its pixels; one line is left over."
        )
    folder = Folder(root)
    for (_, image), (number, pair) in zip(filled[::2], filled[1::2], strict=True):
        where = f"{path}, line {number}"
        relative = image.partition(",")[0].removeprefix("./")
        yield folder.inside(relative, where), pair.replace("\t", " "), where


def _read_pairs(image: Path, lines: str) -> NDArray[np.int32]:
    height, width = picture_size(image)
    parts = (line.rpartition("\t") for line in lines.split("\n"))
    found = [_pair(where, line, width, height) for where, _, line in parts]
    return np.array(found, np.int32).reshape(-1, 5)


def _pair(where: str, line: str, width: int, height: int) -> tuple[int, ...]:
    """xA, yA, xB, yB and the relation, in pixels of the picture on disk."""
    cells = [cell.strip() for cell in line.split(",")]
    try:
        numbers = [float(cell) for cell in (*cells[:4], *(cells[5:7] or (width, height)))]
    except ValueError:
        numbers = []
    # Written so that NaN fails.
    if len(numbers) != 6 or not all(1 <= number < math.inf for number in numbers):
        raise BadFile(
            f"{where}: expected yA,xA,yB,xB,relation,width,height with coordinates starting at 1, "
            f"found '{line[:80]}'."
        )
    ya, xa, yb, xb, of_width, of_height = numbers
    # For a picture that was shrunk, scaled as in the authors' training code.
    left, right = (_scaled(x, of_width, width) for x in (xa, xb))
    top, bottom = (_scaled(y, of_height, height) for y in (ya, yb))
    return left, top, right, bottom, deeper(where, cells[4:5])


def _scaled(place: float, of: float, size: int) -> int:
    scaled = place if of == size else place / of * size
    return min(max(math.floor(min(scaled, float(size))), 1), size) - 1


def _nothing(image: Path) -> Map:
    return np.full(picture_size(image), np.nan, np.float32)


def write(
    root: Path, samples: Iterable[Sample], *, split: str = "test", overwrite: bool = False
) -> None:
    """Writes pictures and the list of their pairs; each further pair repeats the image's line.

    Args:
        root: The dataset's folder.
        samples: With a `left_image` and `relative_depth`.
        split: `test`, `train`, `val` or `train-val`.
        overwrite: Replace an existing list.

    Raises:
        CannotWrite: The list already exists.
        Unavailable: A sample has no pairs.
    """
    root = Path(root)
    if split not in _FILES or split == "all":
        raise DoesNotFit(f"a split of DIW is {', '.join(list(_FILES)[:-1])}, not '{split}'.")
    place = root / _FILES[split][0]
    if place.exists() and not overwrite:
        raise CannotWrite(
            f"{place}: already exists; use --overwrite (overwrite=True) to replace it."
        )
    folder = "DIW_test" if split == "test" else _OF_BOTH
    lines: list[str] = []
    for sample in samples:
        lines += _write_sample(root, folder, sample.fresh())
    io.write_text(place, "".join(lines))


def _write_sample(root: Path, folder: str, sample: Sample) -> Iterator[str]:
    items: dict[str, Any] = {**sample.inputs, **(sample.truth or {})}
    for item in ("left_image", "relative_depth"):
        if item not in items:
            raise Unavailable(f"sample '{sample.id}' has no {item}, which DIW needs.")
    path = inside(root, f"{folder}/{sample.id}.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    image = items["left_image"]
    io.write_image(path, image)
    signs = {number: sign for sign, number in DEEPER.items()}
    for xa, ya, xb, yb, relation in np.asarray(items["relative_depth"]).tolist():
        yield f"./{folder}/{sample.id}.png\n"
        size = f"{image.shape[1]},{image.shape[0]}"
        yield f"{ya + 1},{xa + 1},{yb + 1},{xb + 1},{signs[relation]},{size}\n"
