"""How different two views look to a network: LPIPS."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from depthgauge.metrics._metric import metric
from depthgauge.metrics.views._alexnet import LEAST_PX, AlexNet, Layer, layers_of, load_alexnet
from depthgauge.metrics.views._frames import (
    PAINTED,
    Picture,
    finish_frames,
    frame_state,
    whole_views,
)
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

_TINY = np.float32(1e-10)


def perceptual_distance(first: Picture, second: Picture, network: AlexNet) -> float:
    """LPIPS v0.1 of two pictures of at least 35 x 35 px."""
    layers = zip(layers_of(first, network), layers_of(second, network), network.heads, strict=True)
    return float(sum(_layer_distance(a, b, head) for a, b, head in layers))


def _layer_distance(first: Layer, second: Layer, head: Layer) -> float:
    squares = (_unit(first) - _unit(second)) ** 2
    return float(np.mean(squares @ head, dtype=np.float64))


def _unit(layer: Layer) -> Layer:
    """Each pixel's channels as a vector of length 1."""
    length = np.sqrt(np.sum(layer**2, axis=2, keepdims=True))
    return np.asarray(layer / (length + _TINY), np.float32)


@metric(
    "lpips",
    category="views",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=("view",),
    cite="Zhang, Isola, Efros, Shechtman & Wang 2018",
    formula="sum over layers of the mean over pixels of w . (y - x)^2, y and x unit features",
    revision=1,
    choices={"net": ("alex",)},
    missing_costs=f"{PAINTED}. A frame without any estimate has no number, and its clip none",
)
class Lpips:
    """Learned perceptual distance of a view and its truth, version 0.1 with AlexNet.

    Both views go through AlexNet (pictures as they are, values from -1 to 1, no resizing). After
    each of its five convolutions, the features of a pixel are scaled to length 1, squared
    differences are weighted by the learned heads, averaged over pixels and added over layers. It
    needs the weights file `alexnet.npz`; without it the score is left out. It is computed in NumPy
    and agrees with the original to 1e-5. Frames below 35 px are not judged.
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None, *, net: str = "alex") -> State:
        """The frame's distance."""
        network = load_alexnet()
        shown, target, counts = whole_views(estimate, truth, region)
        if min(shown.shape[:2]) < LEAST_PX:
            return frame_state(State(0, 0), math.nan)
        if not counts.count:
            return frame_state(counts, math.nan)
        return frame_state(counts, perceptual_distance(shown, target, network))

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The mean over frames."""
        return finish_frames(state, missing)
