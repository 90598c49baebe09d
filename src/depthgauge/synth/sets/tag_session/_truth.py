"""Where the corners of tags are seen, exactly: through the glass, in the raw images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.sessions.tags import TagTruth
from depthgauge.synth.render.embree import TracedScene, rays_at
from depthgauge.synth.render.layers import OPAQUE, RayLayers
from depthgauge.synth.render.refracted_view import FOUND, RefractedView
from depthgauge.synth.sets.tag_session._light import MOST
from depthgauge.synth.sets.tag_session._table import Sticker, tag_corners
from depthgauge.types import Camera

Floats = NDArray[np.float64]
View = tuple[int, int]

_STEP_PX = 2.0
"""Distance of the rays that look for tags."""
_SEEDS = 4
_SAME_M = 1e-4
"""A ray that ends this close to a corner, at 1 m, shows it."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A tag in one view."""

    corners_px: Floats
    """(4, 2); NaN where a corner is hidden."""
    glass: int
    """Surfaces of glass that most of its rays cross."""
    layer: int
    """The number of its layer, on most of its rays."""


def tags_in_view(
    frame: TracedScene, camera: Camera, stickers: Sequence[Sticker]
) -> dict[int, Seen]:
    """The tags of which a view shows anything, by identity.

    Args:
        frame: The scene at one time, with its stickers.
        camera: The exact camera.
        stickers: All of them.
    """
    view = _View(frame, camera)
    found = ((s.identity, view.seen(s)) for s in stickers)
    return {identity: seen for identity, seen in found if seen is not None}


class _View:
    """A camera that looks at a scene, and a grid of its rays."""

    def __init__(self, frame: TracedScene, camera: Camera) -> None:
        self._frame, self._camera = frame, camera
        self._refracted = RefractedView(frame, camera)
        width, height = camera.size_px
        y, x = np.mgrid[0 : height - 0.5 : _STEP_PX, 0 : width - 0.5 : _STEP_PX]
        self._pixels = np.stack([x.ravel(), y.ravel()], axis=-1)
        rays = self._followed(self._pixels)
        every = np.arange(len(self._pixels))
        self._last = np.maximum(rays.count.astype(int) - 1, 0)
        triangle = rays.triangle[self._last, every]
        ended = (rays.end == OPAQUE) & (triangle >= 0)
        self._thing = np.where(ended, frame.things[triangle], -1)
        self._ends = rays.position[self._last, every]
        self._signature = rays.signature[self._last, every]
        self._paths = rays.paths()

    def seen(self, sticker: Sticker) -> Seen | None:
        """A tag in this view; None if none of its rays are there."""
        mine = np.flatnonzero(self._thing == sticker.thing)
        if not len(mine):
            return None
        mesh = self._frame.scene.things_at(self._frame.time_s)[sticker.thing].mesh
        corners = tag_corners(mesh)
        signatures, count = np.unique(self._signature[mine], return_counts=True)
        order = np.argsort(-count, kind="stable")
        images = np.full((4, 2), np.nan)
        for number, signature in enumerate(signatures[order]):
            rays = mine[self._signature[mine] == signature]
            found = self._images(corners, rays, int(signature))
            if number == 0:
                near, reach = self._surroundings(corners, rays)
            found[np.linalg.norm(found - near, axis=1) > reach] = np.nan
            images = np.where(np.isnan(images), found, images)
        most = int(signatures[order[0]])
        first = mine[self._signature[mine] == most][0]
        return Seen(images, len(self._paths[most]), int(self._last[first]) + 1)

    def _surroundings(self, corners: Floats, rays: NDArray[np.intp]) -> tuple[Floats, float]:
        """Where most of a tag is seen: the pixels (4, 2) next to its corners, and half its extent.

        A corner that is hidden there can have another image far away, through other glass. That
        is not a part of the tag that a detector would find.
        """
        away = np.linalg.norm(self._ends[rays] - corners[:, None], axis=-1)
        pixels = self._pixels[rays]
        reach = float(np.ptp(pixels, axis=0).max()) / 2 + _STEP_PX
        return pixels[np.argmin(away, axis=1)], reach

    def _images(self, corners: Floats, rays: NDArray[np.intp], signature: int) -> Floats:
        """Where corners (4, 3) are seen on one path; NaN where they are not."""
        images = np.full((len(corners), 2), np.nan)
        away = np.linalg.norm(self._ends[rays] - corners[:, None], axis=-1)
        near = np.argsort(away, axis=1)[:, :_SEEDS]
        for seed in near.T:
            todo = np.flatnonzero(np.isnan(images[:, 0]))
            paths, path = [self._paths[signature]], np.zeros(len(todo), np.int32)
            seeds = self._pixels[rays[seed[todo]]]
            search = self._refracted.solve(corners[todo], paths, path, seeds)
            good = search.ends == FOUND
            some, at = todo[good], search.positions[good]
            shown = self._shows(at, corners[some], signature)
            images[some[shown]] = at[shown]
        return images

    def _shows(self, positions: Floats, corners: Floats, signature: int) -> NDArray[np.bool_]:
        """Whether positions are inside the image, and their rays end at the corners."""
        size = np.array(self._camera.size_px)
        inside = ((positions >= -0.5) & (positions < size - 0.5)).all(axis=1)
        rays = self._followed(positions)
        last = np.maximum(rays.count.astype(int) - 1, 0)
        at = (last, np.arange(len(positions)))
        away = np.linalg.norm(corners - self._camera.world_from_camera[:3, 3], axis=1)
        apart = np.linalg.norm(rays.position[at] - corners, axis=-1)
        same = (rays.signature[at] == signature) & (rays.end == OPAQUE)
        shown: NDArray[np.bool_] = inside & same & (apart < _SAME_M * np.maximum(1.0, away))
        return shown

    def _followed(self, positions: Floats) -> RayLayers:
        eye, ways = rays_at(self._camera, positions)
        return self._refracted.tracer.follow(np.tile(eye, (len(ways), 1)), ways, MOST)


def tag_truths(
    stickers: Sequence[Sticker],
    frames: Mapping[int, TracedScene],
    cameras: Mapping[View, Camera],
) -> tuple[list[TagTruth], dict[int, bool]]:
    """The truth of all tags, and of each that is seen whether its layer is the same in all views.

    Args:
        stickers: The tags of the scene.
        frames: The scene by time (1 and 2).
        cameras: By time and camera.
    """
    views = {view: tags_in_view(frames[view[0]], c, stickers) for view, c in cameras.items()}
    things = {time: frame.scene.things_at(frame.time_s) for time, frame in frames.items()}
    truths, same = [], {}
    for sticker in stickers:
        seen = {v: tags[sticker.identity] for v, tags in views.items() if sticker.identity in tags}
        layers = [one.layer for one in seen.values()]
        if layers:
            same[sticker.identity] = len(set(layers)) == 1
        hidden = np.full((4, 2), np.nan)
        truths.append(
            TagTruth(
                sticker.identity,
                sticker.size_m,
                sticker.material,
                layers[0] if layers else 1,
                sticker.words,
                {time: tag_corners(those[sticker.thing].mesh) for time, those in things.items()},
                {v: seen[v].corners_px if v in seen else hidden for v in cameras},
                {v: one.glass for v, one in seen.items()},
            )
        )
    return truths, same
