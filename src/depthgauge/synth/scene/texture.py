"""Textures: colours as functions of the point in the surface's own coordinates.

A texture fills space and a surface cuts through it, so all views see the same texture, and no ball
has a seam. Textures are sums of waves no shorter than a stated length, so they are smooth enough
for sub-pixel matching. Colours are light intensities 0..1, not the values stored in an image.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from depthgauge.synth.scene.frame import Array, Triple, Vector, project

Colour: TypeAlias = Triple
"""Red, green, blue intensities, 0..1."""
_STRENGTH = 0.65
"""Strength of a sum of waves: few points are beyond -1..1, where colours are clipped."""


class Paint(Protocol):
    """What shading and the masks need from a texture."""

    @property
    def plain(self) -> bool:
        """Whether there is nothing on it to match."""
        ...

    @property
    def repetitive(self) -> bool:
        """Whether it repeats."""
        ...

    def colour(self, local: Vector) -> Vector:
        """Red, green, blue at points in the surface's own coordinates."""
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    """One colour."""

    tone: Colour
    plain: bool = True
    repetitive: bool = False

    def colour(self, local: Vector) -> Vector:
        """The same everywhere."""
        red, green, blue = (np.full_like(local[0], part) for part in self.tone)
        return red, green, blue


@dataclass(frozen=True, slots=True)
class Waves:
    """A sum of waves in random directions: a smooth random field, mostly within -1..1."""

    vectors: tuple[Triple, ...]
    """Cycles per metre along x, y, z."""
    phases: tuple[float, ...]
    weights: tuple[float, ...]

    def field(self, local: Vector) -> Array:
        """The sum at points."""
        total = np.zeros_like(local[0])
        for vector, phase, weight in zip(self.vectors, self.phases, self.weights, strict=True):
            total += weight * wave(project(local, vector) + phase)
        return total


def waves(seed: int, shortest_m: float, octaves: int, fall: float = 0.95) -> Waves:
    """Random waves of `octaves` lengths; each finer octave is `fall` times as strong.

    Lengths within an octave differ and directions are spread, so that the sum neither repeats nor
    runs one way. The finest are `shortest_m` long or somewhat longer.
    """
    rng = np.random.default_rng(seed)
    # The finest octave has most of the waves, or a pattern would show.
    octave = np.repeat(np.arange(octaves), [7, 5, *[3] * octaves][:octaves])
    count = octave.size
    lengths = shortest_m * 2.0 ** (octave + rng.uniform(0, 1, count))
    turns = 0.5 * rng.permutation((np.arange(count) + rng.uniform(0, 1, count)) / count)
    weights = (1 / fall) ** octave / np.sqrt(np.bincount(octave))[octave]
    weights *= _STRENGTH / math.sqrt(float((weights**2).sum()))
    parts = zip(turns, rng.uniform(-0.6, 0.6, count), lengths, strict=True)
    return Waves(
        tuple(_vector(float(turn), float(up), float(length)) for turn, up, length in parts),
        tuple(float(v) for v in rng.uniform(0, 1, count)),
        tuple(float(v) for v in weights),
    )


def _vector(turn: float, up: float, length_m: float) -> Triple:
    """Cycles per metre of a wave, mostly perpendicular to z, the normal of planes."""
    x, y = math.cos(math.tau * turn), math.sin(math.tau * turn)
    across = math.sqrt(1 - up * up)
    return across * x / length_m, across * y / length_m, up / length_m


@dataclass(frozen=True, slots=True)
class Mottled:
    """Clouds of three colours: stone, plaster, paper, leaves."""

    tones: tuple[Colour, Colour, Colour]
    """Low, middle and high."""
    waves: Waves
    plain: bool = False
    repetitive: bool = False

    def colour(self, local: Vector) -> Vector:
        """From the low colour over the middle to the high one."""
        return blend(self.tones, self.waves.field(local))


@dataclass(frozen=True, slots=True)
class Agate:
    """Winding bands with a fine grain."""

    tones: tuple[Colour, Colour, Colour]
    course: Waves
    grain: Waves
    plain: bool = False
    repetitive: bool = False

    def colour(self, local: Vector) -> Vector:
        """Bands follow the contour lines of a smooth field."""
        bands = wave(1.4 * self.course.field(local))
        return blend(self.tones, 0.6 * bands + 0.65 * self.grain.field(local))


