"""Turns an annotation into dense normals and depth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.dense_normals import (
    DenseNormals,
    KnownNormals,
    dense_normals,
    known_normals,
    normal_system,
)
from depthgauge.annotate.reconstruct.hand_normals import HandNormals, hand_normals
from depthgauge.annotate.reconstruct.segmentation import Segmentation, segment
from depthgauge.annotate.reconstruct.stopping import Stop
from depthgauge.annotate.reconstruct.surface_depth import SurfaceDepth
from depthgauge.annotate.reconstruct.surface_scales import ScaleOptions, surface_scales
from depthgauge.annotate.records.annotation import Annotation, Focal, Point
from depthgauge.errors import Misuse
from depthgauge.geometry.link_system import LinkSystem
from depthgauge.types import Camera, Map

Array = NDArray[np.float64]

_ASSUMED_FOCAL = 1.2
"""Times the longer side: assumed if the annotation's focal length is unusable."""


@dataclass(frozen=True)
class Reconstruction:
    """Normals and depth of an annotated region; NaN outside it."""

    depth: Map
    """(H, W), up to one common scale."""
    normals: Map
    """(H, W, 3), unit, in camera axes (z forward, so visible surfaces have a negative z)."""
    segmentation: Segmentation
    camera: Camera
    """With the annotation's focal length, and the principal point in the middle of the image."""
    scales: Mapping[int, float]
    """Factor of each continuous surface, applied to a depth with the geometric mean 1."""
    violated: tuple[str, ...]
    """Ids of the strokes whose depth order does not hold."""
    notes: tuple[str, ...]
    """Sentences for the annotator: what was assumed, left out or contradictory."""
    residual: float = 0.0
    """The larger relative residual of the two linear systems."""
    picture_px: tuple[int, int] = (0, 0)
    """Width and height of the photograph, which a preview does not have."""


class ReconstructionCache:
    """What `reconstruct` keeps for its next call: surfaces and prepared systems.

    Pass the same object to every call while someone works on one annotation, but to one call at a
    time. If only normals were turned, only the right-hand sides are computed again. Results never
    differ by more than the solver's tolerance.
    """

    def __init__(self) -> None:
        self._lines: tuple[Any, ...] | None = None
        self._surfaces: tuple[Segmentation, SurfaceDepth] | None = None
        self._forget()

    def _forget(self) -> None:
        """Drops what belongs to other surfaces."""
        self._normal_system: LinkSystem | None = None
        self._solved: NDArray[np.bool_] | None = None
        self._spread: Array | None = None
        self._logs: Array | None = None

    def segmented(self, annotation: Annotation, seed: int) -> tuple[Segmentation, SurfaceDepth]:
        """The surfaces; recomputed only if a line, the region or a mark has changed."""
        size = (annotation.picture.width_px, annotation.picture.height_px)
        lines = (
            size,
            seed,
            annotation.region_px,
            tuple(annotation.strokes.items()),
            tuple(annotation.surfaces.items()),
        )
        if self._surfaces is None or lines != self._lines:
            self._forget()
            segmentation = segment(annotation, seed=seed)
            self._surfaces, self._lines = (segmentation, SurfaceDepth(segmentation)), lines
        return self._surfaces

    def spread(
        self, hand: HandNormals, segmentation: Segmentation, known: KnownNormals, **options: Any
    ) -> DenseNormals:
        """Dense normals; the system is rebuilt only if normals were added or moved."""
        system = self._normal_system
        if system is None or not (
            np.array_equal(system.known, known.where)
            and self._solved is not None
            and np.array_equal(self._solved, known.solved)
        ):
            system = normal_system(known, segmentation)
            self._normal_system, self._solved, self._spread = system, known.solved, None
        found = dense_normals(hand, segmentation, known, system, self._spread, **options)
        self._spread = found.spread
        return found

    def integrated(self, surfaces: SurfaceDepth, *args: Any, **options: Any) -> Any:
        """Log depth, starting from the last solution."""
        found = surfaces.integrate(*args, start=self._logs, **options)
        self._logs = found.logs
        return found


