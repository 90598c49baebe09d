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
    return _View(frame, camera).seen(stickers)


@dataclass(frozen=True, slots=True, eq=False)
class _Sight:
    """A tag as it is seen on one path."""

    sticker: Sticker
    corners: Floats
    """(4, 3)."""
    rays: NDArray[np.intp]
    """Rays of the grid that end on it."""
    signature: int


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

    def seen(self, stickers: Sequence[Sticker]) -> dict[int, Seen]:
        """The tags that this view shows, by identity."""
        sights = self._sights(stickers)
        if not sights:
            return {}
        every = self._images(sights)
        found: dict[int, Seen] = {}
        for sight, images in zip(sights, every, strict=True):
            identity = sight.sticker.identity
            if identity not in found:  # that of most rays comes first
                near, reach = self._surroundings(sight)
                layer = int(self._last[sight.rays[0]]) + 1
                found[identity] = Seen(images, len(self._paths[sight.signature]), layer)
            else:
                images[np.linalg.norm(images - near, axis=1) > reach] = np.nan
                known = found[identity].corners_px
                np.copyto(known, images, where=np.isnan(known))
        return found

    def _sights(self, stickers: Sequence[Sticker]) -> list[_Sight]:
        """Each tag on each path on which it is seen, those of most rays first."""
        sights = []
        things = self._frame.scene.things_at(self._frame.time_s)
        for sticker in stickers:
            mine = np.flatnonzero(self._thing == sticker.thing)
            signatures, count = np.unique(self._signature[mine], return_counts=True)
            corners = tag_corners(things[sticker.thing].mesh)
            for signature in signatures[np.argsort(-count, kind="stable")]:
                rays = mine[self._signature[mine] == signature]
                sights.append(_Sight(sticker, corners, rays, int(signature)))
        return sights

    def _surroundings(self, sight: _Sight) -> tuple[Floats, float]:
        """The pixels (4, 2) next to a tag's corners, and half its extent.

        A corner that is hidden there can have another image far away, through other glass. That
        is not a part of the tag that a detector would find.
        """
        pixels = self._pixels[sight.rays]
        reach = float(np.ptp(pixels, axis=0).max()) / 2 + _STEP_PX
        return self._seeds(sight)[:, 0], reach

    def _seeds(self, sight: _Sight) -> Floats:
        """(4, S, 2) the pixels that show what is closest to the corners; NaN for too few."""
        away = np.linalg.norm(self._ends[sight.rays] - sight.corners[:, None], axis=-1)
        nearest = np.argsort(away, axis=1, kind="stable")[:, :_SEEDS]
        seeds = np.full((4, _SEEDS, 2), np.nan)
        seeds[:, : nearest.shape[1]] = self._pixels[sight.rays[nearest]]
        return seeds

    def _images(self, sights: Sequence[_Sight]) -> Floats:
        """(N, 4, 2) where the corners of N tags are seen on their paths; NaN where they are not."""
        corners = np.concatenate([sight.corners for sight in sights])
        seeds = np.concatenate([self._seeds(sight) for sight in sights])
        signature = np.repeat(np.array([s.signature for s in sights], np.uint64), 4)
        known, path = np.unique(signature, return_inverse=True)
        paths = [self._paths[int(value)] for value in known]
        images = np.full((len(corners), 2), np.nan)
        for number in range(_SEEDS):
            start = seeds[:, number]
            todo = np.flatnonzero(np.isnan(images[:, 0]) & np.isfinite(start[:, 0]))
            if not len(todo):
                break
            which = path[todo].astype(np.int32)
            search = self._refracted.solve(corners[todo], paths, which, start[todo])
            good = search.ends == FOUND
            some, at = todo[good], search.positions[good]
            shown = self._shows(at, corners[some], signature[some])
            images[some[shown]] = at[shown]
        return images.reshape(-1, 4, 2)

    def _shows(
        self, positions: Floats, corners: Floats, signature: NDArray[np.uint64]
    ) -> NDArray[np.bool_]:
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
