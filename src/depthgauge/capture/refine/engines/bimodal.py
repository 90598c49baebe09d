"""The learned engine of `capture refine`: a bimodal Laplacian for each pixel near a jump.

After Tosi et al. 2021 and equation 8 of Zama Ramirez et al. 2024 (with absolute values): a small
network sees the measured disparities around a pixel, their confidence, and how much the guide's
colours there differ from the pixel's. It says where the two surfaces are and how sure it is; the
mode with the higher density is taken, never a value between the two. Everything away from jumps is
that of the classical engine. The network has three layers and runs with NumPy alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.refine.engine import MeasuredMaps, RefinedMaps, RefineOptions, RefinerSpec
from depthgauge.capture.refine.engines import classical
from depthgauge.types import Image, Map, Mask

SPEC = RefinerSpec(
    "bimodal",
    "A small network chooses between the two modes of a density, near jumps; classical elsewhere.",
    cite="Tosi et al. 2021; Zama Ramirez et al. 2024, equation 8",
)
WEIGHTS = Path(__file__).parent / "_weights" / "bimodal.safetensors"
RADIUS = 2
"""Of the window of measured values that the network sees."""
WINDOW = (2 * RADIUS + 1) ** 2
INPUTS, OUTPUTS = 4 * WINDOW + 3, 2 * WINDOW + 3
_AT_ONCE = 1 << 15
_MOST_COLOUR = 3.0
_LEAST_SCALE_PX = 0.02
"""Smallest scale of a mode, in px of the measured map."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Windows:
    """What the network sees of some pixels."""

    inputs: Floats
    """(N, INPUTS)."""
    values: Floats
    """(N, WINDOW): the measured disparities around each pixel, above the smallest; 0 if unknown."""
    known: Mask
    lowest: Floats
    """(N,): the smallest disparity of each window."""
    spread: Floats
    """(N,): by how much the largest one is above it."""


@dataclass(frozen=True, slots=True)
class Modes:
    """Densities `p / (2 b1) exp(-|d - m1| / b1) + (1 - p) / (2 b2) exp(-|d - m2| / b2)`."""

    share: Floats
    """(N,): p."""
    places: Floats
    """(N, 2): m1 and m2."""
    scales: Floats
    """(N, 2): b1 and b2."""

    def chosen(self) -> tuple[Floats, Floats, Floats]:
        """The place with the higher density, its scale, and its part of both densities."""
        heights = np.stack([self.density(self.places[:, k]) for k in range(2)], 1)
        which = heights.argmax(1)[:, None]
        part = np.take_along_axis(heights, which, 1)[:, 0] / heights.sum(1)
        place, scale = (
            np.take_along_axis(values, which, 1)[:, 0] for values in (self.places, self.scales)
        )
        return place, scale, part.astype(np.float32)

    def density(self, at: Floats) -> Floats:
        """The density of each pixel at a disparity of it, (N,)."""
        away = np.abs(at[:, None] - self.places) / self.scales
        parts = np.exp(-away) / (2 * self.scales)
        return np.asarray(self.share * parts[:, 0] + (1 - self.share) * parts[:, 1], np.float32)


def refine(maps: MeasuredMaps, guide: Image, options: RefineOptions) -> RefinedMaps:
    """Resizes a map to the guide's size; the network decides near jumps.

    Args:
        maps: The measured map, in px of its own image.
        guide: (H, W) or (H, W, 3), with the target size.
        options: See `RefineOptions`; `radius` is that of the classical part.

    Raises:
        WrongShape: The maps' sizes differ, are below 2x2, or above the guide's.
    """
    found = classical.refine(maps, guide, options)
    colours = classical._colours(guide)
    scale = colours.shape[1] / maps.disparity.shape[1]
    rows, columns = np.nonzero(near_jumps(maps, colours, options) & np.isfinite(found.disparity))
    layers = network()
    for start in range(0, len(rows), _AT_ONCE):
        here = rows[start : start + _AT_ONCE], columns[start : start + _AT_ONCE]
        seen = windows(maps, colours, here)
        place, width, part = modes(layers, seen).chosen()
        found.disparity[here] = place * scale
        found.variance[here] = 2 * (width * scale) ** 2
        found.choice[here] = np.maximum(part, np.float32(0.5))
    return found


