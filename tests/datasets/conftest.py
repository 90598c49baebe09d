"""Tiny samples, and where the real and golden data are."""

from __future__ import annotations

import numpy as np
import pytest

from depthgauge.types import Camera, Inputs, Rig, Sample, Truth


def camera(focal_px: float = 20.0) -> Camera:
    pose = np.eye(4)
    pose[0, 3] = 0.1
    return Camera((focal_px, focal_px), (3.5, 2.5), (8, 6), (0.01, -0.2), pose)


def disparity(seed: int = 0, size: tuple[int, int] = (6, 8)) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = random.uniform(1, 15, size).astype(np.float32)
    values[0, 0] = np.nan
    return values


def image(seed: int = 0, size: tuple[int, int] = (6, 8)) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*size, 3), dtype=np.uint8)


@pytest.fixture(scope="session")
def stereo():
    """Makes a sample that has everything a stereo scene can have."""
    return _stereo


def _stereo(sample_id: str = "Canal", seed: int = 0) -> Sample:
    values = disparity(seed)
    visible = np.isfinite(values)
    visible[:, 2] = False
    return Sample(
        sample_id,
        Inputs(
            {
                "left_image": image(seed),
                "right_image": image(seed + 1),
                "rig": Rig({"left": camera(), "right": camera()}, 0.25, 1.5),
                "disparity_range": (0, 16),
            }
        ),
        Truth(
            {
                "disparity": values,
                "right_disparity": disparity(seed + 2),
                "visible_mask": visible,
                "material_labels": np.arange(48, dtype=np.int32).reshape(6, 8) * 1000,
            }
        ),
    )
