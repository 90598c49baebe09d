"""Surfaces of places: brick, planks, grass, sand ... as pictures that repeat without a seam.

    surface("brick", "#6b3a2c #8f5440 #b9a89a", side_m=2.0, seed=3)

A pattern is a function of the picture's side, a seed and some colours. Noise is a sum of waves that
fit the picture a whole number of times; it has the same waves at every side.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import unknown
from depthgauge.synth.scene import texture as paints
from depthgauge.synth.scene.material import Material

Floats = NDArray[np.float64]
Tones = tuple[paints.Colour, ...]
Pattern = Callable[[int, int, Tones], Floats]
_FINEST = 256
"""Most waves along a side."""


@dataclass(frozen=True, slots=True)
class Surface(Material):
    """A material whose colours are drawn by a pattern."""

    pattern: str = "mottled"
    tones: Tones = ()
    seed: int = 0

    def picture(self, side_px: int) -> NDArray[np.float32] | None:
        """The pattern as linear light (H, W, 3), 0..1."""
        return drawn(self.pattern, self.tones, self.seed, side_px)


def surface(pattern: str, codes: str, side_m: float, seed: int = 0) -> Surface:
    """A diffuse surface; colours are given as `#dark #middle #light`.

    Raises:
        UnknownName: There is no such pattern.
    """
    if pattern not in PATTERNS:
        raise unknown("pattern", pattern, tuple(PATTERNS))
    chosen = tuple(paints.colour(code) for code in codes.split())
    return Surface("diffuse", chosen[len(chosen) // 2], None, side_m, pattern, chosen, seed)


@functools.lru_cache(maxsize=160)
def drawn(pattern: str, tones: Tones, seed: int, side_px: int) -> NDArray[np.float32]:
    """The picture of a pattern; maps share many of them."""
    own = seed * 1000 + zlib.crc32(pattern.encode()) % 1000
    picture = np.clip(PATTERNS[pattern](side_px, own, tones), 0.0, 1.0).astype(np.float32)
    picture.flags.writeable = False
    return picture


# --- building blocks ------------------------------------------------------------------------------


def noise(
    seed: int, side_px: int, low: float, high: float, slope: float = 1.0, stretch: float = 1.0
) -> Floats:
    """Smooth random values (side, side) of mean 0 and deviation 1 that repeat.

    Args:
        seed: Seed.
        side_px: Side of the picture.
        low: Fewest waves along a side.
        high: Most waves along a side.
        slope: How much weaker finer waves are; 0: all alike.
        stretch: Length of the grain along the columns divided by its width.
    """
    rng = np.random.default_rng([seed, 77])
    spectrum = rng.normal(size=(2 * _FINEST, _FINEST + 1)) + 1j * rng.normal(
        size=(2 * _FINEST, _FINEST + 1)
    )
    down = np.fft.fftfreq(2 * _FINEST, 1 / (2 * _FINEST))[:, None] * stretch
    length = np.hypot(down, np.arange(_FINEST + 1)[None])
    inside = (length >= low) & (length <= min(high, _FINEST - 1)) & (np.abs(down) < _FINEST)
    spectrum = np.where(inside, spectrum / np.maximum(length, 1.0) ** (1 + slope / 2), 0.0)
    strength = float(np.sqrt((np.abs(spectrum) ** 2).sum() * 2))
    half = min(side_px, 2 * _FINEST) // 2
    fit = np.zeros((side_px, side_px // 2 + 1), complex)
    columns = min(half, fit.shape[1] - 1) + 1
    fit[:half, :columns] = spectrum[:half, :columns]
    fit[-half:, :columns] = spectrum[-half:, :columns]
    return np.asarray(np.fft.irfft2(fit, (side_px, side_px)) * side_px**2 / max(strength, 1e-12))


def mixed(tones: Tones, value: Floats) -> Floats:
    """Colours (..., 3) from the first of three tones at -1 over the second to the third at 1."""
    low, middle, high = tones[:3]
    return np.stack(paints.blend((low, middle, high), np.asarray(value)), axis=-1)


def grid(side_px: int) -> tuple[Floats, Floats]:
    """Column and row positions 0..1 of every pixel."""
    along = (np.arange(side_px) + 0.5) / side_px
    across, down = np.meshgrid(along, along)
    return across, down


def cells(
    side_px: int, columns: int, rows: int, shift: float, joint: float
) -> tuple[NDArray[np.int64], Floats]:
    """The number of the cell of every pixel, and 0 in joints to 1 inside.

    Args:
        side_px: Side of the picture.
        columns: Cells in a row.
        rows: Number of rows.
        shift: How far every second row is moved, in cells.
        joint: Width of the joint in heights of a cell.
    """
    x, y = grid(side_px)
    row = np.floor(y * rows)
    along = x * columns + shift * (row % 2)
    column = np.floor(along) % columns
    tall = columns / rows
    aside = np.minimum(along % 1.0, 1 - along % 1.0) / tall
    above = np.minimum(y * rows % 1.0, 1 - y * rows % 1.0)
    inside = np.clip((np.minimum(aside, above) - joint / 2) / max(joint / 2, 1e-3), 0.0, 1.0)
    return (row * columns + column).astype(np.int64), inside


def _own(seed: int, numbers: NDArray[np.int64]) -> Floats:
    """A random value -1..1 of every cell."""
    values = np.random.default_rng([seed, 5]).uniform(-1, 1, int(numbers.max()) + 1)
    return np.asarray(values[numbers])


# --- patterns -------------------------------------------------------------------------------------


def _mottled(n: int, seed: int, tones: Tones) -> Floats:
    return mixed(tones, 0.5 * noise(seed, n, 2, 200, 0.8) + 0.12 * noise(seed + 1, n, 40, 255, 0))


def _grass(n: int, seed: int, tones: Tones) -> Floats:
    blades = noise(seed, n, 30, 255, 0.2, 0.4)
    patches = noise(seed + 1, n, 2, 14, 1)
    return mixed(tones, 0.55 * blades + 0.35 * patches)


def _asphalt(n: int, seed: int, tones: Tones) -> Floats:
    grain = noise(seed, n, 60, 255, 0)
    return mixed(tones, 0.5 * grain + 0.3 * noise(seed + 1, n, 2, 20, 1))


def _brick(n: int, seed: int, tones: Tones) -> Floats:
    number, inside = cells(n, 8, 24, 0.5, 0.16)
    value = 0.7 * _own(seed, number) + 0.3 * noise(seed, n, 20, 255, 0.5)
    stone = mixed(tones, value)
    mortar = np.array([0.45, 0.42, 0.38]) * (1 + 0.15 * noise(seed + 2, n, 20, 255)[..., None])
    return mortar + inside[..., None] * (stone - mortar)


def _paving(n: int, seed: int, tones: Tones) -> Floats:
    number, inside = cells(n, 6, 6, 0.5, 0.05)
    value = 0.5 * _own(seed, number) + 0.4 * noise(seed, n, 8, 255, 0.7)
    return mixed(tones, value) * (0.45 + 0.55 * inside[..., None])


def _tiles(n: int, seed: int, tones: Tones) -> Floats:
    number, inside = cells(n, 8, 8, 0.0, 0.05)
    turn = (number + number // 8) % 2
    value = np.where(turn == 1, 0.8, -0.6) + 0.15 * _own(seed, number)
    return mixed(tones, value + 0.22 * noise(seed, n, 6, 255, 0.8)) * (
        0.5 + 0.5 * inside[..., None]
    )


def _planks(n: int, seed: int, tones: Tones) -> Floats:
    x, y = grid(n)
    board = np.floor(x * 9).astype(np.int64)
    piece = board * 3 + np.floor(y * 2 + _own(seed + 3, board)).astype(np.int64) % 2
    grain = noise(seed, n, 6, 255, 0.7, 6.0)
    aside = np.minimum(x * 9 % 1.0, 1 - x * 9 % 1.0)
    joint = np.clip(aside / 0.03, 0.25, 1.0)
    return mixed(tones, 0.45 * grain + 0.5 * _own(seed, piece)) * joint[..., None]


def _concrete(n: int, seed: int, tones: Tones) -> Floats:
    number, inside = cells(n, 2, 2, 0.0, 0.012)
    value = 0.5 * noise(seed, n, 2, 120, 1.2) + 0.2 * noise(seed + 1, n, 50, 255, 0)
    return mixed(tones, value + 0.2 * _own(seed, number)) * (0.55 + 0.45 * inside[..., None])


def _bark(n: int, seed: int, tones: Tones) -> Floats:
    return mixed(tones, 0.7 * noise(seed, n, 8, 200, 0.5, 4.0) + 0.2 * noise(seed + 1, n, 3, 40))


def _leaves(n: int, seed: int, tones: Tones) -> Floats:
    value = noise(seed, n, 12, 90, 0.2) + 0.4 * noise(seed + 1, n, 60, 255, 0)
    return mixed(tones, 0.75 * value + 0.3 * noise(seed + 2, n, 1, 8))


def _strata(n: int, seed: int, tones: Tones) -> Floats:
    _, y = grid(n)
    bend = 0.05 * noise(seed, n, 1, 10, 1.5)
    layers = paints.wave(7 * y + 7 * bend) + 0.5 * paints.wave(17 * y + 10 * bend)
    return mixed(tones, 0.5 * layers + 0.35 * noise(seed + 1, n, 10, 255, 0.5))


def _ripples(n: int, seed: int, tones: Tones) -> Floats:
    x, y = grid(n)
    bend = noise(seed, n, 1, 6, 1.5)
    waves = paints.wave(22 * y + 3 * x + 0.7 * bend)
    return mixed(tones, 0.35 * waves + 0.4 * noise(seed + 1, n, 30, 255, 0.3) + 0.2 * bend)


def _panels(n: int, seed: int, tones: Tones) -> Floats:
    number, inside = cells(n, 3, 4, 0.5, 0.03)
    small, groove = cells(n, 12, 8, 0.0, 0.06)
    chosen = _own(seed + 1, number) > 0.1
    value = 0.55 * _own(seed, number) + np.where(chosen, 0.25 * _own(seed + 2, small), 0.0)
    value = value + 0.22 * noise(seed, n, 4, 255, 1.0)
    lines = np.where(chosen, 0.6 + 0.4 * groove, 1.0) * (0.35 + 0.65 * inside)
    return mixed(tones, value) * lines[..., None]


def _corrugated(n: int, seed: int, tones: Tones) -> Floats:
    x, y = grid(n)
    ribs = paints.wave(16 * x)
    rust = noise(seed, n, 2, 40, 1.2, 2.0)
    joint = np.clip(np.abs(y * 2 % 1.0 - 0.5) / 0.006, 0.5, 1.0)
    value = 0.45 * ribs + 0.4 * rust + 0.15 * noise(seed + 1, n, 40, 255, 0)
    return mixed(tones, value) * joint[..., None]


def _facade(n: int, seed: int, tones: Tones) -> Floats:
    """Three by three windows over the wall; row 0 is the bottom."""
    x, y = grid(n)
    number, _ = cells(n, 3, 3, 0.0, 0.01)
    u, v = x * 3 % 1.0 - 0.5, y * 3 % 1.0 - 0.52
    bricks, inside = cells(n, 24, 48, 0.5, 0.2)
    wall = mixed(tones, 0.4 * _own(seed + 4, bricks) + 0.3 * noise(seed, n, 3, 255, 0.8))
    wall = wall * (0.72 + 0.28 * inside[..., None])
    frame, pane = (
        np.maximum(np.abs(u) / w, np.abs(v) / h) < 1 for w, h in ((0.27, 0.33), (0.23, 0.29))
    )
    glow = 0.12 + 0.35 * (v + 0.3) + 0.12 * _own(seed, number) + 0.05 * noise(seed + 1, n, 3, 60)
    glass = np.stack([0.55 * glow, 0.75 * glow, glow], axis=-1)
    curtain = _own(seed + 2, number) > 0.3
    cloth = np.array([0.5, 0.46, 0.4]) * (0.8 + 0.2 * paints.wave(60 * x)[..., None])
    glass = np.where((curtain & (np.abs(u) > 0.12))[..., None], cloth, glass)
    cross = (np.abs(u) < 0.012) | (np.abs(v - 0.06) < 0.012)
    edge = np.array(tones[-1]) * (0.9 + 0.1 * noise(seed + 3, n, 20, 200)[..., None])
    sill = (np.abs(u) < 0.31) & (v > -0.40) & (v < -0.33)
    out = np.where((frame | sill)[..., None], edge, wall)
    return np.where((pane & ~cross)[..., None], glass, out)


def _cloth(n: int, seed: int, tones: Tones) -> Floats:
    x, y = grid(n)
    weave = paints.wave(64 * x) * paints.wave(64 * y)
    stripes = np.sign(paints.wave(4 * x + 0.1)) * (np.abs(paints.wave(4 * x + 0.1)) > 0.55)
    return mixed(tones, 0.3 * weave + 0.35 * noise(seed, n, 4, 120, 0.8) + 0.5 * stripes)


def _spots(n: int, seed: int, tones: Tones) -> Floats:
    """Round spots of many sizes on a plain ground."""
    rng = np.random.default_rng([seed, 9])
    x, y = grid(n)
    value = np.full((n, n), -0.7) + 0.15 * noise(seed, n, 8, 255, 0.5)
    for cx, cy, r, shade in rng.uniform((0, 0, 0.02, -0.1), (1, 1, 0.09, 1), (70, 4)):
        dx, dy = (np.abs(a - b) for a, b in ((x, cx), (y, cy)))
        far = np.hypot(np.minimum(dx, 1 - dx), np.minimum(dy, 1 - dy))
        value += np.clip((r - far) * n / 2, 0, 1) * (shade - value)
    return mixed(tones, value)


def _contours(n: int, seed: int, tones: Tones) -> Floats:
    field = noise(seed, n, 1, 7, 1.0)
    bands = np.clip(3 * paints.wave(1.6 * field), -1, 1)
    return mixed(tones, 0.75 * bands + 0.2 * noise(seed + 1, n, 20, 255, 0.3))


PATTERNS: dict[str, Pattern] = {
    "asphalt": _asphalt,
    "bark": _bark,
    "brick": _brick,
    "cloth": _cloth,
    "concrete": _concrete,
    "contours": _contours,
    "corrugated": _corrugated,
    "facade": _facade,
    "grass": _grass,
    "leaves": _leaves,
    "mottled": _mottled,
    "panels": _panels,
    "paving": _paving,
    "planks": _planks,
    "ripples": _ripples,
    "spots": _spots,
    "strata": _strata,
    "tiles": _tiles,
}
"""Patterns by name."""
