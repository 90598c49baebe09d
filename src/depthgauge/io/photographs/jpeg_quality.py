"""How strongly a JPEG was compressed, from its tables."""

from __future__ import annotations

import numpy as np

from depthgauge.io._files import MAX_PIXELS, AnyPath, most_bytes, opened, read_whole
from depthgauge.io.jpeg import segments

_TABLES = 0xDB
# Annex K of the standard: the table of brightness at quality 50, in the order of frequencies.
_USUAL = np.array(
    [
        *(16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40),
        *(26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51, 61, 60, 57, 51),
        *(56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87),
        *(95, 98, 103, 104, 103, 62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99),
    ],
    np.float64,
)


def jpeg_quality(path: AnyPath) -> float | None:
    """The quality, 1 to 100 as libjpeg counts, that a JPEG's table of brightness is nearest to.

    None if the file is no JPEG, or has no such table.

    Raises:
        BadFile: It cannot be read.
    """
    with opened(path) as file:
        if file.read(3) != b"\xff\xd8\xff":
            return None
        data = read_whole(path, file, most_bytes(MAX_PIXELS))
    for marker, body in segments(path, data):
        if marker == _TABLES and len(body) >= 67 and body[2] == 0:
            # Most factors are rounded; small ones, and those at 255, say little.
            table = np.frombuffer(body[3:67], np.uint8).astype(np.float64)
            scale = 100 * float(np.median(table / _USUAL))
            return 5000 / scale if scale > 100 else max(1.0, 100 - scale / 2)
    return None
