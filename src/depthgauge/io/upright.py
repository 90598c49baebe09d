"""Photographs as people see them: turned as the camera was held."""

from __future__ import annotations

from typing import Any

import numpy as np

from depthgauge.io._files import MAX_PIXELS, AnyPath
from depthgauge.io.calibrations.exif import orientation_from_exif
from depthgauge.io.image import read_image
from depthgauge.types import Image


def read_upright(path: AnyPath, limit: int = MAX_PIXELS) -> Image:
    """A picture like `read_image`, turned as the orientation tag of a JPEG says.

    A missing, impossible or damaged tag turns nothing.
    """
    return turned_upright(read_image(path, limit), orientation_from_exif(path))


def turned_upright(image: Image, orientation: int) -> Image:
    """A picture with EXIF's orientation 1 to 8 applied; any other number turns nothing.

    >>> turned_upright(np.array([[1, 2], [3, 4], [5, 6]], np.uint8), 6).tolist()
    [[5, 3, 1], [6, 4, 2]]
    """
    turned: Any = image
    if orientation in (5, 6, 7, 8):
        turned = np.swapaxes(turned, 0, 1)
    if orientation in (2, 3, 6, 7):
        turned = turned[:, ::-1]
    if orientation in (3, 4, 7, 8):
        turned = turned[::-1]
    upright: Image = np.ascontiguousarray(turned)
    return upright
