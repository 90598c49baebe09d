"""Which numbers the light-field evaluator gives for which scene, and from which masks and maps."""

from __future__ import annotations

from dataclasses import dataclass

GENERAL_IDS = ("mse_100", "badpix_0010", "badpix_0030", "badpix_0070", "q_25_100")
THRESHOLDS = (0.01, 0.03, 0.07)
"""Thresholds of the three `badpix` ids, in their order."""
GENERAL_AT_HIGH = ("backgammon", "dots", "stripes")
"""Scenes whose general numbers are computed at the high resolution."""
MISSED_DOTS = "missed_dots_50_0400"
RUNTIME_IDS = ("runtime", "runtime_log")

BAD, BELOW, ABOVE, NEARER, FARTHER, SQUARE = range(6)
"""What counts in a masked region: |g - d| > t; g - d < -t; g - d > t; an estimate above or below
the middle between the truth and a reference; the squared error."""


@dataclass(frozen=True, slots=True)
class MaskedScore:
    """A number computed from the pixels under one mask, at the high resolution."""

    id: str
    mask: str
    rule: int
    limit: float = 0.0
    column: int = 0
    """The column whose truth is the reference of its row; negative: counted from the right."""


@dataclass(frozen=True, slots=True)
class Surface:
    """Bumpiness and angular error of the surface under some masks, at the low resolution."""

    bumpiness: str
    angle: str
    """The id of the angular error; empty if there is none."""
    masks: tuple[str, ...]


_PHOTOREALISTIC = ""
_MASKED = {
    "backgammon": (
        MaskedScore("backgammon_fattening_0070", "foreground_fattening", NEARER, column=140),
        MaskedScore("backgammon_thinning_0070", "foreground_thinning", FARTHER, column=-11),
    ),
    "dots": (MaskedScore("background_mse_100", "background", SQUARE),),
    "pyramids": (),
    "stripes": (
        MaskedScore("low_texture_0070", "low_texture", BAD, 0.07),
        # Dark stripes are the ones with high contrast.
        MaskedScore("dark_stripes_0070", "high_contrast", BAD, 0.07),
        MaskedScore("bright_stripes_0070", "low_contrast", BAD, 0.07),
    ),
    _PHOTOREALISTIC: (
        MaskedScore("discontinuities_0070", "discontinuities", BAD, 0.07),
        MaskedScore("fine_fattening_0150", "fine_surrounding", BELOW, 0.15),
        MaskedScore("fine_thinning_0150", "fine", ABOVE, 0.15),
    ),
}
_SURFACES = {
    "pyramids": (
        Surface("bumpiness_slanted_100_0050", "", ("sphere_in", "sphere_out", "pyramids")),
        Surface("bumpiness_parallel_100_0050", "", ("plane",)),
    ),
    _PHOTOREALISTIC: (
        Surface("bumpiness_planes_100_0050", "mae_planes", ("planes",)),
        Surface("bumpiness_contin_surfaces_100_0050", "mae_contin_surfaces", ("smooth_surfaces",)),
    ),
}


def masked_of(scene: str) -> tuple[MaskedScore, ...]:
    """What is measured under masks at the high resolution; other scenes are photorealistic."""
    return _MASKED.get(scene, _MASKED[_PHOTOREALISTIC])


def surfaces_of(scene: str) -> tuple[Surface, ...]:
    """The surfaces at the low resolution."""
    own = scene if scene in _MASKED else _PHOTOREALISTIC
    return _SURFACES.get(own, ())


def all_ids() -> tuple[str, ...]:
    """Every id, in the evaluator's order."""
    ids = list(GENERAL_IDS)
    for scene in ("backgammon", "pyramids", "dots", "stripes", _PHOTOREALISTIC):
        surfaces = surfaces_of(scene)
        ids += [surface.bumpiness for surface in surfaces]
        ids += [surface.angle for surface in surfaces if surface.angle]
        ids += [region.id for region in masked_of(scene)]
        ids += [MISSED_DOTS] if scene == "dots" else []
    return (*ids, *RUNTIME_IDS)
