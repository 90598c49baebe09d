"""What tags look like: the family tag36h11 of AprilTag, cell by cell."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse

TAG_COUNT: Final = 587
"""Tags of the family tag36h11; identities are 0 to 586."""
TAG_CORNERS: Final = ((1.0, 0.0), (0.0, 0.0), (0.0, 1.0), (1.0, 1.0))
"""Where corners 0 to 3 of a tag are in `tag_bitmap`: x to the right and y downwards, in sides of
the black square. A detector numbers them in this order, whichever way the tag is turned."""


def tag_bitmap(identity: int) -> NDArray[np.uint8]:
    """The cells of a tag (10, 10), 0 black and 255 white, with a white border of one cell.

    The black square, whose corners are found in photographs, is cells 1 to 8. A sticker is
    therefore 1.25 times as wide as its tag.

    >>> tag_bitmap(7)[0:3, 0:3]
    array([[255, 255, 255], [255,   0,   0], [255,   0,   0]], dtype=uint8)

    Raises:
        Misuse: There is no tag with this identity.
    """
    if not 0 <= identity < TAG_COUNT:
        raise Misuse(f"tags have the identities 0 to {TAG_COUNT - 1}, found {identity}")
    import cv2

    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_APRILTAG_36h11)
    cells = np.full((10, 10), 255, np.uint8)
    cells[1:9, 1:9] = cv2.aruco.generateImageMarker(family, int(identity), 8)
    return cells
