"""The depth of each continuous surface from its normals, each up to its own scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._links import DepthLinks, depth_links
from depthgauge.annotate.reconstruct._pieces import Links, Pieces, PieceSolver, Wanted
from depthgauge.annotate.reconstruct.hand_normals import described
from depthgauge.annotate.reconstruct.segmentation import Segmentation
from depthgauge.geometry.normal_integration import centred, faced, log_depth_steps
from depthgauge.geometry.projection import ray_slopes
from depthgauge.types import Camera, Map, Mask

Array = NDArray[np.float64]

CURVED_FACING = 0.3
"""Smallest component of a normal towards the viewer on curved surfaces, for integration only."""
PLANE_FACING = 0.05
"""The same on planes: a floor at a grazing angle is right as it is, and bending it up would move
everything that stands on it."""


@dataclass(frozen=True)
class ShapedSurfaces:
    """Depth in which each surface has its own scale."""

    depth: Map
    """(H, W); the mean of log depth is 0 on every continuous surface."""
    residual: float
    """Largest relative residual of a surface's linear system."""
    notes: tuple[str, ...]


class SurfaceDepth:
    """The links of a segmentation, prepared for any number of normal maps."""

    def __init__(self, segmentation: Segmentation, pieces: Pieces | None = None) -> None:
        self._segmentation = segmentation
        self._pieces = pieces if pieces is not None else Pieces.of(segmentation.continuous)
        links = depth_links(segmentation)
        self._folds = links.right_fold, links.down_fold
        self._links = Links(links.right, links.down)
        self._main, self._stray = _main_parts(links, segmentation.continuous)
        self._own = PieceSolver()

    def prepare(self, solver: PieceSolver | None = None) -> None:
        """Builds what solves the equations; it does not depend on normals."""
        (solver or self._own).prepare(self._pieces, self._links)

    def integrate(
        self,
        normals: Array,
        camera: Camera,
        planes: Iterable[int] = (),
        *,
        solver: PieceSolver | None = None,
        tolerance: float = 1e-4,
        least_facing: float | None = None,
        late: Callable[[], bool] | None = None,
    ) -> ShapedSurfaces:
        """Depth from normals.

        Args:
            normals: (H, W, 3), unit, NaN outside the region.
            camera: A camera with the map's size.
            planes: Numbers of the smooth surfaces that are planar.
            solver: What keeps solutions for later calls.
            tolerance: The largest relative residual of a surface.
            least_facing: Smallest component of a normal towards the viewer, on all surfaces; None:
                `CURVED_FACING` and `PLANE_FACING`.
            late: Asked during the search, which ends early when it says yes.
        """
        planar = self._planar(planes)
        least = np.where(planar, PLANE_FACING, CURVED_FACING)
        if least_facing is not None:
            least = np.full(planar.shape, least_facing)
        facing = faced(normals, camera, least)
        steps = log_depth_steps(facing, camera, self._folds)
        wanted = Wanted(steps=steps, start=_plane_logs(facing, camera, planar)[..., None])
        solver = solver if solver is not None else self._own
        values, residual = solver.solve(self._pieces, self._links, wanted, tolerance, late)
        logs = values[..., 0]
        continuous = np.where(self._main, self._segmentation.continuous, 0)
        logs = centred(logs, continuous)
        ys, xs, from_y, from_x = self._stray
        logs[ys, xs] = np.nan_to_num(logs[from_y, from_x])
        notes = self._grazing(facing, normals, planar)
        return ShapedSurfaces(np.exp(logs).astype(np.float32), residual, notes)

    def _planar(self, planes: Iterable[int]) -> Mask:
        smooth = self._segmentation.smooth
        table = np.zeros(int(smooth.max(initial=0)) + 1, bool)
        table[list(planes)] = True
        found: Mask = table[smooth]
        return found

    def _grazing(self, facing: Array, normals: Array, planar: Mask) -> tuple[str, ...]:
        """Notes on planes that would be invisible with their normal."""
        turned = planar & (np.abs(facing[..., 2] - normals[..., 2]) > 1e-9)
        return tuple(
            f"The planar surface {described(int(surface), self._segmentation)}, would not be "
            "visible everywhere it is drawn; check its normal or the lines around it."
            for surface in np.unique(self._segmentation.smooth[turned])
        )


def _plane_logs(facing: Array, camera: Camera, planar: Mask) -> Array:
    """Log depth of planes up to a constant: a good start for the solver."""
    x, y = ray_slopes(camera)
    towards = -(facing[..., 0] * x + facing[..., 1] * y + facing[..., 2])
    return -np.log(np.where(planar, towards, 1.0))


def _main_parts(
    links: DepthLinks, continuous: NDArray[np.int32]
) -> tuple[Mask, tuple[NDArray[np.int64], ...]]:
    """The largest linked part of each surface, and for every other pixel the nearest pixel of it.

    The others are single line pixels without a neighbour on their owner's side.
    """
    from depthgauge.annotate.reconstruct._segmentation_kernels import linked_parts

    parts = np.zeros(continuous.shape, np.int32)
    count = linked_parts(links.right, links.down, parts)
    sizes = np.bincount(parts.ravel(), minlength=count + 1)
    surface = np.zeros(count + 1, np.int64)
    surface[parts.ravel()] = continuous.ravel()
    surface[0] = 0
    # The largest part of a surface comes last, among equals the later one: the last write wins.
    largest = np.zeros(int(continuous.max(initial=0)) + 1, np.int64)
    order = np.argsort(sizes[1:], kind="stable") + 1
    largest[surface[order]] = order
    largest[0] = 0
    main = (parts > 0) & (continuous > 0) & (parts == largest[continuous])
    ys, xs = np.nonzero((continuous > 0) & ~main)
    return main, (ys, xs, *_nearest_of_surface(ys, xs, main, continuous))


def _nearest_of_surface(
    ys: NDArray[np.int64], xs: NDArray[np.int64], main: Mask, continuous: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    from scipy import ndimage
    from scipy.spatial import cKDTree

    from_y, from_x = ys.copy(), xs.copy()
    boxes = ndimage.find_objects(continuous) if len(ys) else []
    numbers = continuous[ys, xs]
    order = np.argsort(numbers, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(ys) else ():
        surface = int(numbers[mine[0]])
        box = boxes[surface - 1]
        corner = np.array([box[0].start, box[1].start])
        there = np.argwhere(main[box] & (continuous[box] == surface)) + corner
        if len(there):
            at = cKDTree(there).query(np.stack([ys[mine], xs[mine]], axis=1))[1]
            from_y[mine], from_x[mine] = there[at].T
    return from_y, from_x
