"""OpenCV's dense inverse search: fast optical flow."""

from __future__ import annotations

from typing import Literal

import numpy as np

from depthgauge.methods._images import two_images
from depthgauge.methods._spec import MethodOptions, MethodSpec
from depthgauge.types import Inputs, Map


class DisOptions(MethodOptions):
    """Options of `dis`."""

    preset: Literal["ultrafast", "fast", "medium"] = "medium"
    """How much work is done; `medium` is the most accurate."""


SPEC = MethodSpec(
    id="dis",
    title="Dense inverse search flow (OpenCV)",
    quantities=("flow",),
    needs=("first_image", "second_image"),
    cite="Kroeger, Timofte, Dai & Van Gool 2016",
    options=DisOptions,
)


def estimate(inputs: Inputs, options: DisOptions) -> Map:
    """Flow from the first to the second picture; they must be at least 12 px wide and high."""
    import cv2

    first, second = two_images(inputs, "first_image", "second_image", grey=True)
    presets = {
        "ultrafast": cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST,
        "fast": cv2.DISOPTICAL_FLOW_PRESET_FAST,
        "medium": cv2.DISOPTICAL_FLOW_PRESET_MEDIUM,
    }
    flow = cv2.DISOpticalFlow.create(presets[options.preset]).calc(first, second, None)
    return np.asarray(flow, dtype=np.float32)
