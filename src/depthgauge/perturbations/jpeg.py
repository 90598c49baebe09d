"""What compression leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from depthgauge.perturbations._effect import Pixels, effect


@effect(
    "jpeg",
    unit="quality",
    neutral=100,
    levels=(100, 90, 70, 50, 30, 10),
    bounds=(1, 100),
    whole=True,
    cite="Milani et al. 2013",
)
def jpeg(image: Pixels, *, level: float) -> Pixels:
    """Compressed as JPEG with that quality and read again; 100 means no compression.

    Baseline JPEG with the quantisation tables of libjpeg and colours at half resolution (4:2:0).
    Values are rounded to bytes first.
    """
    import cv2

    codes = np.rint(np.clip(image, 0, 255)).astype(np.uint8)
    colour = codes.ndim == 3
    options = [
        *(cv2.IMWRITE_JPEG_QUALITY, int(level)),
        *(cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420),
    ]
    packed = cv2.imencode(".jpg", codes[..., ::-1] if colour else codes, options)[1]
    flags = cv2.IMREAD_COLOR if colour else cv2.IMREAD_GRAYSCALE
    read: Any = cv2.imdecode(packed, flags)
    return np.asarray(read[..., ::-1] if colour else read, np.float32)
