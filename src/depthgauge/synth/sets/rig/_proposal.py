"""A proposal: map, subject, action, spawn, lens and gaps, all drawn from one seed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.library.maps import MAPS, maps_of
from depthgauge.synth.library.subjects import (
    ACTIONS,
    SUBJECTS,
    Action,
    Path,
    SubjectKind,
    places_of,
)
from depthgauge.synth.sets.rig._gaps import draw_gaps
from depthgauge.synth.sets.rig._limits import Limits, Rejected
from depthgauge.synth.sets.rig._world import World, world

Floats = NDArray[np.float64]
FOCAL_MM = (18.0, 85.0)
SENSOR_MM = (23.76, 23.76)
FSTOPS = (2.8, 4.0, 5.6, 8.0)
"""Recorded only: all cameras are pinholes and nothing is out of focus."""
_SPACED = 12
"""Directions in which space around the subject is tested."""


@dataclass(frozen=True, slots=True)
class Shoot:
    """What scenes of a set have in common."""

    family: str = "Uniform"
    size_px: tuple[int, int] = (1280, 1280)
    frames: int = 81
    fps: float = 15.0
    maps: tuple[str, ...] = ()
    """Maps to draw from; empty: all that fit the split."""
    subjects: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A scene before its cameras have a trajectory."""

    map_name: str
    layout: int
    world: World
    subject: SubjectKind
    action: Action
    look: int
    """Seed of the subject's colours."""
    path: Path
    focal_mm: float
    fstop: float
    gaps_cm: tuple[float, ...]
    times_s: Floats

    @property
    def points(self) -> Floats:
        """(F, N, 3) points of the subject at every frame."""
        return np.stack(
            [places_of(self.subject, self.action, self.path, float(t)) for t in self.times_s]
        )


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn before anything was tested: the proposed distribution."""

    map_name: str
    layout: int
    subject: str
    action: str
    look: int
    focal_mm: float
    fstop: float
    gaps_cm: tuple[float, ...]


def draw(rng: np.random.Generator, shoot: Shoot, *, reserved: bool) -> Drawn:
    """Independent draws of everything that a scene is made of."""
    maps = list(shoot.maps) or maps_of(reserved=reserved)
    name = maps[int(rng.integers(len(maps)))]
    subjects, actions = (list(shoot.subjects) or sorted(SUBJECTS)), list(shoot.actions)
    actions = actions or sorted(ACTIONS)
    return Drawn(
        name,
        int(rng.integers(MAPS[name].layouts)),
        subjects[int(rng.integers(len(subjects)))],
        actions[int(rng.integers(len(actions)))],
        int(rng.integers(36)),
        round(float(rng.uniform(*FOCAL_MM)), 4),
        FSTOPS[int(rng.integers(len(FSTOPS)))],
        draw_gaps(shoot.family, rng),
    )


def placed(drawn: Drawn, rng: np.random.Generator, shoot: Shoot) -> Proposal:
    """Puts the subject somewhere in the map.

    Raises:
        Rejected: It has no ground or no space.
    """
    here = world(drawn.map_name, drawn.layout)
    subject, action = SUBJECTS[drawn.subject], ACTIONS[drawn.action]
    times = np.arange(shoot.frames) / shoot.fps
    path = _spawned(here, subject, action, times, rng, shoot.limits)
    return Proposal(
        *(drawn.map_name, drawn.layout, here, subject, action, drawn.look, path),
        *(drawn.focal_mm, drawn.fstop, drawn.gaps_cm, times),
    )


def _spawned(
    here: World,
    subject: SubjectKind,
    action: Action,
    times: Floats,
    rng: np.random.Generator,
    limits: Limits,
) -> Path:
    """The first of a few random paths that has ground and space."""
    for _ in range(limits.spawns - 1):
        try:
            return _path(here, subject, action, times, rng, limits)
        except Rejected:
            continue
    return _path(here, subject, action, times, rng, limits)


def _path(
    here: World,
    subject: SubjectKind,
    action: Action,
    times: Floats,
    rng: np.random.Generator,
    limits: Limits,
) -> Path:
    """An arc on the ground; straight where its radius is large."""
    x0, x1, z0, z1 = here.place.spawn_m
    start = np.array([rng.uniform(x0, x1), 0.0, rng.uniform(z0, z1)])
    heading = float(rng.uniform(0, 2 * math.pi))
    # Small places are walked in small circles.
    room = 0.5 * min(x1 - x0, z1 - z0)
    bend = float(rng.choice([-1.0, 1.0])) / (room * float(rng.uniform(0.5, 2.5)))
    speed = action.speed_m_s * min(1.0, room / 2.0)
    turned = heading + bend * speed * times
    step = np.diff(times, prepend=times[:1])
    ahead = np.stack([np.sin(turned), 0 * turned, np.cos(turned)], axis=-1)
    places = start + np.cumsum(speed * step[:, None] * ahead, axis=0)
    ground = here.ground(places)
    if not np.isfinite(ground).all() or np.ptp(ground) > 4 * limits.support_m:
        raise Rejected("spawn")
    places[:, 1] = _smooth(ground)
    _check_space(here, subject, places, ground, limits)
    return Path(times, places, np.degrees(turned))


def _smooth(values: Floats) -> Floats:
    """A running mean: feet do not jump over small stones."""
    if len(values) < 5:
        return values
    kernel = np.ones(5) / 5
    return np.convolve(np.pad(values, 2, mode="edge"), kernel, mode="valid")


def _check_space(
    here: World, subject: SubjectKind, places: Floats, ground: Floats, limits: Limits
) -> None:
    """Ground under the subject's rim, and nothing within its cylinder."""
    if np.abs(places[:, 1] - ground).max() > limits.support_m:
        raise Rejected("spawn")
    around = np.arange(_SPACED) * 2 * math.pi / _SPACED
    ways = np.stack([np.cos(around), 0 * around, np.sin(around)], axis=-1)
    chosen = places[:: max(1, len(places) // 12)]
    rim = (chosen[:, None] + 0.6 * subject.radius_m * ways[::3]).reshape(-1, 3)
    under = here.ground(rim).reshape(len(chosen), -1)
    off = np.abs(under - chosen[:, 1:2])
    if not subject.hover_m and not (off <= limits.support_m).all():
        raise Rejected("spawn")
    reach = subject.radius_m + limits.clear_m
    for share in (0.2, 0.55, 0.95):
        up = subject.hover_m + share * subject.height_m
        starts = np.repeat(chosen - np.array([0.0, up, 0.0]), _SPACED, axis=0)
        if (here.distance(starts, np.tile(ways, (len(chosen), 1))) < reach).any():
            raise Rejected("spawn")
