"""How certain a reconstruction is at every pixel, and which normal or stroke would help most.

The annotation is repeated with the errors that people make: every given normal is tilted a little.
Where the copies differ, the depth is uncertain; which tilts cause it says which normals matter
(`advice`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.advising.advice import (
    Advice,
    Tilts,
    in_pixels,
    normal_advice,
    stroke_advice,
)
from depthgauge.annotate.reconstruct.reconstruction import (
    Reconstruction,
    ReconstructionCache,
    reconstruct,
)
from depthgauge.annotate.records.annotation import Annotation, NormalMark, Point, Vector
from depthgauge.errors import Misuse
from depthgauge.types import Map

Array = NDArray[np.float64]

TILT_DEG = 12.0
"""Mean tilt of a normal that a person gives; as of simulated people."""
COPIES = 32
_NEW = "\x00"
"""Begins the name of a normal that nobody gave."""
_UNKNOWN_DEG = 30.0
"""Tilt of a surface of which nobody said anything."""


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
    max_side_px: int | None = 200,
    tilt_deg: float = TILT_DEG,
    copies: int = COPIES,
    most: int = 5,
    strokes: bool = True,
) -> Uncertainty:
    """The uncertainty of each pixel, and advice.

    Args:
        annotation: What was drawn.
        seed: Of the reconstruction and of the tilts.
        max_side_px: Longer side of the picture that is worked on.
        tilt_deg: Mean tilt of the normals that were given.
        copies: How many tilted copies are made, at least 4.
        most: How many pieces of advice are given.
        strokes: Whether strokes are looked at, which takes as long as all the rest.

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
    tilts = _drawn_tilts(annotation, base, copies, np.random.default_rng([seed, 14]))
    found = [made(_tilted(annotation, tilts, tilt_deg, i)) for i in range(copies)]
    logs = np.stack([_centred(one, base) for one in found])
    logs -= logs.mean(axis=0)
    variance = (logs**2).sum(axis=0) / (copies - 1)
    cosine = np.einsum("nijk,ijk->nij", np.stack([m.normals for m in found]), base.normals)
    angles = np.degrees(np.sqrt((np.arccos(np.clip(cosine, -1, 1)) ** 2).mean(axis=0)))
    advice = normal_advice(annotation, base, tilts, logs)
    if strokes:
        advice += stroke_advice(annotation, base, made, float(variance.mean()))
    advice.sort(key=lambda one: -one.gain)
    return Uncertainty(
        (100 * np.sqrt(variance)).astype(np.float32),
        angles.astype(np.float32),
        tuple(advice[:most]),
        base,
    )


def _drawn_tilts(
    annotation: Annotation, base: Reconstruction, copies: int, rng: np.random.Generator
) -> Tilts:
    """Of every normal, and of one for each surface without any.

    Copies come in pairs that are tilted to opposite sides: what is not linear cancels.
    """
    places = {name: mark.at_px for name, mark in annotation.normals.items()}
    seen = {base.segmentation.smooth_at(in_pixels(at, base)) for at in places.values()}
    for number, box in base.segmentation.boxes.items():
        if number not in seen:
            places[f"{_NEW}{number}"] = _middle(base, number, box)
    half = (copies + 1) // 2
    sides = {}
    for name in places:
        one = rng.normal(0, 1, (half, 2))
        sides[name] = np.concatenate([one, -one])[:copies]
    return Tilts(sides, places)


def _tilted(annotation: Annotation, tilts: Tilts, tilt_deg: float, copy: int) -> Annotation:
    """Every normal tilted to its side in a copy; a surface without any gets a rough one."""
    spread, rough = (np.radians(deg) / np.sqrt(np.pi / 2) for deg in (tilt_deg, _UNKNOWN_DEG))
    normals = dict(annotation.normals)
    for name, sides in tilts.sides.items():
        if name in annotation.normals:
            mark = annotation.normals[name]
            normals[name] = replace(mark, normal=_turned(mark.normal, spread * sides[copy]))
        else:
            normal = _turned((0.0, 0.0, -1.0), rough * sides[copy])
            normals[name] = NormalMark(tilts.places[name], normal)
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


def _middle(base: Reconstruction, number: int, box: tuple[slice, slice]) -> Point:
    ys, xs = np.nonzero(base.segmentation.smooth[box] == number)
    nearest = int(np.argmin((xs - xs.mean()) ** 2 + (ys - ys.mean()) ** 2))
    width, height = base.picture_px
    rows, columns = base.depth.shape
    x, y = xs[nearest] + box[1].start, ys[nearest] + box[0].start
    return (float(x) + 0.5) * width / columns - 0.5, (float(y) + 0.5) * height / rows - 0.5