@dataclass(frozen=True, slots=True)
class Marble:
    """Thin veins on clouds."""

    tones: tuple[Colour, Colour, Colour]
    """The stone's two colours, then the veins'."""
    waves: Waves
    veins: Waves
    plain: bool = False
    repetitive: bool = False

    def colour(self, local: Vector) -> Vector:
        """Veins run where their field is zero."""
        clouds = self.waves.field(local)
        vein = np.maximum(1 - 5 * np.abs(self.veins.field(local) + 0.25 * clouds), 0)
        low, high, dark = self.tones
        base = blend((low, low, high), clouds)
        red, green, blue = (b + vein * vein * (d - b) for b, d in zip(base, dark, strict=True))
        return red, green, blue


@dataclass(frozen=True, slots=True)
class Wood:
    """Boards along one axis, each with its own tone and grain."""

    tones: tuple[Colour, Colour, Colour]
    board_m: float
    waves: Waves
    stretch: float = 7.0
    """Length of the grain divided by its width."""
    plain: bool = False
    repetitive: bool = False

    def colour(self, local: Vector) -> Vector:
        """Grain along y, boards side by side along x."""
        x, y, z = local
        board = np.floor(x / self.board_m)
        aside = x / self.board_m - board
        own = wave(board * 0.618)
        grain = self.waves.field((x, y / self.stretch + board * 3.7, z))
        red, green, blue = blend(self.tones, 0.75 * grain + 0.5 * own)
        joint = 0.45 + 0.55 * np.minimum(np.minimum(aside, 1 - aside) * (self.board_m / 0.012), 1)
        return red * joint, green * joint, blue * joint


@dataclass(frozen=True, slots=True)
class Checks:
    """Rounded squares of two colours, all alike."""

    tones: tuple[Colour, Colour]
    period_m: float
    plain: bool = False
    repetitive: bool = True

    def colour(self, local: Vector) -> Vector:
        """A product of waves along x and y, sharpened; z does not matter."""
        squares = wave(local[0] / self.period_m) * wave(local[1] / self.period_m)
        share = 0.5 + 0.5 * np.clip(3 * squares, -1, 1)
        return _mix(*self.tones, share)


@dataclass(frozen=True, slots=True)
class Stripes:
    """Bands of two colours along one axis, all alike."""

    tones: tuple[Colour, Colour]
    period_m: float
    axis: int = 0
    plain: bool = False
    repetitive: bool = True

    def colour(self, local: Vector) -> Vector:
        """A sharpened wave along the axis."""
        bands = wave(local[self.axis] / self.period_m)
        return _mix(*self.tones, 0.5 + 0.5 * np.clip(2 * bands, -1, 1))


def wave(turns: Array) -> Array:
    """Approximately a sine of period one, with the same bits on every machine."""
    part = turns - np.rint(turns)
    values: Array = part * (8 - 16 * np.abs(part))
    return values


def blend(tones: tuple[Colour, Colour, Colour], value: Array) -> Vector:
    """From the first colour at -1 over the second at 0 to the third at 1."""
    low, middle, high = tones
    below, above = np.clip(value, -1, 0), np.clip(value, 0, 1)
    red, green, blue = (
        m + below * (m - a) + above * (b - m) for a, m, b in zip(low, middle, high, strict=True)
    )
    return red, green, blue


def stored(intensity: Array) -> Array:
    """The values 0..255 stored in an image: gamma 2, and a shoulder that avoids saturation."""
    values: Array = 255 * np.sqrt(np.clip(1.5 * intensity / (1 + 0.75 * intensity), 0, 1))
    return values


def colour(code: str) -> Colour:
    """The intensities of a colour given as `#rrggbb`.

    >>> colour("#ff8000")[0]
    1.0
    """
    red, green, blue = ((int(code[i : i + 2], 16) / 255) ** 2 for i in (1, 3, 5))
    return red, green, blue


def _mix(low: Colour, high: Colour, share: Array) -> Vector:
    red, green, blue = (a + share * (b - a) for a, b in zip(low, high, strict=True))
    return red, green, blue
