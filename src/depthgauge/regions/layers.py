"""Regions of layers: by material, by what is in front, by how strongly glass bends the view."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.geometry.layers import MATERIALS
from depthgauge.regions._region import region
from depthgauge.regions._shared_maps import shared_map
from depthgauge.regions.truth_view import TruthView
from depthgauge.types import Map, Mask

_CITE = "Wen, Liang & Deng 2024 (LayeredFlow)"
_NEEDS = ("scored_layer", "layer_material")
_WINDOW = 9
Numbers = NDArray[np.uint8]


def _check_range(*, low: float, high: float) -> None:
    if not low < high:
        raise Misuse(f"a range from {low:g} to {high:g} holds nothing; the first must be smaller")


def _at_layer(stack: NDArray[Any], scored_layer: Numbers) -> NDArray[Any]:
    """The value of each pixel's scored layer; where none is scored, that of the first."""
    index = np.clip(scored_layer.astype(np.int64) - 1, 0, len(stack) - 1)
    return np.asarray(np.take_along_axis(stack, index[None], axis=0)[0])


def _is_of(material: str, scored_layer: Numbers, layer_material: Numbers) -> Mask:
    there = (scored_layer > 0) & (scored_layer <= len(layer_material))
    return np.asarray(
        there & (_at_layer(layer_material, scored_layer) == MATERIALS.index(material))
    )


@region("diffuse_layer", needs=_NEEDS, cite=_CITE)
def diffuse_layer(truth: Map, *, scored_layer: Numbers, layer_material: Numbers) -> Mask:
    """Pixels whose scored layer is a diffuse surface."""
    return _is_of("diffuse", scored_layer, layer_material)


@region("transparent_layer", needs=_NEEDS, cite=_CITE)
def transparent_layer(truth: Map, *, scored_layer: Numbers, layer_material: Numbers) -> Mask:
    """Pixels whose scored layer is transparent: glass, liquids."""
    return _is_of("transparent", scored_layer, layer_material)


@region("reflective_layer", needs=_NEEDS, cite=_CITE)
def reflective_layer(truth: Map, *, scored_layer: Numbers, layer_material: Numbers) -> Mask:
    """Pixels whose scored layer is reflective: metal, mirrors."""
    return _is_of("reflective", scored_layer, layer_material)


@region("behind_transparent", needs=("scored_layer",), cite=_CITE)
def behind_transparent(truth: Map, *, scored_layer: Numbers) -> Mask:
    """Pixels whose scored layer is seen through at least one transparent surface."""
    return np.asarray(scored_layer > 1)


@region("glass_in_front", needs=("scored_layer",))
def glass_in_front(truth: Map, *, scored_layer: Numbers, surfaces: int) -> Mask:
    """Pixels whose scored layer is seen through exactly that many transparent surfaces.

    A surface counts where light enters it from air: a pane or a solid bottle is one, a hollow
    bottle two.
    """
    return np.asarray(scored_layer == surfaces + 1)


@region("refracted", needs=("refraction_px",), check=_check_range)
def refracted(truth: Map, *, refraction_px: Map, low: float, high: float) -> Mask:
    """Pixels where glass bends the view by low to below high px, in the layer where it does most.

    That is how far a point appears from where a straight ray would show it.
    """
    bent = np.fmax.reduce(refraction_px, axis=0)
    return np.asarray((bent >= low) & (bent < high))


@shared_map("local_contrast", needs=("truth_view",))
def local_contrast(truth: Map, *, truth_view: TruthView) -> NDArray[np.float32]:
    """Standard deviation of the grey values in the 9 x 9 pixels around each pixel."""
    from depthgauge.regions import _radiometry_kernels as kernels

    grey = np.ascontiguousarray(truth_view.grey, np.float32)
    mean, square = np.zeros(grey.shape, np.float32), np.zeros(grey.shape, np.float32)
    kernels.box_mean(grey, _WINDOW // 2, mean)
    kernels.box_mean(grey * grey, _WINDOW // 2, square)
    return np.sqrt(np.maximum(square - mean * mean, np.float32(0)))


@region("contrast", needs=("local_contrast",), check=_check_range)
def contrast(truth: Map, *, local_contrast: NDArray[np.float32], low: float, high: float) -> Mask:
    """Pixels around which grey values vary by low to below high (standard deviation in 9 x 9 px).

    With `behind_transparent` it is the contrast of what is seen through glass.
    """
    return np.asarray((local_contrast >= low) & (local_contrast < high))
