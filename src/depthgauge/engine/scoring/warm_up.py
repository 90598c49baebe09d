"""Compiles the kernels that a protocol needs, on maps of a few pixels."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.rules import Rules
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Camera, Estimate, Inputs, Rig, Sample, Truth

_SIZE = (24, 40)


def warm_up(rules: Rules) -> None:
    """Scores a made-up sample once, so that numba's cache is filled before it is needed."""
    if rules.protocol.twin is not None:
        return
    sample = _sample(rules)
    with suppress(Exception):  # a region that cannot be computed here compiles when it is used
        Judge(rules).score_map(sample, lambda: _estimate(rules.protocol))


def _estimate(protocol: Protocol) -> Estimate:
    return Estimate(_map(protocol, 1), protocol.quantity, {"focal_px": 40.0})


def _map(protocol: Protocol, seed: int) -> np.ndarray:
    quantity = QUANTITIES[protocol.quantity]
    channels = quantity.channels or quantity.example_channels
    shape = _SIZE if channels == 1 else (*_SIZE, channels)
    high = 8.0 if quantity.bounds is None else quantity.bounds[1]
    shape = (1, *shape) if quantity.main.is_stack else shape
    return np.random.default_rng(seed).uniform(high / 8, high, shape).astype(np.float32)


def _sample(rules: Rules) -> Sample:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (*_SIZE, 3), dtype=np.uint8)
    name = QUANTITIES[rules.protocol.quantity].main.name
    truth: dict[str, Any] = {name: _map(rules.protocol, 0)}
    if QUANTITIES[rules.protocol.quantity].between_views:
        truth[f"right_{rules.protocol.quantity}"] = _map(rules.protocol, 0)[:, ::-1].copy()
    for name in rules.declared:
        values = rng.integers(0, 2, _SIZE, dtype=np.uint8)
        truth[name] = values.astype(bool) if name.endswith("_mask") else values
    camera = Camera((40.0, 40.0), (19.5, 11.5), _SIZE[::-1])
    inputs = {"left_image": image, "right_image": image, "rig": Rig({"left": camera}, 0.1)}
    truth["camera"] = camera
    truth.setdefault("continuous_labels", np.ones(_SIZE, np.int32))
    return Sample("warm-up", Inputs(inputs), Truth(truth))
