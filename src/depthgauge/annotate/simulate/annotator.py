"""A simulated annotator: turns exact geometry into what a person would draw.

    annotation = simulate(make_view("mixed", 3), HUMAN, seed=0)

Strokes come from the borders between labelled surfaces and the depth steps there, normals from the
exact ones; `AnnotatorNoise` says how accurate each is.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    Origin,
    Picture,
    Point,
    Stroke,
)
from depthgauge.annotate.records.region_points import preselected_points
from depthgauge.annotate.simulate._depth_steps import ray_slopes
from depthgauge.annotate.simulate._marks import mark_surfaces, plane_relations
from depthgauge.annotate.simulate._polylines import Points, drawn, length_px, shortened
from depthgauge.annotate.simulate._tilt import Tilt
from depthgauge.annotate.simulate._trace import FOLD, SMOOTH, Border, trace_borders
from depthgauge.annotate.simulate.noise import CAREFUL, HUMAN, LEVELS, NONE, AnnotatorNoise
from depthgauge.annotate.simulate.visible_surfaces import VisibleSurfaces, visible_surfaces
from depthgauge.errors import Misuse
from depthgauge.geometry.polygons import polygon_mask
from depthgauge.synth.sets.single_views import ExactView
from depthgauge.types import Map, Mask

__all__ = ["CAREFUL", "HUMAN", "LEVELS", "NONE", "AnnotatorNoise", "ExactView", "simulate"]

_ASIDE_PX = 0.5
"""An occlusion is drawn on the last pixels of the closer surface, which owns it."""
_BEYOND_PX = 3
"""Strokes extend this far beyond the region."""
_SHORTEST_PX, _SHORTEST_LOOSE_PX = 2.0, 8.0
_OVERLOOKED = 0.1
"""Forgotten strokes are shorter than this share of the picture's width."""
_TURNED_AWAY = 0.04
"""Squared cosine at the border below which a curved surface visibly turns away."""
_MARGIN = 0.06
"""Share of each side that is left out of a region with a margin."""
_CORNERS, _REACH = (7, 12), (0.55, 0.95)
"""Number of corners of a polygon, and how far they lie from its middle to the image's edge."""


def simulate(view: ExactView, noise: AnnotatorNoise = NONE, seed: int = 0) -> Annotation:
    """The annotation of a view by one simulated person.

    Args:
        view: The picture and its exact geometry.
        noise: How accurate the person is: `NONE`, `CAREFUL`, `HUMAN`, or any other.
        seed: Seed of the person: other seeds make other errors. The two points that the region must
            contain, and the tilt that all people share, depend on the picture.

    Raises:
        Misuse: The seed is negative.
    """
    if seed < 0:
        raise Misuse(f"seed: expected 0 or more, got {seed}; give a non-negative whole number.")
    picture_seed = int.from_bytes(hashlib.sha256(view.id.encode()).digest()[:8], "big")
    rng = np.random.default_rng([picture_seed, seed, 83])
    picture = Picture(view.id, *view.size_px)
    must = preselected_points(picture)
    region = _chosen_region(noise.region, view.size_px, must, rng)
    empty = Annotation(
        picture,
        Focal(view.focal_px),
        must_contain_px=must,
        region_px=region,
        origin=Origin(who=f"simulated-{seed}", source="simulated"),
        finished=True,
    )
    seen = visible_surfaces(view, _around(view, region), noise.smallest_px, noise.thinnest_px)
    strokes = _strokes(view, seen, noise, rng)
    lines = replace(empty, strokes={f"s{i + 1}": stroke for i, stroke in enumerate(strokes)})
    tilt = Tilt(noise, picture_seed, rng)
    surfaces, normals, exact = mark_surfaces(view, seen, segment(lines), noise, tilt)
    relations = plane_relations(exact, noise.relation_deg)
    return replace(lines, surfaces=surfaces, normals=normals, relations=relations)


def _around(view: ExactView, region: tuple[Point, ...]) -> Mask:
    """The region and a margin, so that strokes cross its edge."""
    if not region:
        return view.smooth_labels > 0
    from scipy import ndimage

    mask = ndimage.binary_dilation(polygon_mask(view.depth.shape, region), iterations=_BEYOND_PX)
    return np.asarray(mask & (view.smooth_labels > 0))


def _strokes(
    view: ExactView, seen: VisibleSurfaces, noise: AnnotatorNoise, rng: np.random.Generator
) -> list[Stroke]:
    steps = seen.gap_right, seen.gap_down
    borders = trace_borders(seen.labels, steps, _turning(view, seen))
    # From far to near: where lines meet, the closest is drawn over the others.
    borders.sort(key=lambda border: -_distance(border, seen.depth))
    nudges: dict[tuple[float, float], Points] = {}
    found = []
    for border in borders:
        line = _by_hand(border, seen.depth, noise, rng, nudges)
        forgotten = rng.random() < noise.missed
        confused = rng.random() < noise.side_errors
        shortest = _SHORTEST_LOOSE_PX if border.loose else _SHORTEST_PX
        length = length_px(line)
        if length < shortest or (forgotten and length < _OVERLOOKED * view.size_px[0]):
            continue
        found.append(_stroke(border.kind, line, confused))
    return found


