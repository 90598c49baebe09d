"""Estimates in the layout of OASIS submissions: `depth/`, `normals/`, `occfold/`, `planar/`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge._registry import unknown
from depthgauge.datasets._paths import inside, unsafe
from depthgauge.errors import BadData, BadFile, DoesNotFit, Misuse
from depthgauge.io import npz
from depthgauge.io.pickles import safe_pickle
from depthgauge.io.text import read_text
from depthgauge.types import Estimate, Map

DEPTH, FOCAL = "pred_depth", "pred_focal"
"""Keys of the public dict."""
BOUNDARY, OCCLUSION = "boundary", "occlusion"
"""Arrays of `occfold/<id>.npz`."""
FOLDERS = {"depth": "depth", "normals": "normals", "boundaries": "occfold", "planes": "planar"}
_LEAST = float(np.finfo(np.float32).tiny)
_MOST_CONFIDENCE = 1e6
_MOST_INSTANCES = 1000
MOST_PIXELS = 2**26
"""Limit for one estimate: pictures are smaller, and a packed file may claim any size."""
_MOST_VALUES = 8 * MOST_PIXELS


def read_estimate(path: Path, quantity: str) -> Estimate | None:
    """The estimate in a file of a public submission; None if it is an ordinary map.

    - depth: a dict with `pred_depth` and `pred_focal` in an .npy file.
    - normals: an array in a folder called `normals`, with z towards the viewer.
    - boundaries: `boundary` and `occlusion` of an .npz file.
    - planes: a text file with a line `PNG label confidence` for each instance, optionally followed
      by four plane parameters, which are stored unchanged in `extras["planes"]`.

    Raises:
        BadFile: It is damaged or contains something else.
    """
    read = _PUBLIC_READERS.get((quantity, path.suffix.lower()))
    return None if read is None else read(path)


def _read_depth(path: Path) -> Estimate | None:
    if not safe_pickle.is_object_npy(path):
        return None
    values, focal_px = read_depth_dict(path)
    return Estimate(_without_infinities(values), "depth", {"focal_px": focal_px})


def _read_normals(path: Path) -> Estimate | None:
    if not _is_public(path):
        return None
    normals = io.read_map(path, quantity="normals", limit=MOST_PIXELS).copy()
    normals[..., 2] *= -1
    return Estimate(normals, "normals")


def _read_boundary_arrays(path: Path) -> Estimate | None:
    if BOUNDARY not in npz.array_names(path):
        return None
    return Estimate(_read_boundaries(path), "boundaries")


def _is_public(path: Path) -> bool:
    """Whether normals belong to a submission; `<id>/normals.npy` is our own layout and axes."""
    return path.parent.name == FOLDERS["normals"] and path.name != "normals.npy"


def read_depth_dict(path: Path) -> tuple[NDArray[Any], float]:
    """Depth and focal length of the public dict, as they are stored.

    Raises:
        BadFile: It is another dict, the depth is not a map, or the focal length is not positive.
    """
    found = safe_pickle.require_dict(path, safe_pickle.load_object_npy(path), (DEPTH, FOCAL))
    values, focal = found[DEPTH], found[FOCAL]
    if isinstance(focal, np.ndarray) and focal.size == 1 and focal.dtype.kind in "fiu":
        focal = focal.reshape(-1)[0].item()
    if not isinstance(focal, (int, float)) or not 0 < focal < math.inf:
        shown = f"{focal:g}" if isinstance(focal, (int, float)) else f"a {type(focal).__name__}"
        raise BadFile(f"{path}: {FOCAL} must be a positive number of px, found {shown}.")
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        raise BadFile(f"{path}: {DEPTH} must be an array, found a {type(values).__name__}.")
    shape = tuple(size for size in values.shape if size != 1) if values.ndim > 2 else values.shape
    if len(shape) != 2 or not values.size:
        raise BadFile(f"{path}: {DEPTH} must be (H, W), found {values.shape}.")
    return values.reshape(shape), float(focal)


def _without_infinities(values: NDArray[Any]) -> Map:
    with np.errstate(over="ignore"):
        found = values.astype(np.float32)
    return np.where(np.isfinite(found), found, np.float32(np.nan))


def _read_boundaries(path: Path) -> Map:
    lines = np.zeros((0, 0, 2), np.float32)
    for channel, name in enumerate((BOUNDARY, OCCLUSION)):
        values = npz.read_arrays(path, (name,), limit=MOST_PIXELS)[name]
        if values.ndim == 2 and channel == 0:
            lines = np.zeros((*values.shape, 2), np.float32)
        if values.ndim != 2 or values.shape != lines.shape[:2]:
            raise BadFile(
                f"{path}: {BOUNDARY} and {OCCLUSION} must be maps (H, W) of the same size, found "
                f"'{name}' of {values.shape}."
            )
        outside = np.isfinite(values) & ((values < 0) | (values > 1))
        if outside.any():
            raise BadFile(
                f"{path}: '{name}' must be from 0 to 1, found {values[outside].flat[0]:g}."
            )
        lines[..., channel] = values
    return lines


def _read_planes(path: Path) -> Estimate:
    lines = [line.split() for line in read_text(path, 2**20).split("\n")]
    instances = [_instance(path, n, cells) for n, cells in enumerate(lines, start=1) if cells]
    if len(instances) > _MOST_INSTANCES:
        raise BadFile(
            f"{path}: names {len(instances)} instances; at most {_MOST_INSTANCES} are read."
        )
    if not instances:
        # No picture gives the size; one pixel without a plane stands for all pixels.
        return Estimate(np.zeros((1, 1, 1), np.float32), "planes", extras={"planes": []})
    first = _read_instance(path, instances[0])
    if first.size * len(instances) > _MOST_VALUES:
        raise BadFile(f"{path}: {len(instances)} instances of {first.shape} do not fit in memory.")
    planes = np.zeros((*first.shape, len(instances)), np.float32)
    for channel, instance in enumerate(instances):
        mask = _read_instance(path, instance)
        if mask.shape != first.shape:
            raise BadFile(
                f"{path}: {instance['file']} is {mask.shape[1]}x{mask.shape[0]}, the first is "
                f"{first.shape[1]}x{first.shape[0]}; all must have the same size."
            )
        planes[..., channel] = np.where(mask, np.float32(instance["confidence"]), 0)
    return Estimate(planes, "planes", extras={"planes": instances})


def _instance(path: Path, number: int, cells: list[str]) -> dict[str, Any]:
    """One line: the PNG, the label, the confidence, and optionally the plane."""
    where = f"{path}, line {number}"
    if len(cells) not in (3, 7):
        raise BadFile(
            f"{where}: expected 'PNG label confidence', optionally followed by four numbers of the "
            f"plane, found {len(cells)} words."
        )
    name, label, *rest = cells
    if why := unsafe(name):
        raise BadFile(f"{where}: the file name '{name[:80]}' is refused: {why}.")
    try:
        numbers = [float(word) for word in rest]
        code = int(label)
    except ValueError:
        numbers, code = [math.nan], 0
    if not all(math.isfinite(value) for value in numbers):
        raise BadFile(
            f"{where}: expected an integer label, a confidence and finite numbers, found "
            f"'{' '.join(cells[1:])[:80]}'."
        )
    if not _LEAST <= numbers[0] <= _MOST_CONFIDENCE:
        raise BadFile(
            f"{where}: the confidence must be above 0 (at least {_LEAST:.2g}) and at most "
            f"{_MOST_CONFIDENCE:g}, found {rest[0][:40]}; leave out instances without any."
        )
    return {
        "file": name,
        "label": code,
        "confidence": numbers[0],
        "parameters": numbers[1:] or None,
    }


def _read_instance(path: Path, instance: dict[str, Any]) -> NDArray[np.bool_]:
    try:
        return io.read_mask(inside(path.parent, instance["file"]))
    except BadData as error:
        raise BadFile(f"{path}: {error}") from None


_PUBLIC_READERS: dict[tuple[str, str], Callable[[Path], Estimate | None]] = {
    ("depth", ".npy"): _read_depth,
    ("normals", ".npy"): _read_normals,
    ("boundaries", ".npz"): _read_boundary_arrays,
    ("planes", ".txt"): _read_planes,
}
"""Readers by quantity and suffix; None from a reader means an ordinary map."""


def write_estimate(root: Path, sample_id: str, estimate: Estimate) -> None:
    """Writes an estimate in the layout of a submission.

    - depth: `depth/<id>.npy`, a dict with `pred_depth` and `pred_focal` (the part `focal_px`).
    - normals: `normals/<id>.npy`, z towards the viewer; a missing one is 0.
    - boundaries: `occfold/<id>.npz` with `boundary` and `occlusion`.
    - planes: `planar/<id>.txt` and a PNG for each instance that has a pixel.

    Args:
        root: The folder that holds those folders.
        sample_id: The image's name without its suffix.
        estimate: In our conventions.

    Raises:
        DoesNotFit: The estimate does not have the shape of its quantity, or lacks the focal
            length.
    """
    if estimate.quantity not in _WRITERS:
        raise unknown("quantity of OASIS", estimate.quantity, tuple(_WRITERS))
    if "/" in sample_id:
        raise Misuse(f"sample id '{sample_id}' has a '/': an estimate is one file in a folder.")
    folder = Path(root) / FOLDERS[estimate.quantity]
    path = inside(folder, sample_id)
    folder.mkdir(parents=True, exist_ok=True)
    _WRITERS[estimate.quantity](path, estimate)


def _write_depth(path: Path, estimate: Estimate) -> None:
    focal = estimate.parts.get("focal_px")
    if not isinstance(focal, (int, float, np.number)) or not 0 < focal < math.inf:
        raise DoesNotFit(
            f"{path}.npy: a submission of depth needs the part focal_px, a positive number; found "
            f"{focal!r}."
        )
    values = _shaped(path, estimate, 2).astype(np.float32)
    safe_pickle.dump_object_npy(f"{path}.npy", {DEPTH: values, FOCAL: float(focal)})


def _write_normals(path: Path, estimate: Estimate) -> None:
    normals = _shaped(path, estimate, 3, 3).astype(np.float32)
    normals[~np.isfinite(normals).all(axis=2)] = 0
    normals[..., 2] *= -1
    io.write_map(f"{path}.npy", normals, quantity="normals")


def _write_boundaries(path: Path, estimate: Estimate) -> None:
    lines = np.nan_to_num(_shaped(path, estimate, 3, 2), nan=0.0)
    if lines.min() < 0 or lines.max() > 1:
        raise DoesNotFit(f"{path}.npz: probabilities are from 0 to 1, found {lines.max():g}.")
    npz.write_arrays(f"{path}.npz", {BOUNDARY: lines[..., 0], OCCLUSION: lines[..., 1]})


def _write_planes(path: Path, estimate: Estimate) -> None:
    planes = np.nan_to_num(_shaped(path, estimate, 3), nan=0.0)
    if planes.size and planes.max() > _MOST_CONFIDENCE:
        raise DoesNotFit(
            f"{path}.txt: a confidence is at most {_MOST_CONFIDENCE:g}, found {planes.max():g}; "
            "scale them."
        )
    lines = []
    for channel in range(planes.shape[2]):
        mask = planes[..., channel] > 0
        if mask.any():
            name = f"{path.name}_{channel:02d}.png"
            io.write_image(path.with_name(name), mask)
            # All digits, so that two instances do not change places when read again.
            confidence = max(float(planes[..., channel].max()), _LEAST)
            lines.append(f"{name} 1 {confidence!r}\n")
    io.write_text(f"{path}.txt", "".join(lines))


def _shaped(path: Path, estimate: Estimate, axes: int, channels: int | None = None) -> Map:
    values = np.asarray(estimate.values)
    if values.ndim != axes or (channels is not None and values.shape[-1] != channels):
        form = {2: "(H, W)", 3: f"(H, W, {channels or 'N'})"}[axes]
        raise DoesNotFit(f"{path}: {estimate.quantity} are {form} here, found {values.shape}.")
    return values


_WRITERS = {
    "depth": _write_depth,
    "normals": _write_normals,
    "boundaries": _write_boundaries,
    "planes": _write_planes,
}
