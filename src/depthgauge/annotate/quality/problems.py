"""Everything that a person should fix in an annotation; nothing here stops a reconstruction."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._lines import clean_points, trace_stroke
from depthgauge.annotate.reconstruct.hand_normals import inside_of, viewing_ray
from depthgauge.annotate.reconstruct.reconstruction import camera_of
from depthgauge.annotate.reconstruct.relations import faces_away
from depthgauge.annotate.reconstruct.segmentation import Segmentation, pixel_of, segment
from depthgauge.annotate.records.annotation import Annotation, NormalMark, Point, Stroke
from depthgauge.types import Mask

_NAMED = 30
"""At most this many surfaces without a normal are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a person should fix."""

    text: str
    """What it is about, what is wrong, what to do: one sentence."""
    at_px: Point | None = None
    """Where, in pixels of the photograph; None if it is nowhere in particular."""


@dataclass(frozen=True, slots=True)
class Enlarged:
    """From the pixels of a preview to those of the photograph."""

    across: float = 1.0
    along: float = 1.0

    def at(self, x: float, y: float) -> Point:
        """A point of the photograph; corners stay corners."""
        if self.across == self.along == 1:
            return float(x), float(y)
        return (
            round((x + 0.5) * self.across - 0.5, 1),
            round((y + 0.5) * self.along - 0.5, 1),
        )

    def area_px(self, pixels: int) -> int:
        """The area of the photograph, in pixels, that this many pixels of the preview show."""
        return round(pixels * self.across * self.along)


def problems_of(annotation: Annotation, segmentation: Segmentation | None = None) -> list[str]:
    """What should be fixed, one sentence each: what it is about, what is wrong, what to do.

    Args:
        annotation: What was drawn.
        segmentation: Its surfaces, if they are known already.

    >>> from depthgauge.annotate.records.annotation import Focal, Picture
    >>> problems_of(Annotation(Picture("street", 40, 30), Focal(-1.0)))[0]
    'The focal length is -1 px; give a positive one.'
    """
    found = located_problems(annotation, segmentation or segment(annotation))
    return [problem.text for problem in found]


def located_problems(
    annotation: Annotation, surfaces: Segmentation, enlarged: Enlarged | None = None
) -> list[Problem]:
    """What should be fixed, and where.

    Args:
        annotation: What was drawn, in pixels of `surfaces`.
        surfaces: Its surfaces.
        enlarged: Where both belong to a preview: how it becomes the photograph.
    """
    view = enlarged or Enlarged()
    return [
        *_of_focal(annotation),
        *_of_region(annotation, surfaces.region, view),
        *_of_strokes(annotation, surfaces.region, view),
        *_of_normals(annotation, surfaces, view),
        *_of_marks(annotation, surfaces, view),
        *_of_surfaces(annotation, surfaces, view),
        *_of_relations(annotation, surfaces, view),
    ]


def _of_focal(annotation: Annotation) -> Iterator[Problem]:
    focal_px = annotation.focal.focal_px
    if not _is_focal(focal_px):
        yield Problem(f"The focal length is {focal_px:g} px; give a positive one.")


def _is_focal(focal_px: float) -> bool:
    return math.isfinite(focal_px) and focal_px > 0


def _of_region(annotation: Annotation, region: Mask, view: Enlarged) -> Iterator[Problem]:
    for point in annotation.must_contain_px:
        place = pixel_of(point, region.shape)
        if place is None or not region[place]:
            x, y = view.at(*point)
            text = f"The region does not contain the point ({x:g}, {y:g}); extend it."
            yield Problem(text, (x, y))
    if not annotation.region_px:
        return
    corners = clean_points(annotation.region_px)
    if len(corners) < len(annotation.region_px) and not np.isfinite(annotation.region_px).all():
        yield Problem("The region has a corner with invalid coordinates; draw it again.")
    if len(corners) < 3:
        yield Problem("The region has fewer than three different corners; draw it again.")
    elif (crossing := _crossing(corners)) is not None:
        x, y = view.at(*crossing)
        yield Problem(
            f"The region's outline crosses itself near ({x:.0f}, {y:.0f}); draw it without a loop.",
            (x, y),
        )
    elif region.all() and not _covers(corners, region.shape):
        yield Problem("The region encloses no pixel of the image; draw it again.")


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


def _of_strokes(annotation: Annotation, region: Mask, view: Enlarged) -> Iterator[Problem]:
    for name, stroke in annotation.strokes.items():
        if not _has_numbers(stroke):
            yield Problem(f"Stroke '{name}' has a point with invalid coordinates; draw it again.")
        where = middle_of(stroke, view)
        path = trace_stroke(stroke, region.shape, 1)
        if path is None:
            yield Problem(f"Stroke '{name}' has no length; remove it or draw it again.", where)
        elif not _touches(path.pixels, region):
            text = f"Stroke '{name}' lies outside the region; remove it or draw it inside."
            yield Problem(text, where)
        if stroke.kind == "occlusion" and stroke.closer is None:
            text = f"Occlusion '{name}' does not say which side is closer; choose the side."
            yield Problem(text, where)


def middle_of(stroke: Stroke, view: Enlarged | None = None) -> Point | None:
    """The middle corner of a line, in pixels of the photograph; None if it has none."""
    points = clean_points(stroke.points_px)
    if not len(points):
        return None
    return (view or Enlarged()).at(*points[len(points) // 2].tolist())


def _has_numbers(stroke: Stroke) -> bool:
    return bool(np.isfinite(np.array(stroke.points_px, np.float64)).all())


def _touches(pixels: NDArray[np.int64], region: Mask) -> bool:
    height, width = region.shape
    x, y = pixels.T
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    return bool(region[y[inside], x[inside]].any())


def _of_normals(
    annotation: Annotation, surfaces: Segmentation, view: Enlarged
) -> Iterator[Problem]:
    for name, mark in annotation.normals.items():
        where = _where(mark.at_px, view)
        if not np.isfinite(mark.normal).all():
            yield Problem(f"Normal '{name}' is not a finite vector; set it again.", where)
        elif not any(mark.normal):
            yield Problem(f"Normal '{name}' has no length; set it again.", where)
        elif _faces_away(mark, annotation):
            text = f"Normal '{name}' faces away from the viewer; turn it towards the viewer."
            yield Problem(text, where)
        if not surfaces.smooth_at(mark.at_px):
            text = f"Normal '{name}' lies outside the region; move it onto a surface or remove it."
            yield Problem(text, where)


def _where(at_px: Point, view: Enlarged) -> Point | None:
    return view.at(*at_px) if np.isfinite(at_px).all() else None


def _faces_away(mark: NormalMark, annotation: Annotation) -> bool:
    """Along the ray of its mark; without such a ray, another problem is reported."""
    normal = np.array(mark.normal) / np.abs(mark.normal).max()
    if not (_is_focal(annotation.focal.focal_px) and np.isfinite(mark.at_px).all()):
        return faces_away(normal, (0.0, 0.0, 1.0))
    return faces_away(normal, viewing_ray(mark.at_px, camera_of(annotation)))


def _of_marks(annotation: Annotation, surfaces: Segmentation, view: Enlarged) -> Iterator[Problem]:
    first: dict[int, str] = {}
    for name, mark in annotation.surfaces.items():
        number, where = surfaces.marks[name], _where(mark.at_px, view)
        if not number:
            text = f"Mark '{name}' lies outside the region; move it onto a surface or remove it."
            yield Problem(text, where)
            continue
        other = first.setdefault(number, name)
        if annotation.surfaces[other].shape != mark.shape:
            yield Problem(
                f"Marks '{other}' and '{name}' are on the same surface and disagree; remove one of "
                "them, or draw the missing line between them.",
                where,
            )


def _of_surfaces(
    annotation: Annotation, surfaces: Segmentation, view: Enlarged
) -> Iterator[Problem]:
    normals: dict[int, list[str]] = {}
    for name, mark in annotation.normals.items():
        normals.setdefault(surfaces.smooth_at(mark.at_px), []).append(name)
    bare = [number for number in surfaces.shapes if number not in normals]
    for number in bare[:_NAMED]:
        least = "one" if surfaces.shapes[number] == "planar" else "at least one"
        called, where = _called(surfaces, number, view)
        yield Problem(f"{called} has no normal; set {least}.", where)
    if len(bare) > _NAMED:
        yield Problem(
            f"{len(bare) - _NAMED} more surfaces have no normal; were all these lines meant?"
        )
    for number, there in normals.items():
        if surfaces.shapes.get(number) == "planar" and len(there) > 1:
            surface, where = _called(surfaces, number, view)
            listed = ", ".join(f"'{name}'" for name in there)
            text = f"{surface} is planar and has {len(there)} normals ({listed}); keep one of them."
            yield Problem(text, where)


def _called(surfaces: Segmentation, number: int, view: Enlarged) -> tuple[str, Point | None]:
    """A surface by the name of its mark, or else by a place on it; and that place."""
    found = inside_of(surfaces, number)
    where = None if found is None else view.at(*found.at_px)
    names = [name for name, marked in surfaces.marks.items() if marked == number]
    if names:
        return f"Surface '{names[0]}'", where
    if found is None or where is None:
        return "The surface without a pixel,", None
    size = view.area_px(found.pixels)
    return f"The surface at ({where[0]:.0f}, {where[1]:.0f}), {size} px,", where


def _of_relations(
    annotation: Annotation, surfaces: Segmentation, view: Enlarged
) -> Iterator[Problem]:
    for name, relation in annotation.relations.items():
        both = (relation.first, relation.second)
        marked = [annotation.surfaces[mark] for mark in both if mark in annotation.surfaces]
        where = _where(marked[0].at_px, view) if marked else None
        if relation.first == relation.second:
            text = f"Relation '{name}' relates '{relation.first}' to itself; remove it."
            yield Problem(text, where)
            continue
        for mark in both:
            if mark not in annotation.surfaces:
                text = f"Relation '{name}' names '{mark}', which is not marked; mark or remove it."
                yield Problem(text, where)
            elif surfaces.shapes.get(surfaces.marks[mark]) == "curved":
                text = f"Relation '{name}' names '{mark}', which is curved; relate planes only."
                yield Problem(text, _where(annotation.surfaces[mark].at_px, view))
        numbers = [surfaces.marks.get(mark, 0) for mark in both]
        if numbers[0] and numbers[0] == numbers[1]:
            yield Problem(
                f"Relation '{name}' names '{relation.first}' and '{relation.second}', which are on "
                "the same surface; remove it, or draw the missing line between them.",
                where,
            )
