"""Rays, paints and sensors, compiled. `_records` says what the rows of numbers mean.

All in one file: numba's cache on disk does not notice changes in another file.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._compiled import banded, compiled
from depthgauge.synth.sets.stratified._records import (
    BALL,
    BOWL,
    COMB,
    DOTS,
    HOLES,
    LATTICE,
    OCTAVES,
    PIT,
    PLANE,
    PROFILE,
    PYRAMID,
    STRIPES,
)

Array = NDArray[Any]
# Numba counts references to arrays. Functions that are only called from here need not: the cores
# would mostly wait for each other at the counters.
_CALLED = {"_nrt": False}
_INLINED = {**_CALLED, "forceinline": True}
_INSIDE, _AT_EDGES = (5, 3), (34, 21)
"""Rays of a pixel inside surfaces and where several meet, and the previous Fibonacci number."""
_MIXED = -1
_CHECKS_PX = 64.0
"""Period of the tiles that are seen through glass and in mirrors."""


# Rays.


@compiled(**_INLINED)
def _part_of(scene: Any, i: int, x: float, y: float) -> Any:
    """The part of plane i at a place, -1 where it does not exist."""
    surface, n, table = scene.surfaces[i], scene.numbers, scene.table
    if surface.pattern == COMB:
        # Peaks from n0 on, n1 apart, n2 of them; n3 wide at n5 and n4 more for each px below.
        k = min(max(np.floor((x - n[i, 0]) / n[i, 1] + 0.5), 0.0), n[i, 2] - 1.0)
        half = 0.5 * (n[i, 3] + n[i, 4] * (y - n[i, 5]))
        return int(k) if x < n[i, 0] or abs(x - n[i, 0] - k * n[i, 1]) <= half else -1
    if surface.pattern == STRIPES:
        # Middles from n0 on, n1 apart, n2 of them, n3 to each side; every other one, from n4 on.
        k = np.floor((x - n[i, 0]) / n[i, 1] + 0.5)
        if k < 0 or k >= n[i, 2] or k % 2 != n[i, 4] or abs(x - n[i, 0] - k * n[i, 1]) > n[i, 3]:
            return -1
        return int(k) + 1
    if surface.pattern == DOTS:
        # Cells from (n0, n1) on, n2 wide and n3 high, n4 of them in a row, n5 in all.
        column, row = np.floor((x - n[i, 0]) / n[i, 2]), np.floor((y - n[i, 1]) / n[i, 3])
        if column < 0 or column >= n[i, 4] or row < 0 or row * n[i, 4] + column >= n[i, 5]:
            return -1
        x, y = x - n[i, 0] - column * n[i, 2], y - n[i, 1] - row * n[i, 3]
        for k in range(surface.first, surface.first + surface.count):
            across, down = x - table[k, 0], y - table[k, 1]
            if across * across + down * down <= table[k, 2] * table[k, 2]:
                return k - surface.first + 1
        return -1
    if surface.pattern == HOLES:
        # A circle around (n0, n1) with radius n2, a square around (n3, n4) with half a side n5.
        across, down = x - n[i, 0], y - n[i, 1]
        if across * across + down * down < n[i, 2] * n[i, 2]:
            return -1
        return -1 if max(abs(x - n[i, 3]), abs(y - n[i, 4])) < n[i, 5] else 0
    return 0


@compiled(**_INLINED)
def _meet_profile(scene: Any, i: int, s: float, t: float, x: float, y: float) -> Any:
    """A broken line of disparities, no part of which hides another; -> disparity, part."""
    surface, table = scene.surfaces[i], scene.table
    step, at = (t, y) if scene.numbers[i, 0] > 0.0 else (s, x)
    low, high = surface.first, surface.first + surface.count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle, 0] - step * table[middle, 1] < at:
            low = middle
        else:
            high = middle
    rise = (table[high, 1] - table[low, 1]) / (table[high, 0] - table[low, 0])
    d = (table[low, 1] + rise * (at - table[low, 0])) / (1.0 - rise * step)
    return d, low - surface.first


@compiled(**_INLINED)
def _meet_pyramid(scene: Any, i: int, s: float, t: float, x: float, y: float) -> Any:
    """A square around (n0, n1) with half a side n2, at n3, and a tip at n4; -> d, face."""
    n, inward = scene.numbers, scene.surfaces[i].kind == PIT
    base, tip = n[i, 3], n[i, 4]
    if inward and max(abs(x + s * base - n[i, 0]), abs(y + t * base - n[i, 1])) >= n[i, 2]:
        return -np.inf, 0
    rise = (base - tip) / n[i, 2]
    best, face = np.inf, 0
    for k in range(4):
        slope = rise if k % 2 == 0 else -rise
        step, at = (s, x - n[i, 0]) if k < 2 else (t, y - n[i, 1])
        d = (tip + slope * at) / (1.0 - slope * step)
        # Looking down, a ray enters a solid past its last face, and leaves a pit at its first.
        d = -d if inward else d
        if d < best:
            best, face = d, k
    if inward:
        return -best, face
    return (best if best > base else -np.inf), face


@compiled(**_CALLED)
def _meet_ball(scene: Any, i: int, s: float, t: float, x: float, y: float) -> Any:
    """Middle (n0, n1, n2) and radius n3 in m; opening: (n4, n5) and radius n6 in px, at n7."""
    n, far = scene.numbers, scene.surfaces[i].kind == BOWL
    focal, baseline, offset = n[i, 8], n[i, 9], n[i, 10]
    across, down = x + s * n[i, 7] - n[i, 4], y + t * n[i, 7] - n[i, 5]
    if far and across * across + down * down >= n[i, 6] * n[i, 6]:
        return -np.inf
    ray_x, ray_y = (x - s * offset) / focal, (y - t * offset) / focal
    from_x, from_y = n[i, 0] - s * baseline, n[i, 1] - t * baseline
    a = ray_x * ray_x + ray_y * ray_y + 1.0
    b = ray_x * from_x + ray_y * from_y + n[i, 2]
    c = from_x * from_x + from_y * from_y + n[i, 2] * n[i, 2] - n[i, 3] * n[i, 3]
    root = b * b - a * c
    if root < 0.0:
        if not far:
            return -np.inf
        root = 0.0
    depth = (b + math.sqrt(root)) / a if far else (b - math.sqrt(root)) / a
    return focal * baseline / depth - offset


@compiled(**_INLINED)
def _first_hit(scene: Any, s: float, t: float, x: float, y: float) -> Any:
    """What the ray of view (s, t) meets first: disparity, surface, part."""
    best, which, part = -np.inf, 0, 0
    for i in range(scene.surfaces.size):
        surface = scene.surfaces[i]
        p = 0
        if surface.kind == PLANE:
            d = surface.level + surface.slope_x * x + surface.slope_y * y
            if d <= best:
                continue
            p = _part_of(scene, i, x + s * d, y + t * d)
        elif surface.kind == PROFILE:
            d, p = _meet_profile(scene, i, s, t, x, y)
        elif surface.kind == PYRAMID or surface.kind == PIT:
            d, p = _meet_pyramid(scene, i, s, t, x, y)
        else:
            d = _meet_ball(scene, i, s, t, x, y)
        if p >= 0 and d > best:
            best, which, part = d, i, p
    return best, which, part


# Paints.


@compiled(**_INLINED)
def _wave(turns: float) -> Any:
    """Nearly a sine of period one."""
    turns -= np.floor(turns + 0.5)
    return turns * (8.0 - 16.0 * abs(turns))


@compiled(**_INLINED)
def _field(scene: Any, n: int, x: float, y: float, blur: float) -> Any:
    """A smooth random field, most of it within -1..1: splines over lattices."""
    textures, lattices = scene.textures, scene.lattices
    total = 0.0
    for k in range(OCTAVES):
        along, across, weight = textures[n, k, 0], textures[n, k, 1], textures[n, k, 4]
        if blur > 0.0:
            weight *= math.exp(-textures[n, k, 5] * blur * blur)
        u = along * x + across * y + textures[n, k, 2]
        v = along * y - across * x + textures[n, k, 3]
        column, row = np.floor(u), np.floor(v)
        u, v = u - column, v - row
        # Quadratic B-splines: three rows of three, and no edge anywhere.
        left, right = 0.5 * (1.0 - u) * (1.0 - u), 0.5 * u * u
        above, below = 0.5 * (1.0 - v) * (1.0 - v), 0.5 * v * v
        a, i = int(column) & (LATTICE - 1), int(row)
        b, c = (a + 1) & (LATTICE - 1), (a + 2) & (LATTICE - 1)
        value = 0.0
        for m in range(3):
            share = above if m == 0 else (below if m == 2 else 1.0 - above - below)
            j = (i + m) & (LATTICE - 1)
            middle = (1.0 - left - right) * lattices[n, k, j, b]
            value += share * (left * lattices[n, k, j, a] + middle + right * lattices[n, k, j, c])
        total += weight * value
    # Compressed towards -1..1, but never flat, so that there is texture everywhere.
    return total / (0.9 + 0.55 * abs(total))


@compiled(**_INLINED)
def _checks(x: float, y: float, blur: float) -> Any:
    """Rounded squares, rounder where they are blurred: a wall of tiles."""
    kept = 4.0 * math.exp(-blur * blur * (2.0 * math.pi / _CHECKS_PX) ** 2)
    return min(max(kept * _wave(x / _CHECKS_PX) * _wave(y / _CHECKS_PX), -1.0), 1.0)


@compiled(**_INLINED)
def _tone(scene: Any, n: int, channel: int, value: float) -> Any:
    """From a texture's first colour at -1 over the second at 0 to the third at 1."""
    tones = scene.tones
    middle = tones[n, 1, channel]
    end = tones[n, 0, channel] if value < 0.0 else tones[n, 2, channel]
    return middle + abs(value) * (end - middle)


