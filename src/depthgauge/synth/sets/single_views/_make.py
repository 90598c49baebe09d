"""Exact views by kind and seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import unknown
from depthgauge.errors import Misuse
from depthgauge.synth.render.closed_form import pictures
from depthgauge.synth.render.closed_form.rays import Hits, View, cast, points
from depthgauge.synth.scene.frame import Array
from depthgauge.synth.scene.model import ShapeScene
from depthgauge.synth.scene.shape import Box, Cylinder
from depthgauge.synth.sets.single_views._borders import Borders, Floats, Probe, exact_gaps, pieces
from depthgauge.synth.sets.single_views._furnish import KINDS, furnish
from depthgauge.synth.sets.single_views._rooms import ROOMS, room_view
from depthgauge.synth.sets.single_views._view import ExactView, Labels

SIZE_PX = (640, 480)
REVISION = 1
"""Raised whenever the generator may give other bytes."""
_SMALLEST_PX = 32
_TRIALS = 200
_FEWEST, _LARGE = 6, 0.004
"""A view shows at least this many surfaces of at least this share of the picture."""
_DEEPEST = 8.0
"""Largest ratio of depths; beyond it a picture shows mostly its far end."""


def make_view(
    kind: str, seed: int, size_px: tuple[int, int] = SIZE_PX, *, held: bool = False
) -> ExactView:
    """One picture and its exact geometry.

    Scenes that show too few surfaces, or too much distance, are drawn again.

    Args:
        kind: `planar`, `curved`, `mixed`, or the name of a room.
        seed: Seed of the scene, the camera and the picture's noise.
        size_px: Width and height; the scene is the same at every size.
        held: The camera is held by hand: it looks down more steeply and is not level, so floors are
            seen less flatly and have other depths along a row. Rooms have only one camera.

    Raises:
        UnknownName: There is no such kind.
        Misuse: The size or the seed is too small.
        MissingExtra: A room was requested and Embree is not installed.
    """
    if kind not in (*KINDS, *ROOMS):
        raise unknown("kind of view", kind, (*KINDS, *ROOMS))
    if min(size_px) < _SMALLEST_PX or seed < 0:
        wanted = f"a view needs {_SMALLEST_PX} px or more and a seed from 0"
        raise Misuse(f"{wanted}; found {size_px} and seed {seed}.")
    if held and kind in ROOMS:
        raise Misuse(f"held: a room has one camera; found {kind}, give one of {', '.join(KINDS)}.")
    if kind in ROOMS:
        return room_view(kind, seed, size_px)
    for trial in range(_TRIALS):
        # A small picture decides, so that the scene is the same at every size.
        scene, camera = furnish(kind, seed, trial, _small(size_px), held=held)
        if _shows_enough(exact_view("", scene, camera, 0, quick=True)):
            break
    scene, camera = furnish(kind, seed, trial, size_px, held=held)
    return exact_view(f"{kind}-{seed:04d}{'-held' if held else ''}", scene, camera, seed)


def _small(size_px: tuple[int, int]) -> tuple[int, int]:
    width, height = size_px
    return 160, max(_SMALLEST_PX, round(160 * height / width))


def _shows_enough(view: ExactView) -> bool:
    if not np.isfinite(view.depth).all() or view.depth.max() > _DEEPEST * view.depth.min():
        return False
    size = np.bincount(view.smooth_labels.ravel())
    return int(np.count_nonzero(size[1:] >= _LARGE * view.depth.size)) >= _FEWEST


# --- from a scene in closed form to an exact view -------------------------------------------------


_FACES = 8
"""Numbers reserved for the faces of a thing."""
NOISE_LEVELS = 1.5
"""Standard deviation of the picture's noise in grey levels of 255."""


def exact_view(
    name: str, scene: ShapeScene, view: View, seed: int, *, quick: bool = False
) -> ExactView:
    """What a camera sees of a scene, with exact geometry.

    A `quick` view has a black picture and no depth steps, so only one continuous surface.
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
    """Normals in camera axes, the number of the face, and whether it is curved."""
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
    normals[away] *= -1  # planes are seen from both sides
    return normals, which, curved


def _face(shape: Any, outside: tuple[Array, Array, Array]) -> NDArray[np.int32]:
    """The face of its thing that a point is on, from the normal in the thing's own axes."""
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
    """A piece is flat if most of it is."""
    count = np.bincount(smooth.ravel())
    bent = np.bincount(smooth.ravel(), weights=curved.ravel(), minlength=count.size)
    return {n: bool(2 * bent[n] < count[n]) for n in range(1, count.size)}
