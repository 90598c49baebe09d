"""The way of the rig: viewpoints on a hemisphere around the subject, connected frame by frame.

Viewpoints are drawn around the subject and those that pass all tests at the first frame are kept.
The best one is the start. From there the rig glides towards another kept viewpoint, and on to the
next, while the subject stays aimed at. Every frame is tested for all six cameras. Where one fails,
the way is cut at that frame: the part before it stays, and another goal is tried from there
(restart and splice).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.synth.scene.camera import looking
from depthgauge.synth.sets.rig._checks import horizontal, judge, steps_of
from depthgauge.synth.sets.rig._limits import Limits, Rejected
from depthgauge.synth.sets.rig._proposal import Proposal

Floats = NDArray[np.float64]
_GLIDE_DEG_S = 16.0
"""About how fast the rig goes around the subject."""
_BACK = 4
"""Frames before a fault at which the way is cut."""


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """A place of the rig's middle relative to the subject."""

    around: float
    """Radians about the vertical."""
    up: float
    """Radians above the level."""
    far_m: float
    aside: float
    """Where the subject is in the image, in image widths to the right of the middle."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A finished way."""

    base: Floats
    """(F, 4, 4) poses of camera 00."""
    kept: int
    """Viewpoints that passed all tests at the first frame."""
    restarts: int
    far_m: float
    """Mean distance of the rig from the subject."""
    up_deg: float
    around_deg: float
    """How far it went around the subject."""


def connect(proposal: Proposal, rng: np.random.Generator, limits: Limits) -> Trajectory:
    """A way over all frames.

    Raises:
        Rejected: No viewpoint passes, or no way does.
    """
    pool = _kept(proposal, rng, limits)
    targets = _targets(proposal)
    frames = len(proposal.times_s)
    way = [pool[0]]
    restarts, reason = 0, "visibility"
    while len(way) < frames:
        plan = _glide(way[-1], _goal(way[-1], pool, rng), frames - len(way), proposal)
        trial = [*way, *plan]
        first = max(len(way) - 1, 0)
        numbers = np.arange(first, len(trial))
        base = _poses(proposal, trial[first:], targets[numbers])
        end, why = judge(proposal, base, numbers, limits).first_fault()
        if not why:
            way = trial
            continue
        reason = why
        restarts += 1
        if restarts > limits.restarts:
            raise Rejected(reason)
        way = trial[: max(1, first + end - _BACK)]
    base = _poses(proposal, way, targets)
    _check_motion(base, proposal, limits)
    _, reason = judge(proposal, base, np.arange(frames), limits).first_fault()
    if reason:
        raise Rejected(reason)
    return Trajectory(
        base,
        len(pool),
        restarts,
        float(np.mean([point.far_m for point in way])),
        math.degrees(float(np.mean([point.up for point in way]))),
        math.degrees(abs(way[-1].around - way[0].around)),
    )


def _kept(proposal: Proposal, rng: np.random.Generator, limits: Limits) -> list[Viewpoint]:
    """The viewpoints that pass at the first frame, the best one first."""
    low, high = proposal.world.place.distance_m
    count = limits.candidates
    found = [
        Viewpoint(
            *(float(rng.uniform(-math.pi, math.pi)), math.asin(float(rng.uniform(-0.04, 0.55)))),
            *(float(low * (high / low) ** rng.uniform(0, 1)), float(rng.uniform(-0.15, 0.15))),
        )
        for _ in range(count)
    ]
    targets = np.repeat(_targets(proposal)[:1], count, axis=0)
    base = _poses(proposal, found, targets)
    frames = np.zeros(count, np.intp)
    # Each is judged alone: they are places, not a way.
    reasons: dict[str, int] = {}
    scored = []
    for number, point in enumerate(found):
        judged = judge(proposal, base[number : number + 1], frames[:1], limits)
        _, why = judged.first_fault()
        if why:
            reasons[why] = reasons.get(why, 0) + 1
        else:
            scored.append((-float(judged.score[0]), number, point))
    if not scored:
        raise Rejected(max(reasons, key=lambda why: reasons[why]))
    return [point for _, _, point in sorted(scored, key=lambda row: row[:2])]


