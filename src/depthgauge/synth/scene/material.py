"""Materials: how they look, and how hard they are for depth estimation (classes 0..3)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.scene import texture as paints
from depthgauge.synth.scene.frame import Vector

Look = Literal[
    "diffuse", "glass", "tinted", "frosted", "mirror", "polished", "rough", "brushed", "ceramic"
]
_CLASSES: dict[Look, int] = {
    "diffuse": 0,
    "brushed": 1,
    "ceramic": 1,
    "frosted": 1,
    "tinted": 2,
    "rough": 2,
    "polished": 3,
    "glass": 3,
    "mirror": 3,
}
TRANSPARENT, MIRROR = 1, 2
GLASS_INDEX = 1.5
"""Refractive index of everything transparent."""
_SURFACES: dict[Look, int] = {
    "glass": TRANSPARENT,
    "tinted": TRANSPARENT,
    "frosted": TRANSPARENT,
    "mirror": MIRROR,
    "polished": MIRROR,
}


@dataclass(frozen=True, slots=True)
class Material:
    """One material. Everything that is not diffuse is painted before patterns are projected."""

    look: Look
    colour: paints.Colour = (0.6, 0.6, 0.6)
    """Share of red, green and blue that is reflected or transmitted."""
    texture: paints.Paint | None = None
    """Replaces the colour of diffuse and ceramic things."""
    texture_m: float = 0.5
    """Side of the square that the texture's picture covers; the picture repeats."""

    @property
    def category(self) -> int:
        """The class 0..3: how specular reflection and transmission are."""
        return _CLASSES[self.look]

    @property
    def surface(self) -> int:
        """1 transparent, 2 mirror, 0 neither."""
        return _SURFACES.get(self.look, 0)

    @property
    def transparent(self) -> bool:
        """Whether light goes through it."""
        return self.surface == TRANSPARENT

    def picture(self, side_px: int) -> NDArray[np.float32] | None:
        """The texture as linear light (H, W, 3), 0..1; None if the colour is plain."""
        return None if self.texture is None else _picture(self, side_px)


@functools.lru_cache(maxsize=24)
def _picture(material: Material, side_px: int) -> NDArray[np.float32]:
    """Cached: projected patterns and the path tracer use the same pictures."""
    along = (np.arange(side_px) + 0.5) * (material.texture_m / side_px)
    u, v = np.meshgrid(along, along)
    assert material.texture is not None
    colours = material.texture.colour((u, v, np.zeros_like(u)))
    picture = np.asarray(np.clip(np.stack(colours, axis=-1), 0.0, 1.0), np.float32)
    picture.flags.writeable = False
    return picture


@dataclass(frozen=True, slots=True)
class Tiles:
    """Square tiles of slightly different shades, with joints."""

    tone: paints.Colour
    joint: paints.Colour
    side_m: float = 0.1
    plain: bool = False
    repetitive: bool = True

    def colour(self, local: Vector) -> Vector:
        """Shades differ by up to a tenth; joints are 4 mm wide."""
        column, row = (np.floor(part / self.side_m) for part in local[:2])
        aside = [np.abs(part / self.side_m % 1.0 - 0.5) for part in local[:2]]
        shade = 0.95 + 0.05 * paints.wave(column * 0.618 + row * 0.414)
        inside = np.clip((0.48 - np.maximum(*aside)) * (self.side_m / 0.001), 0.0, 1.0)
        red, green, blue = (
            j + inside * (t * shade - j) for t, j in zip(self.tone, self.joint, strict=True)
        )
        return red, green, blue


def plain(code: str) -> Material:
    """A diffuse material of one colour, given as `#rrggbb`."""
    return Material("diffuse", paints.colour(code))


# --- indices and roughness ------------------------------------------------------------------------


AIR_INDEX = 1.0
_ROUGHNESS: dict[Look, float] = {
    "diffuse": 1.0,
    "ceramic": 0.06,
    "polished": 0.015,
    "rough": 0.11,
    "brushed": 0.38,
    "frosted": 0.32,
}
"""What `Material` has by its look; all others are smooth."""


@dataclass(frozen=True, slots=True)
class Finish(Material):
    """A material with a refractive index and a roughness of its own.

    A surface separates two media: `index` is that of the body itself, and `outside_index` that of
    what its normal points into. It is air, except where liquid touches the wall of its vessel.
    """

    index: float = GLASS_INDEX
    """Refractive index of the body, if it is transparent."""
    outside_index: float = AIR_INDEX
    """Refractive index on the side that the normal points to."""
    roughness: float = 0.0
    """Standard deviation of the microfacets' slopes: 0 is smooth, 0.3 is frosted."""
    thin: bool = False
    """Whether a transparent surface is a whole pane without thickness, which bends no ray."""


def index_of(material: Material) -> float:
    """Refractive index of a transparent body."""
    return material.index if isinstance(material, Finish) else GLASS_INDEX


def outside_index_of(material: Material) -> float:
    """Refractive index of what the surface's normal points into."""
    return material.outside_index if isinstance(material, Finish) else AIR_INDEX


def roughness_of(material: Material) -> float:
    """How much a surface scatters what it reflects or lets through; 0 for a smooth one.

    >>> roughness_of(Material("frosted")), roughness_of(Finish("glass", roughness=0.05))
    (0.32, 0.05)
    """
    if isinstance(material, Finish):
        return material.roughness
    return _ROUGHNESS.get(material.look, 0.0)


def is_thin(material: Material) -> bool:
    """Whether a transparent surface is a whole pane without thickness."""
    return isinstance(material, Finish) and material.thin


KINDS = ("diffuse", "transparent", "reflective")
"""What surfaces do with light, as benchmarks of layers name it."""
_METALS: frozenset[Look] = frozenset({"mirror", "polished", "rough", "brushed"})


def kind_of(material: Material) -> str:
    """One of `KINDS`: glass is transparent, metal is reflective, all else is diffuse.

    >>> [kind_of(Material(look)) for look in ("tinted", "brushed", "ceramic")]
    ['transparent', 'reflective', 'diffuse']
    """
    if material.transparent:
        return "transparent"
    return "reflective" if material.look in _METALS else "diffuse"
