"""Depth up to a scale and a shift of each surface: the locally scale-invariant error."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadEstimate
from depthgauge.geometry.projection import need_camera_size
from depthgauge.metrics._judged import finish_mean, judged_pixels, need_size
from depthgauge.metrics._metric import metric
from depthgauge.metrics._surface_numbers import surface_numbers
from depthgauge.types import Camera, Map, Mask, State
from depthgauge.units import Unit

Labels = NDArray[np.integer[Any]]
Values = NDArray[np.float64]
Numbers = NDArray[np.int64]
_CITE = "Chen et al. 2020, equation (6)"
_NEEDS = ("camera", "continuous_labels", "estimate_focal_px")


class Fit(NamedTuple):
    """The best scale and shift of each surface, and the remaining error."""

    scale: Values
    shift: Values
    squares: Values
    """Sum of squared distances of each surface."""


def fit_surfaces(points: Values, target: Values, surface: Numbers) -> Fit:
    """The scale s and z-shift t of each surface that fit s * point + (0, 0, t) to the target.

    Least squares over all real numbers, so a scale may be negative: then a surface that is turned
    inside out is as good as its shape. If the points of a surface do not determine the scale (they
    are all equal and on the axis), it is 0.

    Args:
        points: (n, 3).
        target: (n, 3).
        surface: (n,) number of each point's surface, from 0; a number without points gets the
            scale 0.

    >>> z = np.array([1.0, 2.0, 4.0])
    >>> points = np.stack([0 * z, 0 * z, z], axis=1)
    >>> fit = fit_surfaces(points, 3 * points + [0, 0, 5], np.zeros(3, int))
    >>> fit.scale.round(12).tolist(), fit.shift.round(12).tolist()
    ([3.0], [5.0])
    """
    from depthgauge.metrics.kernels import local_scale as kernels

    surface = np.ascontiguousarray(surface, np.int64)
    n = int(surface.max(initial=-1)) + 1
    # Subtracting the means removes the shift, and keeps large depths from cancelling each other.
    mean, sums, squares = np.zeros((n, 3)), np.zeros((n, 2)), np.zeros(n)
    kernels.means(points, target, surface, mean)
    kernels.products(points, target, surface, mean, sums)
    scale = np.divide(sums[:, 1], sums[:, 0], out=np.zeros(n), where=sums[:, 0] > 0)
    kernels.remainders(points, target, surface, mean, scale, squares)
    return Fit(scale, mean[:, 2] - scale * mean[:, 1], squares)


def _rays(inside: Mask, camera: Camera, focal_px: tuple[float, float]) -> Values:
    """The points at depth 1 of the pixels of a mask."""
    y, x = np.nonzero(inside)
    (fx, fy), (cx, cy) = focal_px, camera.centre_px
    return np.stack([(x - cx) / fx, (y - cy) / fy, np.ones(x.size)], axis=1)


def _surfaces(labels: Labels, judged: Mask, least_px: int) -> tuple[Mask, Numbers]:
    """The judged pixels of surfaces that are large enough, and the surface of each."""
    judged = judged & (labels > 0)
    surface = surface_numbers(labels, judged)
    kept = np.bincount(surface)[surface] >= least_px
    inside = judged.copy()
    inside[judged] = kept
    return inside, surface[kept]


class JudgedPoints(NamedTuple):
    """The points of a picture that are compared."""

    inside: Mask
    """Where a pixel has a truth that counts and an estimate."""
    missing: int
    surface: Numbers
    points: Values
    """The estimate's points, (n, 3)."""
    target: Values
    """The truth's points, in standard deviations of their X."""


def judged_points(
    maps: tuple[Map, Map, Mask | None],
    camera: Camera,
    labels: Labels,
    focal_px: float,
    least_px: int,
) -> JudgedPoints:
    """What `lsiv` compares in a picture.

    Args:
        maps: Estimate, truth, and the region (None: everything).
        camera: The camera of the truth.
        labels: Continuous surfaces, 0 elsewhere.
        focal_px: The focal length of the estimate.
        least_px: Smaller surfaces are left out.
    """
    estimate, truth, judged = judged_pixels(*maps)
    need_size(labels, "continuous_labels", truth)
    need_camera_size(truth, camera)
    inside, surface = _surfaces(labels, judged, least_px)
    target = truth[inside].astype(np.float64)[:, None] * _rays(inside, camera, camera.focal_px)
    width = float(np.std(target[:, 0], ddof=1)) if len(target) > 1 else 0.0
    present = np.isfinite(estimate[inside])
    lost = present.size - int(present.sum())
    if not width > 0:  # there is no unit of distance
        present, lost = np.zeros_like(present), 0
    inside[inside] = present
    rays = np.zeros((0, 3))
    if present.any():
        focal = _focal(focal_px)
        rays = _rays(inside, camera, (focal, focal))
    points = estimate[inside].astype(np.float64)[:, None] * rays
    return JudgedPoints(inside, lost, surface[present], points, target[present] / (width or 1.0))