def _targets(proposal: Proposal) -> Floats:
    """What the rig aims at: the middle of the subject, without its quick motion."""
    middle = proposal.points.mean(axis=1)
    reach = min(7, max(1, len(middle) // 2))
    wide = np.pad(middle, ((reach, reach), (0, 0)), mode="edge")
    kernel = np.ones(2 * reach + 1) / (2 * reach + 1)
    return np.stack([np.convolve(axis, kernel, mode="valid") for axis in wide.T], axis=-1)


def _goal(now: Viewpoint, pool: list[Viewpoint], rng: np.random.Generator) -> Viewpoint:
    """One of the nearest kept viewpoints, or a small step if there is no other."""
    others = sorted(pool, key=lambda p: _apart(now, p))[1:9]
    if others and rng.random() < 0.8:
        return others[int(rng.integers(len(others)))]
    turn, lift, far = rng.uniform((-0.5, -0.15, -0.15), (0.5, 0.15, 0.15))
    up = float(np.clip(now.up + lift, 0.0, 0.85))
    return Viewpoint(now.around + float(turn), up, now.far_m * (1 + float(far)), now.aside)


def _apart(a: Viewpoint, b: Viewpoint) -> float:
    turn = abs(horizontal(a.around - b.around))
    return turn + abs(a.up - b.up) + abs(math.log(a.far_m / b.far_m))


def _glide(now: Viewpoint, goal: Viewpoint, most: int, proposal: Proposal) -> list[Viewpoint]:
    """Viewpoints of the next frames on the way to a goal, slow at both ends."""
    turn = horizontal(goal.around - now.around)
    length = max(abs(turn), abs(goal.up - now.up), abs(math.log(goal.far_m / now.far_m)))
    step_s = float(proposal.times_s[1]) if len(proposal.times_s) > 1 else 1.0
    # The speed over the ground stays the same at all distances.
    pace = math.radians(_GLIDE_DEG_S) * min(1.6, 4.0 / now.far_m)
    count = max(6, math.ceil(length / (pace * step_s)))
    found = []
    for number in range(1, min(count, most) + 1):
        t = number / count
        ease = t + 0.5 * (t * t * (3 - 2 * t) - t)
        found.append(
            Viewpoint(
                now.around + ease * turn,
                now.up + ease * (goal.up - now.up),
                now.far_m * (goal.far_m / now.far_m) ** ease,
                now.aside + ease * (goal.aside - now.aside),
            )
        )
    return found


def _poses(proposal: Proposal, points: list[Viewpoint], targets: Floats) -> Floats:
    """Poses of camera 00: half of the row is to the left of the rig's middle."""
    from depthgauge.synth.sets.rig._proposal import SENSOR_MM

    half = sum(proposal.gaps_cm) / 200
    poses = np.tile(np.eye(4), (len(points), 1, 1))
    for pose, point, target in zip(poses, points, targets, strict=True):
        level = math.cos(point.up)
        out = np.array(
            [level * math.cos(point.around), -math.sin(point.up), level * math.sin(point.around)]
        )
        axes = looking(-out)
        shift = point.aside * point.far_m * SENSOR_MM[0] / proposal.focal_mm
        pose[:3, :3] = axes
        pose[:3, 3] = target + point.far_m * out - (half + shift) * axes[:, 0]
    return poses


def _check_motion(base: Floats, proposal: Proposal, limits: Limits) -> None:
    """The rig moves, but never jumps.

    Raises:
        Rejected: It stands still or jumps.
    """
    if len(base) < 2:
        return
    moved, turned = steps_of(base)
    if moved.max() > limits.step_m or turned.max() > limits.step_deg:
        raise Rejected("motion")
    speed = float(moved.sum()) / float(proposal.times_s[-1])
    if speed < limits.least_m_s:
        raise Rejected("motion")
