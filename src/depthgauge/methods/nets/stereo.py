"""Our stereo network: recurrent look-ups in correlations along rows."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from depthgauge.methods._pair import PairOptions, stereo_pair
from depthgauge.methods._spec import MethodSpec
from depthgauge.methods.nets._networks import (
    LOCAL,
    NetworkOptions,
    as_colour,
    runner,
    with_confidence,
)
from depthgauge.types import Estimate, Inputs, Map

_LARGEST_SHARE = 4
"""Without a range, disparities up to a quarter of the width are expected."""


class StereoNetOptions(PairOptions, NetworkOptions):
    """Options of `nets-stereo`."""

    updates: int = Field(default=10, ge=1, le=100)
    """Number of recurrent updates; by default as many as while training."""
    averaged: bool = True
    """Combine with estimates from pictures upside down and, where disparities allow that, also half
    as large again: fewer wrong pixels for four times the work."""


SPEC = MethodSpec(
    id="nets-stereo",
    title="Stereo network of ours, trained on synthetic scenes",
    quantities=("disparity",),
    needs=("left_image", "right_image"),
    cite="after Lipson, Teed & Deng 2021",
    options=StereoNetOptions,
    local=LOCAL,
    revision=3,
)


def estimate(inputs: Inputs, options: StereoNetOptions) -> Estimate | Map:
    """Disparity of every pixel of the left view, with the confidence from the last updates."""
    pair = stereo_pair(inputs, options, grey=False)
    low, high = 0.0, pair.given_px[0] / _LARGEST_SHARE
    if "disparity_range" in inputs:
        low, high = (float(end) for end in inputs["disparity_range"])
    left, right = as_colour(pair.left), as_colour(pair.right)
    found = runner("stereo", options).stereo(
        left, right, high * pair.scale, averaged=options.averaged
    )
    disparity = found.motion[0, 0]
    if "disparity_range" in inputs:
        disparity = np.clip(disparity, low * pair.scale, high * pair.scale)
    if options.enlarge and pair.scale != 1:
        return pair.returned(disparity, options)
    values = np.asarray(disparity, np.float32)
    return with_confidence(values, found.spread_px[0], "disparity", inputs)
