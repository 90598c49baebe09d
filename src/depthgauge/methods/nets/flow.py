"""Our flow network: recurrent look-ups in correlations of all pairs of pixels."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from depthgauge.methods._images import Bytes, as_grey, two_images
from depthgauge.methods._spec import MethodSpec
from depthgauge.methods.nets._networks import (
    LOCAL,
    NetworkOptions,
    as_colour,
    runner,
    with_confidence,
)
from depthgauge.types import Estimate, Inputs, Map

POLISH = 10
"""Iterations by default."""
_SMOOTHNESS, _GRADIENTS = 20.0, 20.0
"""Weights of the polish, chosen on synthetic pairs. Grey values themselves have none: exposure may
differ."""


class FlowNetOptions(NetworkOptions):
    """Options of `nets-flow`."""

    polish: int = Field(default=POLISH, ge=0, le=100)
    """Iterations of OpenCV's variational refinement, which makes the network's flow exact to
    smaller fractions of a px; 0: none."""
    averaged: bool = True
    """Combine with estimates from pictures upside down and mirrored: fewer wrong pixels for three
    times the work."""


SPEC = MethodSpec(
    id="nets-flow",
    title="Flow network of ours, trained on synthetic scenes",
    quantities=("flow",),
    needs=("first_image", "second_image"),
    cite="after Teed & Deng 2020",
    options=FlowNetOptions,
    local=LOCAL,
    revision=3,
)


def estimate(inputs: Inputs, options: FlowNetOptions) -> Estimate | Map:
    """Flow of every pixel of the first picture, with the confidence from the last updates."""
    first, second = two_images(inputs, "first_image", "second_image", grey=False)
    found = runner("flow", options).flow(
        as_colour(first), as_colour(second), averaged=options.averaged
    )
    flow = np.ascontiguousarray(found.motion[0].transpose(1, 2, 0))
    flow = polished(flow, as_grey(first), as_grey(second), options.polish)
    return with_confidence(flow, found.spread_px[0], "flow", inputs)


def polished(flow: Map, first: Bytes, second: Bytes, iterations: int) -> Map:
    """The flow, moved by fractions of a px until gradients of grey values agree smoothly."""
    if not iterations:
        return flow
    import cv2

    refinement = cv2.VariationalRefinement.create()
    refinement.setAlpha(_SMOOTHNESS)
    refinement.setDelta(0.0)
    refinement.setGamma(_GRADIENTS)
    refinement.setFixedPointIterations(iterations)
    return np.asarray(refinement.calc(first, second, flow.copy()), np.float32)
