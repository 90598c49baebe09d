"""Random materials: glass and metal of varying colour and roughness, and what rooms are made of."""

from __future__ import annotations

import numpy as np

from depthgauge.synth.scene import texture as paints
from depthgauge.synth.scene.material import Finish, Material, Tiles

_METALS = (
    (0.92, 0.92, 0.90),
    (0.75, 0.74, 0.72),
    (0.95, 0.74, 0.36),
    (0.93, 0.60, 0.45),
    (0.55, 0.56, 0.60),
)
"""Silver, steel, gold, copper, iron."""
_WOODS = ("#6f4a2d #8f6640 #b98d5e", "#b28a60 #d2ac7e #e8cda6", "#3f2c20 #5d4431 #80644a")
_STONES = ("#d9d4cc #f1eee8 #8d8780", "#3a3d42 #55595f #c9c6bf", "#b9a58c #d8c7ae #7d6b58")


def glass(rng: np.random.Generator, *, clear: bool = False) -> Finish:
    """Clear or tinted glass of some index; if it need not be clear, sometimes rough or frosted."""
    index = float(rng.uniform(1.45, 1.70))
    tinted = rng.random() < 0.55
    pale = rng.uniform(0.35, 0.97, 3) if tinted else np.ones(3)
    strength = float(rng.uniform(0.2, 0.9))
    red, green, blue = (float(1 - strength * (1 - v)) for v in pale)
    colour = (red, green, blue)
    fate, rough = rng.random(), float(rng.uniform(0.02, 0.12))
    if not clear and fate > 0.92:
        return Finish("frosted", colour, index=index, roughness=float(rng.uniform(0.25, 0.40)))
    roughness = rough if not clear and fate > 0.80 else 0.0
    return Finish("tinted" if tinted else "glass", colour, index=index, roughness=roughness)


def metal(rng: np.random.Generator) -> Finish:
    """Metal of some colour, from a mirror to dull."""
    base = np.array(_METALS[int(rng.integers(len(_METALS)))])
    red, green, blue = (float(v) for v in np.clip(base * rng.uniform(0.85, 1.08, 3), 0.0, 0.98))
    roughness = float(rng.choice([0.0, rng.uniform(0.01, 0.05), rng.uniform(0.05, 0.30)]))
    look = "mirror" if roughness == 0 else "polished" if roughness < 0.05 else "rough"
    return Finish(look, (red, green, blue), roughness=roughness)  # type: ignore[arg-type]  # a Look


def shiny(rng: np.random.Generator, glass_share: float = 0.72) -> Finish:
    """Glass or metal."""
    return glass(rng) if rng.random() < glass_share else metal(rng)


# --- what rooms are made of -----------------------------------------------------------------------


def wood(rng: np.random.Generator, board_m: float = 0.12) -> Material:
    """Boards."""
    low, middle, high = _tones(rng, _WOODS)
    grain = paints.waves(int(rng.integers(1 << 30)), 0.007, 4)
    return Material(
        "diffuse", middle, paints.Wood((low, middle, high), board_m, grain), 8 * board_m
    )


def stone(rng: np.random.Generator) -> Material:
    """Stone with veins."""
    tones = _tones(rng, _STONES)
    seed = int(rng.integers(1 << 30))
    veins = paints.Marble(tones, paints.waves(seed, 0.02, 4), paints.waves(seed + 1, 0.15, 3))
    return Material("diffuse", tones[1], veins, 1.2)


def plaster(rng: np.random.Generator) -> Material:
    """A painted wall, slightly uneven."""
    tone = rng.uniform(0.35, 0.85) * (0.75 + 0.25 * rng.random(3))
    seed = int(rng.integers(1 << 30))
    return _mottled(tone, 0.55, 1.2, seed, 0.012, 1.0)


def fabric(rng: np.random.Generator) -> Material:
    """Cloth of one strong colour, or striped."""
    tone = rng.uniform(0.05, 0.65, 3)
    seed = int(rng.integers(1 << 30))
    if rng.random() < 0.4:
        first, second = _colour(tone), _colour(rng.uniform(0.3, 0.8, 3))
        return Material("diffuse", first, paints.Stripes((first, second), 0.05), 0.5)
    return _mottled(tone, 0.55, 1.5, seed, 0.006, 0.4)


def carpet(rng: np.random.Generator) -> Material:
    """A floor covering of a calm colour."""
    tone = rng.uniform(0.15, 0.5) * (0.7 + 0.3 * rng.random(3))
    return _mottled(tone, 0.45, 1.6, int(rng.integers(1 << 30)), 0.010, 0.8)


def hedge(
    tones: tuple[paints.Colour, paints.Colour, paints.Colour], rng: np.random.Generator
) -> Material:
    """What stands before a window, in given tones."""
    cloud = paints.Mottled(tones, paints.waves(int(rng.integers(1 << 30)), 0.06, 4))
    return Material("diffuse", tones[1], cloud, 2.0)


def tiles(rng: np.random.Generator) -> Material:
    """Square tiles with joints."""
    tone = _colour(rng.uniform(0.35, 0.85) * (0.7 + 0.3 * rng.random(3)))
    joint = _colour(np.array(tone) * rng.uniform(0.35, 0.75))
    side = float(rng.choice([0.1, 0.15, 0.2]))
    return Material("diffuse", tone, Tiles(tone, joint, side), 8 * side)


def print_(rng: np.random.Generator) -> Material:
    """A picture with winding bands: posters, packages, rugs."""
    first, second, third = (_colour(rng.uniform(0.05, 0.85, 3)) for _ in range(3))
    seed = int(rng.integers(1 << 30))
    bands = paints.Agate(
        (first, second, third), paints.waves(seed, 0.15, 2), paints.waves(seed + 1, 0.012, 3)
    )
    return Material("diffuse", first, bands, 0.8)


def ceramic(rng: np.random.Generator) -> Material:
    """Glazed, white or coloured."""
    white = rng.random() < 0.5
    tone = np.array([0.84, 0.83, 0.80]) if white else rng.uniform(0.08, 0.75, 3)
    return Material("ceramic", _colour(tone))


def paint(rng: np.random.Generator) -> Material:
    """A smooth coat of one colour, on furniture."""
    return Material("diffuse", _colour(rng.uniform(0.15, 0.8) * (0.6 + 0.4 * rng.random(3))))


def _mottled(
    tone: np.ndarray, dark: float, light: float, seed: int, shortest_m: float, side_m: float
) -> Material:
    low, middle, high = (_colour(np.minimum(tone * f, 0.95)) for f in (dark, 1.0, light))
    cloud = paints.Mottled((low, middle, high), paints.waves(seed, shortest_m, 4))
    return Material("diffuse", middle, cloud, side_m)


def _tones(
    rng: np.random.Generator, codes: tuple[str, ...]
) -> tuple[paints.Colour, paints.Colour, paints.Colour]:
    first, second, third = (
        paints.colour(code) for code in codes[int(rng.integers(len(codes)))].split()
    )
    return first, second, third


def _colour(tone: np.ndarray) -> paints.Colour:
    red, green, blue = (float(v) for v in tone)
    return red, green, blue
