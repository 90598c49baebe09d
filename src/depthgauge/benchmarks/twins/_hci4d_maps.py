"""Estimate, truth and masks as the light-field evaluator compares them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadData, WrongShape
from depthgauge.geometry.resizing import Resizing, resize_labels
from depthgauge.io import map_pfm, pfm_scale, read_labels, read_map, read_mask
from depthgauge.types import Map, Mask, Sample, Truth

LOW, HIGH = 1, 10
"""Sizes at which maps are compared, as multiples of the estimate's size."""
BORDER_PX = 15
"""Left out on every side, in pixels of the estimate."""
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class MapPair:
    """An estimate and the truth at one resolution."""

    estimate: Map
    """(h, w), at its own size."""
    rows: Indices
    """For each row of the truth, the row of the estimate that it is compared with."""
    columns: Indices
    truth: Map
    """(H, W), from the bottom up as in its file."""
    border: int
    stored: tuple[int, int]
    """Height and width of the truth's file; its masks have the same size."""

    @property
    def pixels(self) -> int:
        """The number of pixels inside the border."""
        height, width = (max(int(n) - 2 * self.border, 0) for n in self.truth.shape)
        return height * width

    def inner(self) -> tuple[slice, slice]:
        """The rows and columns inside the border."""
        height, width = self.truth.shape
        low = self.border
        return slice(low, max(height - low, low)), slice(low, max(width - low, low))


def read_estimate(path: Path, sample: Sample) -> Map:
    """The estimate as stored, NaN and infinities included.

    Raises:
        WrongShape: It does not have the truth's size.
    """
    if pfm_scale(path) is None:
        values = read_map(path, quantity="disparity", raw=True)
    else:
        values = _stored(path)[::-1]
    truth = map_pfm(_truth_of(sample)["disparity_path"])
    if values.shape != truth.shape:
        raise WrongShape(f"{path}: {' '.join(wrong_size(values.shape, truth.shape))}")
    return np.ascontiguousarray(values)


_WIDEST_BORDER = 64
"""In px, both sides together; a map that lacks more has another resolution."""


def wrong_size(found: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[str, str]:
    """What is wrong with the size of an estimate, and what to do.

    >>> wrong_size((490, 490), (512, 512))[0]
    'is 490x490 but must be 512x512, the size of the views: a border of 11 px is cut off.'
    """
    (h, w), (height, width) = found[:2], wanted[:2]
    said = f"is {w}x{h} but must be {width}x{height}, the size of the views"
    cut = height - h
    if cut == width - w and 0 < cut <= _WIDEST_BORDER and cut % 2 == 0:
        return (
            f"{said}: a border of {cut // 2} px is cut off.",
            "It accepts no cropped maps; fill the border, e.g. with the nearest values.",
        )
    return f"{said}.", "The evaluator does not resize; write the map at that size."


def compare(estimate: Map, sample: Sample, factor: int, how: Resizing) -> MapPair:
    """The estimate beside the truth at one of the two resolutions."""
    truth = _truth_of(sample)
    path: Path = truth["disparity_path" if factor == LOW else "high_disparity_path"]
    values = _stored(path)
    stored = (values.shape[0], values.shape[1])
    height, width = (factor * n for n in estimate.shape)
    if values.shape != (height, width):
        values = resize_labels(values[::-1], (height, width), "zoom")[::-1]
    values = np.ascontiguousarray(values)
    values.flags.writeable = False  # one type for the kernels, no matter how it was read
    return MapPair(
        estimate,
        rows=_indices(estimate.shape[0], height, how),
        columns=_indices(estimate.shape[1], width, how),
        truth=values,
        border=factor * BORDER_PX,
        stored=stored,
    )


def _stored(path: Path) -> Map:
    """The values of a PFM, from the bottom up, times its scale, even an unusual one."""
    values, scale = map_pfm(path), pfm_scale(path)
    return values if scale == 1 else values * np.float32(scale or 1)


def _indices(source: int, target: int, how: Resizing) -> Indices:
    return np.ascontiguousarray(resize_labels(np.arange(source)[None], (1, target), how)[0])


def read_masks(compared: MapPair, paths: Sequence[Path]) -> Mask:
    """(masks, H, W), decoded in parallel; pixels that are not 0 are inside."""
    masks = np.zeros((len(paths), *compared.truth.shape), bool)

    def fill(index: int) -> None:
        masks[index] = _fitting(compared, paths[index], read_mask(paths[index]))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(fill, range(len(paths))):
            pass
    return masks


def read_label_maps(compared: MapPair, paths: Sequence[Path]) -> list[NDArray[np.int32]]:
    """Label maps, decoded in parallel."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda path: _fitting(compared, path, read_labels(path)), paths))


def _fitting(compared: MapPair, path: Path, found: NDArray[Any]) -> NDArray[Any]:
    """The mask at the truth's size."""
    height, width = compared.stored
    if found.shape != (height, width):
        raise WrongShape(
            f"{path}: is {found.shape[1]}x{found.shape[0]} but the truth of this resolution is "
            f"{width}x{height}; they must have the same size."
        )
    if found.shape != compared.truth.shape:
        shape = (compared.truth.shape[0], compared.truth.shape[1])
        return np.ascontiguousarray(resize_labels(found, shape, "zoom"))
    return found


def _truth_of(sample: Sample) -> Truth:
    if sample.truth is None:
        raise BadData(f"{sample.id}: has no truth.")
    return sample.truth
