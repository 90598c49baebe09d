"""A pane in front of a wall, and a run of methods with one and with two layers on it."""

from __future__ import annotations

import numpy as np

import depthgauge as dg
from depthgauge.datasets.layered import write_sample
from depthgauge.types import Camera, Estimate, Rig

NAN = np.nan
HEIGHT, WIDTH = 24, 32
GLASS = np.arange(WIDTH) < WIDTH // 2
"""Columns that look through the pane."""


def true_flow():
    """The wall moves by (2, 0) px, the pane in front of its left half by (5, 0)."""
    flow = np.full((4, HEIGHT, WIDTH, 2), NAN, np.float32)
    flow[0], flow[0][:, GLASS] = (2, 0), (5, 0)
    flow[1][:, GLASS] = 2, 0
    return flow


def write_rooms(root, count=2):
    rng = np.random.default_rng(5)
    kinds = np.full((4, HEIGHT, WIDTH), 255, np.uint8)
    kinds[0], kinds[0][:, GLASS] = 0, 1
    kinds[1][:, GLASS] = 2
    flow = true_flow()
    disparity = np.where(np.isfinite(flow[..., 0]), 3.0, NAN)
    disparity[0][:, GLASS] = 9
    bent = np.where(np.isfinite(disparity), 0.5, NAN)
    truth = {
        "layered_flow": flow,
        "layered_disparity": disparity,
        "layered_depth": 30 / disparity,
        "layer_material": kinds,
        "layer_count": np.where(GLASS, 2, 1) * np.ones((HEIGHT, 1), int),
        "refraction_px": bent,
    }
    camera = Camera((100.0, 100.0), (15.5, 11.5), (WIDTH, HEIGHT))
    rig = Rig({"left": camera, "right": camera}, baseline_m=0.3)
    for number in range(count):
        image = rng.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
        names = ("left", "right", "left_next", "right_next")
        images = {name: np.roll(image, k, axis=1) for k, name in enumerate(names)}
        write_sample(root, f"room{number}", images, truth, rig=rig, disparity_range=(0, 16))
    return root


def both(inputs):
    """Two layers, the second one wrong by 4 px below the middle."""
    flow = true_flow()[:2]
    flow[1, HEIGHT // 2 :, :, 0] += 4
    return Estimate(flow, "layered_flow")


def wall(inputs):
    """One layer: what is behind the pane."""
    return np.broadcast_to(np.array([2, 0], np.float32), (HEIGHT, WIDTH, 2)).copy()


def run_rooms(root, benchmark="layers-flow"):
    data = write_rooms(root / "data")
    return dg.run(benchmark, data, [both, wall], root / "run", workers=0)
