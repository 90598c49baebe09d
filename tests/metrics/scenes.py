"""Small scenes with edges, fine structures and everything else that metrics need."""

from __future__ import annotations

import numpy as np

from depthgauge.geometry.discontinuities.edges import find_edges, front
from depthgauge.geometry.discontinuities.structures import find_structures
from depthgauge.metrics import METRICS
from depthgauge.types import Camera, Rig

HEIGHT, WIDTH = 24, 40


def make_scene(seed, quantity="disparity", missing=0.1, unknown=0.02, noise=0.4):
    """An estimate, a truth with a block and a bar before a plane, and what metrics need."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    truth = 20 + 0.05 * x + 0.03 * y
    truth[(x >= 3) & (x < 15) & (y >= 4) & (y < 18)] += 12
    bar = (x >= 26) & (x < 30)
    truth[bar] += 15
    moved = np.roll(truth, int(rng.integers(-2, 3)), axis=1)
    estimate = moved + noise * rng.standard_normal(truth.shape)
    gone = bar & (y >= 8) & (y < 8 + rng.integers(0, 8))
    estimate[gone] = 21
    truth, estimate = (as_quantity(values, quantity) for values in (truth, estimate))
    truth[rng.random((HEIGHT, WIDTH)) < unknown] = np.nan
    estimate[rng.random((HEIGHT, WIDTH)) < missing] = np.nan
    return estimate, truth, make_items(truth, quantity)


def as_quantity(disparity, quantity):
    """The same scene as disparity, as depth, or as flow along a diagonal."""
    values = {
        "disparity": lambda: disparity,
        "depth": lambda: 100.0 / np.maximum(disparity, 1.0),
        "flow": lambda: np.stack([0.8 * disparity, -0.6 * disparity], axis=-1),
    }[quantity]()
    return values.astype(np.float32)


def make_items(truth, quantity):
    order = front(truth, quantity)
    size = truth.shape[:2]
    y, x = np.indices(size)
    camera = Camera((60.0, 60.0), (WIDTH / 2, HEIGHT / 2), (size[1], size[0]))
    # Half a metre is what the depth of the scene jumps by at least.
    jump = 0.5 if quantity == "depth" else 3.0
    return {
        "quantity": quantity,
        "edges": find_edges(truth, order, jump=jump, reach=6),
        "structures": find_structures(truth, order, jump=jump, width=6, reach=6),
        "rig": Rig({"left": camera}, baseline_m=0.2),
        "boxes_labels": (1 + y // 12 * 2 + x // 20).astype(np.int32),
        "dots_by_size_labels": np.where((x % 5 < 2) & (y % 4 < 2), x % 20 // 5 + 1, 0),
    }


def score(name, estimate, truth, items, region=None, missing="bad", **params):
    """The metric's number, and its state."""
    m = METRICS[name]
    bound = m.bind(params)
    needed = {need: items[need] for need in m.needs}
    state = m.measure(estimate, truth, region, **needed, **bound)
    return m.finish(state, missing, **bound), state


def value(name, estimate, truth, items, region=None, missing="bad", **params):
    return score(name, estimate, truth, items, region, missing, **params)[0]
