"""Annotations and segmentations that tests draw."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.annotate.reconstruct.segmentation import Segmentation
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Origin,
    Picture,
    Stroke,
    SurfaceMark,
)


def annotation(width, height, focal, **parts):
    return Annotation(Picture("drawn", width, height), Focal(focal), **parts)


def ring(x, y, radius, corners=96):
    """A closed polygon; walking along it, its inside is to the right."""
    angles = [2 * math.pi * i / corners for i in range(corners)]
    points = [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in angles]
    return (*points, points[0])


def ball_before_wall(size=120, focal=150.0, radius=35, **changes):
    """A ball with a smooth occlusion around it, before a planar wall."""
    middle = (size - 1) / 2
    parts = {
        "strokes": {"ball": Stroke("occlusion", ring(middle, middle, radius), "right", True)},
        "surfaces": {
            "wall": SurfaceMark((3, 3), "planar"),
            "front": SurfaceMark((middle, middle), "curved"),
        },
        "normals": {
            "wall": NormalMark((3, 3), (0.0, 0.0, -1.0)),
            "front": NormalMark((middle, middle), (0.0, 0.0, -1.0)),
        },
    }
    return annotation(size, size, focal, **{**parts, **changes})


def segmentation(
    smooth, *, kind=None, stroke=None, toward=None, continuous=None, shapes=None, marks=None
):
    """A segmentation by hand; whatever is not said is plain."""
    smooth = np.array(smooth, np.int32)
    return Segmentation(
        region=smooth > 0,
        kind=np.zeros(smooth.shape, np.uint8) if kind is None else np.array(kind, np.uint8),
        stroke=np.full(smooth.shape, -1, np.int32)
        if stroke is None
        else np.array(stroke, np.int32),
        toward=np.zeros((*smooth.shape, 2), np.float32)
        if toward is None
        else np.array(toward, np.float32),
        continuous=smooth.copy() if continuous is None else np.array(continuous, np.int32),
        smooth=smooth,
        shapes=shapes or {},
        marks=marks or {},
        notes=(),
    )


def two_surfaces_and_a_fold():
    """A plane on the left, a curved surface before it on the right, which a fold halves."""
    return Annotation(
        Picture("p", 60, 40),
        Focal(90.0),
        strokes={
            "a": Stroke("occlusion", ((30, 0), (30, 39)), closer="left"),
            "b": Stroke("fold", ((30, 20), (59, 20))),
        },
        surfaces={"m": SurfaceMark((10, 10), "planar"), "n": SurfaceMark((45, 10), "curved")},
        normals={
            "1": NormalMark((10, 10), (0, 0, -1)),
            "2": NormalMark((45, 10), (0, 0, -1)),
            "3": NormalMark((45, 30), (0.0, -0.6, -0.8)),
        },
        origin=Origin(who="anna", source="crowd", seconds=305.0),
    )
