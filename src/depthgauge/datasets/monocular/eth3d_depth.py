"""ETH3D's high-resolution pictures with rendered depth, as zero-shot evaluations use them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._paths import inside
from depthgauge.datasets.monocular._frames import (
    depth_of,
    frame,
    in_order,
    split_id,
    write_picture,
)
from depthgauge.errors import BadFile
from depthgauge.types import Map, Sample

_BELOW = "ground_truth_depth/dslr_images"
_SIZES = ((4032, 6048), (4135, 6205), (4032, 6080), (4141, 6220), (4141, 6200))
"""Height and width of the originals; others are taken from the picture."""
_BYTES = 4

SPEC = DatasetSpec(
    id="eth3d-depth",
    title="ETH3D, depth of the high-resolution pictures",
    quantities=("depth",),
    splits=("all",),
    licence="CC BY-NC-SA 4.0",
    cite="Schöps et al., A multi-view stereo benchmark with high-resolution images and multi-camera"
    " videos, CVPR 2017",
    homepage="https://www.eth3d.net/datasets",
    sample_layout=f"<scene>/{_BELOW}/<name>.JPG (raw float32 metres, inf is missing) and "
    "<scene>/images/dslr_images/<name>.JPG, directly, or in <scene>_dslr_depth/, depth/ and rgb/",
    estimate_layouts=(
        "{folder}/pred_{file}.npy",
        "rgb/{folder}/images/dslr_images/pred_{file}.npy",
    ),
)


@reader(SPEC)
def samples(root: Path, split: str) -> Iterator[Sample]:
    """Samples `<scene>/<name>`; 454 in the training scenes, if all are there."""
    yield from in_order(SPEC, root, _found(root))


def _found(root: Path) -> Iterator[Sample]:
    starts = ("", "*_dslr_depth/", "depth/", "depth/*_dslr_depth/")
    for folder in sorted(p for start in starts for p in root.glob(f"{start}*/{_BELOW}")):
        scene = folder.parents[1]
        for depth in sorted(p for p in folder.iterdir() if p.is_file()):
            picture = _picture(root, scene, depth.name)
            read = partial(_read, picture=picture)
            yield frame(f"{scene.name}/{depth.stem}", picture, depth, read, scene.name)


def _picture(root: Path, scene: Path, name: str) -> Path | None:
    below = f"images/dslr_images/{name}"
    jpg = f"{scene.name}_dslr_jpg/{scene.name}"
    places = (scene, root / "rgb" / scene.name, root / jpg, root / "rgb" / jpg)
    return next((place / below for place in places if (place / below).is_file()), None)


def _read(path: Path, picture: Path | None) -> Map:
    values = np.fromfile(path, "<f4")
    height, width = _size(path, values.size, picture)
    depth = values.reshape(height, width).astype(np.float32)
    return np.where(np.isfinite(depth) & (depth > 0), depth, np.float32(np.nan))


def _size(path: Path, pixels: int, picture: Path | None) -> tuple[int, int]:
    """From the picture; without one, from the known sizes."""
    if picture is not None:
        height, width = io.read_image(picture).shape[:2]
        found = [(height, width)]
    else:
        found = list(_SIZES)
    for size in found:
        if size[0] * size[1] == pixels and path.stat().st_size == _BYTES * pixels:
            return size
    raise BadFile(
        f"{path}: has {pixels} values, which is not the size of the picture; expected raw float32 "
        f"of {' or '.join(f'{w}x{h}' for h, w in found)}"
    )


def write(root: Path, samples: Iterable[Sample]) -> None:
    """Writes scenes; pictures are PNG files under the name of the original, as no JPEG is exact."""
    for sample in samples:
        scene, name = split_id(sample.id, "/", "<scene>/<name>")
        folder = inside(Path(root), scene)
        depth = depth_of(sample)
        path = folder / _BELOW / f"{name}.JPG"
        path.parent.mkdir(parents=True, exist_ok=True)
        io.write_bytes(path, np.where(np.isfinite(depth), depth, np.inf).astype("<f4").tobytes())
        made = folder / "images" / "dslr_images" / f"{name}.png"
        write_picture(made, sample.inputs)
        if made.is_file():
            made.rename(made.with_suffix(".JPG"))
