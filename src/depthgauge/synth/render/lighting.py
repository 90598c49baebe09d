"""Light of a place: sun or lamps, ambient light, haze, and a sky with clouds."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Colour = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Lamp:
    """A sun, or a small lamp."""

    place: Colour
    """Position of a lamp; direction towards a sun."""
    colour: Colour
    reach_m: float = 0.0
    """Distance at which a lamp has half of its light; 0 for a sun."""


@dataclass(frozen=True, slots=True)
class Lighting:
    """Where light comes from, and what is seen where nothing is."""

    lamps: tuple[Lamp, ...]
    above: Colour
    """Ambient light from above."""
    below: Colour
    """Ambient light from below."""
    zenith: Colour = (0.20, 0.38, 0.75)
    horizon: Colour = (0.72, 0.82, 0.92)
    haze: Colour = (0.72, 0.82, 0.92)
    haze_m: float = 0.0
    """Distance at which haze takes 63 % of the light; 0: clear air."""
    clouds: int = 0
    """Seed of the clouds; 0: none."""


def sky_light(lighting: Lighting, ways: NDArray[np.float64]) -> NDArray[np.float64]:
    """Light (N, 3) of the sky in directions: from the horizon to the zenith, with clouds."""
    length = np.linalg.norm(ways, axis=1)
    up = np.clip(-ways[:, 1] / length, 0.0, 1.0)
    share = (up**0.6)[:, None]
    sky = np.array(lighting.horizon) + share * (np.array(lighting.zenith) - lighting.horizon)
    if lighting.clouds:
        flat = ways / (np.abs(ways[:, 1]) + 0.25 * length)[:, None]
        cover = _clouds(lighting.clouds, flat[:, 0], flat[:, 2]) * np.clip(up * 6, 0, 1)
        sky = sky + cover[:, None] * (np.array([0.95, 0.95, 0.96]) - sky)
    return np.asarray(sky)


def _clouds(seed: int, x: NDArray[np.float64], z: NDArray[np.float64]) -> NDArray[np.float64]:
    picture = _cloud_picture(seed)
    side = len(picture)
    u, v = x * side / 6, z * side / 6
    x0, z0 = np.floor(u).astype(np.int64), np.floor(v).astype(np.int64)
    fx, fz = u - x0, v - z0
    a, b, c, d = x0 % side, (x0 + 1) % side, z0 % side, (z0 + 1) % side
    upper = picture[c, a] * (1 - fx) + picture[c, b] * fx
    lower = picture[d, a] * (1 - fx) + picture[d, b] * fx
    return np.asarray(upper * (1 - fz) + lower * fz)


@functools.lru_cache(maxsize=8)
def _cloud_picture(seed: int) -> NDArray[np.float64]:
    """Cover 0..1, repeating."""
    rng = np.random.default_rng([seed, 31])
    side = 512
    down, along = np.fft.fftfreq(side, 1 / side)[:, None], np.arange(side // 2 + 1)[None]
    length = np.maximum(np.hypot(down, along), 1.0)
    parts = rng.normal(size=length.shape) + 1j * rng.normal(size=length.shape)
    field_ = np.fft.irfft2(np.where(length > 2, parts / length**1.7, 0), (side, side))
    return np.asarray(np.clip(0.6 * field_ / field_.std() - 0.15, 0.0, 0.9))