@compiled(**_INLINED)
def _brightness(scene: Any, i: int, part: int, x: float, y: float, d: float) -> Any:
    """How much of the light a surface reflects; only balls need Lambert's cosine here."""
    kind, paint, numbers = scene.surfaces[i].kind, scene.paints[i], scene.numbers
    if kind == PROFILE:
        return scene.table[scene.surfaces[i].first + part, 2]
    if kind != BALL and kind != BOWL:
        return numbers[i, 11 + min(part, 4)]
    focal = numbers[i, 8]
    depth = focal * numbers[i, 9] / (d + numbers[i, 10])
    across, down = x * depth / focal - numbers[i, 0], y * depth / focal - numbers[i, 1]
    ahead = depth - numbers[i, 2]
    cosine = across * paint.lamp_x + down * paint.lamp_y + ahead * paint.lamp_z
    cosine = (-cosine if kind == BOWL else cosine) / numbers[i, 3]
    return paint.ambient + (1.0 - paint.ambient) * max(cosine, 0.0)


@compiled(**_INLINED)
def _light(scene: Any, size: float, s: float, t: float, x: float, y: float) -> Any:
    """The light along a ray, in three colours, and a code of what it met."""
    d, which, part = _first_hit(scene, s, t, x, y)
    paint = scene.paints[which]
    at_x, at_y = x + s * d, y + t * d
    u = min(max(at_x / size + 0.5, 0.0), 1.0)
    v = min(max(at_y / size + 0.5, 0.0), 1.0)
    value = _field(scene, which, at_x, at_y, 0.0)
    if paint.count > 0:
        band = paint.first + min(int(v * paint.count), paint.count - 1)
        period, unique = scene.table[band, 0], scene.table[band, 1]
        regular = 0.5 * (_wave(at_x / period) + _wave(at_y / period))
        value = unique * value + (1.0 - unique) * regular
    value *= max(paint.contrast + paint.contrast_x * u + paint.contrast_y * v, 0.0)
    own = _brightness(scene, which, part, at_x, at_y, d)
    red, green, blue = 0.0, 0.0, 0.0
    for i in range(scene.ghosts.size):
        ghost = scene.ghosts[i]
        if ghost.surface == which:
            deep = ghost.level + ghost.slope_x * x + ghost.slope_y * y
            n, blur = scene.surfaces.size + i, ghost.blur + ghost.blur_x * u
            seen = 0.7 * _field(scene, n, x + s * deep, y + t * deep, blur)
            seen += 0.4 * _checks(x + s * deep, y + t * deep, blur)
            weight = ghost.weight + ghost.weight_x * u
            own -= weight
            red += weight * _tone(scene, n, 0, seen)
            green += weight * _tone(scene, n, 1, seen)
            blue += weight * _tone(scene, n, 2, seen)
    red += own * _tone(scene, which, 0, value)
    green += own * _tone(scene, which, 1, value)
    blue += own * _tone(scene, which, 2, value)
    return red, green, blue, 256 * which + part


