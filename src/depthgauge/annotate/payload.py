"""A reconstruction as bytes for a page: depth and links, small enough to send at every stroke.

Layout, little-endian: a whole number of 4 bytes, the length of the JSON text that follows it; the
text (UTF-8, padded with spaces, so that what follows begins at an even place); then the pixels of
the rectangle `box` in reading order: first 2 bytes for the depth of each, then 1 byte for the links
of each.

The JSON text has `schema` (1), `revision`, `since` (a revision or null), `size_px` (width and
height of the preview), `picture_px` (of the photograph), `box` (x0, y0, x1, y1, the last two
exclusive; x0 = x1 if nothing changed), `focal_px`, `centre_px` (x and y of the principal point),
`log_depth` (`low`, `step`), `violated` (ids of strokes) and `notes`.

- Depth code 0: no depth there. Code n: depth is exp(low + (n - 1) step), exact to half a step.
- Links: bit 0: depth continues to the pixel on the right; bit 1: to the pixel below. Bits 2 and 3:
  0 no line, 1 fold, 2 sharp occlusion, 3 smooth occlusion. Bits 4 to 7: 0 outside the region, else
  a colour number 1 to 15 of the smooth surface.

A mesh has, for each square of four pixels, the triangle of the upper left three if their two links
exist (right and down of the upper left pixel), and the one of the lower right three if their two
links exist (right of the lower left, down of the upper right pixel).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._shorten import few_of_each_kind
from depthgauge.annotate.reconstruct._links import depth_links
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction
from depthgauge.errors import BadFile
from depthgauge.types import Map, Mask

SCHEMA = 1
Box = tuple[int, int, int, int]
"""x0, y0, x1, y1; the last two exclusive."""
_CODES = 65535
_COLOURS = 15


@dataclass(frozen=True)
class Payload:
    """What `packed` wrote, read back."""

    header: dict[str, Any]
    depth: Map
    """Of the rectangle; NaN where there is none."""
    links: NDArray[np.uint8]


@dataclass(frozen=True)
class Picture:
    """A reconstruction and its bytes of links, which are computed once."""

    made: Reconstruction
    links: NDArray[np.uint8]

    @staticmethod
    def of(made: Reconstruction) -> Picture:
        """The links of a reconstruction, as the layout has them."""
        parts = made.segmentation
        links = depth_links(parts)
        coloured = np.where(parts.smooth > 0, (parts.smooth - 1) % _COLOURS + 1, 0)
        bits = links.right + 2 * links.down + 4 * parts.kind.astype(np.int32) + 16 * coloured
        return Picture(made, np.asarray(bits, np.uint8))


def changed_box(before: Picture, now: Picture) -> Box | None:
    """The smallest rectangle with all pixels whose depth, links or surfaces changed."""
    old, new = before.made.depth, now.made.depth
    height, width = new.shape
    if old.shape != new.shape or before.made.camera != now.made.camera:
        return 0, 0, width, height
    differs: Mask = ~((old == new) | (np.isnan(old) & np.isnan(new)))
    differs |= before.links != now.links
    ys, xs = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    if not ys.size:
        return None
    return int(xs[0]), int(ys[0]), int(xs[-1]) + 1, int(ys[-1]) + 1


def packed(picture: Picture, revision: int, since: int | None, box: Box | None) -> bytes:
    """The bytes of one update; `unpacked` reads them."""
    made = picture.made
    x0, y0, x1, y1 = box or (0, 0, 0, 0)
    depth, links = made.depth[y0:y1, x0:x1], picture.links[y0:y1, x0:x1]
    codes, low, step = _coded(depth)
    header = {
        "schema": SCHEMA,
        "revision": revision,
        "since": since,
        "size_px": list(made.camera.size_px),
        "picture_px": list(made.picture_px),
        "box": [x0, y0, x1, y1],
        "focal_px": made.camera.focal_px[0],
        "centre_px": list(made.camera.centre_px),
        "log_depth": {"low": low, "step": step},
        "violated": list(made.violated),
        "notes": list(few_of_each_kind(made.notes)),
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (len(text) % 2)
    return len(text).to_bytes(4, "little") + text + codes.tobytes() + links.tobytes()


def unpacked(data: bytes) -> Payload:
    """Reads what `packed` wrote.

    Raises:
        BadFile: The bytes are not a payload of this schema.
    """
    size = int.from_bytes(data[:4], "little")
    try:
        header = json.loads(data[4 : 4 + size])
        x0, y0, x1, y1 = header["box"]
        low, step = header["log_depth"]["low"], header["log_depth"]["step"]
        shape, body = (y1 - y0, x1 - x0), data[4 + size :]
        pixels = shape[0] * shape[1]
        codes = np.frombuffer(body, "<u2", pixels).reshape(shape)
        links = np.frombuffer(body, np.uint8, pixels, 2 * pixels).reshape(shape)
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile(f"this is not the payload of a reconstruction: {error}.") from None
    depth = np.exp(low + (codes - 1.0) * step)
    return Payload(header, np.where(codes > 0, depth, np.nan).astype(np.float32), links)


def _coded(depth: Map) -> tuple[NDArray[np.uint16], float, float]:
    """Codes of log depth, 0 for none, and the lowest value and the step of the others."""
    there = np.isfinite(depth) & (depth > 0)
    codes = np.zeros(depth.shape, "<u2")
    if not there.any():
        return codes, 0.0, 0.0
    logs = np.log(depth[there].astype(np.float64))
    low, high = float(logs.min()), float(logs.max())
    step = (high - low) / (_CODES - 1)
    if not math.isfinite(1.0 / step if step else math.inf):
        codes[there] = 1
        return codes, low, 0.0
    codes[there] = np.rint((logs - low) / step).astype(np.uint16) + 1
    return codes, low, step
