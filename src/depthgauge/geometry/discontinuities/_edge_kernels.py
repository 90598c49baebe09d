"""Jumps of a map, both sides of them, and the surface of each side continued across.

A plane of *steps* says of each pixel what lies between it and its right and its lower neighbour:
two bits each, `right | below << 2`. Rows do not depend on each other, nor do seeds, so no number of
threads changes a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.geometry._shared_kernels import inverse_where_wide

Array = NDArray[Any]

NONE, FALL, RISE, LEVEL = 0, 1, 2, 3
"""No jump; the neighbour is behind; it is in front; a jump, but neither is in front."""
_DOWN, _RIGHT = (1, -1, 0, 0), (0, 0, 1, -1)  # to the four neighbours
_SPREAD = 0.26  # px^2; two columns of pixels have a variance of 1/4
_CLIMB = 3  # the most jumps of a border of mixed pixels


@banded("steps")
def find_steps(
    begin: int,
    end: int,
    truth: Array,
    order: Array,
    known: Array,
    objects: Array,
    jump: float,
    steps: Array,
) -> None:
    """Fills the plane of steps. Truth is (H, W, C); objects are (H, W) labels, or empty.

    A jump is a difference of more than `jump` between two known neighbours; if there are objects,
    only between two different ones.
    """
    height, width = known.shape
    for y in range(begin, end):
        for x in range(width):
            code = 0
            if known[y, x]:
                if x + 1 < width and known[y, x + 1]:
                    code = _step(truth, order, objects, jump, y, x, y, x + 1)
                if y + 1 < height and known[y + 1, x]:
                    code |= _step(truth, order, objects, jump, y, x, y + 1, x) << 2
            steps[y, x] = code


@compiled()
def _step(
    truth: Array, order: Array, objects: Array, jump: float, y: int, x: int, v: int, u: int
) -> int:
    """What lies between (y, x) and (v, u)."""
    if objects.size > 0 and objects[y, x] == objects[v, u]:
        return NONE
    length = 0.0
    for c in range(truth.shape[2]):
        length += (np.float64(truth[v, u, c]) - truth[y, x, c]) ** 2
    # The root is exact but slow, and almost all differences are far below the jump.
    if length < 0.99 * jump * jump or not np.sqrt(length) > jump:
        return NONE
    if order[v, u] == order[y, x]:
        return LEVEL
    return RISE if order[v, u] > order[y, x] else FALL


@compiled()
def _between(steps: Array, y: int, x: int, v: int, u: int) -> int:
    """What lies between two 4-neighbours, seen from (y, x)."""
    code = int(steps[min(y, v), min(x, u)])
    code = code & 3 if y == v else code >> 2
    # The plane stores it at the left or upper pixel; FALL and RISE are 1 and 2.
    if (v < y or u < x) and code in (FALL, RISE):
        return 3 - code
    return code


@banded("edge", cost=10)
def find_sides(begin: int, end: int, steps: Array, edge: Array, front: Array, back: Array) -> None:
    """Marks the pixels of all jumps, those in front at one, and those behind at one."""
    height, width = steps.shape
    for y in range(begin, end):
        for x in range(width):
            for k in range(4):
                v, u = y + _DOWN[k], x + _RIGHT[k]
                if 0 <= v < height and 0 <= u < width:
                    step = _between(steps, y, x, v, u)
                    edge[y, x] |= step != NONE
                    front[y, x] |= step == FALL
                    back[y, x] |= step == RISE


@banded("known")
def choose_sides(
    begin: int,
    end: int,
    known: Array,
    holes: bool,
    most: int,
    to_front: Array,
    to_back: Array,
    front: Array,
    back: Array,
) -> None:
    """Where the nearest pixel of a jump is in front, and where it is behind.

    `to_front` and `to_back` are the flat indices of the nearest ones of both kinds, -1 for none.
    `to_front` becomes that of the nearer one; -1 where both are equally near, a hole lies in
    between, or the squared distance is above `most`.
    """
    width = known.shape[1]
    for y in range(begin, end):
        for x in range(width):
            near, far = to_front[y, x], to_back[y, x]
            to_front[y, x] = -1
            if not known[y, x] or (near < 0 and far < 0):
                continue
            ahead, behind = _squared(near, y, x, width), _squared(far, y, x, width)
            if ahead == behind or min(ahead, behind) > most:
                continue
            at = near if ahead < behind else far
            if holes and not _in_sight(known, y, x, at // width, at % width):
                continue
            to_front[y, x] = at
            front[y, x] = ahead < behind
            back[y, x] = behind < ahead


@compiled()
def _squared(at: int, y: int, x: int, width: int) -> int:
    """The squared distance to a flat index; larger than any image if there is none."""
    if at < 0:
        return 1 << 62
    dy, dx = at // width - y, at % width - x
    return dy * dy + dx * dx


@compiled()
def _in_sight(known: Array, y: int, x: int, v: int, u: int) -> bool:
    """Whether every pixel on the straight line between two has truth."""
    steps = max(abs(v - y), abs(u - x))
    for k in range(1, steps):
        row = int(np.floor(y + (v - y) * k / steps + 0.5))
        column = int(np.floor(x + (u - x) * k / steps + 0.5))
        if not known[row, column]:
            return False
    return True


@banded("ends")
def find_ends(
    begin: int, end: int, steps: Array, order: Array, seeds: Array, kinds: Array, ends: Array
) -> None:
    """The pixel across the jump at each seed; all are flat indices.

    Among several neighbours it is the one farthest in front (kind RISE) or behind (FALL). A border
    of mixed pixels is a stair of jumps: then it is the pixel straight ahead at the end of the
    stair. A seed without such a jump is its own end.
    """
    width = steps.shape[1]
    for i in range(begin, end):
        y, x = seeds[i] // width, seeds[i] % width
        k = _steepest(steps, order, y, x, kinds[i])
        for _ in range(_CLIMB):
            if k >= 0 and _leads(steps, y, x, k, kinds[i]):
                y, x = y + _DOWN[k], x + _RIGHT[k]
        ends[i] = y * width + x


@compiled()
def _steepest(steps: Array, order: Array, y: int, x: int, kind: int) -> int:
    """Which neighbour is farthest in front, or behind, across a jump of that kind; -1 for none."""
    sign = 1.0 if kind == RISE else -1.0
    best, found = -np.inf, -1
    for k in range(4):
        if _leads(steps, y, x, k, kind) and sign * order[y + _DOWN[k], x + _RIGHT[k]] > best:
            best, found = sign * order[y + _DOWN[k], x + _RIGHT[k]], k
    return found


@compiled()
def _leads(steps: Array, y: int, x: int, k: int, kind: int) -> bool:
    """Whether a jump of that kind leads to the pixel's neighbour."""
    v, u = y + _DOWN[k], x + _RIGHT[k]
    if not (0 <= v < steps.shape[0] and 0 <= u < steps.shape[1]):
        return False
    return bool(_between(steps, y, x, v, u) == kind)


