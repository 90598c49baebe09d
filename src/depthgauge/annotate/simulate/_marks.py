"""Marks of surfaces, normals on them, and relations between planes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.segmentation import Segmentation
from depthgauge.annotate.records.annotation import (
    NormalMark,
    Relation,
    RelationKind,
    SurfaceMark,
)
from depthgauge.annotate.simulate._depth_steps import ray_slopes
from depthgauge.annotate.simulate._tilt import Tilt
from depthgauge.annotate.simulate.noise import AnnotatorNoise
from depthgauge.annotate.simulate.visible_surfaces import VisibleSurfaces
from depthgauge.synth.sets.single_views import ExactView
from depthgauge.types import Mask

Floats = NDArray[np.float64]
Pixels = list[tuple[int, int]]
"""Rows and columns."""
_LARGE = 0.04
"""Share of the picture above which a plane is checked in the preview."""
_RIM_PX = 2.0
"""How far inside the border of a curved surface normals are given along it."""
_RIM_SHARE = 0.35
"""Normals of the grid keep at least this share of their spacing from the border."""


def mark_surfaces(
    view: ExactView, seen: VisibleSurfaces, found: Segmentation, noise: AnnotatorNoise, tilt: Tilt
) -> tuple[dict[str, SurfaceMark], dict[str, NormalMark], dict[str, Floats]]:
    """Marks and normals for every surface between the drawn lines.

    Returns:
        The marks, the normals, and for marks of planes the exact normals.
    """
    from scipy import ndimage

    rays = ray_slopes(view.camera, view.depth.shape)
    spacing = max(noise.spacing_widths * view.size_px[0], 3.0)
    tilt.look_at(_large_planes(view, seen, rays))
    surfaces: dict[str, SurfaceMark] = {}
    normals: dict[str, NormalMark] = {}
    exact: dict[str, Floats] = {}
    for number, box in enumerate(ndimage.find_objects(found.smooth), start=1):
        if box is None:
            continue
        usable = (found.smooth[box] == number) & seen.own[box] & (found.kind[box] == 0)
        if not usable.any():
            continue
        usable, flat = _main_part(usable, seen.labels[box], seen.planar)
        # A surface continues beyond the image, but people do not mark it at the very edge.
        reach = ndimage.distance_transform_edt(np.pad(usable, 1))[1:-1, 1:-1]
        pole = _argmax(reach)
        places = [pole] if flat else _spread(usable, reach, pole, spacing)
        name = f"m{number}"
        top, left = box[0].start, box[1].start
        at = (float(left + pole[1]), float(top + pole[0]))
        surfaces[name] = SurfaceMark(at, "planar" if flat else "curved")
        middle = top + pole[0], left + pole[1]
        tilt.begin_surface(int(view.smooth_labels[middle]), view.normals[middle].astype(np.float64))
        for y, x in ((top + row, left + column) for row, column in places):
            true = view.normals[y, x].astype(np.float64)
            said = tilt(true, rays[y, x], rays[box][usable] if flat else None)
            a, b, c = (round(float(v), 6) for v in said)
            normals[f"n{len(normals) + 1}"] = NormalMark((float(x), float(y)), (a, b, c))
        if flat:
            exact[name] = view.normals[middle].astype(np.float64)
    return surfaces, normals, exact


def _large_planes(
    view: ExactView, seen: VisibleSurfaces, rays: Floats
) -> list[tuple[Floats, Floats]]:
    """Exact normals of the planes that fill much of the picture, and the rays through them."""
    found = []
    for number, size in enumerate(np.bincount(seen.labels.ravel())):
        if number and seen.planar[number] and size >= _LARGE * seen.labels.size:
            here = (seen.labels == number) & seen.own
            found.append((view.normals[here][0].astype(np.float64), rays[here]))
    return found


def plane_relations(exact: Mapping[str, Floats], tolerance_deg: float) -> dict[str, Relation]:
    """The relation of every pair of planes."""
    names = list(exact)
    found: dict[str, Relation] = {}
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            kind = relation_kind(exact[first], exact[second], tolerance_deg)
            found[f"r{len(found) + 1}"] = Relation(first, second, kind)
    return found


def relation_kind(first: Floats, second: Floats, tolerance_deg: float) -> RelationKind:
    """The relation of two planes.

    >>> relation_kind(np.array([0.0, 0, -1]), np.array([0.0, -1, 0]), 1.0)
    'orthogonal'
    """
    cosine = abs(float(first @ second)) / float(np.linalg.norm(first) * np.linalg.norm(second))
    angle = math.degrees(math.acos(min(cosine, 1.0)))
    if angle <= tolerance_deg:
        return "parallel"
    return "orthogonal" if angle >= 90 - tolerance_deg else "neither"


def _main_part(
    usable: Mask, labels: NDArray[np.int32], planar: Mapping[int, bool]
) -> tuple[Mask, bool]:
    """The pixels of the surface that covers most of a piece, and whether it is flat."""
    count = np.bincount(labels[usable])
    number = int(np.argmax(count))
    return usable & (labels == number), bool(planar[number])


def _spread(usable: Mask, reach: Floats, pole: tuple[int, int], spacing: float) -> Pixels:
    """The pole, points on a grid, and points along the border."""
    chosen: Pixels = [pole]
    height, width = usable.shape
    rows, columns = _grid(pole[0], height, spacing), _grid(pole[1], width, spacing)
    for at in itertools.product(rows, columns):
        _take(chosen, at, reach, _RIM_SHARE * spacing, 0.7 * spacing)
    rim = np.argwhere(usable & (reach >= _RIM_PX) & (reach < _RIM_PX + 1))
    for y, x in rim:
        _take(chosen, (int(y), int(x)), reach, _RIM_PX, spacing)
    return chosen


def _grid(through: int, length: int, spacing: float) -> list[int]:
    """Places along a side at this spacing, one of them given."""
    before, after = int(through / spacing), int((length - 1 - through) / spacing)
    return [through + int(i * spacing) for i in range(-before, after + 1)]


def _take(
    chosen: Pixels, at: tuple[int, int], reach: Floats, least_px: float, apart_px: float
) -> None:
    if reach[at] < least_px:
        return
    if all(math.hypot(at[0] - y, at[1] - x) >= apart_px for y, x in chosen):
        chosen.append(at)


def _argmax(values: Floats) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(values)), values.shape)
    return int(row), int(column)
