"""Turns an annotation into dense normals and depth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._enlarged import WORK_PIXELS, enlarged, memory_bytes
from depthgauge.annotate.reconstruct._links import normal_links
from depthgauge.annotate.reconstruct._pieces import Pieces, PieceSolver
from depthgauge.annotate.reconstruct._scaled import scaled
from depthgauge.annotate.reconstruct.dense_normals import dense_normals, known_normals
from depthgauge.annotate.reconstruct.hand_normals import hand_normals
from depthgauge.annotate.reconstruct.segmentation import Segmentation, decide_topology, segment
from depthgauge.annotate.reconstruct.stopping import Stop
from depthgauge.annotate.reconstruct.surface_depth import SurfaceDepth
from depthgauge.annotate.reconstruct.surface_scales import ScaleOptions, surface_scales
from depthgauge.annotate.records.annotation import Annotation, Focal
from depthgauge.errors import Misuse
from depthgauge.types import Camera, Map

Array = NDArray[np.float64]

PUBLISHED: Mapping[str, Any] = {"rounded": False, "least_facing": 0.3, "along_rays": False}
"""Options with which `reconstruct` follows the paper: `reconstruct(annotation, **PUBLISHED)`."""
_LATE = (
    "The time limit of {:g} s was reached: this is the best that was found until then (relative "
    "residual {:.2g}). Give more time, or fewer pixels."
)
_ASSUMED_FOCAL = 1.2
"""Times the longer side: assumed if the annotation's focal length is unusable."""


__all__ = [
    "PUBLISHED",
    "Reconstruction",
    "ReconstructionCache",
    "camera_of",
    "memory_bytes",
    "reconstruct",
    "scaled",
    "scaled_depth",
]


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
    """The largest relative residual of a surface's linear systems."""
    strokes: tuple[str, ...] = ()
    """Ids of the strokes, as the segmentation numbers them."""
    picture_px: tuple[int, int] = (0, 0)
    """Width and height of the photograph, which a preview does not have."""


class ReconstructionCache:
    """What `reconstruct` keeps for its next call: surfaces, and the solution of each.

    Pass the same object to every call while someone works on one annotation, but to one call at a
    time. Only surfaces that differ from those of the last calls are solved again. The outcome is
    the same as without a cache.
    """

    def __init__(self, keep_calls: int = 8) -> None:
        """Begins with nothing.

        Args:
            keep_calls: What so many calls did not need is dropped.
        """
        self.normals, self.depth = PieceSolver(keep_calls), PieceSolver(keep_calls)
        self._lines: tuple[Any, ...] | None = None
        self._surfaces: _Surfaces | None = None

    def segmented(self, annotation: Annotation, sized: Annotation, seed: int) -> _Surfaces:
        """The surfaces; recomputed only if a line, the region or a mark has changed.

        Args:
            annotation: In pixels of the photograph.
            sized: In those of the picture that is worked on.
            seed: Chooses the side that owns each fold.
        """
        lines = (
            annotation.picture,
            sized.picture,
            seed,
            annotation.region_px,
            tuple(annotation.strokes.items()),
            tuple(annotation.surfaces.items()),
        )
        if self._surfaces is None or lines != self._lines:
            topology = decide_topology(annotation, seed=seed)
            made = segment(sized, seed=seed, topology=topology)
            self._surfaces, self._lines = _Surfaces(made), lines
        return self._surfaces


class _Surfaces:
    """A segmentation, and everything that depends on it only."""

    def __init__(self, segmentation: Segmentation) -> None:
        self.segmentation = segmentation
        self.pieces = Pieces.of(segmentation.continuous)
        self.depth = SurfaceDepth(segmentation, self.pieces)
        self.normal_links = normal_links(segmentation)


