"""LayeredFlow: flow of several layers through glass, from photographs with tags (Princeton)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._dataset import DatasetSpec, reader
from depthgauge.datasets._layeredflow.maps import Grid, PixelRule, flow_map, material_map
from depthgauge.datasets._layeredflow.points import PointPairs, flow_pairs, read_tag_file
from depthgauge.errors import BadFile, DepthgaugeError, Misuse, Unavailable
from depthgauge.io.stacks import is_member, read_stack
from depthgauge.types import Estimate, Image, Inputs, Map, Sample, Truth

SPLITS = ("val", "test")
TRUTH_FILE = "gt.pickle"
_PICTURES = ("0_0.png", "0_1.png", "3_0.png", "3_1.png")
_AXES = ("layer", "c", "y", "x")
_LEAST, _MOST = 1, 64

SPEC = DatasetSpec(
    id="layeredflow",
    title="LayeredFlow, flow of several layers through glass",
    quantities=("flow", "layered_flow"),
    splits=(*SPLITS, "all"),
    licence="as its homepage says",
    cite="Wen, Liang & Deng, LayeredFlow: a real-world benchmark for non-Lambertian multi-layer "
    "optical flow, ECCV 2024",
    homepage="https://layeredflow.cs.princeton.edu",
    sample_layout="{val,test}/<scene>/ with 0_0.png, 0_1.png (time 0, left and right), 3_0.png, "
    "3_1.png (time 3) and, in val, gt.pickle",
    quantity_layouts={"layered_flow": ("results.npz/{sample}",)},
)


@reader(SPEC)
def samples(
    root: Path, split: str, *, reduce: int = 4, pixel: PixelRule = "nearest"
) -> Iterator[Sample]:
    """Two samples per scene, `<scene>_<camera>`: the flow of the left (0) and the right camera (1).

    A truth has `layered_flow` (L, H, W, 2), `layer_material` (0 diffuse, 1 transparent, 2
    reflective, 255 none) and `flow`, that of the first layer. Points that fall on one pixel and
    layer count once.

    Args:
        root: The folder with `val` and `test`, or the one above it.
        split: `val`, `test` or `all`.
        reduce: How many pixels of the photographs make one of the maps along each axis.
        pixel: Which of them a point belongs to: `nearest`, `truncated` or `rounded`.

    Raises:
        Misuse: `reduce` or `pixel` is something else.
    """
    if not (isinstance(reduce, int) and _LEAST <= reduce <= _MOST):
        raise Misuse(f"layeredflow: reduce is {reduce!r} but must be a whole number up to {_MOST}.")
    if pixel not in get_args(PixelRule):
        choices = ", ".join(get_args(PixelRule))
        raise Misuse(f"layeredflow: pixel is {pixel!r} but must be one of {choices}.")
    for folder in _scenes(root, split):
        for camera in (0, 1):
            yield _flow_sample(folder, camera, reduce, pixel)


def _scenes(root: Path, split: str) -> list[Path]:
    places = [root, root / "layeredflow"]
    top = next((p for p in places if any((p / name).is_dir() for name in SPLITS)), None)
    if top is None:
        return []
    names = SPLITS if split == "all" else (split,)
    found = [p for name in names for p in _folders(top / name)]
    return sorted(found, key=lambda p: (not p.name.isdecimal(), p.name.zfill(9)))


def _folders(place: Path) -> list[Path]:
    if not place.is_dir():
        return []
    return [p for p in place.iterdir() if any((p / name).is_file() for name in _PICTURES)]


def _flow_sample(folder: Path, camera: int, reduce: int, pixel: PixelRule) -> Sample:
    first, second = folder / f"0_{camera}.png", folder / f"3_{camera}.png"
    inputs: dict[str, Any] = {
        "first_image": partial(_small_image, first, reduce),
        "second_image": partial(_small_image, second, reduce),
    }
    path, truth = folder / TRUTH_FILE, None
    if path.is_file():
        about = (path, camera, first, reduce, pixel)
        truth = Truth(
            {
                "tags_path": str(path),
                "flow": partial(_first_flow, *about),
                "layered_flow": partial(_flow, *about),
                "layer_material": partial(_material, *about),
            }
        )
    return Sample(f"{folder.name}_{camera}", Inputs(inputs), truth, scene=folder.name)


def picture_size(path: Path) -> tuple[int, int]:
    """Height and width of a photograph, from its header."""
    height, width, _ = io.map_size(path)
    return height, width


def read_pairs(path: Path, camera: int) -> PointPairs:
    """The valid corners of a scene in one camera, at both times.

    Raises:
        Unavailable: The file cannot be read; the sentence says why. Other scenes can be scored.
    """
    try:
        return flow_pairs(path, read_tag_file(path), camera)
    except DepthgaugeError as error:
        raise Unavailable(f"has no usable truth: {error}") from error


def _grid(picture: Path, reduce: int, pixel: PixelRule) -> Grid:
    return Grid(picture_size(picture), reduce, pixel)


def _flow(path: Path, camera: int, picture: Path, reduce: int, pixel: PixelRule) -> Map:
    return flow_map(read_pairs(path, camera), _grid(picture, reduce, pixel))


def _first_flow(path: Path, camera: int, picture: Path, reduce: int, pixel: PixelRule) -> Map:
    first: Map = _flow(path, camera, picture, reduce, pixel)[0]
    return first


def _material(
    path: Path, camera: int, picture: Path, reduce: int, pixel: PixelRule
) -> NDArray[np.uint8]:
    return material_map(read_pairs(path, camera), _grid(picture, reduce, pixel))


def _small_image(path: Path, reduce: int) -> Image:
    """A photograph at the size at which it is scored, shrunk by averaging."""
    picture = io.read_image(path)
    if reduce == 1:
        return picture
    import cv2

    height, width = (side // reduce for side in picture.shape[:2])
    small: Image = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return small


def read_estimate(path: Path, quantity: str) -> Estimate | None:
    """An array of a public `results.npz`: (layers, 2, height, width); None for other files.

    Raises:
        BadFile: It is damaged or has another shape.
    """
    if quantity not in SPEC.quantity_layouts or not is_member(path):
        return None
    return Estimate(np.moveaxis(read_layers(path), 1, 3), quantity)


def read_layers(path: Path) -> Map:
    """An array of a public `results.npz`, as it is stored: (layers, 2, height, width).

    Raises:
        BadFile: It is damaged or has another shape.
    """
    values = read_stack(path, _AXES)
    if values.shape[1] != 2:
        raise BadFile(
            f"{path}: expected (layers, 2, height, width), found {values.shape}; the second axis "
            "holds u and v."
        )
    return values
