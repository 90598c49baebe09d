"""Dense normals: those given by hand and along smooth occlusions, spread between lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._links import normal_links
from depthgauge.annotate.reconstruct._pieces import Links, Pieces, PieceSolver, Wanted
from depthgauge.annotate.reconstruct.hand_normals import HandNormals, described
from depthgauge.annotate.reconstruct.segmentation import SMOOTH, Segmentation
from depthgauge.annotate.records.annotation import Vector
from depthgauge.geometry.projection import ray_slopes
from depthgauge.types import Camera, Mask

Array = NDArray[np.float64]

_TOWARDS_VIEWER = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True)
class DenseNormals:
    """A normal for each pixel of the region."""

    normals: Array
    """(H, W, 3), unit; NaN outside the region."""
    residual: float
    """Largest relative residual of a surface's linear system."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class KnownNormals:
    """Known normals on curved surfaces, and the surfaces on which they are spread."""

    normals: Array
    """(H, W, 3), read where `where` is set; in axes of the ray where `by_ray` is."""
    where: Mask
    by_ray: frozenset[int]
    """Surfaces with smooth occlusions: normals there are relative to each pixel's viewing ray."""
    solved: Mask
    """Pixels of curved surfaces with a known normal."""
    by_outline: frozenset[int]
    """The surfaces whose normals are known only along smooth occlusions."""
    outlined: frozenset[int]
    """The surfaces that have smooth occlusions."""
    unknown: frozenset[int]
    """Curved surfaces without any known normal."""


def known_normals(
    hand: HandNormals, segmentation: Segmentation, camera: Camera | None = None
) -> KnownNormals:
    """The normals that eq. (2) fixes: by hand, and along smooth occlusions.

    At a smooth occlusion the surface turns away from the viewer: its normal is orthogonal to the
    line and to the viewing ray, and points to the far side. A normal given by hand on such a pixel
    has precedence.

    Args:
        hand: The given normals.
        segmentation: The surfaces.
        camera: Whose rays count. None: the viewing axis is the ray of every pixel, so normals at
            smooth occlusions are parallel to the image plane, as published. That is wrong away from
            the middle: a ball at the edge of a wide picture errs by a fifth of its radius.
    """
    smooth = segmentation.smooth
    curved = _curved(segmentation)
    outline = (segmentation.kind == SMOOTH) & curved[smooth]
    outlined = frozenset(np.unique(smooth[outline]).tolist())
    by_ray = outlined if camera is not None else frozenset()
    normals = np.zeros((*smooth.shape, 3))
    toward = segmentation.toward[outline].astype(np.float64)
    normals[outline, :2] = -toward / np.linalg.norm(toward, axis=-1, keepdims=True)
    if camera is not None:
        x, y = (slopes[outline] for slopes in ray_slopes(camera))
        normals[outline, 2] = -normals[outline, 0] * x - normals[outline, 1] * y
        normals[outline] /= np.linalg.norm(normals[outline], axis=-1, keepdims=True)
    where = outline.copy()
    for place, normal in hand.points.items():
        normals[place], where[place] = normal, True
    if camera is not None:
        turned = where & _among(by_ray, smooth)
        normals[turned] = _in_axes_of_rays(normals[turned], camera, turned)
    has_any, has_hand = np.zeros_like(curved), np.zeros_like(curved)
    has_any[smooth[where]] = True
    for place in hand.points:
        has_hand[smooth[place]] = True
    solved = curved & has_any
    return KnownNormals(
        normals,
        where,
        by_ray,
        solved[smooth],
        frozenset(np.flatnonzero(solved & ~has_hand).tolist()),
        outlined,
        frozenset(np.flatnonzero(curved & ~has_any).tolist()),
    )


