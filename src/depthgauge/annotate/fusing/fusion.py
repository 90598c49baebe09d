"""One reconstruction from the records of several people who annotated the same picture.

People draw nearly the same lines but judge slopes differently. So the lines are those of the person
who agrees best with the others, each occlusion has the closer side that most people see, and the
normals are a mean of everyone's, in which persons and single normals far from the others count
little. Errors that all people share would stay; on planes the lines correct a part of them
(`fold_lines`). A surface that comes out unlike what most people see is replaced by the median of
their depths (`_consensus`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.fusing._consensus import FEWEST, keep_near_people
from depthgauge.annotate.fusing._votes import (
    mean_angles,
    person_weights,
    robust_mean,
    voted_orders,
    voted_relations,
)
from depthgauge.annotate.fusing.fold_lines import Related, fitted_normals, fold_lines
from depthgauge.annotate.reconstruct.reconstruction import (
    Reconstruction,
    reconstruct,
    scaled_depth,
)
from depthgauge.annotate.reconstruct.relations import consistent_normals
from depthgauge.annotate.reconstruct.surface_depth import SurfaceDepth
from depthgauge.annotate.reconstruct.surface_scales import surface_scales
from depthgauge.annotate.records.annotation import Annotation, Relation, Vector
from depthgauge.errors import Misuse
from depthgauge.types import Map

Array = NDArray[np.float64]

_AWAY_PX = 3
"""So far from the lines of a plane its normals are looked at."""
_PAIRS = 20_000


@dataclass(frozen=True)
class Fusion:
    """What several people say together."""

    reconstruction: Reconstruction
    lines_of: int
    """Whose lines were used: a position in the sequence of annotations."""
    spread_deg: Map
    """(H, W): mean angle between people's normals and the fused one; NaN where nobody has one."""
    weights: tuple[float, ...] = ()
    """How much each person's normals count, 1 on average: less the more they differ from others."""


def fuse(
    annotations: Sequence[Annotation],
    *,
    seed: int = 0,
    max_side_px: int | None = None,
    fit_lines: bool = True,
) -> Fusion:
    """Fuses annotations of one picture.

    Args:
        annotations: One for each person.
        seed: Chooses the side that owns each fold.
        max_side_px: Longer side of a preview.
        fit_lines: Turn planes so that they meet where folds were drawn; not for one person alone.

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
    lines = voted_orders(annotations[chosen], [m for i, m in enumerate(made) if i != chosen])
    if lines != annotations[chosen]:
        base = reconstruct(lines, seed=seed, max_side_px=max_side_px)
    stack = np.stack([one.normals.astype(np.float64) for one in made])
    weights = person_weights(stack)
    mean, angles = robust_mean(stack, weights)
    normals = np.where(np.isfinite(mean), mean, base.normals)
    normals[~np.isfinite(base.normals).all(axis=-1)] = np.nan
    own = normals.copy()
    relations = voted_relations(base, annotations)
    planes = _flattened(normals, stack, weights, base, relations, fit_lines and len(made) > 1)
    surfaces = SurfaceDepth(base.segmentation)
    shaped = surfaces.integrate(normals, base.camera, planes)
    scaling = surface_scales(shaped.depth, base.segmentation, base.strokes)
    depth = scaled_depth(shaped.depth, base.segmentation, scaling.scales)
    unlike: list[int] = []
    if len(made) >= FEWEST:
        depths = [one.depth for one in made]
        depth, unlike = keep_near_people(depth, depths, base.segmentation.continuous)
        again = np.isin(base.segmentation.continuous, unlike)
        normals[again] = own[again]
    fused = replace(
        base,
        depth=depth,
        normals=normals.astype(np.float32),
        scales=scaling.scales,
        violated=scaling.violated,
        notes=(*base.notes, *shaped.notes, *scaling.notes, *_replaced_note(unlike)),
        residual=shaped.residual,
    )
    return Fusion(fused, chosen, mean_angles(angles), tuple(weights.tolist()))


def _replaced_note(surfaces: Sequence[int]) -> list[str]:
    if not surfaces:
        return []
    listed = ", ".join(map(str, surfaces))
    return [
        f"the median of people's depths was taken for surfaces {listed}: normals and lines gave "
        "something that fewer than half of the people see"
    ]


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


def _flattened(
    normals: Array,
    everyone: Array,
    weights: Array,
    base: Reconstruction,
    relations: Sequence[Related],
    fit_lines: bool,
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
        mean, _ = robust_mean(voices[:, None, None], weights)
        if np.isfinite(mean).all():
            x, y, z = mean[0, 0]
            planes[number] = (float(x), float(y), float(z))
    if fit_lines:
        planes = fitted_normals(planes, fold_lines(parts, planes, base.camera), relations)
    stated = [Relation(str(a), str(b), kind) for a, b, kind in relations if {a, b} <= set(planes)]
    found = consistent_normals({str(n): v for n, v in planes.items()}, stated).normals
    for number in planes:
        box = parts.boxes[number]
        normals[box][parts.smooth[box] == number] = found[str(number)]
    return list(planes)
