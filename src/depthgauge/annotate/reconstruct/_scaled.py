"""An annotation in pixels of a smaller copy of its picture."""

from __future__ import annotations

from dataclasses import replace

from depthgauge.annotate.records.annotation import Annotation, Point
from depthgauge.errors import Misuse


def scaled(annotation: Annotation, factor: float) -> Annotation:
    """The annotation of a smaller copy: pixel coordinates, size and focal length times a factor.

    Pixel centres are at integers, so the image's corner (-0.5, -0.5) stays in place.
    """
    if not 0 < factor <= 1:
        raise Misuse(f"the factor is {factor:g}; an annotation is scaled by more than 0, at most 1")
    if factor == 1:
        return annotation
    picture = annotation.picture
    width = max(1, round(picture.width_px * factor))
    height = max(1, round(picture.height_px * factor))
    # Rounded sizes have their own factors; the edge of the picture must stay its edge.
    across, along = width / picture.width_px, height / picture.height_px

    def moved(point: Point) -> Point:
        return (point[0] + 0.5) * across - 0.5, (point[1] + 0.5) * along - 0.5

    def all_moved(points: tuple[Point, ...]) -> tuple[Point, ...]:
        return tuple(moved(p) for p in points)

    return replace(
        annotation,
        picture=replace(picture, width_px=width, height_px=height),
        focal=replace(annotation.focal, focal_px=annotation.focal.focal_px * (across + along) / 2),
        must_contain_px=all_moved(annotation.must_contain_px),
        region_px=all_moved(annotation.region_px),
        strokes={
            k: replace(s, points_px=all_moved(s.points_px)) for k, s in annotation.strokes.items()
        },
        surfaces={k: replace(m, at_px=moved(m.at_px)) for k, m in annotation.surfaces.items()},
        normals={k: replace(m, at_px=moved(m.at_px)) for k, m in annotation.normals.items()},
    )
