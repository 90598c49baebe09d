"""Samples of OASIS: the picture and its human annotations.

In the files, z of normals points towards the viewer, and values are stored for a box around the
region of interest. Items have our axes, the size of the picture, and NaN outside.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._oasis import relations
from depthgauge.datasets._oasis.index import Row
from depthgauge.errors import BadFile, WrongShape
from depthgauge.io.pickles import safe_pickle
from depthgauge.types import Camera, Image, Inputs, Map, Mask, Sample, Truth

BOX = ("min_y", "max_y", "min_x", "max_x")
"""Keys of a pickle: its first and last row and column."""
PAIRS_FOLDER = "DIW_style_rel_depth"
PLANE_RELATIONS_FOLDER = "plane_relations"
"""Our own addition: relations between planes."""
_ON = 240
_UNIT = 1e-4
"""Normals whose length is this close to 1 are not changed."""


def sample_of(row: Row, relative_normals: Path | str) -> Sample:
    """The sample of one line of the index; nothing is read yet.

    Args:
        row: The line.
        relative_normals: The file with pairs of this image; empty if there are none.
    """
    truth = _maps(row, relative_normals) | _lines_and_labels(row)
    if truth and row.focal:
        truth["camera"] = partial(_read_camera, row.image, row.focal, row.where)
    inputs = Inputs({"left_image": partial(read_picture, row.image)})
    return Sample(row.id, inputs, Truth(truth) if truth else None)


def _maps(row: Row, relative_normals: Path | str) -> dict[str, Any]:
    """Depth, normals, and pairs of pixels."""
    items: dict[str, Any] = {}
    image = row.image
    pairs = _pairs_file(row)
    if pairs is not None:
        items["relative_depth"] = partial(_read_relative_depth, pairs, image)
        items["relative_depth_path"] = pairs
        items["depth"] = partial(_nothing, image)
    if "Depth" in row.files:
        items["depth"] = partial(_read_depth, row.files["Depth"], image)
        items["depth_path"] = row.files["Depth"]
    if relative_normals:
        items["relative_normals"] = partial(
            _read_relative_normals, Path(relative_normals), row.id, image
        )
        items["normals"] = partial(_nothing, image, 3)
    if "Normal" in row.files:
        items["normals"] = partial(_read_normals, row.files["Normal"], image)
        items["normals_path"] = row.files["Normal"]
    return items


def _lines_and_labels(row: Row) -> dict[str, Any]:
    """Masks, boundaries, planes and surfaces."""
    items: dict[str, Any] = {}
    files, image = row.files, row.image
    mask: Path | str = files.get("Mask", "")
    if mask:
        items["roi_mask"] = partial(_read_lines, Path(mask), image)
        items["mask_path"] = mask
    for column, item in (("SharpOcc", "sharp"), ("SmoothOcc", "smooth")):
        if column in files:
            items[f"{item}_occlusion_mask"] = partial(_read_lines, files[column], image)
    occlusions = [files[c] for c in ("Occlusion",) if c in files] or [
        files[c] for c in ("SharpOcc", "SmoothOcc") if c in files
    ]
    if occlusions and "Fold" in files:
        items["boundaries"] = partial(_read_boundaries, image, mask, files["Fold"], *occlusions)
    for column, item in (("SmoothInstance", "smooth"), ("ContinuousInstance", "continuous")):
        if column in files:
            items[f"{item}_labels"] = partial(_read_labels, files[column], image)
    if "ContinuousInstance" in files:
        items["continuous_path"] = files["ContinuousInstance"]
    if "PlanarInstance" in files:
        items["planes"] = partial(_read_planes, files["PlanarInstance"], image, mask)
        items["planes_path"] = files["PlanarInstance"]
        own = image.parent.parent / PLANE_RELATIONS_FOLDER / f"{row.id}.csv"
        if own.is_file():
            items["plane_relations"] = partial(relations.read_plane_relations, own)
    return items


def _pairs_file(row: Row) -> Path | None:
    """The file where the public code looks for pairs, else the one in the index."""
    usual = row.image.parent.parent / PAIRS_FOLDER / f"{row.id}.csv"
    if row.image.parent.name == "image" and usual.is_file():
        return usual
    return row.files.get("RelativeDepth")


def there(path: Path) -> Path:
    """A file that the index lists, checked to exist.

    Raises:
        BadFile: It does not exist.
    """
    if not path.exists():
        raise BadFile(
            f"{path}: there is no such file, though the index lists it; unpack the dataset again, "
            "or remove the file from its line in the index."
        )
    return path


def read_picture(path: Path) -> Image:
    """A picture with three channels, even if the file is grey."""
    image = io.read_image(there(path))
    if image.ndim == 3:
        return image
    rgb: NDArray[Any] = np.stack([image, image, image], axis=2)
    return rgb


def picture_size(path: Path) -> tuple[int, int]:
    """Height and width; for a PNG from its header."""
    if path.suffix.lower() == ".png":
        height, width, _ = io.map_size(there(path))
        return height, width
    shape = io.read_image(there(path)).shape
    return shape[0], shape[1]


def read_box(path: Path, key: str, shape: tuple[int, int], outside: float) -> Map:
    """The values of a pickle at their place in the picture, unchanged.

    Args:
        path: The pickle.
        key: `depth` or `normal`.
        shape: Height and width of the picture.
        outside: The value of pixels outside the box.

    Raises:
        BadFile: It is damaged, contains more than data, or does not fit the picture.
    """
    found = safe_pickle.require_dict(path, safe_pickle.load(there(path)), (*BOX, key))
    values = found[key]
    channels = (3,) if key == "normal" else ()
    edges = [found[name] for name in BOX]
    if not all(
        isinstance(edge, (int, float)) and edge == int(edge) for edge in map(_finite, edges)
    ):
        raise BadFile(f"{path}: {', '.join(BOX)} must be integers, found {str(edges)[:80]}.")
    top, bottom, left, right = (int(edge) for edge in edges)
    inside = 0 <= top <= bottom < shape[0] and 0 <= left <= right < shape[1]
    need = (bottom - top + 1, right - left + 1, *channels)
    if not isinstance(values, np.ndarray) or values.shape != need or not inside:
        size = getattr(values, "shape", type(values).__name__)
        raise BadFile(
            f"{path}: '{key}' is {size} for rows {top} to {bottom} and columns {left} to {right} "
            f"of a picture of {shape[1]}x{shape[0]}; that does not fit."
        )
    filled = np.full((*shape, *channels), outside, np.float32)
    with np.errstate(over="ignore"):
        filled[top : bottom + 1, left : right + 1] = values
    return filled


def _finite(value: Any) -> Any:
    """The number if it is finite; else something that is not a number."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else ""


