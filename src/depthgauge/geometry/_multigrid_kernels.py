"""Products of sparse matrices with one or three columns at once, compiled.

SciPy's take twice as long for three columns. Indices are unsigned. None of these is parallel, but
all release Python's lock: a caller with two systems to solve gives each its own thread, which gains
more than splitting each of many short loops.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from depthgauge._compiled import compiled
from depthgauge.geometry._shared_kernels import root

Array = NDArray[Any]


@compiled(nogil=True)
def product(indptr: Array, indices: Array, data: Array, values: Array, out: Array) -> None:
    """Sets out = A values; values are (n, 1) or (n, 3)."""
    if out.shape[1] == 3:
        for i in range(out.shape[0]):
            a = b = c = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                j, weight = indices[k], data[k]
                a += weight * values[j, 0]
                b += weight * values[j, 1]
                c += weight * values[j, 2]
            out[i, 0], out[i, 1], out[i, 2] = a, b, c
        return
    for i in range(out.shape[0]):
        a = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            a += data[k] * values[indices[k], 0]
        out[i, 0] = a


@compiled(nogil=True)
def rest_of(
    indptr: Array, indices: Array, data: Array, right: Array, values: Array, out: Array
) -> None:
    """Sets out = right - A values."""
    product(indptr, indices, data, values, out)
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] = right[i, c] - out[i, c]


@compiled(nogil=True)
def scaled(jacobi: Array, right: Array, out: Array) -> None:
    """Sets out = jacobi right: the first step from zero."""
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] = jacobi[i] * right[i, c]


@compiled(nogil=True)
def add_product(indptr: Array, indices: Array, data: Array, values: Array, out: Array) -> None:
    """Adds P values to out: the correction of the next level."""
    if out.shape[1] == 3:
        for i in range(out.shape[0]):
            a = b = c = 0.0
            for k in range(indptr[i], indptr[i + 1]):
                j, weight = indices[k], data[k]
                a += weight * values[j, 0]
                b += weight * values[j, 1]
                c += weight * values[j, 2]
            out[i, 0] += a
            out[i, 1] += b
            out[i, 2] += c
        return
    for i in range(out.shape[0]):
        a = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            a += data[k] * values[indices[k], 0]
        out[i, 0] += a


@compiled(nogil=True)
def smoothed(
    indptr: Array,
    indices: Array,
    data: Array,
    jacobi: Array,
    right: Array,
    values: Array,
    out: Array,
) -> None:
    """Sets out = values + jacobi (right - A values)."""
    product(indptr, indices, data, values, out)
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] = values[i, c] + jacobi[i] * (right[i, c] - out[i, c])


@compiled(nogil=True)
def advance(direction: Array, image: Array, length: Array, found: Array, rest: Array) -> None:
    """Adds length direction to found, subtracts length image from rest."""
    if found.shape[1] == 3:
        a, b, c = length[0], length[1], length[2]
        for i in range(found.shape[0]):
            found[i, 0] += a * direction[i, 0]
            found[i, 1] += b * direction[i, 1]
            found[i, 2] += c * direction[i, 2]
            rest[i, 0] -= a * image[i, 0]
            rest[i, 1] -= b * image[i, 1]
            rest[i, 2] -= c * image[i, 2]
        return
    a = length[0]
    for i in range(found.shape[0]):
        found[i, 0] += a * direction[i, 0]
        rest[i, 0] -= a * image[i, 0]


@compiled(nogil=True)
def turn(direction: Array, step: Array, kept: Array) -> None:
    """Sets direction = kept direction + step."""
    if step.shape[1] == 3:
        a, b, c = kept[0], kept[1], kept[2]
        for i in range(step.shape[0]):
            direction[i, 0] = a * direction[i, 0] + step[i, 0]
            direction[i, 1] = b * direction[i, 1] + step[i, 1]
            direction[i, 2] = c * direction[i, 2] + step[i, 2]
        return
    a = kept[0]
    for i in range(step.shape[0]):
        direction[i, 0] = a * direction[i, 0] + step[i, 0]


@compiled(nogil=True)
def dots(first: Array, second: Array, sums: Array) -> None:
    """Fills sums (c,) with the sums of the products."""
    # Several sums at once do not wait for each other.
    a = b = c = 0.0
    if first.shape[1] == 3:
        for i in range(first.shape[0]):
            a += first[i, 0] * second[i, 0]
            b += first[i, 1] * second[i, 1]
            c += first[i, 2] * second[i, 2]
        sums[0], sums[1], sums[2] = a, b, c
        return
    whole = first.shape[0] // 3 * 3
    for i in range(0, whole, 3):
        a += first[i, 0] * second[i, 0]
        b += first[i + 1, 0] * second[i + 1, 0]
        c += first[i + 2, 0] * second[i + 2, 0]
    for i in range(whole, first.shape[0]):
        a += first[i, 0] * second[i, 0]
    sums[0] = a + b + c


@compiled(nogil=True)
def assemble(
    number: Array,
    right: Array,
    down: Array,
    degree: Array,
    ends: Array,
    columns: Array,
    values: Array,
    diagonal: Array,
) -> int:
    """Fills a CSR matrix: the degree on the diagonal, minus the weight of each link beside it.

    Args:
        number: (H, W) numbers of the nodes in reading order, -1 for other pixels.
        right: (H, W) weights of links to the right, 0 in the last column.
        down: (H, W) weights of links downwards, 0 in the last row.
        degree: (H, W) the diagonal.
        ends: (n + 1,), filled with where rows begin.
        columns: (5 n,), filled in front.
        values: (5 n,), filled in front.
        diagonal: (n,), filled with the places of the diagonal.

    Returns:
        The number of entries.
    """
    at = 0
    for y in range(number.shape[0]):
        for x in range(number.shape[1]):
            node = number[y, x]
            if node < 0:
                continue
            if y > 0 and number[y - 1, x] >= 0 and down[y - 1, x] > 0:
                columns[at], values[at] = number[y - 1, x], -down[y - 1, x]
                at += 1
            if x > 0 and number[y, x - 1] >= 0 and right[y, x - 1] > 0:
                columns[at], values[at] = number[y, x - 1], -right[y, x - 1]
                at += 1
            diagonal[node] = at
            columns[at], values[at] = node, degree[y, x]
            at += 1
            if right[y, x] > 0 and number[y, x + 1] >= 0:
                columns[at], values[at] = number[y, x + 1], -right[y, x]
                at += 1
            if down[y, x] > 0 and number[y + 1, x] >= 0:
                columns[at], values[at] = number[y + 1, x], -down[y, x]
                at += 1
            ends[node + 1] = at
    return at


@compiled(nogil=True)
def join_in_blocks(indptr: Array, indices: Array, block: Array, groups: Array) -> int:
    """Numbers the groups that are linked inside one block, (n,), and returns their number."""
    for i in range(groups.size):
        groups[i] = i
    for i in range(groups.size):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j < i and block[i] == block[j]:
                one, two = root(groups, i), root(groups, j)
                groups[max(one, two)] = min(one, two)
    # A root is the smallest of its tree, so it is numbered before the others need it.
    for i in range(groups.size):
        groups[i] = root(groups, i)
    count = 0
    for i in range(groups.size):
        if groups[i] == i:
            groups[i] = count
            count += 1
        else:
            groups[i] = groups[groups[i]]
    return count