def near_jumps(maps: MeasuredMaps, colours: Floats, options: RefineOptions) -> Mask:
    """Pixels of the guide whose window of the measured map has a jump."""
    from depthgauge.capture.refine.engines import _refine_kernels as kernels

    scale = colours.shape[1] / maps.disparity.shape[1]
    rough = np.zeros(maps.disparity.shape, np.uint8)
    stair = np.zeros(maps.disparity.shape, np.bool_)
    kernels.find_rough(maps.disparity, options.jump_px / scale, rough, stair)
    y, x = (_whole(p) for p in _cells(maps.disparity.shape, colours.shape))
    return np.asarray(classical._around(rough, RADIUS)[np.ix_(y, x)] > 0)


def _whole(places: Floats) -> NDArray[np.intp]:
    return np.rint(places).astype(np.intp)


def _cells(small: tuple[int, ...], large: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Where the rows and columns of the guide are in the measured map, not beyond its border."""
    places = [
        np.clip((np.arange(n) + 0.5) * m / n - 0.5, 0, m - 1).astype(np.float32)
        for m, n in zip(small[:2], large[:2], strict=True)
    ]
    return places[0], places[1]


def windows(
    maps: MeasuredMaps, colours: Floats, here: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> Windows:
    """What the network sees of pixels of the guide, given by rows and columns."""
    y, x = (p[i] for p, i in zip(_cells(maps.disparity.shape, colours.shape), here, strict=True))
    row, column = _whole(y), _whole(x)
    steps = np.arange(-RADIUS, RADIUS + 1)
    down = (row[:, None] + np.repeat(steps, len(steps))) + RADIUS
    right = (column[:, None] + np.tile(steps, len(steps))) + RADIUS
    values = _padded(maps.disparity, np.nan)[down, right]
    known = np.isfinite(values)
    low = np.where(known, values, np.inf).min(1)
    high = np.where(known, values, -np.inf).max(1)
    spread = np.maximum(high - low, 1e-3).astype(np.float32)
    above = np.where(known, values - low[:, None], 0).astype(np.float32)
    trust = np.nan_to_num(_padded(maps.confidence, 0)[down, right])
    small = classical._shrunk(colours, maps.disparity.shape)
    away = np.abs(_padded(small, 0)[down, right] - colours[here][:, None]).mean(2)
    alike = np.minimum(away / np.float32(classical.guide_sigma(colours)), _MOST_COLOUR)
    place = np.stack([y - row, x - column, np.log(spread)], 1)
    inputs = np.concatenate([above / spread[:, None], known, trust, alike, place], 1)
    return Windows(inputs.astype(np.float32), above, known, low.astype(np.float32), spread)


def _padded(values: NDArray[Any], border: float) -> NDArray[Any]:
    width = [(RADIUS, RADIUS)] * 2 + [(0, 0)] * (values.ndim - 2)
    return np.pad(values, width, constant_values=border)


def modes(layers: Mapping[str, Floats], seen: Windows) -> Modes:
    """The network: two hidden layers; each mode is a weighted mean of known values."""
    x = seen.inputs
    for name in ("first", "second"):
        x = np.maximum(x @ layers[f"{name}.weight"].T + layers[f"{name}.bias"], 0)
    out = x @ layers["last.weight"].T + layers["last.bias"]
    places = [
        (_softmax(out[:, k * WINDOW : (k + 1) * WINDOW], seen.known) * seen.values).sum(1)
        for k in range(2)
    ]
    share = 1 / (1 + np.exp(-out[:, 2 * WINDOW]))
    scales = np.logaddexp(out[:, 2 * WINDOW + 1 :], 0) + np.float32(_LEAST_SCALE_PX)
    at = np.stack(places, 1) + seen.lowest[:, None]
    return Modes(share.astype(np.float32), at.astype(np.float32), scales.astype(np.float32))


def _softmax(values: Floats, known: Mask) -> Map:
    shown = np.where(known, values, -np.inf)
    weights = np.exp(shown - shown.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True), np.float32)


@cache
def network() -> dict[str, Floats]:
    """The layers of the package's network, by name."""
    from depthgauge.methods.nets._tensors import read_tensors

    return {name: values.astype(np.float32) for name, values in read_tensors(WEIGHTS)[0].items()}