# Views.


@compiled(**_INLINED)
def _is_edge(codes: Array, i: int, j: int) -> Any:
    """Whether a pixel or one around it sees more than one thing."""
    if codes[i, j] == _MIXED:
        return True
    for k in range(max(i - 1, 0), min(i + 2, codes.shape[0])):
        for m in range(max(j - 1, 0), min(j + 2, codes.shape[1])):
            if codes[k, m] != codes[i, j]:
                return True
    return False


@banded("codes", cost=500)
def collect(
    begin: int,
    end: int,
    scene: Any,
    view: Array,
    sensor: Array,
    only_edges: bool,
    light: Array,
    codes: Array,
) -> None:
    """The mean light of the rays of each pixel, and codes of what they meet if that is one thing.

    Args:
        begin: First index of the band.
        end: The index after its last one.
        scene: As the view sees it.
        view: Steps right, steps down, and how far the image is shifted along x.
        sensor: Vertical offset at the upper border and how much more at the lower one.
        only_edges: Cast more rays, but only where a pixel or one around it meets several things.
        light: Space for (size, size, 3).
        codes: Space for (size, size); the codes of an earlier call if `only_edges`.
    """
    size = codes.shape[0]
    # A Fibonacci lattice: no two rays in one row or column, so no edge comes out in steps.
    rays, turn = _AT_EDGES if only_edges else _INSIDE
    share = 1.0 / rays
    for i in range(begin, end):
        for j in range(size):
            if only_edges and not _is_edge(codes, i, j):
                continue
            code, red, green, blue = _MIXED, 0.0, 0.0, 0.0
            for k in range(rays):
                at_y = i + (k * turn % rays + 0.5) * share
                y = at_y - 0.5 * size + sensor[0] + sensor[1] * at_y / size
                x = j + (k + 0.5) * share - 0.5 * size + view[2]
                r, g, b, met = _light(scene, float(size), view[0], view[1], x, y)
                red, green, blue = red + share * r, green + share * g, blue + share * b
                code = met if k == 0 or code == met else _MIXED
            light[i, j, 0], light[i, j, 1], light[i, j, 2] = red, green, blue
            if not only_edges:
                codes[i, j] = code