def reconstruct(
    annotation: Annotation,
    *,
    seed: int = 0,
    max_side_px: int | None = None,
    work_pixels: int = WORK_PIXELS,
    cache: ReconstructionCache | None = None,
    scale_options: ScaleOptions | None = None,
    tolerance: float = 1e-4,
    rounded: bool = True,
    least_facing: float | None = None,
    along_rays: bool = True,
    stop: Stop | None = None,
) -> Reconstruction:
    """Surfaces, dense normals, depth of each surface, and scales that keep the depth orders.

    Bad input is not an error: unusable parts are left out, and a note says so.

    Args:
        annotation: What was drawn and said.
        seed: Chooses the side that owns each fold.
        max_side_px: For previews: the picture is reduced to at most this longer side.
        work_pixels: A picture with more pixels is solved at a size with so many and then enlarged:
            lines and planes are those of the full size, curved surfaces are interpolated.
        cache: What earlier calls computed.
        scale_options: Separation of surfaces and their smallest scale.
        tolerance: Relative residual of the linear systems.
        rounded: See `dense_normals`; False is the published normalisation.
        least_facing: Smallest component of a normal towards the viewer for integration, between 0
            and 1; None: 0.3 on curved surfaces and 0.05 on planes. 0.3 is as published.
        along_rays: Normals at smooth occlusions are orthogonal to the viewing ray. False: to the
            viewing axis, as published.
        stop: A time limit, and a way to cancel the call from another thread.

    Raises:
        Misuse: An impossible option.
        Cancelled: `stop` was cancelled.
    """
    if least_facing is not None and not 0 < least_facing < 1:
        raise Misuse(f"least_facing is {least_facing:g}; it is a cosine, between 0 and 1")
    stopping = stop or Stop()
    width, height = annotation.picture.width_px, annotation.picture.height_px
    if max_side_px is None and width * height > work_pixels:
        side = math.floor(max(width, height) * math.sqrt(work_pixels / (width * height)))
        small = reconstruct(
            annotation,
            seed=seed,
            max_side_px=max(1, side),
            cache=cache,
            scale_options=scale_options,
            tolerance=tolerance,
            rounded=rounded,
            least_facing=least_facing,
            along_rays=along_rays,
            stop=stopping,
        )
        return _at_full_size(small, annotation, seed)
    notes: list[str] = []
    sized = _with_focal(_sized(annotation, max_side_px), notes)
    store = cache if cache is not None else ReconstructionCache(1)
    surfaces = store.segmented(annotation, sized, seed)
    segmentation = surfaces.segmentation
    stopping.late()
    camera = camera_of(sized)
    hand = hand_normals(sized, segmentation, camera)
    rays = camera if along_rays else None
    known = known_normals(hand, segmentation, rays)
    with ThreadPoolExecutor(1) as aside:
        # The system for depth needs no normals: it is prepared while they are computed.
        ready = aside.submit(surfaces.depth.prepare, store.depth)
        dense = dense_normals(
            hand,
            segmentation,
            known,
            store.normals,
            camera=rays,
            pieces=surfaces.pieces,
            links=surfaces.normal_links,
            tolerance=tolerance,
            rounded=rounded,
            late=stopping.late,
        )
        ready.result()
    shaped = surfaces.depth.integrate(
        dense.normals,
        camera,
        hand.planes,
        solver=store.depth,
        tolerance=tolerance,
        least_facing=least_facing,
        late=stopping.late,
    )
    stopping.late()
    scaling = surface_scales(
        shaped.depth, segmentation, tuple(sized.strokes), scale_options, stopping.late
    )
    residual = max(dense.residual, shaped.residual)
    if stopping.late() and stopping.seconds is not None:
        notes.append(_LATE.format(stopping.seconds, residual))
    return Reconstruction(
        depth=scaled_depth(shaped.depth, segmentation, scaling.scales),
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
        residual=residual,
        strokes=tuple(sized.strokes),
        picture_px=(annotation.picture.width_px, annotation.picture.height_px),
    )


def _at_full_size(small: Reconstruction, annotation: Annotation, seed: int) -> Reconstruction:
    """The reconstruction of a reduced picture, enlarged."""
    camera = camera_of(_with_focal(annotation, []))
    segmentation = segment(annotation, seed=seed)
    normals, depth = enlarged(small.normals, small.depth, small.segmentation, segmentation, camera)
    width, height = camera.size_px
    note = (
        f"The picture has {width * height / 1e6:.1f} million pixels: it was solved at "
        f"{small.depth.shape[1]}x{small.depth.shape[0]} and enlarged; lines and planes are those "
        "of the full size. Places and pixels in these notes are of the smaller one."
    )
    return replace(
        small,
        depth=depth,
        normals=normals,
        segmentation=segmentation,
        camera=camera,
        scales=_renumbered(small, segmentation),
        notes=(note, *small.notes),
    )


def _renumbered(small: Reconstruction, large: Segmentation) -> dict[int, float]:
    """The scales by the numbers of the large picture's surfaces."""
    rows, columns = small.depth.shape
    scales: dict[int, float] = {}
    for number, box in large.boxes.items():
        y, x = np.argwhere(large.smooth[box] == number)[0] + (box[0].start, box[1].start)
        height, width = large.smooth.shape
        there = small.segmentation.continuous[y * rows // height, x * columns // width]
        scales.setdefault(int(large.continuous[y, x]), small.scales.get(int(there), 1.0))
    return scales


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


def scaled_depth(depth: Map, segmentation: Segmentation, scales: Mapping[int, float]) -> Map:
    """Depth with each continuous surface times its scale."""
    table = np.ones(int(segmentation.continuous.max(initial=0)) + 1)
    for surface, scale in scales.items():
        table[surface] = scale
    return (depth * table[segmentation.continuous]).astype(np.float32)
