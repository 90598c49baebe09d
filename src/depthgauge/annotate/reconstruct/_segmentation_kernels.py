"""Loops of the segmentation, compiled; each is called by one function of this room."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import compiled

Array = NDArray[Any]


@compiled()
def trace(points: Array, along: Array, width: int, height: int, pixels: Array, at: Array) -> int:
    """Writes the pixels (x, y) that a polyline runs through, each step to a 4-neighbour.

    Args:
        points: Corners x, y of the line.
        along: Length of the line up to each corner.
        width: Width of the image; columns from -1 to width are followed, and rows from -1 to
            height.
        height: Height of the image.
        pixels: Filled with x, y; long enough for all of them.
        at: Filled with the length of the line at each pixel.

    Returns:
        The number of pixels.
    """
    count = 0
    for i in range(points.shape[0] - 1):
        x0, y0 = points[i, 0], points[i, 1]
        dx, dy = points[i + 1, 0] - x0, points[i + 1, 1] - y0
        first, last = _inside(x0, dx, -1.0, np.float64(width), 0.0, 1.0)
        first, last = _inside(y0, dy, -1.0, np.float64(height), first, last)
        if first > last:
            continue
        ax, ay = x0 + first * dx, y0 + first * dy
        x, y = int(np.floor(ax + 0.5)), int(np.floor(ay + 0.5))
        to_x = int(np.floor(x0 + last * dx + 0.5))
        to_y = int(np.floor(y0 + last * dy + 0.5))
        step_x, step_y = (1 if to_x > x else -1), (1 if to_y > y else -1)
        length = along[i + 1] - along[i]
        square = dx * dx + dy * dy
        while True:
            if count == 0 or pixels[count - 1, 0] != x or pixels[count - 1, 1] != y:
                t = 0.0
                if square > 0.0:
                    t = min(1.0, max(0.0, ((x - x0) * dx + (y - y0) * dy) / square))
                pixels[count, 0], pixels[count, 1] = x, y
                at[count] = along[i] + t * length
                count += 1
            if x == to_x and y == to_y:
                break
            # The next side of this pixel that the line crosses; never past the last pixel.
            across_x = abs((x + 0.5 * step_x - ax) * dy)
            across_y = abs((y + 0.5 * step_y - ay) * dx)
            if y == to_y or (x != to_x and across_x <= across_y):
                x += step_x
            else:
                y += step_y
    return count


@compiled()
def _inside(start: float, way: float, low: float, high: float, first: float, last: float) -> Any:
    """The part of first..last in which start + t way lies within low..high."""
    if way == 0.0:
        return (first, last) if low <= start <= high else (1.0, 0.0)
    a, b = (low - start) / way, (high - start) / way
    return max(first, min(a, b)), min(last, max(a, b))


@compiled()
def walk(
    labels: Array, group: Array, pixels: Array, ends: Array, toward: Array, found: Array
) -> None:
    """The first label that each pixel meets on its way to the side that owns it; 0 for none.

    Only labels of the pixel's own group count; group 0 may meet any. The way ends at a line whose
    owner is in the other direction: behind it is another surface. It also ends at a pixel without
    a label whose number in `ends` (H, W) is neither -1 nor that of its beginning.
    """
    height, width = labels.shape
    for i in range(pixels.shape[0]):
        x, y = pixels[i, 0], pixels[i, 1]
        dx, dy = np.float64(toward[y, x, 0]), np.float64(toward[y, x, 1])
        if dx == 0.0 and dy == 0.0:
            continue
        # A line passes within 0.71 px of the centres of its pixels: one px is certainly past it.
        for step in range(2, 8):
            qx = int(np.floor(x + 0.5 * step * dx + 0.5))
            qy = int(np.floor(y + 0.5 * step * dy + 0.5))
            if not (0 <= qx < width and 0 <= qy < height):
                break
            if dx * toward[qy, qx, 0] + dy * toward[qy, qx, 1] < -0.2:
                break
            if group[y, x] != 0 and group[qy, qx] != group[y, x]:
                continue
            if labels[qy, qx] != 0:
                found[i] = labels[qy, qx]
                break
            if ends[qy, qx] != -1 and ends[qy, qx] != ends[y, x]:
                break


@compiled()
def grow_found(labels: Array, group: Array, pixels: Array, found: Array) -> None:
    """Pixels take their found label if a 4-neighbour has the same, until no more can.

    Every surface thus stays connected.
    """
    height, width = labels.shape
    changed = True
    while changed:
        changed = False
        for i in range(pixels.shape[0]):
            x, y = pixels[i, 0], pixels[i, 1]
            if labels[y, x] != 0 or found[i] == 0:
                continue
            for k in range(4):
                qx, qy = x + (1, 0, -1, 0)[k], y + (0, 1, 0, -1)[k]
                if not (0 <= qx < width and 0 <= qy < height) or labels[qy, qx] != found[i]:
                    continue
                if group[y, x] == 0 or group[qy, qx] == group[y, x]:
                    labels[y, x] = found[i]
                    changed = True
                    break


@compiled()
def grow_along(
    labels: Array, group: Array, pixels: Array, stroke: Array, toward: Array, same_stroke: bool
) -> int:
    """Pixels without a label take the one of a neighbour that has one; one step of it.

    Among several neighbours it is the one farthest on the side that owns the pixel. With
    `same_stroke` only neighbours on the same line count: where an angle is too narrow for a
    surface between its arms, the line farther on decides.

    Returns:
        The number of labelled pixels.
    """
    height, width = labels.shape
    taken = np.zeros(pixels.shape[0], labels.dtype)
    count = 0
    for i in range(pixels.shape[0]):
        x, y = pixels[i, 0], pixels[i, 1]
        if labels[y, x] != 0:
            continue
        furthest = -np.inf
        for k in range(4):
            dx, dy = (1, 0, -1, 0)[k], (0, 1, 0, -1)[k]
            qx, qy = x + dx, y + dy
            if not (0 <= qx < width and 0 <= qy < height) or labels[qy, qx] == 0:
                continue
            if same_stroke and (stroke[y, x] < 0 or stroke[qy, qx] != stroke[y, x]):
                continue
            if group[y, x] != 0 and group[qy, qx] != group[y, x]:
                continue
            reach = np.float64(toward[y, x, 0]) * dx + np.float64(toward[y, x, 1]) * dy
            if reach > furthest:
                taken[i], furthest = labels[qy, qx], reach
    # All at once: no pixel takes what another took in this step.
    for i in range(pixels.shape[0]):
        if taken[i] != 0:
            labels[pixels[i, 1], pixels[i, 0]] = taken[i]
            count += 1
    return count


@compiled()
def grow_onward(labels: Array, group: Array, pixels: Array, toward: Array) -> int:
    """Pixels of lines take the label of a line that continues theirs; one step of it.

    The neighbour lies along the line, not across it, and has its owner on the same side.

    Returns:
        The number of labelled pixels.
    """
    height, width = labels.shape
    taken = np.zeros(pixels.shape[0], labels.dtype)
    count = 0
    for i in range(pixels.shape[0]):
        x, y = pixels[i, 0], pixels[i, 1]
        least = 0.75  # of a diagonal line both neighbours are 0.71 px aside
        for k in range(4):
            dx, dy = (1, 0, -1, 0)[k], (0, 1, 0, -1)[k]
            qx, qy = x + dx, y + dy
            if not (0 <= qx < width and 0 <= qy < height) or labels[qy, qx] == 0:
                continue
            if group[y, x] != 0 and group[qy, qx] != group[y, x]:
                continue
            ax, ay = np.float64(toward[y, x, 0]), np.float64(toward[y, x, 1])
            aside = abs(ax * dx + ay * dy)
            if aside < least and ax * toward[qy, qx, 0] + ay * toward[qy, qx, 1] > 0.5:
                taken[i], least = labels[qy, qx], aside
    for i in range(pixels.shape[0]):
        if labels[pixels[i, 1], pixels[i, 0]] == 0 and taken[i] != 0:
            labels[pixels[i, 1], pixels[i, 0]] = taken[i]
            count += 1
    return count


@compiled()
def linked_parts(right: Array, down: Array, parts: Array) -> int:
    """Numbers the parts that links connect, from 1 in reading order; 0 for pixels without a link.

    Args:
        right: (H, W): whether a pixel is linked to the one on its right.
        down: The same for the one below.
        parts: (H, W), all 0; filled.

    Returns:
        The number of parts.
    """
    height, width = parts.shape
    root = np.arange(height * width)
    for y in range(height):
        for x in range(width):
            here = y * width + x
            for k in range(2):
                if (k == 0 and x + 1 < width and right[y, x]) or (
                    k == 1 and y + 1 < height and down[y, x]
                ):
                    a, b = here, here + (1 if k == 0 else width)
                    while root[a] != a:
                        root[a] = root[root[a]]
                        a = root[a]
                    while root[b] != b:
                        root[b] = root[root[b]]
                        b = root[b]
                    if a < b:
                        root[b] = a
                    else:
                        root[a] = b
                    parts[y, x] = -1
                    parts[y + k, x + 1 - k] = -1
    count = 0
    number = np.zeros(height * width, np.int32)
    for y in range(height):
        for x in range(width):
            if parts[y, x] != 0:
                a = y * width + x
                while root[a] != a:
                    a = root[a]
                if number[a] == 0:
                    count += 1
                    number[a] = count
                parts[y, x] = number[a]
    return count


@compiled()
def first_crossing(corners: Array) -> int:
    """Two sides of a polygon that are not neighbours and meet, as i * corners + j; -1: none do."""
    count = corners.shape[0]
    for i in range(count - 2):
        ax, ay = corners[i, 0], corners[i, 1]
        bx, by = corners[i + 1, 0], corners[i + 1, 1]
        # The last side is a neighbour of the first.
        for j in range(i + 2, count - 1 if i == 0 else count):
            cx, cy = corners[j, 0], corners[j, 1]
            dx, dy = corners[(j + 1) % count, 0], corners[(j + 1) % count, 1]
            if max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx):
                continue
            if max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by):
                continue
            of_c = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            of_d = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
            of_a = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)
            of_b = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
            c_apart = (of_c > 0.0 and of_d > 0.0) or (of_c < 0.0 and of_d < 0.0)
            a_apart = (of_a > 0.0 and of_b > 0.0) or (of_a < 0.0 and of_b < 0.0)
            if not c_apart and not a_apart:
                return int(i * count + j)
    return -1
