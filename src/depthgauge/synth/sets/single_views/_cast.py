"""From a scene in closed form to an exact view."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.render.closed_form import pictures
from depthgauge.synth.render.closed_form.rays import Hits, View, cast, points
from depthgauge.synth.scene.frame import Array
from depthgauge.synth.scene.model import ShapeScene
from depthgauge.synth.scene.shape import Box, Cylinder
from depthgauge.synth.sets.single_views._borders import Borders, Floats, Probe, exact_gaps, pieces
from depthgauge.synth.sets.single_views._view import ExactView, Labels

_FACES = 8
"""Numbers kept for the faces of a thing."""
NOISE_LEVELS = 1.5
"""Standard deviation of the picture's noise in grey levels of 255."""


def exact_view(
    name: str, scene: ShapeScene, view: View, seed: int, *, quick: bool = False
) -> ExactView:
    """What a camera sees of a scene, and all that is known about it.

    A `quick` one has a black picture and no depth steps, and so only one continuous surface.
    """
    hits = pictures.centre_hits(scene, view)
    y, x = np.mgrid[: view.size_px[1], : view.size_px[0]].astype(np.float64)
    normals, which, curved = _surface(scene, view, hits, x, y)
    depth = np.asarray(hits.depth_m, np.float64)
    gaps = Borders.none(depth.shape)
    if not quick:
        gaps = exact_gaps(_probe(scene, view), depth, which, normals)
    smooth, continuous = pieces(gaps, which, normals)
    image = np.zeros((*x.shape, 3), np.uint8)
    if not quick:
        light = pictures.picture(scene, view, hits.which)
        image = pictures.noisy(light, NOISE_LEVELS, (seed, 17))
    return ExactView(
        id=name,
        image=image,
        depth=np.where(np.isfinite(hits.depth_m), hits.depth_m, np.nan).astype(np.float32),
        normals=normals.astype(np.float32),
        smooth_labels=smooth,
        continuous_labels=continuous,
        planar=_planar(smooth, curved),
        camera=view.camera(),
        gap_right=gaps.right,
        gap_down=gaps.down,
    )


def _surface(
    scene: ShapeScene, view: View, hits: Hits, x: Array, y: Array
) -> tuple[Floats, NDArray[np.int32], NDArray[np.bool_]]:
    """Normals in camera axes, the number of the face, and whether it is curved there."""
    at = points(view, x, y, hits.depth_m)
    normals = np.full((*x.shape, 3), np.nan)
    which = np.full(x.shape, -1, np.int32)
    curved = np.zeros(x.shape, bool)
    for index in np.unique(hits.which[hits.which >= 0]):
        mine = hits.which == index
        shape = scene.things[index].shape
        local = shape.frame.point_inside((at[0][mine], at[1][mine], at[2][mine]))
        outside = shape.normal(local)
        world = shape.frame.direction_outside(outside)
        normals[mine] = np.stack(view.frame.direction_inside(world), axis=-1)
        which[mine] = index * _FACES + _face(shape, outside)
        curved[mine] = shape.curved(local)
    slopes = np.stack([*view.slopes(x, y), np.ones_like(x)], axis=-1)
    away = np.einsum("ijk,ijk->ij", normals, slopes) > 0
    normals[away] *= -1  # planes have no back
    return normals, which, curved


def _face(shape: Any, outside: tuple[Array, Array, Array]) -> NDArray[np.int32]:
    """Which face of its thing a point is on, told by the normal in the thing's own axes."""
    if isinstance(shape, Cylinder):
        return np.where(outside[1] == 0, 0, np.where(outside[1] > 0, 1, 2)).astype(np.int32)
    if isinstance(shape, Box):
        axis = np.argmax(np.abs(np.stack(outside)), axis=0)
        positive = np.stack(outside).sum(axis=0) > 0
        return np.asarray(2 * axis + positive, np.int32)
    return np.zeros(outside[0].shape, np.int32)


def _probe(scene: ShapeScene, view: View) -> Probe:
    """Depth and face at image positions."""

    def probe(x: Floats, y: Floats) -> tuple[Floats, NDArray[np.int32]]:
        hits = cast(scene.things, view, x, y)
        _, which, _ = _surface(
            scene,
            view,
            Hits(hits.depth_m.reshape(1, -1), hits.which.reshape(1, -1)),
            x.reshape(1, -1),
            y.reshape(1, -1),
        )
        depth = np.asarray(hits.depth_m, np.float64)
        return depth, which.ravel()

    return probe


def _planar(smooth: Labels, curved: NDArray[np.bool_]) -> dict[int, bool]:
    """A piece is flat where most of it is."""
    count = np.bincount(smooth.ravel())
    bent = np.bincount(smooth.ravel(), weights=curved.ravel(), minlength=count.size)
    return {n: bool(2 * bent[n] < count[n]) for n in range(1, count.size)}
