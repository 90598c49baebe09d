"""Random maps and regions for the property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


def make_pair(seed, shape=(13, 21), missing=0.2, unknown=0.1, quantity="disparity"):
    """An estimate and a truth of random values with gaps; all estimates positive."""
    rng = np.random.default_rng(seed)
    channels = {"flow": 2, "normals": 3, "scene_flow": 3}.get(quantity)
    full = shape if channels is None else (*shape, channels)
    truth = rng.uniform(1, 60, full).astype(np.float32)
    noise = rng.choice([0.0, 0.3, 2.0, 15.0], full) * rng.standard_normal(full)
    estimate = np.maximum(truth + noise, 0.05).astype(np.float32)
    estimate[rng.random(shape) < missing] = np.nan
    truth[rng.random(shape) < unknown] = np.nan
    return estimate, truth


def make_masks(seed, count, shape=(13, 21)):
    """Random regions, some coherent, some not, some empty."""
    rng = np.random.default_rng(seed)
    kinds = [
        lambda: rng.random(shape) < rng.random(),
        lambda: np.broadcast_to(np.arange(shape[1]) < rng.integers(0, shape[1] + 1), shape).copy(),
        lambda: np.zeros(shape, bool),
        lambda: np.ones(shape, bool),
    ]
    return {f"r{i}": kinds[rng.integers(len(kinds))]() for i in range(count)}


seeds = st.integers(0, 2**32 - 1)
