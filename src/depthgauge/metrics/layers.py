"""Metrics of layers: a pixel that looks through glass shows several surfaces, the nearest first.

An annotated pixel counts once: its error is the largest over its annotated layers, and a layer that
is not estimated is bad. `layer` and `material` limit a score to annotations of one kind.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.layers import MATERIALS, pick_layer
from depthgauge.metrics._layer_errors import ANY, LayerComparison
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

LAYERED = ("layered_flow", "layered_disparity", "layered_depth", "layered_scene_flow")
CITE = "Wen, Liang & Deng 2024 (LayeredFlow)"
_CHOICES = {"material": (ANY, *MATERIALS)}


def _share(state: State, missing: str) -> float:
    """Percentage of bad pixels; those without an estimate are bad unless they are skipped."""
    lost = state.missing if missing in ("bad", "interpolate") else 0
    n = state.count + lost
    return 100.0 * (float(state.sums[0]) + lost) / n if n else math.nan


@metric(
    "multi_bad",
    category="layers",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=LAYERED,
    needs=("layers",),
    choices=_CHOICES,
    cite=CITE,
    formula="100 * mean [not max over annotated layers |estimate - truth| <= tau]",
    endless=("tau",),
)
class MultiBad:
    """Percentage of pixels with a layer whose error exceeds tau, or that is not estimated.

    How many layers are estimated in addition does not matter.

    >>> import depthgauge as dg
    >>> truth = [[[5, 5, 5]], [[9, 9, float("nan")]]]
    >>> estimate = [[[5, 5, 7]], [[9, float("nan"), 1]]]
    >>> s = dg.score(estimate, truth, ["multi_bad:1", "multi_bad:1,1"], quantity="layered_depth")
    >>> round(s["multi_bad:1@all"].value, 1), round(s["multi_bad:1,1@all"].value, 1)
    (66.7, 33.3)
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        layers: LayerComparison,
        tau: float = 1.0,
        layer: int = 0,
        material: str = ANY,
    ) -> State:
        """Bad pixels among those that have the layers."""
        return layers.count(region, tau, layer, material, counted=False)

    @staticmethod
    def finish(state: State, *, missing: str, tau: float, layer: int, material: str) -> float:
        """The share of bad ones."""
        return _share(state, missing)


@metric(
    "layer_accuracy",
    category="layers",
    unit=Unit.PERCENT,
    better="higher",
    bounds=(0, 100),
    of=LAYERED,
    needs=("layers",),
    choices=_CHOICES,
    cite=CITE,
    formula="100 * mean [max over annotated layers |estimate - truth| <= tau]",
    endless=("tau",),
)
class LayerAccuracy:
    """Percentage of pixels all of whose annotated layers have an error of at most tau.

    >>> import depthgauge as dg
    >>> s = dg.score([[[5, 5]], [[9, 7]]], [[[5, 5]], [[9, 9]]], "layer_accuracy:1",
    ...              quantity="layered_depth")
    >>> s["layer_accuracy:1@all"].value
    50.0
    """

    measure = MultiBad.measure

    @staticmethod
    def finish(state: State, *, missing: str, tau: float, layer: int, material: str) -> float:
        """The share of accurate ones."""
        return 100.0 - _share(state, missing)


@metric(
    "count_bad",
    category="layers",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=LAYERED,
    needs=("layers", "layer_material"),
    choices=_CHOICES,
    cite=CITE,
    formula="100 * mean [wrong number of layers, or not max |estimate - truth| <= tau]",
    endless=("tau",),
)
class CountBad:
    """Percentage of pixels with a wrong number of layers, or a layer whose error exceeds tau.

    The number goes by the last annotated layer of the pixel: if it is transparent, at least as many
    must be estimated, otherwise exactly as many. With tau = inf only the number counts.

    >>> import depthgauge as dg
    >>> import numpy as np
    >>> glass_and_wall = np.array([[[1, 0]], [[0, 255]]], np.uint8)
    >>> truth = [[[5, 5]], [[9, float("nan")]]]
    >>> estimate = [[[5, 5]], [[9, 9]]]
    >>> ids = ["count_bad:1", "count_bad:inf", "multi_bad:1"]
    >>> s = dg.score(estimate, truth, ids, quantity="layered_depth",
    ...              items={"layer_material": glass_and_wall})
    >>> [s[f"{name}@all"].value for name in ids]
    [50.0, 50.0, 0.0]
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        layers: LayerComparison,
        layer_material: object,
        tau: float = 1.0,
        layer: int = 0,
        material: str = ANY,
    ) -> State:
        """Bad pixels among those that have the layers."""
        return layers.count(region, tau, layer, material, counted=True)

    @staticmethod
    def finish(state: State, *, missing: str, tau: float, layer: int, material: str) -> float:
        """The share of bad ones."""
        return _share(state, missing)


@metric(
    "layer_count",
    category="layers",
    unit=Unit.PERCENT,
    better="higher",
    bounds=(0, 100),
    of=LAYERED,
    needs=("layers", "layer_material"),
    choices=_CHOICES,
    cite=CITE,
    formula="100 * mean [the number of layers is right]",
)
class LayerCount:
    """Percentage of pixels whose number of estimated layers is plausible.

    If the last annotated layer is transparent, at least as many must be estimated; otherwise
    exactly as many.

    >>> import depthgauge as dg
    >>> import numpy as np
    >>> walls = np.array([[[0, 0]], [[255, 255]]], np.uint8)
    >>> nothing = [[float("nan"), float("nan")]]
    >>> s = dg.score([[[5, 5]], [[float("nan"), 9]]], [[[5, 5]], nothing], "layer_count",
    ...              quantity="layered_depth", items={"layer_material": walls})
    >>> s["layer_count@all"].value
    50.0
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        layers: LayerComparison,
        layer_material: object,
        layer: int = 0,
        material: str = ANY,
    ) -> State:
        """Pixels with a wrong number."""
        return layers.count(region, math.inf, layer, material, counted=True)

    @staticmethod
    def finish(state: State, *, missing: str, layer: int, material: str) -> float:
        """The share of right ones."""
        return 100.0 - _share(state, missing)


@metric(
    "row_residual",
    category="layers",
    unit=Unit.QUANTITY,
    better="lower",
    bounds=(0, math.inf),
    of=("disparity", "layered_disparity"),
    needs=("row_residual_px", "scored_layer"),
    cite=CITE,
    formula="mean |y_right - y_left| of the truth's points",
    uses_truth=False,
)
class RowResidual:
    """Mean vertical offset of the truth's own stereo pairs: how well they are rectified.

    It says nothing about an estimate, and is the same for all of them.

    >>> import depthgauge as dg
    >>> import numpy as np
    >>> items = {"row_residual_px": np.array([[[0.5, 0.1]]]), "scored_layer": np.array([[1, 1]])}
    >>> s = dg.score([[7, 7]], [[7, 8]], "row_residual", quantity="disparity", items=items)
    >>> round(s["row_residual@all"].value, 3)
    0.3
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        row_residual_px: Map,
        scored_layer: NDArray[np.uint8],
    ) -> State:
        """The sum over points, and their number."""
        offsets = pick_layer(row_residual_px, scored_layer)
        known = np.isfinite(offsets) & np.isfinite(truth)
        used = offsets[known if region is None else known & region]
        return State(used.size, 0, np.array([used.sum(dtype=np.float64)]))

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """The mean."""
        return float(state.sums[0]) / state.count if state.count else math.nan
