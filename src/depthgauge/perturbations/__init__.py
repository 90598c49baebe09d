"""Perturbations: images damaged by noise, blur, exposure, lens, compression or decalibration.

An effect is one decorated function in a module of this folder (see `_effect.py`); a perturbation is
effects with their levels and views, written `noise:5@right+jpeg:50` (see `texts.py`).
"""

from __future__ import annotations

from depthgauge.perturbations._effect import EFFECTS, Effect, effect
from depthgauge.perturbations.apply import perturb_image, perturb_inputs
from depthgauge.perturbations.texts import Part, Perturbation, levels_of, parse_perturbation

__all__ = [
    "EFFECTS",
    "Effect",
    "Part",
    "Perturbation",
    "effect",
    "levels_of",
    "parse_perturbation",
    "perturb_image",
    "perturb_inputs",
]
