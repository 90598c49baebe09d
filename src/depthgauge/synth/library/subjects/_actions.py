"""What subjects do: walk, run, turn, wave, jump, sway, stalk.

An action says how fast a subject goes and what its body is asked for at a time; each subject knows
which of its joints that moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moment:
    """What a body is asked for at a time."""

    stride: float = 0.0
    """Legs, wings or wheels: -1..1, a wave."""
    other: float = 0.0
    """The same a quarter of a cycle later."""
    lift_m: float = 0.0
    """Height above the path."""
    turn_deg: float = 0.0
    """Rotation about the vertical, beyond that of the path."""
    gesture: float = 0.0
    """An arm, head or tail that is raised: 0..1."""
    lean_deg: float = 0.0
    """To the side."""
    turns: float = 0.0
    """Cycles since the start, for wheels and rotors."""


@dataclass(frozen=True, slots=True)
class Action:
    """A way to move."""

    name: str
    verb: str
    """For descriptions: `walks`."""
    speed_m_s: float
    """Along its path; 0 stays where it is."""
    moment: Callable[[float], Moment]
    """What is asked of the body at a time in seconds."""


def _cycle(time_s: float, per_s: float) -> tuple[float, float, float]:
    turns = per_s * time_s
    return math.sin(2 * math.pi * turns), math.cos(2 * math.pi * turns), turns


def _walk(time_s: float) -> Moment:
    stride, other, turns = _cycle(time_s, 0.9)
    return Moment(0.7 * stride, 0.7 * other, 0.02 * abs(stride), turns=turns)


def _run(time_s: float) -> Moment:
    stride, other, turns = _cycle(time_s, 1.5)
    return Moment(stride, other, 0.07 * abs(other), lean_deg=2 * stride, turns=turns)


def _turn(time_s: float) -> Moment:
    stride, other, turns = _cycle(time_s, 0.7)
    return Moment(0.25 * stride, 0.25 * other, 0.0, 65 * time_s, 0.15, turns=turns)


def _wave(time_s: float) -> Moment:
    stride, other, turns = _cycle(time_s, 1.1)
    return Moment(0.1 * stride, 0.1 * other, 0.0, 8 * other, 0.85 + 0.15 * stride, 0.0, turns)


def _jump(time_s: float) -> Moment:
    part = time_s * 1.1 % 1.0
    up = max(0.0, 4 * part * (1 - part)) ** 1.0
    _, other, turns = _cycle(time_s, 1.1)
    return Moment(0.5 * (up - 0.5), 0.3 * other, 0.32 * up, 0.0, 0.6 * up, 0.0, turns)


def _sway(time_s: float) -> Moment:
    stride, other, turns = _cycle(time_s, 0.6)
    return Moment(
        0.35 * stride, 0.35 * other, 0.03 * abs(stride), 25 * stride, 0.4, 9 * other, turns
    )


def _stalk(time_s: float) -> Moment:
    stride, other, turns = _cycle(time_s, 0.45)
    return Moment(0.9 * stride, 0.9 * other, 0.0, 5 * stride, 0.1 + 0.1 * other, 0.0, turns)


ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        Action("walk", "walks", 1.1, _walk),
        Action("run", "runs", 2.2, _run),
        Action("turn", "turns on the spot", 0.0, _turn),
        Action("wave", "stands and waves", 0.0, _wave),
        Action("jump", "jumps forward", 0.5, _jump),
        Action("sway", "sways to and fro", 0.15, _sway),
        Action("stalk", "walks slowly", 0.5, _stalk),
    )
}
"""All actions by name."""