def _read_depth(path: Path, image: Path) -> Map:
    """NaN where there is no depth: outside the box, or not above 0."""
    stored = read_box(path, "depth", picture_size(image), math.nan)
    known = np.isfinite(stored) & (stored > 0)
    return np.where(known, stored, np.float32(np.nan))


def _read_normals(path: Path, image: Path) -> Map:
    stored = read_box(path, "normal", picture_size(image), 0.0)
    length = np.sqrt(np.sum(stored.astype(np.float64) ** 2, axis=2))
    known = np.isfinite(length) & (length > 0)
    odd = known & (np.abs(length - 1) > _UNIT)
    stored[odd] = (stored[odd] / length[odd][:, None]).astype(np.float32)
    stored[..., 2] *= -1
    stored[~known] = np.nan
    return stored


def _nothing(image: Path, channels: int = 1) -> Map:
    """A map without values, for samples with only relations."""
    shape = picture_size(image)
    return np.full(shape if channels == 1 else (*shape, channels), np.nan, np.float32)


def _read_relative_depth(path: Path, image: Path) -> relations.Pairs:
    height, width = picture_size(image)
    return relations.read_depth_pairs(there(path), width, height)


def _read_relative_normals(path: Path, sample: str, image: Path) -> relations.Pairs:
    height, width = picture_size(image)
    return relations.read_normal_pairs(path, sample, width, height)


def _read_camera(image: Path, focal: str, where: str) -> Camera:
    height, width = picture_size(image)
    try:
        focal_px = float(focal)
    except ValueError:
        focal_px = math.nan
    if not 0 < focal_px < math.inf:
        raise BadFile(
            f"{where}: the focal length must be a positive number of px, found '{focal[:20]}'."
        )
    return Camera((focal_px, focal_px), (width / 2, height / 2), (width, height))


def _read_lines(path: Path, image: Path) -> Mask:
    """A mask or lines: True where the first channel is above 240, or 1.

    The public code compares with 1 after setting values above 240 to 1, so all others are False.
    """
    codes = io.read_image(there(path))
    if codes.dtype != np.uint8:
        raise BadFile(f"{path}: expected a PNG with 8 bits, found {codes.dtype}.")
    first = codes if codes.ndim == 2 else codes[..., 0]
    _require_size(path, first, image)
    on: Mask = (first > _ON) | (first == 1)
    return on


def _read_labels(path: Path, image: Path) -> NDArray[np.int32]:
    labels = io.read_labels(there(path))
    _require_size(path, labels, image)
    return labels


def _read_boundaries(image: Path, mask: Path | str, fold: Path, *occlusions: Path) -> Map:
    occlusion = np.logical_or.reduce([_read_lines(path, image) for path in occlusions])
    lines = np.stack([occlusion, _read_lines(fold, image)], axis=2).astype(np.float32)
    if mask:
        lines[~_read_lines(Path(mask), image)] = np.nan
    return lines


def _read_planes(path: Path, image: Path, mask: Path | str) -> Map:
    planes = _read_labels(path, image).astype(np.float32)
    if mask:
        planes[~_read_lines(Path(mask), image)] = np.nan
    return planes


def _require_size(path: Path, found: NDArray[Any], image: Path) -> None:
    height, width = picture_size(image)
    if found.shape != (height, width):
        raise WrongShape(
            f"{path}: is {found.shape[1]}x{found.shape[0]} but {image.name} is {width}x{height}; "
            "they must have the same size."
        )
