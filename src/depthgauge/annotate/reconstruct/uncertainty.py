"""How certain a reconstruction is at every pixel, and which normal would help most.

The annotation is repeated with the errors that people make: every given normal is tilted a little.
Where the copies differ, the depth is uncertain. The same copies say how the depth of each pixel
depends on each normal, so what another normal would teach is known before anybody gives it: the
variance that it would remove (the gain of an ensemble Kalman filter).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.reconstruction import (
    Reconstruction,
    ReconstructionCache,
    reconstruct,
)
from depthgauge.annotate.reconstruct.segmentation import pixel_of
from depthgauge.annotate.records.annotation import Annotation, NormalMark, Point, Vector
from depthgauge.errors import Misuse
from depthgauge.types import Map

Array = NDArray[np.float64]

TILT_DEG = 12.0
"""Mean tilt of a normal that a person gives; as of simulated people."""
COPIES = 16
_SURE_DEG = 4.0
"""Tilt of a normal given with care, as advice asks for."""
_GRID = 24
"""Places along the longer side where another normal is considered."""
_UNKNOWN_DEG = 30.0
"""Tilt of a surface of which nobody said anything."""


@dataclass(frozen=True)
class Advice:
    """What would make the depth more certain."""

    text: str
    """A sentence for the annotator."""
    at_px: Point
    """In pixels of the photograph."""
    gain: float
    """Share of the mean variance of log depth that it would remove, 0 to 1."""
    id: str = ""
    """The normal to check; empty for a new one."""


@dataclass(frozen=True)
class Uncertainty:
    """How much the copies differ."""

    depth_percent: Map
    """(H, W): standard deviation of depth, each continuous surface up to its scale."""
    normals_deg: Map
    """(H, W): root of the mean squared angle to the normal of the reconstruction."""
    advice: tuple[Advice, ...]
    """The most helpful first."""
    reconstruction: Reconstruction


def uncertainty(
    annotation: Annotation,
    *,
    seed: int = 0,
    max_side_px: int | None = 300,
    tilt_deg: float = TILT_DEG,
    copies: int = COPIES,
    most: int = 5,
) -> Uncertainty:
    """The uncertainty of each pixel, and advice.

    Args:
        annotation: What was drawn.
        seed: Of the reconstruction and of the tilts.
        max_side_px: Longer side of the picture that is worked on.
        tilt_deg: Mean tilt of the normals that were given.
        copies: How many tilted copies are made, at least 4.
        most: How many pieces of advice are given.

    Raises:
        Misuse: Too few copies, or a tilt that is not positive.
    """
    if copies < 4:
        raise Misuse(f"copies is {copies}; at least 4 are needed for a standard deviation.")
    if not 0 < tilt_deg < 90:
        raise Misuse(f"tilt_deg is {tilt_deg:g}; it is between 0 and 90.")
    cache = ReconstructionCache()

    def made(one: Annotation) -> Reconstruction:
        return reconstruct(one, seed=seed, max_side_px=max_side_px, cache=cache)

    base = made(annotation)
    rng = np.random.default_rng([seed, 14])
    drawn = [_tilted(annotation, base, tilt_deg, rng) for _ in range(copies)]
    found = [made(one) for one in drawn]
    logs = np.stack([_centred(one, base) for one in found])
    logs -= logs.mean(axis=0)
    variance = (logs**2).sum(axis=0) / (copies - 1)
    cosine = np.einsum("nijk,ijk->nij", np.stack([m.normals for m in found]), base.normals)
    angles = np.degrees(np.sqrt((np.arccos(np.clip(cosine, -1, 1)) ** 2).mean(axis=0)))
    advice = _advice(annotation, base, found, logs, variance, most)
    return Uncertainty(
        (100 * np.sqrt(variance)).astype(np.float32), angles.astype(np.float32), advice, base
    )


def _tilted(
    annotation: Annotation, base: Reconstruction, tilt_deg: float, rng: np.random.Generator
) -> Annotation:
    """Every normal tilted to a random side; a surface without any gets a rough one."""
    spread = np.radians(tilt_deg) / np.sqrt(np.pi / 2)
    normals = {
        name: replace(mark, normal=_turned(mark.normal, rng.normal(0, spread, 2)))
        for name, mark in annotation.normals.items()
    }
    seen = {base.segmentation.smooth_at(_small(m.at_px, base)) for m in annotation.normals.values()}
    rough = np.radians(_UNKNOWN_DEG) / np.sqrt(np.pi / 2)
    for number, box in base.segmentation.boxes.items():
        sides = rng.normal(0, rough, 2)
        if number not in seen:
            at = _middle(base, number, box)
            normals[f"\x00{number}"] = NormalMark(at, _turned((0.0, 0.0, -1.0), sides))
    return replace(annotation, normals=normals)


def _turned(normal: Vector, sides: Array) -> Vector:
    """A normal leaned by angles along two directions across it."""
    unit = np.array(normal, np.float64)
    length = np.linalg.norm(unit)
    if not (np.isfinite(length) and length > 0):
        return normal
    unit /= length
    first, second = _across(unit)
    way = sides[0] * first + sides[1] * second
    angle = float(np.linalg.norm(way))
    x, y, z = np.cos(angle) * unit + np.sinc(angle / np.pi) * way
    return float(x), float(y), float(min(z, -1e-3))


def _across(unit: Array) -> tuple[Array, Array]:
    helper = np.array([1.0, 0.0, 0.0]) if abs(unit[0]) < 0.7 else np.array([0.0, 1.0, 0.0])
    first = np.cross(unit, helper)
    first /= np.linalg.norm(first)
    return first, np.cross(unit, first)


def _centred(one: Reconstruction, base: Reconstruction) -> Array:
    """Log depth minus its mean on each continuous surface; 0 outside."""
    labels = base.segmentation.continuous.ravel()
    logs = np.log(np.where(one.depth > 0, one.depth, 1.0)).astype(np.float64)
    flat = np.nan_to_num(logs).ravel()
    counts = np.maximum(np.bincount(labels), 1)
    means = np.bincount(labels, flat) / counts
    return np.where(labels > 0, flat - means[labels], 0.0).reshape(one.depth.shape)


def _advice(
    annotation: Annotation,
    base: Reconstruction,
    found: list[Reconstruction],
    logs: Array,
    variance: Array,
    most: int,
) -> tuple[Advice, ...]:
    total = float(variance.sum())
    if not total > 0:
        return ()
    flat = logs.reshape(len(found), -1)
    gain = _gains(base, found, flat, total)
    advice = []
    for name, mark in annotation.normals.items():
        place = pixel_of(_small(mark.at_px, base), base.depth.shape)
        if place is not None and base.segmentation.smooth[place]:
            x, y = mark.at_px
            text = f"Check the normal '{name}' at ({x:.0f}, {y:.0f})"
            advice.append(Advice(text, mark.at_px, gain(place), name))
    taken = [a.at_px for a in advice]
    step = max(1, max(base.depth.shape) // _GRID)
    width, height = base.picture_px
    rows, columns = base.depth.shape
    for y in range(step // 2, rows, step):
        for x in range(step // 2, columns, step):
            at = ((x + 0.5) * width / columns - 0.5, (y + 0.5) * height / rows - 0.5)
            near = any(abs(at[0] - p[0]) + abs(at[1] - p[1]) < step for p in taken)
            if base.segmentation.smooth[y, x] and not near:
                text = f"Give a normal at ({at[0]:.0f}, {at[1]:.0f})"
                advice.append(Advice(text, at, gain((y, x))))
    advice.sort(key=lambda a: -a.gain)
    return tuple(_different(advice, base, most))


def _different(advice: list[Advice], base: Reconstruction, most: int) -> list[Advice]:
    """The best of each smooth surface, in words."""
    kept: dict[int, Advice] = {}
    for one in advice:
        kept.setdefault(base.segmentation.smooth_at(_small(one.at_px, base)), one)
    chosen = [one for one in kept.values() if one.gain > 0.01][:most]
    return [
        replace(one, text=f"{one.text}: it decides {100 * one.gain:.0f} % of the uncertainty.")
        for one in chosen
    ]


def _gains(
    base: Reconstruction, found: list[Reconstruction], logs: Array, total: float
) -> Callable[[tuple[int, int]], float]:
    """For a pixel: the share of variance that a careful normal there would remove."""
    normals = np.stack([one.normals for one in found]).astype(np.float64)
    noise = (np.radians(_SURE_DEG) / np.sqrt(np.pi / 2)) ** 2
    labels = base.segmentation.continuous.ravel()
    freedom = len(found) - 1

    def gain(place: tuple[int, int]) -> float:
        own = labels == base.segmentation.continuous[place]
        there = normals[:, place[0], place[1]]
        mean = there.mean(axis=0)
        if not np.isfinite(mean).all() or not mean.any():
            return 0.0
        first, second = _across(mean / np.linalg.norm(mean))
        seen = np.stack([there @ first, there @ second], axis=1)
        seen -= seen.mean(axis=0)
        inside = logs[:, own]
        cross = seen.T @ inside / freedom
        spread = seen.T @ seen / freedom + noise * np.eye(2)
        removed = (cross * np.linalg.solve(spread, cross)).sum()
        # Two directions explain 2 / (n - 1) of anything by chance.
        by_chance = 2 / freedom * (inside**2).sum() / freedom
        return float(max(0.0, removed - by_chance) / total)

    return gain


def _small(point_px: Point, base: Reconstruction) -> Point:
    """A point of the photograph in pixels of the picture that was worked on."""
    width, height = base.picture_px
    rows, columns = base.depth.shape
    return (point_px[0] + 0.5) * columns / width - 0.5, (point_px[1] + 0.5) * rows / height - 0.5


def _middle(base: Reconstruction, number: int, box: tuple[slice, slice]) -> Point:
    ys, xs = np.nonzero(base.segmentation.smooth[box] == number)
    nearest = int(np.argmin((xs - xs.mean()) ** 2 + (ys - ys.mean()) ** 2))
    width, height = base.picture_px
    rows, columns = base.depth.shape
    x, y = xs[nearest] + box[1].start, ys[nearest] + box[0].start
    return (float(x) + 0.5) * width / columns - 0.5, (float(y) + 0.5) * height / rows - 0.5
