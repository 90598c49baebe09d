"""The normals that a person gave, made usable: by surface, facing the viewer, consistent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.relations import consistent_normals, faces_away
from depthgauge.annotate.reconstruct.segmentation import Segmentation, pixel_of
from depthgauge.annotate.records.annotation import Annotation, NormalMark, Point, Relation, Vector
from depthgauge.geometry import slopes_at
from depthgauge.types import Camera

Array = NDArray[np.float64]

_DIFFERENT_DEGREES = 2.0
"""Normals of one plane that differ by more than this get a note."""
_STEEPEST = 1e150
_TOWARDS_VIEWER = (0.0, 0.0, -1.0)


@dataclass(frozen=True)
class HandNormals:
    """The normals of each smooth surface that a person gave."""

    planes: Mapping[int, Vector]
    """The normal of each planar surface; facing the viewer if none was given."""
    points: Mapping[tuple[int, int], Vector]
    """Row and column -> normal, on curved surfaces."""
    notes: tuple[str, ...]


def hand_normals(annotation: Annotation, segmentation: Segmentation, camera: Camera) -> HandNormals:
    """Sorts the given normals by surface; mirrors, averages and adjusts them if needed.

    Nothing is an error: what cannot be used is left out, and a note says so.
    """
    notes: list[str] = []
    by_plane: dict[int, list[Vector]] = {}
    seen: dict[int, list[Vector]] = {}
    by_pixel: dict[tuple[int, int], list[Vector]] = {}
    for name, mark in annotation.normals.items():
        surface = segmentation.smooth_at(mark.at_px) if _finite(mark.at_px) else 0
        if not surface:
            notes.append(
                f"Normal '{name}' at {_place(mark.at_px)} lies outside the region and was left "
                "out; move or remove it."
            )
            continue
        normal = _usable(name, mark, camera, notes)
        if normal is None:
            continue
        if segmentation.shapes.get(surface) == "planar":
            by_plane.setdefault(surface, []).append(normal)
            seen.setdefault(surface, []).append(_vector(viewing_ray(mark.at_px, camera)))
        else:
            pixel = pixel_of(mark.at_px, segmentation.smooth.shape)
            by_pixel.setdefault(pixel, []).append(normal)  # type: ignore[arg-type]  # it is inside
    planes = {
        surface: _one_of(given, surface, segmentation, notes) for surface, given in by_plane.items()
    }
    rays = {surface: _mean(given) for surface, given in seen.items()}
    planes = _related(annotation, segmentation, planes, rays, notes)
    for surface, shape in segmentation.shapes.items():
        if shape == "planar" and surface not in planes:
            planes[surface] = _TOWARDS_VIEWER
            notes.append(_no_normal("planar", surface, segmentation))
    points = {pixel: _mean(given) for pixel, given in by_pixel.items()}
    return HandNormals(planes, points, tuple(notes))


def viewing_ray(at_px: Point, camera: Camera) -> Array:
    """The unit vector from the viewer through a point of the image."""
    with np.errstate(over="ignore"):
        slopes = slopes_at(np.array(at_px, np.float64), camera)
    # Far outside, squares would be infinite.
    ray = np.append(np.clip(slopes, -_STEEPEST, _STEEPEST), 1.0)
    return np.asarray(ray / np.linalg.norm(ray))


@dataclass(frozen=True, slots=True)
class Inside:
    """A place on a smooth surface, and its size."""

    at_px: tuple[int, int]
    pixels: int


def inside_of(segmentation: Segmentation, surface: int) -> Inside | None:
    """The pixel of a smooth surface that is nearest to its centroid; None if it has no pixel."""
    ys, xs = np.nonzero(segmentation.smooth == surface)
    if not ys.size:
        return None
    # The centroid may lie outside the surface; the nearest pixel of the surface does not.
    nearest = int(np.argmin((xs - xs.mean()) ** 2 + (ys - ys.mean()) ** 2))
    return Inside((int(xs[nearest]), int(ys[nearest])), int(ys.size))


def described(surface: int, segmentation: Segmentation) -> str:
    """Place and size of a smooth surface in words: `at (120, 80), 431 px`."""
    found = inside_of(segmentation, surface)
    if found is None:
        return "without a pixel"
    return f"at ({found.at_px[0]}, {found.at_px[1]}), {found.pixels} px"


def _no_normal(shape: str, surface: int, segmentation: Segmentation) -> str:
    return (
        f"The {shape} surface {described(surface, segmentation)}, has no normal; it was assumed to "
        "face the viewer. Give it one."
    )


def _usable(name: str, mark: NormalMark, camera: Camera, notes: list[str]) -> Vector | None:
    length = math.hypot(*mark.normal)
    if not (math.isfinite(length) and length > 0):
        notes.append(
            f"Normal '{name}' at {_place(mark.at_px)} has no direction and was left out; "
            "give it again."
        )
        return None
    normal = np.array(mark.normal) / length
    ray = viewing_ray(mark.at_px, camera)
    if faces_away(normal, ray):
        notes.append(
            f"Normal '{name}' at {_place(mark.at_px)} faces away from the viewer and was "
            "mirrored; check it."
        )
        normal = normal - 2 * (normal @ ray) * ray
    return _vector(normal)


def _one_of(
    given: list[Vector], surface: int, segmentation: Segmentation, notes: list[str]
) -> Vector:
    mean = _mean(given)
    cosine = min(float(np.dot(mean, normal)) for normal in given)
    degrees = math.degrees(math.acos(min(1.0, max(-1.0, cosine))))
    if degrees > _DIFFERENT_DEGREES:
        notes.append(
            f"The planar surface {described(surface, segmentation)}, has {len(given)} normals up "
            f"to {degrees:.0f} degrees from their mean, which was used; keep one, or call the "
            "surface curved."
        )
    return mean


def _related(
    annotation: Annotation,
    segmentation: Segmentation,
    planes: dict[int, Vector],
    rays: dict[int, Vector],
    notes: list[str],
) -> dict[int, Vector]:
    """The nearest normals of the planes for which the relations hold."""
    names: dict[int, str] = {}
    for mark, surface in segmentation.marks.items():
        if surface in planes:
            names.setdefault(surface, mark)
    usable = []
    for name, relation in annotation.relations.items():
        both = [segmentation.marks.get(mark, 0) for mark in (relation.first, relation.second)]
        if not all(surface in names for surface in both) or both[0] == both[1]:
            notes.append(
                f"Relation '{name}' needs two planar surfaces, each with a normal, and was left "
                "out; give the normals, or remove it."
            )
            continue
        usable.append(replace(relation, first=names[both[0]], second=names[both[1]]))
    return {**planes, **_adjusted(planes, rays, names, usable, notes)}


def _adjusted(
    planes: dict[int, Vector],
    rays: dict[int, Vector],
    names: dict[int, str],
    relations: list[Relation],
    notes: list[str],
) -> dict[int, Vector]:
    if not relations:
        return {}
    found = consistent_normals(
        {name: planes[s] for s, name in names.items()},
        relations,
        {name: rays[s] for s, name in names.items()},
    )
    notes.extend(found.notes)
    return {surface: found.normals[name] for surface, name in names.items()}


def _mean(given: list[Vector]) -> Vector:
    total = np.sum(np.array(given), axis=0)
    length = float(np.linalg.norm(total))
    return _vector(total / length) if length > 1e-9 else given[0]


def _vector(values: Array) -> Vector:
    x, y, z = (float(v) for v in values)
    return x, y, z


def _finite(point: tuple[float, float]) -> bool:
    return all(math.isfinite(v) for v in point)


def _place(point: tuple[float, float]) -> str:
    return f"({point[0]:.0f}, {point[1]:.0f})"
