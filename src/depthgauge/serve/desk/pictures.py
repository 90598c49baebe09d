"""Pictures as browsers get them."""

from __future__ import annotations

import io as streams

import numpy as np
from numpy.typing import NDArray

_QUALITY = 92


def reduced(pixels: NDArray[np.uint8], most_px: int) -> NDArray[np.uint8]:
    """A picture whose longer side has at most so many pixels."""
    height, width = pixels.shape[:2]
    factor = most_px / max(height, width)
    if factor >= 1:
        return pixels
    import cv2

    size = max(1, round(width * factor)), max(1, round(height * factor))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)


def jpeg(pixels: NDArray[np.uint8]) -> bytes:
    """A picture as JPEG, without metadata."""
    from PIL import Image

    stream = streams.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=_QUALITY, subsampling=0)
    return stream.getvalue()
