"""What several people say together: who is reliable, which side is closer, what is parallel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.fusing.fold_lines import Related
from depthgauge.annotate.reconstruct._lines import trace_points
from depthgauge.annotate.reconstruct.reconstruction import Reconstruction
from depthgauge.annotate.records.annotation import Annotation, RelationKind, Side, Stroke
from depthgauge.types import Map, Mask

Array = NDArray[np.float64]

_FAR_DEG = 15.0
"""A normal this far from the mean counts half."""
_ROUNDS = 4
_LEAST_SHARE = 0.5
"""Nobody is taken to be more precise than this share of the middle person's error: who happens to
be near the mean would decide alone."""
_ASIDE_PX = 4.0
"""How far from a line its two sides are compared; others drew it a pixel or two away."""


def robust_mean(normals: Array, persons: Array | None = None) -> tuple[Array, Array]:
    """Mean direction (H, W, 3) of several maps (n, H, W, 3), and the angles to it in degrees.

    Args:
        normals: Of each person; NaN where there is none.
        persons: Weights of the persons; equal by default.
    """
    known: Mask = np.asarray(np.isfinite(normals).all(axis=-1))
    filled = np.where(known[..., None], normals, 0.0)
    given = np.ones(len(normals)) if persons is None else persons
    voice = known * given[:, None, None]
    weights = voice
    angles = np.zeros(known.shape)
    for _ in range(_ROUNDS):
        mean = np.einsum("nij,nijk->ijk", weights, filled)
        length = np.linalg.norm(mean, axis=-1, keepdims=True)
        mean = mean / np.where(length > 1e-9, length, np.nan)
        cosine = np.clip(np.einsum("nijk,ijk->nij", filled, np.nan_to_num(mean)), -1, 1)
        angles = np.degrees(np.arccos(cosine))
        weights = voice / (1 + (angles / _FAR_DEG) ** 2)
    return mean, np.where(known, angles, np.nan)


def person_weights(normals: Array) -> Array:
    """How much each person's normals count: one over the squared distance from the others.

    Everybody's error is estimated from the mean of the others, in which the better ones count more;
    a few rounds of both settle (as Dawid and Skene do for labels). The mean weight is 1.
    """
    count = len(normals)
    weights = np.ones(count)
    if count < 3:
        return weights
    for _ in range(_ROUNDS):
        squares = np.array([_square_from_others(normals, weights, i) for i in range(count)])
        weights = 1 / np.maximum(squares, _LEAST_SHARE**2 * np.median(squares))
        weights /= weights.mean()
    return weights


def _square_from_others(normals: Array, weights: Array, person: int) -> float:
    """Mean squared angle, in degrees, between a person's normals and those of all others."""
    others = np.arange(len(normals)) != person
    known: Mask = np.asarray(np.isfinite(normals).all(axis=-1))
    mean = np.einsum("n,nijk->ijk", weights[others], np.nan_to_num(normals[others]))
    length = np.linalg.norm(mean, axis=-1)
    both = known[person] & (length > 1e-9)
    if not both.any():
        return np.inf
    cosine = (normals[person][both] * mean[both]).sum(axis=-1) / length[both]
    return float(np.mean(np.degrees(np.arccos(np.clip(cosine, -1, 1))) ** 2)) + 1e-6


def voted_orders(annotation: Annotation, others: Sequence[Reconstruction]) -> Annotation:
    """The annotation with strokes turned around that most others draw the other way around.

    Others vote on a stroke where they, too, have different surfaces on its two sides.
    """
    if len(others) < 2:
        return annotation
    strokes = dict(annotation.strokes)
    for name, stroke in annotation.strokes.items():
        if stroke.kind == "occlusion" and stroke.closer is not None:
            votes = [_vote(stroke, one) for one in others]
            if 2 * sum(v < 0 for v in votes) > len(others):
                closer: Side = "left" if stroke.closer == "right" else "right"
                strokes[name] = replace(stroke, closer=closer)
    return replace(annotation, strokes=strokes)


def _vote(stroke: Stroke, other: Reconstruction) -> int:
    """1 if another person has the stroke's closer side closer, -1 if behind, 0 if neither."""
    points = np.array(stroke.points_px, np.float64)
    width, height = other.picture_px
    rows, columns = other.depth.shape
    points = (points + 0.5) * (columns / width, rows / height) - 0.5
    pixels, at, along = trace_points(points, (rows, columns))
    if len(pixels) < 2:
        return 0
    piece = np.clip(np.searchsorted(along, at, side="right") - 1, 0, len(points) - 2)
    way = points[piece + 1] - points[piece]
    way /= np.maximum(np.hypot(*way.T), 1e-9)[:, None]
    right = np.stack([-way[:, 1], way[:, 0]], axis=1) * (1 if stroke.closer == "right" else -1)
    near, far = (np.floor(pixels + s * _ASIDE_PX * right + 0.5).astype(int) for s in (1, -1))
    inside = np.logical_and.reduce(
        [
            (q[:, 0] >= 0) & (q[:, 0] < columns) & (q[:, 1] >= 0) & (q[:, 1] < rows)
            for q in (near, far)
        ]
    )
    (nx, ny), (fx, fy) = near[inside].T, far[inside].T
    labels = other.segmentation.continuous
    apart = labels[ny, nx] != labels[fy, fx]
    step = np.sign(other.depth[fy, fx] - other.depth[ny, nx])[apart]
    if 2 * len(step) < len(pixels):
        return 0
    total = float(np.nansum(step))
    return 0 if abs(total) < 0.5 * len(step) else int(np.sign(total))


def voted_relations(base: Reconstruction, annotations: Sequence[Annotation]) -> list[Related]:
    """Relations between planes of the chosen lines that most people state.

    Marks of other people may lie in another surface of these lines, so a few voices do not count.
    """
    said: dict[tuple[int, int], Counter[RelationKind]] = {}
    for annotation in annotations:
        place = {
            name: base.segmentation.smooth_at(_in_pixels(mark.at_px, base))
            for name, mark in annotation.surfaces.items()
        }
        for relation in annotation.relations.values():
            a, b = sorted((place.get(relation.first, 0), place.get(relation.second, 0)))
            if a and b and a != b:
                said.setdefault((a, b), Counter())[relation.kind] += 1
    return [
        (a, b, kind)
        for (a, b), votes in said.items()
        for kind, count in votes.most_common(1)
        if 2 * count > len(annotations)
    ]


def _in_pixels(point: tuple[float, float], base: Reconstruction) -> tuple[float, float]:
    """A point of the photograph in pixels of the picture that was worked on."""
    width, height = base.picture_px
    rows, columns = base.depth.shape
    return (point[0] + 0.5) * columns / width - 0.5, (point[1] + 0.5) * rows / height - 0.5


def mean_angles(angles: Array) -> Map:
    """Mean over people of (n, H, W) angles; NaN where nobody has one."""
    known = np.isfinite(angles)
    count = known.sum(axis=0)
    total = np.where(known, angles, 0.0).sum(axis=0)
    return np.asarray(total / np.where(count > 0, count, np.nan), np.float32)