def _distance(border: Border, depth: Map) -> float:
    """Mean depth of the closer side along a border."""
    x, y = np.floor(border.corners).astype(int).T
    height, width = depth.shape
    around = [
        depth[np.clip(y + down, 0, height - 1), np.clip(x + right, 0, width - 1)]
        for down in (0, 1)
        for right in (0, 1)
    ]
    return float(np.min(around, axis=0).mean())


def _by_hand(
    border: Border,
    depth: Map,
    noise: AnnotatorNoise,
    rng: np.random.Generator,
    nudges: dict[tuple[float, float], Points],
) -> Points:
    """The line as drawn by hand; where lines meet, they are displaced together."""
    line = drawn(border, noise.tolerance_px, _ASIDE_PX * np.sign(border.kind), depth)
    offset = rng.normal(0, noise.boundary_px, line.shape) if noise.boundary_px > 0 else 0 * line
    cuts = rng.uniform(0, noise.gap_px, 2) if noise.gap_px > 0 else (0.0, 0.0)
    if border.closed:
        offset[-1] = offset[0]
    for index, tied in zip((0, -1), border.tied, strict=True):
        if tied:
            place = (float(border.corners[index][0]), float(border.corners[index][1]))
            offset[index] = nudges.setdefault(place, offset[index].copy())
    line = line + offset
    for tied, cut, at_start in zip(border.tied, cuts, (True, False), strict=True):
        if cut > 0 and (tied or border.closed):
            line = shortened(line, float(cut), at_start)
    return line


def _stroke(kind: int, line: Points, confused: bool) -> Stroke:
    points = tuple((round(float(x), 3), round(float(y), 3)) for x, y in line)
    if kind == FOLD:
        return Stroke("fold", points)
    right = (kind > 0) != confused
    return Stroke("occlusion", points, "right" if right else "left", abs(kind) == SMOOTH)


def _turning(view: ExactView, seen: VisibleSurfaces) -> tuple[Mask, Mask]:
    """Where the closer surface of a border turns away from the viewer.

    The squared cosine between normal and ray falls linearly towards the silhouette of a round
    object, so two pixels give its value at the border.
    """
    rays = ray_slopes(view.camera, view.depth.shape)
    rays /= np.linalg.norm(rays, axis=2, keepdims=True)
    square = np.einsum("ijk,ijk->ij", seen.normals, rays) ** 2
    flat = np.zeros(int(seen.labels.max(initial=0)) + 1, bool)
    flat[[n for n, is_flat in seen.planar.items() if is_flat and n < flat.size]] = True
    curved = ~flat[seen.labels]
    right = _turning_along(square, seen.labels, curved, seen.gap_right)
    down = _turning_along(square.T, seen.labels.T, curved.T, seen.gap_down.T).T
    return right, down


def _turning_along(
    square: NDArray[np.float64], labels: NDArray[np.int32], curved: Mask, step: NDArray[np.float32]
) -> Mask:
    """The same for borders between columns only."""
    away = np.full(square.shape, np.inf)
    # Extrapolated to a pixel's left or right edge, from the pixel and the next one further in.
    inner = {1: np.roll(square, 1, axis=1), -1: np.roll(square, -1, axis=1)}
    same = {1: np.roll(labels, 1, axis=1) == labels, -1: np.roll(labels, -1, axis=1) == labels}
    at = {}
    for side in (1, -1):
        slope = np.where(same[side], np.maximum(inner[side] - square, 0), square)
        at[side] = np.where(curved, square - 0.5 * slope, away)
    closer_left = step > 0
    value = np.where(closer_left, at[1][:, :-1], at[-1][:, 1:])
    return np.asarray((step != 0) & (value < _TURNED_AWAY))


def _chosen_region(
    kind: str, size_px: tuple[int, int], must: tuple[Point, ...], rng: np.random.Generator
) -> tuple[Point, ...]:
    """The polygon of the region of interest; empty for the whole picture."""
    width, height = size_px
    if kind == "whole":
        return ()
    if kind == "margin" or not must:
        a, b = round(_MARGIN * width), round(_MARGIN * height)
        right, low = width - 1.0 - a, height - 1.0 - b
        return ((float(a), float(b)), (right, float(b)), (right, low), (float(a), low))
    middle = sum(x for x, _ in must) / len(must), sum(y for _, y in must) / len(must)
    angles = np.sort(rng.uniform(0, math.tau / 2, rng.integers(*_CORNERS)) * 2)
    reach = rng.uniform(*_REACH, angles.size)
    for growth in (1.0, 1.2, 1.5, 2.0, 3.0):
        share = np.minimum(reach * growth, 1.0)
        polygon = tuple(
            _towards(middle, float(a), float(s), size_px)
            for a, s in zip(angles, share, strict=True)
        )
        mask = polygon_mask((height, width), polygon)
        if all(mask[round(y), round(x)] for x, y in must):
            return polygon
    return ()


def _towards(middle: Point, angle: float, share: float, size_px: tuple[int, int]) -> Point:
    """A point between the middle and the image's edge."""
    dx, dy = math.cos(angle), math.sin(angle)
    ends = [
        (limit - at) / step if step > 0 else at / -step
        for at, step, limit in zip(middle, (dx, dy), (size_px[0] - 1, size_px[1] - 1), strict=True)
        if step != 0
    ]
    length = share * min(ends)
    return round(middle[0] + length * dx, 2), round(middle[1] + length * dy, 2)
