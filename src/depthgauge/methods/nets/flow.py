"""Our flow network: recurrent look-ups in correlations of all pairs of pixels."""

from __future__ import annotations

import numpy as np

from depthgauge.methods._images import two_images
from depthgauge.methods._spec import MethodSpec
from depthgauge.methods.nets._networks import (
    LOCAL,
    NetworkOptions,
    as_colour,
    runner,
    with_confidence,
)
from depthgauge.types import Estimate, Inputs, Map


class FlowNetOptions(NetworkOptions):
    """Options of `nets-flow`."""


SPEC = MethodSpec(
    id="nets-flow",
    title="Flow network of ours, trained on synthetic layers",
    quantities=("flow",),
    needs=("first_image", "second_image"),
    cite="after Teed & Deng 2020",
    options=FlowNetOptions,
    local=LOCAL,
)


def estimate(inputs: Inputs, options: FlowNetOptions) -> Estimate | Map:
    """Flow of every pixel of the first picture, with the confidence from the last updates."""
    first, second = two_images(inputs, "first_image", "second_image", grey=False)
    found = runner("flow", options).flow(as_colour(first), as_colour(second))
    flow = np.ascontiguousarray(found.motion[0].transpose(1, 2, 0))
    return with_confidence(flow, found.spread_px[0], "flow", inputs)
