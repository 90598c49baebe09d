"""The same value everywhere: the baseline that any method has to beat."""

from __future__ import annotations

import numpy as np

from depthgauge.errors import Misuse
from depthgauge.methods._images import image_size
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Inputs, Map


class ConstantOptions(MethodOptions):
    """Options of `constant`."""

    value: float | None = None
    """The value; for flow, the component to the right. None: 0 for flow, the middle of the sample's
    range for disparity (0 if it has none); depth has no default."""
    value_v: float = 0.0
    """The downward component of flow."""


SPEC = MethodSpec(
    id="constant",
    title="The same value everywhere",
    quantities=("disparity", "depth", "flow"),
    needs=("quantity",),
    options=ConstantOptions,
)


def estimate(inputs: Inputs, options: ConstantOptions) -> Map:
    """A map of the wanted quantity, as large as the sample's picture."""
    height, width = image_size(inputs)
    value = _default(inputs) if options.value is None else options.value
    if QUANTITIES[inputs["quantity"]].channels == 1:
        return np.full((height, width), value, dtype=np.float32)
    pair = np.array([value, options.value_v], dtype=np.float32)
    return np.tile(pair, (height, width, 1))


def _default(inputs: Inputs) -> float:
    wanted = QUANTITIES[inputs["quantity"]]
    if wanted.positive:
        raise Misuse("a constant depth must be given in metres: constant:value=2.5.")
    if wanted.range_input in inputs:
        low, high = inputs[wanted.range_input]
        return (float(low) + float(high)) / 2
    return 0.0
