"""Farneback's optical flow by polynomial expansion, implemented by OpenCV."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from depthgauge.methods._images import two_images
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.types import Inputs, Map


class FarnebackOptions(MethodOptions):
    """Options of `farneback`."""

    pyramid_scale: float = Field(default=0.5, gt=0, lt=1)
    """Size of each level of the pyramid relative to the one below."""
    levels: int = Field(default=5, ge=1)
    """Levels of the pyramid, including the picture itself."""
    window: int = Field(default=15, ge=1)
    """Width of the averaging window in px; larger is more robust but blurrier."""
    iterations: int = Field(default=3, ge=1)
    """Iterations at each level."""
    poly_n: int = Field(default=5, ge=3)
    """Width of the neighbourhood to which the polynomial is fitted, in px; usually 5 or 7."""
    poly_sigma: float = Field(default=1.1, gt=0)
    """Standard deviation of its Gaussian weight in px; 1.1 for a width of 5, 1.5 for 7."""
    gaussian: bool = False
    """Average with a Gaussian window: more accurate but slower."""


SPEC = MethodSpec(
    id="farneback",
    title="Flow by polynomial expansion (OpenCV)",
    quantities=("flow",),
    needs=("first_image", "second_image"),
    cite="Farneback 2003",
    options=FarnebackOptions,
)


def estimate(inputs: Inputs, options: FarnebackOptions) -> Map:
    """Flow from the first to the second picture."""
    import cv2

    first, second = two_images(inputs, "first_image", "second_image", grey=True)
    flow = cv2.calcOpticalFlowFarneback(
        first,
        second,
        None,
        pyr_scale=options.pyramid_scale,
        levels=options.levels,
        winsize=options.window,
        iterations=options.iterations,
        poly_n=options.poly_n,
        poly_sigma=options.poly_sigma,
        flags=cv2.OPTFLOW_FARNEBACK_GAUSSIAN if options.gaussian else 0,
    )
    return np.asarray(flow, dtype=np.float32)
