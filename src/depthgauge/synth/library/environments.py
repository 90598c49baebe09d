"""Environments: the light from outside in all directions, and what stands before the windows.

Ten procedural skies; every one is a smooth picture of directions with a sun, clouds or city lights
in it. `ENVIRONMENTS` lists them by name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.scene import texture as paints

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Environment:
    """A sky over a ground, with a sun or lamps."""

    name: str
    zenith: paints.Colour
    """Radiance overhead."""
    horizon: paints.Colour
    ground: paints.Colour
    """Radiance from below: the sunlit ground far away."""
    sun: paints.Colour = (0.0, 0.0, 0.0)
    """Radiance at the middle of the sun."""
    sun_up_deg: float = 40.0
    """Height of the sun above the horizon."""
    sun_wide_deg: float = 6.0
    """How wide its light is: a few degrees for the sun, many behind clouds."""
    clouds: float = 0.0
    """Share of the sky's light that clouds vary."""
    outside: tuple[paints.Colour, paints.Colour, paints.Colour] = (
        (0.02, 0.05, 0.01),
        (0.11, 0.25, 0.05),
        (0.45, 0.60, 0.30),
    )
    """Tones of the hedge or wall before the windows."""

    def picture(self, side_px: int = 64, turn_deg: float = 0.0) -> Floats:
        """Radiance (H, 2 H, 3) by direction: rows from straight up to straight down.

        Args:
            side_px: Height.
            turn_deg: Turns the sun about the vertical.
        """
        up = np.pi * (0.5 - (np.arange(side_px) + 0.5) / side_px)
        around = math.tau * (np.arange(2 * side_px) + 0.5) / (2 * side_px)
        around, up = np.meshgrid(around, up)
        level = np.cos(up)
        ways = level * np.cos(around), np.sin(up), level * np.sin(around)
        share = np.clip(ways[1], 0.0, 1.0) ** 0.6
        sky = _between(self.horizon, self.zenith, share)
        if self.clouds:
            puffs = paints.waves(len(self.name), 0.35, 3).field(ways)
            sky *= (1 + self.clouds * np.clip(puffs, -1, 1))[..., None]
        light = np.where((ways[1] > 0)[..., None], sky, np.array(self.ground))
        turn, high = math.radians(turn_deg), math.radians(self.sun_up_deg)
        towards = math.cos(high) * math.cos(turn), math.sin(high), math.cos(high) * math.sin(turn)
        cosine = sum(w * t for w, t in zip(ways, towards, strict=True))
        aside = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
        glow = np.exp(-0.5 * (aside / self.sun_wide_deg) ** 2) * (ways[1] > -0.05)
        return np.asarray(light + glow[..., None] * np.array(self.sun), np.float32)


def _between(low: paints.Colour, high: paints.Colour, share: NDArray[np.float64]) -> Floats:
    mixed = np.array(low) + share[..., None] * (np.array(high) - np.array(low))
    return np.asarray(mixed, np.float32)


_BRICK = ((0.10, 0.03, 0.02), (0.30, 0.10, 0.06), (0.50, 0.28, 0.20))
_SNOW = ((0.45, 0.50, 0.58), (0.70, 0.74, 0.80), (0.90, 0.92, 0.95))
_CITY = ((0.03, 0.03, 0.05), (0.10, 0.10, 0.13), (0.45, 0.38, 0.22))
_SAND = ((0.30, 0.20, 0.10), (0.55, 0.40, 0.22), (0.80, 0.65, 0.42))

_ALL = (
    Environment("noon", (0.5, 0.9, 2.0), (1.5, 1.8, 2.2), (0.6, 0.6, 0.5), (60, 57, 50), 65),
    Environment("morning", (0.5, 0.8, 1.6), (2.0, 1.6, 1.3), (0.5, 0.45, 0.4), (50, 40, 26), 18),
    Environment(
        "sunset",
        (0.25, 0.3, 0.7),
        (2.4, 1.1, 0.5),
        (0.3, 0.2, 0.15),
        (60, 26, 8),
        6,
        outside=_BRICK,
    ),
    Environment("overcast", (1.6, 1.7, 1.8), (1.2, 1.25, 1.3), (0.5, 0.5, 0.48), clouds=0.15),
    Environment(
        "clouds", (0.5, 0.9, 1.9), (1.6, 1.8, 2.0), (0.6, 0.6, 0.5), (24, 23, 21), 50, 9, 0.45
    ),
    Environment(
        "snow", (1.3, 1.5, 1.8), (1.7, 1.8, 1.9), (1.5, 1.6, 1.7), clouds=0.1, outside=_SNOW
    ),
    Environment("dusk", (0.10, 0.14, 0.35), (0.45, 0.35, 0.5), (0.08, 0.07, 0.09), outside=_BRICK),
    Environment("night", (0.02, 0.03, 0.06), (0.12, 0.10, 0.08), (0.06, 0.05, 0.04), outside=_CITY),
    Environment(
        "desert", (0.4, 0.8, 1.7), (2.2, 1.8, 1.3), (1.4, 1.0, 0.6), (60, 52, 40), 45, outside=_SAND
    ),
    Environment(
        "forest", (0.5, 0.8, 0.6), (0.6, 0.9, 0.5), (0.15, 0.25, 0.1), (22, 24, 14), 55, 10, 0.3
    ),
)
ENVIRONMENTS: dict[str, Environment] = {environment.name: environment for environment in _ALL}
"""All environments by name."""