def dense_normals(
    hand: HandNormals,
    segmentation: Segmentation,
    known: KnownNormals,
    solver: PieceSolver | None = None,
    *,
    camera: Camera | None = None,
    pieces: Pieces | None = None,
    links: tuple[Array, Array] | None = None,
    tolerance: float = 1e-4,
    rounded: bool = True,
    late: Callable[[], bool] | None = None,
) -> DenseNormals:
    """Solves eq. (1) with eq. (2) for a unit normal at every pixel of the region.

    Args:
        hand: The given normals.
        segmentation: The surfaces.
        known: `known_normals` of both.
        solver: What keeps solutions for later calls.
        camera: The camera that `known_normals` was given.
        pieces: The continuous surfaces, if they are known already.
        links: `normal_links` of the segmentation, if they are known already.
        tolerance: The relative residual.
        rounded: On surfaces with smooth occlusions, z is 0 along whole lines but otherwise known at
            points only. There z is not spread but follows from x and y, so a surface inside a
            circle is a sphere. False: all three components are spread and divided by their
            length, as published, which makes it a cone. Surfaces that are known along smooth
            occlusions only are always rounded.
        late: Asked during the search, which ends early when it says yes.
    """
    right, down = links if links is not None else normal_links(segmentation)
    # The smoothness term of eq. (1) on curved surfaces; planes need none.
    system = Links(right * known.solved, down * known.solved, known.where)
    parts = pieces if pieces is not None else Pieces.of(segmentation.continuous)
    solver = solver if solver is not None else PieceSolver()
    normals, residual = solver.solve(parts, system, Wanted(known.normals), tolerance, late)
    _lay(normals, hand.planes, segmentation)
    _round_out(normals, known.outlined if rounded else known.by_outline, segmentation)
    if camera is not None and known.by_ray:
        turned = _among(known.by_ray, segmentation.smooth)
        normals[turned] = _in_axes_of_camera(normals[turned], camera, turned)
    inside = segmentation.region & (segmentation.smooth > 0)
    length = np.sqrt(np.einsum("ijk,ijk->ij", normals, normals))
    vague = inside & ~(length > 1e-9)
    normals[vague], length[vague] = _TOWARDS_VIEWER, 1.0
    normals /= length[..., None]
    normals[~inside] = np.nan
    return DenseNormals(normals, residual, _notes(known, segmentation))


def _curved(segmentation: Segmentation) -> Mask:
    """For each number of a smooth surface, whether it is curved; 0 is not."""
    count = int(segmentation.smooth.max(initial=0)) + 1
    curved = np.array([segmentation.shapes.get(s, "curved") != "planar" for s in range(count)])
    curved[0] = False
    return curved


def _lay(normals: Array, planes: Mapping[int, Vector], segmentation: Segmentation) -> None:
    if not planes:
        return
    table = np.full((int(segmentation.smooth.max(initial=0)) + 1, 3), np.nan)
    for surface, normal in planes.items():
        table[surface] = normal
    flat = np.isfinite(table[:, 0])[segmentation.smooth]
    normals[flat] = table[segmentation.smooth[flat]]


def _among(surfaces: frozenset[int], smooth: NDArray[np.int32]) -> Mask:
    """Pixels of some surfaces."""
    table = np.zeros(int(smooth.max(initial=0)) + 1, bool)
    table[list(surfaces)] = True
    found: Mask = table[smooth]
    return found


def _in_axes_of_rays(normals: Array, camera: Camera, where: Mask) -> Array:
    """Normals (n, 3) in axes that are turned so that z is the viewing ray of their pixel."""
    return _turned(normals, camera, where, 1.0)


def _in_axes_of_camera(normals: Array, camera: Camera, where: Mask) -> Array:
    """Inverts `_in_axes_of_rays`."""
    return _turned(normals, camera, where, -1.0)


def _turned(normals: Array, camera: Camera, where: Mask, sign: float) -> Array:
    """Turned by the smallest rotation from each pixel's ray to the viewing axis, or back."""
    x, y = (slopes[where] for slopes in ray_slopes(camera))
    length = np.sqrt(x * x + y * y + 1)
    axis = sign * np.stack([y / length, -x / length, np.zeros_like(x)], axis=-1)
    once = np.cross(axis, normals)
    cosine = (1 / length)[:, None]
    return np.asarray(normals + once + np.cross(axis, once) / (1 + cosine))


def _round_out(normals: Array, surfaces: frozenset[int], segmentation: Segmentation) -> None:
    """Completes x and y to a unit normal that faces the viewer."""
    there = _among(surfaces, segmentation.smooth)
    aside = np.minimum((normals[there, :2] ** 2).sum(axis=-1), 1.0)
    normals[there, 2] = -np.sqrt(1.0 - aside)


def _notes(known: KnownNormals, segmentation: Segmentation) -> tuple[str, ...]:
    unknown = [
        f"The curved surface {described(surface, segmentation)}, has no normal; it was assumed to "
        "face the viewer. Give it one."
        for surface in sorted(known.unknown)
    ]
    by_outline = [
        f"The curved surface {described(surface, segmentation)}, has no normal except along its "
        "smooth occlusions; it was rounded between them. Give it one."
        for surface in sorted(known.by_outline)
    ]
    numbers = np.unique(segmentation.smooth[segmentation.kind == SMOOTH])
    flat = [
        f"The planar surface {described(int(surface), segmentation)}, ends at a smooth occlusion, "
        "where planes do not turn away; call the surface curved or the occlusion sharp."
        for surface in numbers[(numbers > 0) & ~_curved(segmentation)[numbers]]
    ]
    return (*unknown, *by_outline, *flat)