@banded("ends", cost=100)
def fit_planes(
    begin: int,
    end: int,
    truth: Array,
    known: Array,
    steps: Array,
    ends: Array,
    radius: int,
    planes: Array,
) -> None:
    """The value and the gradient along x and y (n, C, 3) of the surface at each flat index."""
    width, channels = truth.shape[1], truth.shape[2]
    size = 2 * radius + 1
    queue = np.zeros(size * size, np.int32)
    seen = np.zeros(size * size, np.bool_)
    sums = np.zeros((channels, 3), np.float64)
    for i in range(begin, end):
        y, x = ends[i] // width, ends[i] % width
        _fit_plane(truth, known, steps, y, x, radius, queue, seen, sums, planes[i])


@compiled()
def _fit_plane(
    truth: Array,
    known: Array,
    steps: Array,
    y: int,
    x: int,
    radius: int,
    queue: Array,
    seen: Array,
    sums: Array,
    plane: Array,
) -> None:
    """Least squares over the pixels of the window that are connected to its centre."""
    channels = truth.shape[2]
    n = _gather(known, steps, y, x, radius, queue, seen)
    size = 2 * radius + 1
    mx, my = 0.0, 0.0
    for k in range(n):
        mx += queue[k] % size - radius
        my += queue[k] // size - radius
    mx, my = mx / n, my / n
    xx, xy, yy = 0.0, 0.0, 0.0
    sums[:] = 0.0
    for k in range(n):
        dx, dy = queue[k] % size - radius, queue[k] // size - radius
        xx += (dx - mx) * (dx - mx)
        xy += (dx - mx) * (dy - my)
        yy += (dy - my) * (dy - my)
        for c in range(channels):
            value = np.float64(truth[y + dy, x + dx, c])
            sums[c, 0] += value
            sums[c, 1] += (dx - mx) * value
            sums[c, 2] += (dy - my) * value
    a, b, d = inverse_where_wide(xx / n, xy / n, yy / n, _SPREAD)
    for c in range(channels):
        gx = (a * sums[c, 1] + b * sums[c, 2]) / n
        gy = (b * sums[c, 1] + d * sums[c, 2]) / n
        plane[c, 0] = sums[c, 0] / n - gx * mx - gy * my
        plane[c, 1] = gx
        plane[c, 2] = gy


