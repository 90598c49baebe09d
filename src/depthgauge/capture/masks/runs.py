"""Label maps as text: the lengths of equal runs, row by row.

Each run is one number, 4 x length + label, in seven bits per byte with the lowest first (the eighth
bit says that more follow), and all of them in base64. A mask has the labels 0 and 1.
"""

from __future__ import annotations

import base64
import binascii

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadData

MOST_TEXT = 3 * 2**20
"""A line of a history is a little longer than this at most."""
_BYTES = 5
_LABELS = 4


def packed(labels: NDArray[np.generic]) -> str:
    """A map (H, W) of labels 0 to 3 as text.

    >>> packed(np.array([[0, 0, 0, 1]]))
    'DAU='

    Raises:
        BadData: It has too many runs to be kept.
    """
    flat = np.ascontiguousarray(labels, np.uint8).ravel()
    if not flat.size:
        return ""
    begins = np.concatenate([[0], np.flatnonzero(np.diff(flat)) + 1])
    lengths = np.diff(np.append(begins, flat.size))
    numbers = lengths.astype(np.uint64) * _LABELS + flat[begins]
    shifts = 7 * np.arange(_BYTES, dtype=np.uint64)
    digits = (numbers[:, None] >> shifts) & np.uint64(127)
    used = (numbers[:, None] >> shifts) > 0
    more = np.zeros_like(used)
    more[:, :-1] = used[:, 1:]
    text = base64.b64encode((digits + 128 * more).astype(np.uint8)[used].tobytes()).decode("ascii")
    if len(text) > MOST_TEXT:
        raise BadData("this has too many small parts to be kept; take a smaller part at once.")
    return text


def unpacked(text: object, size_px: tuple[int, int]) -> NDArray[np.uint8]:
    """The map (H, W) that `packed` made.

    Args:
        text: What it returned.
        size_px: Width and height.

    >>> unpacked("DAU=", (2, 2))
    array([[0, 0],
           [0, 1]], dtype=uint8)

    Raises:
        BadData: It is not the text of a map of this size.
    """
    width, height = size_px
    if not isinstance(text, str) or len(text) > MOST_TEXT:
        raise BadData(f"runs are text of at most {MOST_TEXT} letters.")
    try:
        coded = np.frombuffer(base64.b64decode(text, validate=True), np.uint8)
    except (binascii.Error, ValueError):
        raise BadData("runs are not base64.") from None
    numbers = _numbers(coded)
    lengths = numbers // _LABELS
    if (lengths == 0).any() or int(lengths.sum()) != width * height:
        raise BadData(f"runs cover {int(lengths.sum())} pixels, expected {width}x{height}.")
    labels = (numbers % _LABELS).astype(np.uint8)
    return np.repeat(labels, lengths).reshape(height, width)


def _numbers(coded: NDArray[np.uint8]) -> NDArray[np.int64]:
    if not coded.size:
        return np.zeros(0, np.int64)
    ends = np.flatnonzero(coded < 128)
    begins = np.concatenate([[0], ends[:-1] + 1])
    if not ends.size or ends[-1] != coded.size - 1 or (ends - begins >= _BYTES).any():
        raise BadData("runs end in the middle of a number.")
    place = np.arange(coded.size) - np.repeat(begins, ends - begins + 1)
    return np.add.reduceat((coded & 127).astype(np.int64) << (7 * place), begins)
