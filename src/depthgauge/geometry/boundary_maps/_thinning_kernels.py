"""Thinning of sets of pixels to lines; only places where something changed are visited again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


def _deletable() -> NDArray[np.bool_]:
    """By sub-iteration and the eight neighbours: whether a pixel may be removed.

    Bit i of a code is neighbour i: east, north-east, north ... south-east. The rules of Guo and
    Hall in the form of Lam, Lee and Suen: the neighbours are one run, neither too short nor too
    long, and the pixel is on this sub-iteration's side of the set.
    """
    codes = np.arange(256)
    x = [(codes >> i) & 1 == 1 for i in range(8)]
    east, north_east, north, north_west, west, south_west, south, south_east = x
    runs = np.sum([~x[i] & (x[i + 1] | x[(i + 2) % 8]) for i in (0, 2, 4, 6)], axis=0)
    one = np.sum([x[i] | x[i + 1] for i in (0, 2, 4, 6)], axis=0)
    other = np.sum([x[i + 1] | x[(i + 2) % 8] for i in (0, 2, 4, 6)], axis=0)
    fewer = np.minimum(one, other)
    shared = (runs == 1) & (fewer >= 2) & (fewer <= 3)
    first = (north_east | north | ~south_east) & east
    second = (south_west | south | ~north_west) & west
    return np.stack([shared & ~first, shared & ~second])


DELETABLE = _deletable()


@compiled()
def neighbour_steps(stride: int) -> Array:
    """Offsets of the eight neighbours in a flattened plane, in the order of the codes' bits.

    The opposite of neighbour i is i + 4, modulo 8.
    """
    return np.array(
        [1, 1 - stride, -stride, -stride - 1, -1, stride - 1, stride, stride + 1], np.int64
    )


@compiled()
def thin_set(on: Array, pixels: Array, stride: int, deletable: Array) -> None:
    """Thins a set until nothing changes.

    Args:
        on: (N,) uint8, a flattened plane with an empty border of at least one pixel; 1 in the set.
            Removed pixels become 0.
        pixels: Places in the plane of all pixels of the set.
        stride: Width of the plane.
        deletable: (2, 256), see `DELETABLE`.
    """
    steps = neighbour_steps(stride)
    codes = np.zeros(on.size, np.uint8)
    waiting = np.zeros(on.size, np.uint8)  # bit s: in the queue of sub-iteration s
    n = pixels.size
    queues, lengths = np.zeros((2, n), np.int64), np.zeros(2, np.int64)
    gone = np.zeros(n, np.int64)
    for i in range(n):
        at = pixels[i]
        code = np.int64(0)
        for k in range(8):
            code |= np.int64(on[at + steps[k]]) << k
        codes[at] = code
        for s in range(2):
            # A pixel that cannot be removed waits until one of its neighbours is.
            if deletable[s, code]:
                queues[s, lengths[s]] = at
                lengths[s] += 1
                waiting[at] |= 1 << s
    side = 0
    while lengths[0] + lengths[1] > 0:
        count = 0
        for i in range(lengths[side]):
            at = queues[side, i]
            waiting[at] &= ~np.uint8(1 << side)
            if on[at] and deletable[side, codes[at]]:
                gone[count] = at
                count += 1
        lengths[side] = 0
        # All at once: the set before this sub-iteration decides which pixels may be removed.
        for i in range(count):
            on[gone[i]] = 0
        for i in range(count):
            for k in range(8):
                at = gone[i] + steps[k]
                if not on[at]:
                    continue
                codes[at] &= ~np.uint8(1 << ((k + 4) % 8))
                for s in range(2):
                    if not waiting[at] & np.uint8(1 << s):
                        queues[s, lengths[s]] = at
                        lengths[s] += 1
                        waiting[at] |= np.uint8(1 << s)
        side = 1 - side
