"""A photograph of any depth as the bytes that pages, meshes and datasets show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile


def shown_bytes(image: NDArray[np.generic]) -> NDArray[np.uint8]:
    """RGB bytes (H, W, 3) of a picture as `read_image` returns it: grey or RGB, bytes or 0..1.

    Pictures of 16 bits lose their lower half here; annotations are in pixels, so nothing else does.

    >>> shown_bytes(np.array([[0.0, 0.5, 2.0]], np.float32))[0, :, 0].tolist()
    [0, 128, 255]

    Raises:
        BadFile: It has no pixels.
    """
    if image.dtype != np.uint8:
        image = np.rint(255 * np.clip(np.nan_to_num(image.astype(np.float32)), 0, 1))
    colours = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    if not colours.size:
        raise BadFile("the picture has no pixels")
    return np.ascontiguousarray(colours, np.uint8)
