"""Quantities with layers: which layer of a pixel is compared, and all of them side by side.

The map of such a quantity has, at each pixel, the last layer that the truth knows there; a part
such as `layered_flow:2` is one layer everywhere. Metrics that need all layers get them as `layers`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks import Protocol
from depthgauge.errors import BadEstimate, Unavailable, WrongShape
from depthgauge.geometry.layers import (
    TRANSPARENT,
    are_rows,
    last_layer,
    layers_from_rows,
    pick_layer,
    require_order,
)
from depthgauge.geometry.resizing import subsample_truth
from depthgauge.metrics._layer_errors import LayerComparison
from depthgauge.metrics.terms import LARGEST
from depthgauge.quantities import QUANTITIES, Part
from depthgauge.types import Estimate, Map

LAYERS = "layers"
"""The name under which metrics get all layers of estimate and truth."""
SCORED = "scored_layer"
"""The name of the map that says which layer of a pixel is compared, from 1; 0: none."""
MATERIAL, TOTAL = "layer_material", "layer_count"
_EXTRA = (MATERIAL, TOTAL)
"""What the layers of a truth may come with."""


def stack_part(protocol: Protocol) -> Part | None:
    """The part with layers that the truth of a protocol comes from; None: it has no layers."""
    main = QUANTITIES[protocol.quantity].main
    if main.is_stack:
        return main
    if protocol.truth.layer == "all":
        return None
    parts = (declared.main for declared in QUANTITIES.values())
    return next((p for p in parts if p.is_stack and p.like == protocol.quantity), None)


def layered_truth(protocol: Protocol, truth: Mapping[str, Any], part: str = "") -> Map | None:
    """The map that estimates are compared with, made from layers; None if it is stored as it is.

    Raises:
        Unavailable: The truth lacks the layers, or their materials where they are needed.
    """
    stacked = stack_part(protocol)
    if stacked is None or part:
        return None
    if stacked.name not in truth:
        raise Unavailable(f"there is no {stacked.name}", [stacked.name])
    return pick_layer(truth[stacked.name], _scored(protocol, truth, stacked))


def layer_items(protocol: Protocol, truth: Mapping[str, Any], part: str = "") -> dict[str, Any]:
    """What regions and metrics may ask about layers; reads what belongs to the truth's hash."""
    stacked = stack_part(protocol)
    if stacked is None or stacked.name not in truth:
        return {}
    for name in _EXTRA:
        if name in truth:
            _require_size(name, truth[name], truth[stacked.name])
    number = part.partition(":")[2]
    if number:
        shape = truth[stacked.name].shape[1:3]
        return {SCORED: np.full(shape, int(number), np.uint8)}
    return {SCORED: _scored(protocol, truth, stacked)}


def _require_size(name: str, values: NDArray[Any], stack: Map) -> None:
    wanted = stack.shape[:3] if name == MATERIAL else stack.shape[1:3]
    if values.shape != wanted:
        raise WrongShape(f"{name} is {values.shape} but the layers are {stack.shape}.")


def _scored(protocol: Protocol, truth: Mapping[str, Any], part: Part) -> NDArray[np.uint8]:
    stack = truth[part.name]
    if protocol.truth.layer == "first":
        return np.ones(stack.shape[1:3], np.uint8)
    last = last_layer(stack)
    if protocol.truth.layer == "all":
        return last
    if MATERIAL not in truth:
        raise Unavailable("the last layer is told by its material, which is missing", [MATERIAL])
    codes = np.asarray(truth[MATERIAL])
    index = np.clip(last.astype(np.int64) - 1, 0, len(codes) - 1)
    glass = np.take_along_axis(codes, index[None], axis=0)[0] == TRANSPARENT
    return np.where(glass, np.uint8(0), last)


def dense_layers(
    protocol: Protocol, given: Estimate, size: tuple[int, ...], layers: int
) -> Estimate:
    """An estimate with all its layers as an array; one of another quantity is left as it is.

    A map without layers is one layer; rows of u, v, layer and values are spread over the picture.

    Args:
        protocol: Says whether one layer stands for all.
        given: The estimate.
        size: Height and width of the truth.
        layers: How many layers the truth has.

    Raises:
        BadEstimate: Its layers are not in order, or it is no stack of layers at all.
    """
    declared = QUANTITIES[protocol.quantity]
    if not declared.main.is_stack:
        return given
    values = given.values
    channels = declared.main.channels or 1
    if are_rows(values, channels):
        values = layers_from_rows(values, (size[0], size[1]))
    if values.ndim == len(declared.main.axes) - 1:
        values = values[None]
    if values.ndim != len(declared.main.axes):
        axes = ", ".join(declared.main.axes)
        raise BadEstimate(
            f"{declared.name} has the axes ({axes}), or is rows of u, v, layer and "
            f"{channels} value(s); this array has shape {values.shape}."
        )
    require_order(values, QUANTITIES[declared.main.like].nearer if declared.main.like else None)
    if protocol.estimate.repeat_layer and len(values) == 1:
        values = np.broadcast_to(values, (layers, *values.shape[1:]))
    return replace(given, values=values)


def comparison(
    protocol: Protocol,
    estimate: Callable[[], Map] | None,
    items: Mapping[str, Any],
    allowed: tuple[float, float],
) -> LayerComparison:
    """All layers of estimate and truth, computed when a metric asks for them.

    Args:
        protocol: Says at which size they are compared.
        estimate: Gives the layers at that size; None if there is no estimate.
        items: The truth's own, with its layers among them.
        allowed: Values outside are missing.
    """
    part = QUANTITIES[protocol.quantity].main
    scale = protocol.truth_scale

    def smaller(name: str) -> Any:
        found = items.get(name)
        if found is None or scale == 1:
            return found
        rows = found if found.ndim > 2 else found[None]
        small = np.stack([subsample_truth(layer, scale, part.like) for layer in rows])
        return small if found.ndim > 2 else small[0]

    return LayerComparison(
        partial(_allowed, estimate, partial(smaller, part.name), *allowed),
        partial(smaller, part.name),
        smaller(MATERIAL),
        smaller(TOTAL),
    )


def _allowed(
    read_estimate: Callable[[], Map] | None, read_truth: Callable[[], Map], low: float, high: float
) -> Map:
    if read_estimate is None:
        return np.full_like(read_truth(), np.nan)
    stack = read_estimate()
    if low == -LARGEST and high == LARGEST:
        return stack
    inside = (stack >= np.float32(low)) & (stack <= np.float32(high))
    return np.where(inside, stack, np.float32(np.nan))
