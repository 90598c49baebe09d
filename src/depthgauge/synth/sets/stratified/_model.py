"""Surfaces with their paints, and their packing into numbers for the kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol, TypeAlias

import numpy as np

from depthgauge.synth.sets.stratified import _records as records
from depthgauge.synth.sets.stratified._grid import Grid
from depthgauge.synth.sets.stratified._paint import (
    FINEST_PX,
    TO_LIGHT,
    Paint,
    Tones,
    brightness,
    random_texture,
)

Row: TypeAlias = tuple[int, float, float, float, int, int, int]
Numbers: TypeAlias = tuple[float, ...]
Table: TypeAlias = list[tuple[float, float, float]]


_AMBIENT = 0.7
"""Share of ambient light on folds, so that none is dark."""


class Shape(Protocol):
    """A surface in disparity space."""

    def row(self, table: Table) -> tuple[Row, Numbers]:
        """A row of `_records.SURFACE` and its numbers; longer lists go into the table."""
        ...


@dataclass(frozen=True, slots=True)
class Pattern:
    """Where a plane exists, by its kind and numbers; the kernels say what each means."""

    kind: int = records.WHOLE
    numbers: tuple[float, ...] = ()
    dots: Sequence[tuple[float, float, float]] = ()


@dataclass(frozen=True, slots=True)
class Plane:
    """d = level + slope_x x + slope_y y."""

    level: float
    slope_x: float = 0.0
    slope_y: float = 0.0
    pattern: Pattern = field(default_factory=Pattern)

    def row(self, table: Table) -> tuple[Row, Numbers]:
        """As the kernels read it."""
        first = len(table)
        table += self.pattern.dots
        slopes, span = (self.level, self.slope_x, self.slope_y), (first, len(self.pattern.dots))
        return (records.PLANE, *slopes, self.pattern.kind, *span), self.pattern.numbers


@dataclass(frozen=True, slots=True)
class Profile:
    """A folded screen: disparities go in straight lines from corner to corner."""

    corners: Sequence[tuple[float, float]]
    """Places along the axis and disparities there."""
    grid: Grid
    along_y: bool = False

    def row(self, table: Table) -> tuple[Row, Numbers]:
        """As the kernels read it."""
        first = len(table)
        table += [
            (at, d, light)
            for (at, d), light in zip(self.corners, (*self._lights(), 1.0), strict=True)
        ]
        row = (records.PROFILE, 0.0, 0.0, 0.0, records.WHOLE, first, len(self.corners))
        return row, (float(self.along_y),)

    def _lights(self) -> Iterator[float]:
        """Brightness of the part after each corner but the last."""
        for (at, d), (after, next_d) in pairwise(self.corners):
            slope = (next_d - d) / (after - at)
            slopes = (0.0, slope) if self.along_y else (slope, 0.0)
            yield brightness(self.grid, _AMBIENT, d - slope * at, *slopes)


@dataclass(frozen=True, slots=True)
class Pyramid:
    """Four planes from a square in a plane to a tip in front of it, or behind it."""

    middle_px: tuple[float, float]
    half_px: float
    base: float
    tip: float

    def row(self, table: Table) -> tuple[Row, Numbers]:
        """As the kernels read it."""
        kind = records.PYRAMID if self.tip > self.base else records.PIT
        return _row(kind), (*self.middle_px, self.half_px, self.base, self.tip)


@dataclass(frozen=True, slots=True)
class HalfBall:
    """A half ball on a plane, or one pressed into it."""

    grid: Grid
    middle_px: tuple[float, float]
    radius_m: float
    base: float
    inward: bool = False

    @property
    def radius_px(self) -> float:
        """Radius of its circle in the plane."""
        return self.radius_m * self.grid.focal_px / self.grid.depth_m(self.base)

    def row(self, table: Table) -> tuple[Row, Numbers]:
        """As the kernels read it."""
        depth = self.grid.depth_m(self.base)
        x, y = (at * depth / self.grid.focal_px for at in self.middle_px)
        numbers = (x, y, depth, self.radius_m, *self.middle_px, self.radius_px, self.base)
        return _row(records.BOWL if self.inward else records.BALL), numbers


@dataclass(frozen=True, slots=True)
class Ghost:
    """A painted plane that is seen in or through a surface."""

    plane: Plane
    tones: Tones
    weight: tuple[float, float]
    """Its share of the light at the image's left border, and how much more at the right one."""
    blur_px: tuple[float, float] = (0.0, 0.0)
    """Its blur there, likewise."""
    finest_px: float = FINEST_PX


@dataclass(frozen=True, slots=True)
class Thing:
    """A surface, its paint, and what is seen in or through it."""

    shape: Shape
    paint: Paint
    ghosts: Sequence[Ghost] = ()


def packed(things: Sequence[Thing], grid: Grid, seed: Sequence[int]) -> records.PackedScene:
    """All numbers of a scene, as the kernels read them.

    Args:
        things: The n-th is surface n.
        grid: The cameras.
        seed: Seed of the textures.
    """
    table: Table = []
    rows = [thing.shape.row(table) for thing in things]
    paints = [_paint_row(thing.paint, table) for thing in things]
    ghosts = [(i, ghost) for i, thing in enumerate(things) for ghost in thing.ghosts]
    looks: list[Paint | Ghost] = [
        *(thing.paint for thing in things),
        *(ghost for _, ghost in ghosts),
    ]
    textures = [random_texture((*seed, i), look.finest_px) for i, look in enumerate(looks)]
    optics = (grid.focal_px, grid.baseline_m, grid.offset_px)
    return records.PackedScene(
        surfaces=np.array([row for row, _ in rows], records.SURFACE),
        numbers=np.array(
            [
                (*_eight(numbers), *optics, *thing.paint.faces)
                for (_, numbers), thing in zip(rows, things, strict=True)
            ]
        ),
        table=np.array(table, np.float64).reshape(-1, 3),
        paints=np.array(paints, records.PAINT),
        ghosts=np.array([_ghost_row(i, ghost) for i, ghost in ghosts], records.GHOST),
        tones=np.array([look.tones for look in looks]),
        textures=np.stack([octaves for octaves, _ in textures]),
        lattices=np.stack([nodes for _, nodes in textures]),
    )


def _row(kind: int) -> Row:
    return kind, 0.0, 0.0, 0.0, records.WHOLE, 0, 0


def _paint_row(paint: Paint, table: Table) -> tuple[float, ...]:
    span = (len(table), len(paint.repeats))
    table += [(period, unique, 0.0) for period, unique in paint.repeats]
    return *paint.contrast, paint.ambient, *TO_LIGHT, *span


def _ghost_row(surface: int, ghost: Ghost) -> tuple[float, ...]:
    plane = ghost.plane
    return surface, plane.level, plane.slope_x, plane.slope_y, *ghost.weight, *ghost.blur_px


def _eight(numbers: Numbers) -> Numbers:
    return (*numbers, *[0.0] * (8 - len(numbers)))
