"""The truth of a pair: flow both ways, disparity, depth and positions of every layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.layers import NO_MATERIAL
from depthgauge.synth.render.layered_motion import (
    OCCLUDED,
    UNSOLVED,
    VALID,
    VANISHED,
    LayeredMotion,
    layered_motion,
    refraction_px,
)
from depthgauge.synth.render.layers import trace_layers
from depthgauge.synth.sets.layers._views import View

Arrays = dict[str, NDArray[Any]]
_COUNTED = 12
"""Layers are counted up to this number, also where fewer are stored."""
_MARGIN = 0.1
"""How much wider than the truth the disparity range is, as a share; at least 2 px."""


def truth_of(views: dict[str, View]) -> tuple[Arrays, dict[str, Any]]:
    """Maps and codes of the left view at the first time, and statistics of what was solved."""
    left, right, later = views["left"], views["right"], views["left_next"]
    flow, backward, across = (
        _motion(*pair) for pair in ((left, later), (later, left), (left, right))
    )
    layers = left.layers
    # Signed codes cannot hold NO_MATERIAL, so they are widened first.
    codes = layers.material.astype(np.int16)
    material = np.where(codes < 0, NO_MATERIAL, codes).astype(np.uint8)
    deeper = trace_layers(left.frame, left.camera, _COUNTED, layers.rough)
    axes = left.camera.world_from_camera[:3, :3]
    truth: Arrays = {
        "layered_flow": flow.flow,
        "layered_flow_backward": backward.flow,
        "layered_disparity": -across.flow[..., 0],
        "layered_depth": layers.depth,
        "layer_position": layers.position,
        "layered_scene_flow": (flow.position - layers.position) @ axes,
        "refraction_px": refraction_px(layers, left.camera),
        "layer_material": material,
        "layer_object": layers.object,
        "layer_count": deeper.count,
        "flow_state": flow.state,
        "disparity_state": across.state,
    }
    found: dict[str, Any] = {
        "flow": _shares(flow),
        "flow_backward": _shares(backward),
        "disparity": _shares(across),
    }
    dv = np.abs(across.flow[..., 1][across.state == VALID])
    found["vertical_disparity_px"] = {
        "mean": round(float(dv.mean()), 4) if dv.size else None,
        "p99": round(float(np.quantile(dv, 0.99)), 4) if dv.size else None,
    }
    return truth, found


def disparity_range(disparity: NDArray[Any]) -> tuple[float, float]:
    """Whole disparities around those of all layers."""
    known = disparity[np.isfinite(disparity)]
    low, high = float(known.min()), float(known.max())
    margin = max(2.0, _MARGIN * (high - low))
    return float(max(0, math.floor(low - margin))), float(math.ceil(high + margin))


def _motion(before: View, after: View) -> LayeredMotion:
    return layered_motion(
        *(before.frame, before.camera, after.frame, after.camera, before.layers, after.layers)
    )


def _shares(motion: LayeredMotion) -> list[dict[str, float]]:
    """Of each layer: how many points it has, and which share of them is valid, occluded ..."""
    names = {"valid": VALID, "occluded": OCCLUDED, "vanished": VANISHED, "unsolved": UNSOLVED}
    rows = []
    for state in motion.state:
        count = int((state != 0).sum())
        row: dict[str, float] = {"points": count}
        if count:
            row |= {
                name: round(float((state == code).sum()) / count, 4) for name, code in names.items()
            }
        rows.append(row)
    return rows