def reconstruct(
    annotation: Annotation,
    *,
    seed: int = 0,
    max_side_px: int | None = None,
    cache: ReconstructionCache | None = None,
    scale_options: ScaleOptions | None = None,
    tolerance: float = 1e-4,
    rounded: bool = True,
    least_facing: float | None = None,
    stop: Stop | None = None,
) -> Reconstruction:
    """Surfaces, dense normals, depth of each surface, and scales that keep the depth orders.

    Bad input is not an error: unusable parts are left out, and a note says so.

    Args:
        annotation: What was drawn and said.
        seed: Chooses the side that owns each fold.
        max_side_px: For previews: the picture is reduced to at most this longer side.
        cache: What earlier calls computed.
        scale_options: Separation of surfaces and their smallest scale.
        tolerance: Relative residual of the linear systems.
        rounded: See `dense_normals`; False is the published normalisation.
        least_facing: Smallest component of a normal towards the viewer for integration, between 0
            and 1; None: 0.3 on curved surfaces and 0.05 on planes. 0.3 is as published.
        stop: A time limit, and a way to cancel the call from another thread.

    Raises:
        Misuse: An impossible option.
        Cancelled: `stop` was cancelled.
    """
    if least_facing is not None and not 0 < least_facing < 1:
        raise Misuse(f"least_facing is {least_facing:g}; it is a cosine, between 0 and 1")
    stopping = stop or Stop()
    notes: list[str] = []
    sized = _with_focal(_sized(annotation, max_side_px), notes)
    store = cache if cache is not None else ReconstructionCache()
    segmentation, surfaces = store.segmented(sized, seed)
    stopping.late()
    camera = camera_of(sized)
    hand = hand_normals(sized, segmentation, camera)
    known = known_normals(hand, segmentation)
    with ThreadPoolExecutor(1) as aside:
        # The system for depth needs no normals: it is prepared while they are computed.
        ready = aside.submit(surfaces.prepare)
        dense = store.spread(hand, segmentation, known, tolerance=tolerance, rounded=rounded)
        stopping.late()
        ready.result()
    stopping.late()
    shaped = store.integrated(
        surfaces,
        dense.normals,
        camera,
        hand.planes,
        tolerance=tolerance,
        least_facing=least_facing,
    )
    stopping.late()
    scaling = surface_scales(shaped.depth, segmentation, tuple(sized.strokes), scale_options)
    return Reconstruction(
        depth=_scaled_depth(shaped.depth, segmentation, scaling.scales),
        normals=dense.normals.astype(np.float32),
        segmentation=segmentation,
        camera=camera,
        scales=scaling.scales,
        violated=scaling.violated,
        notes=(
            *notes,
            *segmentation.notes,
            *hand.notes,
            *dense.notes,
            *shaped.notes,
            *scaling.notes,
        ),
        residual=max(dense.residual, shaped.residual),
        picture_px=(annotation.picture.width_px, annotation.picture.height_px),
    )


def camera_of(annotation: Annotation) -> Camera:
    """The annotation's focal length, and the principal point in the middle of the image."""
    width, height = annotation.picture.width_px, annotation.picture.height_px
    focal = annotation.focal.focal_px
    return Camera((focal, focal), ((width - 1) / 2, (height - 1) / 2), (width, height))


def _sized(annotation: Annotation, max_side_px: int | None) -> Annotation:
    if max_side_px is None:
        return annotation
    if max_side_px < 1:
        raise Misuse(f"max_side_px is {max_side_px}; a picture's side has at least 1 pixel")
    longer = max(annotation.picture.width_px, annotation.picture.height_px)
    return scaled(annotation, max_side_px / longer) if longer > max_side_px else annotation


def _with_focal(annotation: Annotation, notes: list[str]) -> Annotation:
    focal = annotation.focal.focal_px
    if math.isfinite(focal) and focal > 0:
        return annotation
    longer = max(annotation.picture.width_px, annotation.picture.height_px)
    assumed = _ASSUMED_FOCAL * longer
    notes.append(
        f"The focal length is {focal:g} px; {assumed:g} px was assumed instead. Give a valid one."
    )
    return replace(annotation, focal=Focal(assumed, "assumed"))


def _scaled_depth(depth: Map, segmentation: Segmentation, scales: Mapping[int, float]) -> Map:
    table = np.ones(int(segmentation.continuous.max(initial=0)) + 1)
    for surface, scale in scales.items():
        table[surface] = scale
    return (depth * table[segmentation.continuous]).astype(np.float32)


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
