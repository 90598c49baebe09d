"""Images that every effect can damage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter


@pytest.fixture(scope="session")
def texture():
    """A smooth random RGB texture over the whole range, with a saturated square."""
    rng = np.random.default_rng(1)
    smooth = gaussian_filter(rng.uniform(0, 1, (96, 128, 3)), (1.5, 1.5, 0))
    image = (255 * (smooth - smooth.min()) / np.ptp(smooth)).astype(np.uint8)
    image[30:60, 40:80] = 255
    return image


@pytest.fixture(scope="session")
def light_field(texture):
    """3 x 5 views that differ: each is the texture rolled by its place in the grid."""
    return np.stack(
        [[np.roll(texture, (row, column), (0, 1)) for column in range(5)] for row in range(3)]
    )
