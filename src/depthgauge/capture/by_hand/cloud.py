"""Pieces of a session's point cloud for a page: a grid of pixels of one view, thinned out.

Layout, little-endian: the length of the JSON text, uint32; the text, filled up with spaces to a
multiple of 4; then for every pixel of the grid, row by row: the disparity in px, float32, NaN where
there is none; the standard deviation in thousandths of a px, uint16, 65535 where it is unknown;
red, green and blue, uint8 each; and why cleaning removes it, uint8, 0 if it does not.

The JSON text has `schema` (1), `side`, `width` and `height` of the view, `x`, `y`, `stride`,
`columns` and `rows` of the grid (pixel x + stride i, y + stride j), and what makes a point of a
disparity: `focal_px`, `centre_px`, `depth_focal_px`, `baseline_m`, `offset_px` and `start_m`:
z = depth_focal baseline / (disparity + offset), x = start + (column - centre) z / focal.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.by_hand.removals import RemovalView
from depthgauge.errors import Misuse

SCHEMA = 1
MOST_POINTS = 1_000_000
"""Of one piece: a page draws one of the whole view, and one of what it looks at closely."""
_UNKNOWN = 65535


@dataclass(frozen=True, slots=True)
class Window:
    """A rectangle of a view's pixels."""

    x: int
    y: int
    width: int
    height: int


def cloud_piece(
    view: RemovalView,
    side: str,
    image: NDArray[np.uint8],
    window: Window | None = None,
    most_points: int = MOST_POINTS,
) -> bytes:
    """A piece of the cloud, with as many pixels as the limit allows.

    Args:
        view: The maps.
        side: `left` or `right`.
        image: (h, w, 3) of that view.
        window: The pixels that are looked at; None: all.
        most_points: The grid has at most so many pixels.

    Raises:
        Misuse: There is no such view, or the window is outside.
    """
    if side not in view.maps:
        raise Misuse(f"a view is left or right, not {side!r:.20}.")
    maps = view.maps[side]
    height, width = maps.disparity.shape
    seen = _inside(window or Window(0, 0, width, height), width, height)
    stride = _stride(seen, most_points)
    ys = slice(seen.y, seen.y + seen.height, stride)
    xs = slice(seen.x, seen.x + seen.width, stride)
    disparity = np.ascontiguousarray(maps.disparity[ys, xs], "<f4")
    header = {
        "schema": SCHEMA,
        "side": side,
        "width": width,
        "height": height,
        "x": seen.x,
        "y": seen.y,
        "stride": stride,
        "columns": disparity.shape[1],
        "rows": disparity.shape[0],
        **_camera(view, side),
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    planes = (
        disparity,
        _sigma(maps.variance[ys, xs]),
        np.ascontiguousarray(image[ys, xs], np.uint8),
        np.ascontiguousarray(view.codes[side][ys, xs], np.uint8),
    )
    return b"".join([len(text).to_bytes(4, "little"), text, *(p.tobytes() for p in planes)])


def _inside(window: Window, width: int, height: int) -> Window:
    x, y = max(0, window.x), max(0, window.y)
    right, bottom = min(width, window.x + window.width), min(height, window.y + window.height)
    if right <= x or bottom <= y:
        raise Misuse(f"{window} has no pixel of a view of {width}x{height}.")
    return Window(x, y, right - x, bottom - y)


def _stride(window: Window, most_points: int) -> int:
    """The least distance of pixels with which the window has no more than so many."""
    stride = max(1, math.isqrt(window.width * window.height // most_points))
    while math.ceil(window.width / stride) * math.ceil(window.height / stride) > most_points:
        stride += 1
    return stride


def _sigma(variance: NDArray[np.float32]) -> NDArray[np.uint16]:
    with np.errstate(invalid="ignore"):
        codes = np.minimum(np.rint(1000 * np.sqrt(variance)), _UNKNOWN - 1)
    return np.where(np.isfinite(codes), codes, _UNKNOWN).astype("<u2")


def _camera(view: RemovalView, side: str) -> dict[str, object]:
    pair = view.pair
    camera = pair.left.camera if side == "left" else pair.right_camera()
    return {
        "focal_px": list(map(float, camera.focal_px)),
        "centre_px": list(map(float, camera.centre_px)),
        "depth_focal_px": float(pair.left.camera.focal_px[0]),
        "baseline_m": float(pair.baseline_m),
        "offset_px": float(pair.rig().principal_offset_px),
        "start_m": 0.0 if side == "left" else float(pair.baseline_m),
    }
