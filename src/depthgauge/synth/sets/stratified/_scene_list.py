"""All scenes by name, and scenes with given axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from depthgauge._registry import nearest, unknown
from depthgauge.errors import Misuse
from depthgauge.synth.sets.stratified._axis import Axis
from depthgauge.synth.sets.stratified._scene import Scene
from depthgauge.synth.sets.stratified.backgammon import Backgammon
from depthgauge.synth.sets.stratified.camouflage import Camouflage
from depthgauge.synth.sets.stratified.decalibration import Decalibration
from depthgauge.synth.sets.stratified.dots import Dots
from depthgauge.synth.sets.stratified.exposure import Exposure
from depthgauge.synth.sets.stratified.glass import Glass
from depthgauge.synth.sets.stratified.gloss import Gloss
from depthgauge.synth.sets.stratified.pyramids import Pyramids
from depthgauge.synth.sets.stratified.repetition import Repetition
from depthgauge.synth.sets.stratified.slant import Slant
from depthgauge.synth.sets.stratified.stripes import Stripes

BENCHMARK: tuple[type[Scene], ...] = (Backgammon, Dots, Pyramids, Stripes)
"""Scenes of the 4D light-field benchmark."""
OURS: tuple[type[Scene], ...] = (
    Camouflage,
    Glass,
    Gloss,
    Slant,
    Repetition,
    Decalibration,
    Exposure,
)
"""Scenes that only depthgauge has."""
TYPES: Mapping[str, type[Scene]] = {kind.name: kind for kind in BENCHMARK + OURS}
SCENES: tuple[str, ...] = tuple(TYPES)
"""The names of the scenes: four of the 4D light-field benchmark, then our own."""


def axes_of(name: str) -> tuple[str, ...]:
    """The names of a scene's axes.

    >>> axes_of("dots")
    ('noise', 'diameter')

    Raises:
        UnknownName: There is no such scene.
    """
    if name not in TYPES:
        raise unknown("stratified scene", name, TYPES)
    return tuple(f.name for f in fields(TYPES[name]))  # type: ignore[arg-type]  # all are dataclasses


def scene(name: str, axes: Mapping[str, Any]) -> Scene:
    """A scene with the given axes, which may be anything that `Axis.of` accepts.

    Raises:
        UnknownName: There is no such scene.
        Misuse: It has no such axis, or the values are not allowed.
    """
    known = axes_of(name)
    for axis in axes:
        if axis not in known:
            found = f"its axes are {', '.join(known)}" if known else "it has none"
            hint = nearest(axis, known)
            raise Misuse(f"'{axis}' is not an axis of scene '{name}': {found}. {hint}".rstrip())
    return TYPES[name](**{axis: Axis.of(values) for axis, values in axes.items()})
