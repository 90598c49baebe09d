"""Random scenes with exact disparities of both views, so that what one camera hides is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map, Mask

SEEDS = range(200, 224)
"""Nothing was tuned on these."""
SIZES_PX = {"scenes": (640, 480), "crowded scenes": (320, 240)}
"""Scenes with gaps as wide as those of Middlebury's; and with as many things on a quarter of the
image, where most of them hide others.
"""
Values = NDArray[np.float64]
Size = tuple[int, int]


@dataclass(frozen=True)
class _Layer:
    """A piece of a plane: where it is in the left view, and its disparity there."""

    inside: Callable[[Values, Values], Mask]
    level: float
    slopes: tuple[float, float]

    def disparity(self, x: Values, y: Values) -> Values:
        return self.level + self.slopes[0] * x + self.slopes[1] * y

    def at_right(self, x: Values, y: Values) -> Values:
        """The column of the left view that a column of the right view shows."""
        return (x + self.level + self.slopes[1] * y) / (1 - self.slopes[0])


class Scene(NamedTuple):
    """What both cameras see."""

    truth: Map
    """The left view's disparity, without gaps."""
    hidden: Mask
    """Which of its pixels the right camera does not see."""
    right: Map
    """The right view's disparity, NaN where the left camera does not see the same."""


def occluded_scene(seed: int, size: Size = (640, 480)) -> Scene:
    """A scene of planes.

    A pixel is hidden if, in the other view, everything at its place is more than a px in front of
    it. What lies beyond the border of the other view is not hidden.
    """
    rng = np.random.default_rng(seed)
    layers = [_wall(rng, size), *(_box(rng, size) for _ in range(4))]
    layers += [_disc(rng, size) for _ in range(2)] + [_bar(rng, size) for _ in range(6)]
    width, height = size
    y, x = np.mgrid[:height, :width].astype(np.float64)
    left, right = np.full(x.shape, -np.inf), np.full(x.shape, -np.inf)
    for layer in layers:
        here = layer.inside(x, y)
        left[here] = np.maximum(left, layer.disparity(x, y))[here]
        origin = layer.at_right(x, y)
        there = layer.inside(origin, y)
        right[there] = np.maximum(right, layer.disparity(origin, y))[there]
    unseen = _hidden(right, left, x + right)
    return Scene(
        left.astype(np.float32),
        _hidden(left, right, x - left),
        np.where(unseen, np.nan, right).astype(np.float32),
    )


def _hidden(own: Values, other: Values, place: Values) -> Mask:
    """Where the other view has something in front, at the columns where it has these pixels."""
    width = own.shape[1]
    first = np.floor(place).astype(int).clip(0, width - 2)
    rows = np.indices(own.shape)[0]
    nearest = np.minimum(other[rows, first], other[rows, first + 1])
    return np.asarray((place >= 0) & (place <= width - 1) & (nearest > own + 1))


def _wall(rng: np.random.Generator, size: Size) -> _Layer:
    slopes = (float(rng.uniform(-9.6, 9.6)) / size[0], float(rng.uniform(0, 7.2)) / size[1])
    return _Layer(lambda x, y: np.ones(np.shape(x), bool), float(rng.uniform(12, 18)), slopes)


def _turned(
    rng: np.random.Generator, size: Size
) -> Callable[[Values, Values], tuple[Values, Values]]:
    """Coordinates around a random place in a random direction."""
    column, row = rng.uniform(20, size[0] - 20), rng.uniform(20, size[1] - 20)
    angle = rng.uniform(0, np.pi)

    def coordinates(x: Values, y: Values) -> tuple[Values, Values]:
        dx, dy = x - column, y - row
        return dx * np.cos(angle) + dy * np.sin(angle), dy * np.cos(angle) - dx * np.sin(angle)

    return coordinates


def _plane(rng: np.random.Generator, size: Size) -> tuple[float, tuple[float, float]]:
    """A disparity in front of every wall, and slopes."""
    slopes = rng.uniform(-16, 16, 2) / size[0]
    middle = rng.uniform(28, 45)
    level = middle - slopes[0] * size[0] / 2 - slopes[1] * size[1] / 2
    return float(level), (float(slopes[0]), float(slopes[1]))


def _box(rng: np.random.Generator, size: Size) -> _Layer:
    turn, (wide, high) = _turned(rng, size), rng.uniform(0.05, 0.14, 2) * size[0]

    def inside(x: Values, y: Values) -> Mask:
        u, v = turn(x, y)
        return np.asarray((abs(u) < wide) & (abs(v) < high))

    return _Layer(inside, *_plane(rng, size))


def _disc(rng: np.random.Generator, size: Size) -> _Layer:
    turn, radius = _turned(rng, size), rng.uniform(0.04, 0.11) * size[0]

    def inside(x: Values, y: Values) -> Mask:
        return np.asarray(np.hypot(*turn(x, y)) < radius)

    return _Layer(inside, *_plane(rng, size))


def _bar(rng: np.random.Generator, size: Size) -> _Layer:
    turn, half = _turned(rng, size), rng.uniform(0.8, 4)
    length = rng.uniform(0.1, 0.4) * size[0]

    def inside(x: Values, y: Values) -> Mask:
        u, v = turn(x, y)
        return np.asarray((abs(u) < half) & (abs(v) < length))

    return _Layer(inside, *_plane(rng, size))
