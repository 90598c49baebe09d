"""Pictures with a matte of a foreground object: AM-2k, P3M-10k, DIS-5k and alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._paths import inside
from depthgauge.datasets.monocular._frames import picture_of, write_picture
from depthgauge.errors import Unavailable
from depthgauge.types import Inputs, Map, Mask, Sample, Truth

_MASKS = ("mask", "gt", "alpha", "masks")
_PICTURES = ("original", "original_image", "im", "images", "blurred_image")
_LEAST_ALPHA = 0.1
_WHITE = 255

SPEC = DatasetSpec(
    id="mattes",
    title="Mattes of foreground objects",
    quantities=("depth",),
    splits=("all",),
    licence="that of the pictures",
    cite="Li et al., AM-2k, IJCV 2022; Li et al., P3M-10k, ACM MM 2021; Qin et al., DIS5K, ECCV "
    "2022",
    homepage="https://github.com/JizhiziLi/GFM",
    sample_layout="mask/<name>.png (or gt/, alpha/, masks/) with original/<name>.jpg (or "
    "original_image/, im/, images/)",
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """One sample per matte; the truth has no depth, only the `matte_mask`, where alpha > 0.1."""
    folder = next((root / name for name in _MASKS if (root / name).is_dir()), None)
    for path in sorted(folder.glob("*.png")) if folder is not None else ():
        inputs: dict[str, Any] = {}
        picture = picture_of([root / name / path.stem for name in _PICTURES])
        if picture is not None:
            inputs["left_image"] = partial(io.read_image, picture)
        truth = {"depth": partial(_nothing, path), "matte_mask": partial(read_matte, path)}
        yield Sample(path.stem, Inputs(inputs), Truth(truth))


def read_matte(path: Path) -> Mask:
    """Pixels of the object: more than a tenth of white."""
    stored = io.read_image(path)
    alpha = np.asarray(stored[..., 0] if stored.ndim == 3 else stored, np.float64)
    white = _WHITE if stored.dtype == np.uint8 else 1.0
    return np.asarray(alpha / white > _LEAST_ALPHA)


def _nothing(path: Path) -> Map:
    return np.full(read_matte(path).shape, np.nan, np.float32)


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes mattes of black and white, and pictures.

    Raises:
        Unavailable: A sample has no `matte_mask`.
    """
    for sample in samples:
        if sample.truth is None or "matte_mask" not in sample.truth:
            raise Unavailable(f"sample '{sample.id}' has no matte_mask, which this layout needs.")
        path = inside(Path(root), f"mask/{sample.id}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        io.write_image(path, np.asarray(sample.truth["matte_mask"], bool))
        write_picture(inside(Path(root), f"original/{sample.id}.png"), sample.inputs)