class _LocalScale:
    """What both forms share."""

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        camera: Camera,
        continuous_labels: Labels,
        estimate_focal_px: float,
        least_px: int = 10,
    ) -> State:
        """The sum of the remaining squared distances."""
        maps = (estimate, truth, region)
        found = judged_points(maps, camera, continuous_labels, estimate_focal_px, least_px)
        fit = fit_surfaces(found.points, found.target, found.surface)
        return State(len(found.points), found.missing, np.array([fit.squares.sum()]))


def _distances(
    maps: tuple[Map, Map, None],
    camera: Camera,
    labels: Labels,
    focal_px: float,
    least_px: int,
) -> Map:
    """How far each point remains from its truth; NaN where nothing is judged."""
    found = judged_points(maps, camera, labels, focal_px, least_px)
    fit = fit_surfaces(found.points, found.target, found.surface)
    left = found.target - fit.scale[found.surface, None] * found.points
    left[:, 2] -= fit.shift[found.surface]
    distances = np.full(found.inside.shape, np.nan, np.float32)
    distances[found.inside] = np.linalg.norm(left, axis=1)
    return distances


def _focal(focal_px: float) -> float:
    if not (math.isfinite(focal_px) and focal_px > 0):
        raise BadEstimate(
            f"the focal length of the estimate is {focal_px:g} px but must be above 0 and finite; "
            "store it with the depth, or give one for all with --focal."
        )
    return float(focal_px)


@metric(
    "lsiv",
    category="shape",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=("depth",),
    cite=_CITE,
    formula="mean |P* / std(X*) - s P - (0, 0, t)|^2, best s and t of each continuous surface",
    revision=1,
    needs=_NEEDS,
)
class Lsiv(_LocalScale):
    """Mean squared distance of points after the best scale and z-shift of each surface.

    The estimate's depth and focal length give points P, the truth's give P*. Pixels are judged if
    they are on a continuous surface (labels above 0) of at least `least_px` pixels. Distances are
    in standard deviations (of the sample, n - 1) of the true X of a picture's judged pixels, so a
    picture whose judged pixels all have the same X is an empty region. Scale and shift are the best
    of all real numbers; a scale may be negative. The principal point is the truth's. The authors'
    code gives this number under the name of a root; `lsiv_root` is the root.

    >>> import numpy as np
    >>> from depthgauge.metrics import METRICS
    >>> from depthgauge.types import Camera
    >>> truth = np.array([[2, 2, 3], [2, 2, 3], [2, 2, 3]], np.float32)
    >>> items = {"camera": Camera((4.0, 4.0), (1.0, 1.0), (3, 3)),
    ...          "continuous_labels": np.ones((3, 3), int), "estimate_focal_px": 4.0}
    >>> m = METRICS["lsiv"]
    >>> round(m.finish(m.measure(7 * truth, truth, least_px=1, **items), least_px=1), 9)
    0.0
    """

    @staticmethod
    def finish(state: State, *, missing: str, least_px: int = 10) -> float:
        """The mean over pixels."""
        return finish_mean(state, missing)

    @staticmethod
    def error_map(
        estimate: Map,
        truth: Map,
        *,
        camera: Camera,
        continuous_labels: Labels,
        estimate_focal_px: float,
        least_px: int = 10,
    ) -> Map:
        """The remaining squared distance of each point."""
        maps = (estimate, truth, None)
        found = _distances(maps, camera, continuous_labels, estimate_focal_px, least_px)
        return np.square(found)


@metric(
    "lsiv_root",
    category="shape",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=("depth",),
    cite=_CITE,
    formula="sqrt(lsiv)",
    revision=1,
    needs=_NEEDS,
)
class LsivRoot(_LocalScale):
    """Root mean squared distance of points after the best scale and z-shift of each surface.

    The root of `lsiv`: what the name LSIV_RMSE says.

    >>> import numpy as np
    >>> from depthgauge.metrics import METRICS
    >>> from depthgauge.types import Camera
    >>> truth = np.array([[2, 2, 3], [2, 2, 3], [2, 2, 3]], np.float32)
    >>> items = {"camera": Camera((4.0, 4.0), (1.0, 1.0), (3, 3)),
    ...          "continuous_labels": np.ones((3, 3), int), "estimate_focal_px": 8.0}
    >>> square, root = METRICS["lsiv"], METRICS["lsiv_root"]
    >>> state = root.measure(truth, truth, least_px=1, **items)
    >>> round(root.finish(state, least_px=1) ** 2 / square.finish(state, least_px=1), 9)
    1.0
    """

    @staticmethod
    def finish(state: State, *, missing: str, least_px: int = 10) -> float:
        """The root of the mean over pixels."""
        return math.sqrt(finish_mean(state, missing))

    @staticmethod
    def error_map(
        estimate: Map,
        truth: Map,
        *,
        camera: Camera,
        continuous_labels: Labels,
        estimate_focal_px: float,
        least_px: int = 10,
    ) -> Map:
        """The remaining distance of each point."""
        maps = (estimate, truth, None)
        return _distances(maps, camera, continuous_labels, estimate_focal_px, least_px)
