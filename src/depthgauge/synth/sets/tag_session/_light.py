"""Photographs by one ray after the other: refraction, one mirror reflection, direct light.

The rays are those of the exact truth, through the camera's own distorted lens. Pixels whose
neighbours differ are sampled again, many times, so edges of tags have no steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry.ray_scene import RayScene
from depthgauge.sessions.tags import tag_bitmap
from depthgauge.synth.render.embree import TracedScene, rays_at
from depthgauge.synth.render.layers import OPAQUE, LayerTracer, RayLayers
from depthgauge.synth.render.painted import paint, surface_at, texture_px
from depthgauge.synth.scene.material import index_of, kind_of
from depthgauge.synth.sets.capture_session._sensor import footprint
from depthgauge.synth.sets.tag_session._table import Sticker
from depthgauge.types import Camera

Floats = NDArray[np.float64]
Light = NDArray[np.float32]

MOST = 8
"""Layers that are followed."""
LAMPS = (
    ((-0.75, -1.15, 0.20), (0.62, 0.60, 0.56)),
    ((0.80, -1.05, 0.35), (0.46, 0.47, 0.50)),
)
"""Places of small lamps, and how much each gives at a distance of 1 m."""
AMBIENT = 0.34
_BLACK = 0.04
"""Reflectance of a tag's ink."""
_SHINE = 0.82
"""Share of a metal's light that it reflects as a mirror."""
_GLOW = 0.25
"""Light of a ray that ends within glass."""
_FAINT, _STRONG = 0.08, 0.25
"""By how much the root of the light must vary around a pixel for a second look at it: at few
samples, or at all of them, as for the edges of a tag."""
_GAP_M = 1e-3
_ROWS = 1 << 18
"""Rays at a time."""


class Lit:
    """A scene at one time under its lamps."""

    def __init__(self, frame: TracedScene, stickers: Sequence[Sticker], width_px: int) -> None:
        """Prepares the rays, for images of this width."""
        things = frame.scene.things
        kinds = np.array([kind_of(thing.material) for thing in things])
        self._frame, self._tracer = frame, LayerTracer(frame)
        self._painted = paint(frame, texture_px(width_px))
        self._clear, self._metal = kinds == "transparent", kinds == "reflective"
        self._coated = np.array([thing.material.category > 0 for thing in things])
        self._colour = np.array([thing.material.colour for thing in things], np.float32)
        self._index = np.array([index_of(thing.material) for thing in things])
        solid = ~self._clear[frame.things]
        self._solid = RayScene(frame.mesh.vertices, frame.mesh.triangles[solid])
        self._sticker = np.full(len(things), -1)
        self._sticker[[s.thing for s in stickers]] = np.arange(len(stickers))
        self._cells = np.array([tag_bitmap(s.identity) for s in stickers]).reshape(-1, 10, 10)
        first = np.searchsorted(frame.things, [s.thing for s in stickers])
        self._first = frame.mesh.triangles[first].min(axis=1) if len(stickers) else first

    def along(self, starts: Floats, ways: Floats, *, bounce: bool = True) -> Light:
        """The light (N, 3) that comes along rays; `bounce`: also by one reflection."""
        found = self._tracer.follow(starts, ways, MOST)
        every = np.arange(len(ways))
        last = np.maximum(found.count.astype(int) - 1, 0)
        triangle, points = found.triangle[last, every], found.position[last, every]
        normal = found.normal[last, every]
        thing = np.where(triangle >= 0, self._frame.things[triangle], 0)
        light = self._diffuse(points, triangle, normal, thing)
        light[(triangle < 0) | (self._clear[thing] & (found.end != OPAQUE))] = _GLOW
        if bounce:
            shiny = np.flatnonzero(self._metal[thing] & (triangle >= 0))
            seen = self._reflected(starts[shiny], points[shiny], normal[shiny])
            light[shiny] += _SHINE * (self._colour[thing[shiny]] * seen - light[shiny])
        light *= self._passed(found, last)
        return self._with_gloss(light, found, starts, ways) if bounce else light

    def _reflected(self, starts: Floats, points: Floats, normal: Light) -> Light:
        """What mirrors at points show; behind glass the ray's own direction is approximated."""
        ways = points - starts
        ways = ways - 2 * np.einsum("ij,ij->i", ways, normal)[:, None] * normal
        return self.along(points + 1e-5 * normal, ways, bounce=False)

    def _passed(self, found: RayLayers, last: NDArray[np.intp]) -> Light:
        """What glass before the last surface lets through."""
        share = np.ones((len(last), 3), np.float32)
        for layer, triangles in enumerate(found.triangle[:-1]):
            there = np.flatnonzero((layer < last) & (triangles >= 0))
            share[there] *= self._colour[self._frame.things[triangles[there]]]
        return share

    def _with_gloss(self, light: Light, found: RayLayers, starts: Floats, ways: Floats) -> Light:
        """Adds what the first surface of glass reflects (Schlick's formula)."""
        triangle = found.triangle[0]
        glass = np.flatnonzero((triangle >= 0) & self._clear[self._frame.things[triangle]])
        way = ways[glass] / np.linalg.norm(ways[glass], axis=1, keepdims=True)
        normal = found.normal[0, glass]
        facing = np.clip(-np.einsum("ij,ij->i", way, normal), 0.0, 1.0)
        index = self._index[self._frame.things[triangle[glass]]]
        straight = ((index - 1) / (index + 1)) ** 2
        share = (straight + (1 - straight) * (1 - facing) ** 5)[:, None].astype(np.float32)
        seen = self._reflected(starts[glass], found.position[0, glass], normal)
        light[glass] += share * (seen - light[glass])
        return light

    def _diffuse(
        self, points: Floats, triangle: NDArray[np.int32], normal: Light, thing: NDArray[np.int32]
    ) -> Light:
        eye = np.zeros(3)  # decides only the signs of normals, which are known here
        tone = surface_at(self._painted, eye, np.nan_to_num(points), triangle).tone
        coated = self._coated[thing]
        tone[coated] = self._colour[thing[coated]]
        stuck = np.flatnonzero((self._sticker[thing] >= 0) & (triangle >= 0))
        tone[stuck] = self._ink(points[stuck], self._sticker[thing[stuck]])
        light = np.full(points.shape, AMBIENT, np.float32)
        for place, colour in LAMPS:
            way = np.array(place) - points
            square = np.einsum("ij,ij->i", way, way)
            facing = np.einsum("ij,ij->i", way, normal) / np.sqrt(square)
            lit = np.flatnonzero(facing > 0)
            lit = lit[self._solid.sees(np.array(place), points[lit], _GAP_M)]
            light[lit] += (facing[lit] / square[lit])[:, None].astype(np.float32) * colour
        return np.asarray(tone * light, np.float32)

    def _ink(self, points: Floats, sticker: NDArray[np.intp]) -> Light:
        """The reflectance (N, 3) of stickers at points: cell by cell."""
        vertices, first = self._frame.mesh.vertices, self._first[sticker]
        away = points - vertices[first]
        at = []
        for edge in (vertices[first + 2] - vertices[first], vertices[first + 1] - vertices[first]):
            share = np.einsum("ij,ij->i", away, edge) / np.einsum("ij,ij->i", edge, edge)
            at.append(np.clip((10 * share).astype(int), 0, 9))
        white = self._cells[sticker, at[0], at[1]] > 0
        paper = self._colour[-1] if len(self._cells) else np.float32(1)
        return np.where(white[:, None], paper, np.float32(_BLACK)).astype(np.float32)