@compiled()
def _gather(
    known: Array, steps: Array, y: int, x: int, radius: int, queue: Array, seen: Array
) -> int:
    """Fills the queue with the window's pixels that are connected to (y, x) without a jump."""
    height, width = known.shape
    size = 2 * radius + 1
    seen[:] = False
    queue[0] = radius * size + radius
    seen[queue[0]] = True
    n, done = 1, 0
    while done < n:
        v, u = queue[done] // size, queue[done] % size
        done += 1
        for k in range(4):
            row, column = v + _DOWN[k], u + _RIGHT[k]
            if not (0 <= row < size and 0 <= column < size) or seen[row * size + column]:
                continue
            py, px = y + v - radius, x + u - radius
            qy, qx = py + _DOWN[k], px + _RIGHT[k]
            if not (0 <= qy < height and 0 <= qx < width) or not known[qy, qx]:
                continue
            if _between(steps, py, px, qy, qx) == NONE:
                seen[row * size + column] = True
                queue[n] = row * size + column
                n += 1
    return n


@banded("out")
def extend(
    begin: int,
    end: int,
    truth: Array,
    chosen: Array,
    slots: Array,
    ends: Array,
    planes: Array,
    directions: Array,
    gap: float,
    out: Array,
) -> None:
    """Evaluates the chosen seeds' surfaces, kept at least `gap` away from the truth.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        truth: (H, W, C).
        chosen: (H, W) flat index of each pixel's seed, -1 for none.
        slots: (H, W) a seed's place in the arrays below.
        ends: (n,) flat index of the pixel at which the seed's surface was fitted.
        planes: (n, C, 3) as `fit_planes` gives them.
        directions: (n, C) unit vector of the jump in the truth's channels, to the surface; the gap
            is measured along it.
        gap: In the truth's unit.
        out: (H, W, C).
    """
    width, channels = truth.shape[1:]
    for y in range(begin, end):
        for x in range(width):
            at = chosen[y, x]
            if at < 0:
                continue
            i = slots[at // width, at % width]
            dx, dy = x - ends[i] % width, y - ends[i] // width
            ahead = 0.0
            for c in range(channels):
                value = planes[i, c, 0] + planes[i, c, 1] * dx + planes[i, c, 2] * dy
                out[y, x, c] = value
                ahead += (value - truth[y, x, c]) * directions[i, c]
            if ahead < gap:
                for c in range(channels):
                    out[y, x, c] += (gap - ahead) * directions[i, c]