# The truth.


@banded("disparity", cost=50)
def truth(
    begin: int,
    end: int,
    scene: Any,
    view: Array,
    scale: int,
    disparity: Array,
    which: Array,
    part: Array,
) -> None:
    """What a view sees at the centres of `scale` times smaller pixels."""
    height, width = disparity.shape
    for i in range(begin, end):
        y = (i + 0.5) / scale - 0.5 * (height / scale)
        for j in range(width):
            x = (j + 0.5) / scale - 0.5 * (width / scale) + view[2]
            d, surface, piece = _first_hit(scene, view[0], view[1], x, y)
            disparity[i, j], which[i, j], part[i, j] = d, surface, piece


@banded("out", cost=50)
def visible(begin: int, end: int, scene: Any, view: Array, disparity: Array, out: Array) -> None:
    """Which pixel centres of the centre view another view also sees, within its image."""
    height, width = disparity.shape
    s, t = view[0], view[1]
    for i in range(begin, end):
        for j in range(width):
            d = disparity[i, j]
            x, y = j + 0.5 - 0.5 * width - s * d, i + 0.5 - 0.5 * height - t * d
            first, _, _ = _first_hit(scene, s, t, x, y)
            inside = abs(x - view[2]) <= 0.5 * width and abs(y) <= 0.5 * height
            out[i, j] = inside and first <= d + 1e-9