def photograph(lit: Lit, camera: Camera, side: int) -> Light:
    """The light (H, W, 3) of every pixel.

    Args:
        lit: The scene.
        camera: With its distortion.
        side: Samples of a pixel along each side, where its neighbours differ.
    """
    width, height = camera.size_px
    y, x = np.mgrid[0:height, 0:width]
    centres = np.stack([x.ravel(), y.ravel()], axis=-1).astype(np.float64)
    light = _sampled(lit, camera, centres, np.zeros((1, 2)))
    vary = _variation(light.reshape(height, width, 3)).ravel()
    few = max(1, side // 2)
    for samples, which in (
        (few, (vary > _FAINT) & (vary <= _STRONG)),
        (side, vary > _STRONG),
    ):
        again = np.flatnonzero(which)
        if samples > 1 and len(again):
            light[again] = _sampled(lit, camera, centres[again], footprint(samples))
    return light.reshape(height, width, 3)


def _sampled(lit: Lit, camera: Camera, centres: Floats, offsets: Floats) -> Light:
    """The mean light of pixels over samples around their centres."""
    light = np.zeros((len(centres), 3), np.float32)
    pixels = max(1, _ROWS // len(offsets))
    for first in range(0, len(centres), pixels):
        some = centres[first : first + pixels]
        positions = (some[:, None] + offsets).reshape(-1, 2)
        eye, ways = rays_at(camera, positions)
        seen = lit.along(np.tile(eye, (len(ways), 1)), ways)
        light[first : first + pixels] = seen.reshape(len(some), -1, 3).mean(axis=1)
    return light


def _variation(light: Light) -> Light:
    """(H, W) by how much the root of the light varies within 3x3 pixels."""
    import cv2

    level = np.sqrt(np.maximum(light.mean(axis=2), 0))
    block = np.ones((3, 3), np.uint8)
    return np.asarray(cv2.dilate(level, block) - cv2.erode(level, block), np.float32)
