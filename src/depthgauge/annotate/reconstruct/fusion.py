"""One reconstruction from the records of several people who annotated the same picture.

People draw nearly the same lines but judge slopes differently, each with errors of their own. So
the lines are those of the person who agrees best with the others, and the normals are a mean of
everyone's, in which those far from the others count little. Errors that all people share stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.reconstruction import (
    Reconstruction,
    reconstruct,
    scaled_depth,
)
from depthgauge.annotate.reconstruct.relations import consistent_normals
from depthgauge.annotate.reconstruct.surface_depth import SurfaceDepth
from depthgauge.annotate.reconstruct.surface_scales import surface_scales
from depthgauge.annotate.records.annotation import Annotation, Vector
from depthgauge.errors import Misuse
from depthgauge.types import Map

Array = NDArray[np.float64]

_FAR_DEG = 15.0
"""A normal this far from the mean counts half."""
_AWAY_PX = 3
_ROUNDS = 4
_PAIRS = 20_000


@dataclass(frozen=True)
class Fusion:
    """What several people say together."""

    reconstruction: Reconstruction
    lines_of: int
    """Whose lines were used: a position in the sequence of annotations."""
    spread_deg: Map
    """(H, W): mean angle between people's normals and the fused one; NaN where nobody has one."""


def fuse(
    annotations: Sequence[Annotation], *, seed: int = 0, max_side_px: int | None = None
) -> Fusion:
    """Fuses annotations of one picture.

    Args:
        annotations: One for each person.
        seed: Chooses the side that owns each fold.
        max_side_px: Longer side of a preview.

    Raises:
        Misuse: There is none, or they are of different pictures.
    """
    if not annotations:
        raise Misuse("there is no annotation to fuse; give those of one person or more.")
    sizes = {(a.picture.width_px, a.picture.height_px) for a in annotations}
    if len(sizes) > 1 or len({a.picture.id for a in annotations}) > 1:
        raise Misuse("only annotations of one picture can be fused; these are of several.")
    made = [reconstruct(one, seed=seed, max_side_px=max_side_px) for one in annotations]
    chosen = _most_typical(made)
    base = made[chosen]
    stack = np.stack([one.normals.astype(np.float64) for one in made])
    mean, spread = _robust_mean(stack)
    normals = np.where(np.isfinite(mean), mean, base.normals)
    normals[~np.isfinite(base.normals).all(axis=-1)] = np.nan
    planes = _flattened(normals, stack, base, annotations[chosen])
    surfaces = SurfaceDepth(base.segmentation)
    shaped = surfaces.integrate(normals, base.camera, planes)
    scaling = surface_scales(shaped.depth, base.segmentation, base.strokes)
    fused = replace(
        base,
        depth=scaled_depth(shaped.depth, base.segmentation, scaling.scales),
        normals=normals.astype(np.float32),
        scales=scaling.scales,
        violated=scaling.violated,
        notes=(*base.notes, *shaped.notes, *scaling.notes),
        residual=shaped.residual,
    )
    return Fusion(fused, chosen, spread.astype(np.float32))


def _most_typical(made: Sequence[Reconstruction]) -> int:
    """Whose surfaces agree best with the others': are two points on one surface, or not?"""
    height, width = made[0].depth.shape
    rng = np.random.default_rng(0)
    first = rng.integers(0, height * width, _PAIRS)
    step = rng.integers(-height // 4, height // 4 + 1, _PAIRS) * width
    second = np.clip(first + step + rng.integers(-width // 4, width // 4 + 1, _PAIRS), 0, None)
    second = np.minimum(second, height * width - 1)
    said: NDArray[np.bool_] = np.stack(
        [
            np.equal(*(one.segmentation.smooth.ravel()[ends] for ends in (first, second)))
            for one in made
        ]
    )
    apart = np.logical_xor(said[:, None], said[None]).mean(axis=2).sum(axis=1)
    return int(np.argmin(apart))


def _robust_mean(normals: Array) -> tuple[Array, Array]:
    """Mean direction (H, W, 3) of several maps, and the mean angle to it in degrees."""
    known: NDArray[np.bool_] = np.asarray(np.isfinite(normals).all(axis=-1))
    filled = np.where(known[..., None], normals, 0.0)
    weights = known.astype(np.float64)
    angles = np.zeros(known.shape)
    for _ in range(_ROUNDS):
        mean = np.einsum("nij,nijk->ijk", weights, filled)
        length = np.linalg.norm(mean, axis=-1, keepdims=True)
        mean = mean / np.where(length > 1e-9, length, np.nan)
        cosine = np.clip(np.einsum("nijk,ijk->nij", filled, np.nan_to_num(mean)), -1, 1)
        angles = np.degrees(np.arccos(cosine))
        weights = known / (1 + (angles / _FAR_DEG) ** 2)
    count = known.sum(axis=0)
    spread = np.where(known, angles, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
    return mean, spread


def _flattened(
    normals: Array, everyone: Array, base: Reconstruction, annotation: Annotation
) -> list[int]:
    """Gives planes one normal each, for which the stated relations hold; returns their numbers.

    Everyone has one voice: the median of their normals inside the plane, away from its lines, which
    others drew elsewhere.
    """
    from scipy import ndimage

    parts = base.segmentation
    planes: dict[int, Vector] = {}
    for number, shape in parts.shapes.items():
        box = parts.boxes.get(number)
        if shape != "planar" or box is None:
            continue
        mask = parts.smooth[box] == number
        inner = ndimage.binary_erosion(mask, iterations=_AWAY_PX)
        mask = inner if inner.any() else mask
        voices = np.array([np.nanmedian(one[box][mask], axis=0) for one in everyone])
        mean, _ = _robust_mean(voices[:, None, None])
        if np.isfinite(mean).all():
            x, y, z = mean[0, 0]
            planes[number] = (float(x), float(y), float(z))
    names = {number: mark for mark, number in parts.marks.items() if number in planes}
    relations = [
        replace(r, first=names[a], second=names[b])
        for r in annotation.relations.values()
        for a, b in [(parts.marks.get(r.first, 0), parts.marks.get(r.second, 0))]
        if a in names and b in names and a != b
    ]
    found = consistent_normals({names[n]: planes[n] for n in names}, relations).normals
    for number, normal in planes.items():
        box = parts.boxes[number]
        normals[box][parts.smooth[box] == number] = found.get(names.get(number, ""), normal)
    return list(planes)
