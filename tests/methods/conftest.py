"""Pictures whose truth is known: a random texture, moved."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from depthgauge.types import Inputs

FINE = 8  # texture samples a pixel, so that it can be moved by eighths


def texture(height: int, width: int, seed: int = 0) -> np.ndarray:
    noise = np.random.default_rng(seed).uniform(0, 1, (height * FINE, width * FINE))
    smooth = cv2.GaussianBlur(noise.astype(np.float32), (0, 0), 1.2 * FINE)
    return (smooth - smooth.min()) / np.ptp(smooth)


def moved(right_px: float, down_px: float = 0, size=(60, 120), margin: int = 72) -> tuple:
    """Two pictures; what is at (x, y) in one is at (x + right_px, y + down_px) in the other."""
    height, width = size
    fine = texture(height + 2 * 8, width + 2 * margin)

    def cut(x: float, y: float) -> np.ndarray:
        rows = np.arange(height) * FINE + round((8 + y) * FINE)
        columns = np.arange(width) * FINE + round((margin + x) * FINE)
        return np.rint(fine[np.ix_(rows, columns)] * 255).astype(np.uint8)

    return cut(0, 0), cut(-right_px, -down_px)


@pytest.fixture(scope="session")
def stereo():
    """Makes the inputs of a plane at one disparity."""

    def make(disparity: float, span=None, colour: bool = False, size=(60, 120)) -> Inputs:
        left, right = moved(-disparity, size=size)
        if colour:
            left, right = (np.stack([i, 255 - i, i], axis=2) for i in (left, right))
        inputs = {"left_image": left, "right_image": right, "sample": "plane"}
        inputs |= {"quantity": "disparity", "seed": 0}
        return Inputs(inputs if span is None else {**inputs, "disparity_range": span})

    return make


@pytest.fixture(scope="session")
def frames():
    """Makes the inputs of two frames between which everything moves by one vector."""

    def make(u: float, v: float, size=(80, 120)) -> Inputs:
        first, second = moved(u, v, size=size)
        return Inputs(
            {"first_image": first, "second_image": second, "sample": "pan", "quantity": "flow"}
        )

    return make
