"""Everything that a person should fix in an annotation; nothing here stops a reconstruction."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._lines import clean_points, trace_stroke
from depthgauge.annotate.reconstruct.hand_normals import described, viewing_ray
from depthgauge.annotate.reconstruct.reconstruction import camera_of
from depthgauge.annotate.reconstruct.relations import faces_away
from depthgauge.annotate.reconstruct.segmentation import Segmentation, pixel_of, segment
from depthgauge.annotate.records.annotation import Annotation, NormalMark, Point, Stroke
from depthgauge.types import Mask

_NAMED = 30
"""At most this many surfaces without a normal are named; the others are counted."""


def problems_of(annotation: Annotation, segmentation: Segmentation | None = None) -> list[str]:
    """What should be fixed, one sentence each: what it is about, what is wrong, what to do.

    Args:
        annotation: What was drawn.
        segmentation: Its surfaces, if they are known already.

    >>> from depthgauge.annotate.records.annotation import Focal, Picture
    >>> problems_of(Annotation(Picture("street", 40, 30), Focal(-1.0)))[0]
    'The focal length is -1 px; give a positive one.'
    """
    surfaces = segmentation or segment(annotation)
    return [
        *_of_focal(annotation),
        *_of_region(annotation, surfaces.region),
        *_of_strokes(annotation, surfaces.region),
        *_of_normals(annotation, surfaces),
        *_of_marks(annotation, surfaces),
        *_of_surfaces(annotation, surfaces),
        *_of_relations(annotation, surfaces),
    ]


def _of_focal(annotation: Annotation) -> Iterator[str]:
    focal_px = annotation.focal.focal_px
    if not _is_focal(focal_px):
        yield f"The focal length is {focal_px:g} px; give a positive one."


def _is_focal(focal_px: float) -> bool:
    return math.isfinite(focal_px) and focal_px > 0


def _of_region(annotation: Annotation, region: Mask) -> Iterator[str]:
    for x, y in annotation.must_contain_px:
        place = pixel_of((x, y), region.shape)
        if place is None or not region[place]:
            yield f"The region does not contain the point ({x:g}, {y:g}); extend it."
    if not annotation.region_px:
        return
    corners = clean_points(annotation.region_px)
    if len(corners) < len(annotation.region_px) and not np.isfinite(annotation.region_px).all():
        yield "The region has a corner with invalid coordinates; draw it again."
    if len(corners) < 3:
        yield "The region has fewer than three different corners; draw it again."
    elif (crossing := _crossing(corners)) is not None:
        yield (
            f"The region's outline crosses itself near ({crossing[0]:.0f}, {crossing[1]:.0f}); "
            "draw it without a loop."
        )
    elif region.all() and not _covers(corners, region.shape):
        yield "The region encloses no pixel of the image; draw it again."


def _covers(corners: NDArray[np.float64], shape: tuple[int, ...]) -> bool:
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    return bool(left <= 0 and top <= 0 and right >= shape[1] - 1 and bottom >= shape[0] - 1)


def _crossing(corners: NDArray[np.float64]) -> Point | None:
    """The point where two non-adjacent sides of a polygon meet; None if none do."""
    from depthgauge.annotate.reconstruct._segmentation_kernels import first_crossing

    if (corners[0] == corners[-1]).all():
        corners = corners[:-1]
    found = first_crossing(corners)
    if found < 0:
        return None
    i, j = divmod(found, len(corners))
    ends = np.roll(corners, -1, axis=0)
    x, y = (corners[i] + ends[i] + corners[j] + ends[j]) / 4
    return float(x), float(y)


def _of_strokes(annotation: Annotation, region: Mask) -> Iterator[str]:
    for name, stroke in annotation.strokes.items():
        if not _has_numbers(stroke):
            yield f"Stroke '{name}' has a point with invalid coordinates; draw it again."
        path = trace_stroke(stroke, region.shape, 1)
        if path is None:
            yield f"Stroke '{name}' has no length; remove it or draw it again."
        elif not _touches(path.pixels, region):
            yield f"Stroke '{name}' lies outside the region; remove it or draw it inside."
        if stroke.kind == "occlusion" and stroke.closer is None:
            yield f"Occlusion '{name}' does not say which side is closer; choose the side."


def _has_numbers(stroke: Stroke) -> bool:
    return bool(np.isfinite(np.array(stroke.points_px, np.float64)).all())


def _touches(pixels: NDArray[np.int64], region: Mask) -> bool:
    height, width = region.shape
    x, y = pixels.T
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    return bool(region[y[inside], x[inside]].any())


def _of_normals(annotation: Annotation, surfaces: Segmentation) -> Iterator[str]:
    for name, mark in annotation.normals.items():
        if not np.isfinite(mark.normal).all():
            yield f"Normal '{name}' is not a finite vector; set it again."
        elif not any(mark.normal):
            yield f"Normal '{name}' has no length; set it again."
        elif _faces_away(mark, annotation):
            yield f"Normal '{name}' faces away from the viewer; turn it towards the viewer."
        if not surfaces.smooth_at(mark.at_px):
            yield f"Normal '{name}' lies outside the region; move it onto a surface or remove it."


def _faces_away(mark: NormalMark, annotation: Annotation) -> bool:
    """Along the ray of its mark; without such a ray, another problem is reported."""
    normal = np.array(mark.normal) / np.abs(mark.normal).max()
    if not (_is_focal(annotation.focal.focal_px) and np.isfinite(mark.at_px).all()):
        return faces_away(normal, (0.0, 0.0, 1.0))
    return faces_away(normal, viewing_ray(mark.at_px, camera_of(annotation)))


def _of_marks(annotation: Annotation, surfaces: Segmentation) -> Iterator[str]:
    first: dict[int, str] = {}
    for name, mark in annotation.surfaces.items():
        number = surfaces.marks[name]
        if not number:
            yield f"Mark '{name}' lies outside the region; move it onto a surface or remove it."
            continue
        other = first.setdefault(number, name)
        if annotation.surfaces[other].shape != mark.shape:
            yield (
                f"Marks '{other}' and '{name}' are on the same surface and disagree; remove one of "
                "them, or draw the missing line between them."
            )


def _of_surfaces(annotation: Annotation, surfaces: Segmentation) -> Iterator[str]:
    normals: dict[int, list[str]] = {}
    for name, mark in annotation.normals.items():
        normals.setdefault(surfaces.smooth_at(mark.at_px), []).append(name)
    bare = [number for number in surfaces.shapes if number not in normals]
    for number in bare[:_NAMED]:
        least = "one" if surfaces.shapes[number] == "planar" else "at least one"
        yield f"{_called(surfaces, number)} has no normal; set {least}."
    if len(bare) > _NAMED:
        yield f"{len(bare) - _NAMED} more surfaces have no normal; were all these lines meant?"
    for number, there in normals.items():
        if surfaces.shapes.get(number) == "planar" and len(there) > 1:
            surface = _called(surfaces, number)
            listed = ", ".join(f"'{name}'" for name in there)
            yield f"{surface} is planar and has {len(there)} normals ({listed}); keep one of them."


def _called(surfaces: Segmentation, number: int) -> str:
    """A surface by the name of its mark, or else by a place on it."""
    names = [name for name, marked in surfaces.marks.items() if marked == number]
    if names:
        return f"Surface '{names[0]}'"
    return f"The surface {described(number, surfaces)},"


def _of_relations(annotation: Annotation, surfaces: Segmentation) -> Iterator[str]:
    for name, relation in annotation.relations.items():
        if relation.first == relation.second:
            yield f"Relation '{name}' relates '{relation.first}' to itself; remove it."
            continue
        for mark in (relation.first, relation.second):
            if mark not in annotation.surfaces:
                yield f"Relation '{name}' names '{mark}', which is not marked; mark or remove it."
            elif surfaces.shapes.get(surfaces.marks[mark]) == "curved":
                yield f"Relation '{name}' names '{mark}', which is curved; relate planes only."
        numbers = [surfaces.marks.get(mark, 0) for mark in (relation.first, relation.second)]
        if numbers[0] and numbers[0] == numbers[1]:
            yield (
                f"Relation '{name}' names '{relation.first}' and '{relation.second}', which are on "
                "the same surface; remove it, or draw the missing line between them."
            )
