"""Errors of planes that are known to be flat: bent, or turned (iBims' PE)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.geometry.projection import need_camera_size, ray_slopes
from depthgauge.metrics._judged import judged_pixels, need_size
from depthgauge.metrics._metric import metric
from depthgauge.types import Camera, Map, Mask, State
from depthgauge.units import Unit

_CITE = "Koch, Liebel, Fraundorfer & Körner 2018"
_LEAST_ESTIMATED = 0.5
_WORST_DEG = 90.0
NEEDS = ("camera", "plane_labels", "plane_normals")


class PlaneError(NamedTuple):
    """The errors of one plane."""

    flatness_m: float
    """Standard deviation of the distances from the fitted plane."""
    angle_deg: float
    """Between the fitted normal and the true one, at most 90."""


def plane_error(
    depth: NDArray[np.generic],
    slopes: tuple[NDArray[np.float64], NDArray[np.float64]],
    scale: float,
    normal: NDArray[np.generic],
) -> PlaneError:
    """Fits a plane to the points of some pixels by principal components.

    Args:
        depth: (n,) depths.
        slopes: (n,) x / z and y / z of the same pixels.
        scale: Factor of the depths.
        normal: The true normal, in the axes of the slopes (x right, y down, z forward).
    """
    z = np.asarray(depth, np.float64) * scale
    points = np.stack([slopes[0] * z, slopes[1] * z, z], axis=1)
    points -= points.mean(axis=0)
    values, vectors = np.linalg.eigh(points.T @ points / len(points))
    true = np.asarray(normal, np.float64)
    cosine = abs(float(vectors[:, 0] @ true)) / float(np.linalg.norm(true))
    return PlaneError(math.sqrt(max(values[0], 0.0)), math.degrees(math.acos(min(cosine, 1.0))))


def _planes(
    estimate: Map, truth: Map, region: Mask | None, labels: NDArray[np.int32], share: float
) -> Iterator[tuple[int, NDArray[np.intp], int]]:
    """Number, estimated pixels (flat) and all judged pixels of each plane that is large enough."""
    estimate, truth, judged = judged_pixels(estimate, truth, region)
    need_size(labels, "plane_labels", truth)
    numbers = labels.ravel()
    inside = np.flatnonzero(judged.ravel() & (numbers > 0))
    order = inside[np.argsort(numbers[inside], kind="stable")]
    found, starts, sizes = np.unique(numbers[order], return_index=True, return_counts=True)
    known = np.isfinite(estimate.ravel()) & (estimate.ravel() > 0)
    for number, start, size in zip(found.tolist(), starts, sizes, strict=True):
        if size >= share * truth.size:
            pixels = order[start : start + size]
            yield number, pixels[known[pixels]], int(size)


def measure(
    estimate: Map,
    truth: Map,
    region: Mask | None,
    *,
    camera: Camera,
    plane_labels: NDArray[np.int32],
    plane_normals: NDArray[np.float32],
    share: float = 0.05,
) -> State:
    """Sums of both errors over the planes; planes with too few estimates are missing."""
    if share > 1:
        raise BadScoreId(f"share is {share:g} but must be from 0 to 1.")
    need_camera_size(truth, camera)
    x, y = (slope.ravel() for slope in ray_slopes(camera))
    sums, count, missing = np.zeros(2), 0, 0
    values, true = estimate.ravel(), truth.ravel()
    for number, pixels, judged in _planes(estimate, truth, region, plane_labels, share):
        if number > len(plane_normals):
            raise WrongShape(f"plane {number} has a label, but there are {len(plane_normals)}.")
        if pixels.size < max(_LEAST_ESTIMATED * judged, 3):
            missing += 1
            continue
        scale = float(np.median(true[pixels])) / float(np.median(values[pixels]))
        slopes = x[pixels], y[pixels]
        found = plane_error(values[pixels], slopes, scale, plane_normals[number - 1])
        sums += found
        count += 1
    return State(count, missing, sums)


@metric(
    "plane_flatness",
    category="geometry",
    unit=Unit.METRE,
    better="lower",
    bounds=(0, math.inf),
    of=("depth",),
    cite=_CITE,
    formula="mean over planes of the standard deviation of the distances from the fitted plane",
    revision=1,
    needs=NEEDS,
    missing_costs="is left out; a plane with estimates at less than half of its pixels is missing "
    "and left out too, and `density` is the share of planes",
)
class PlaneFlatness:
    """How far estimated planes are from being flat, in metres (iBims' pe_fla, which is in cm).

    The estimate is scaled to the true median depth on each plane, its pixels become points, and a
    plane is fitted to them. Planes below a share of the picture are not judged. Counts are numbers
    of planes.

    >>> import numpy as np, depthgauge as dg
    >>> from depthgauge.types import Camera
    >>> camera = Camera((4.0, 4.0), (2.5, 1.5), (6, 4))
    >>> items = {"camera": camera, "plane_labels": np.ones((4, 6), np.int32)}
    >>> items["plane_normals"] = np.array([[0.0, 0.0, -1.0]])
    >>> wall = np.full((4, 6), 2.0)
    >>> s = dg.score(3 * wall, wall, ["plane_flatness"], quantity="depth", items=items)
    >>> round(s["plane_flatness@all"].value, 6)
    0.0
    """

    measure = staticmethod(measure)

    @staticmethod
    def finish(state: State, *, missing: str, share: float = 0.05) -> float:
        """The mean over planes."""
        return float(state.sums[0]) / state.count if state.count else math.nan


@metric(
    "plane_angle",
    category="geometry",
    unit=Unit.DEGREE,
    better="lower",
    bounds=(0, _WORST_DEG),
    of=("depth",),
    cite=_CITE,
    formula="mean over planes of the angle between the fitted normal and the true one",
    revision=1,
    needs=NEEDS,
    missing_costs="is left out; a plane with estimates at less than half of its pixels costs 90",
)
class PlaneAngle:
    """By how much estimated planes are turned, in degrees (iBims' pe_ori).

    The fit is that of `plane_flatness`. Counts are numbers of planes.

    >>> import numpy as np, depthgauge as dg
    >>> from depthgauge.types import Camera
    >>> camera = Camera((4.0, 4.0), (2.5, 1.5), (6, 4))
    >>> items = {"camera": camera, "plane_labels": np.ones((4, 6), np.int32)}
    >>> items["plane_normals"] = np.array([[0.0, -1.0, -1.0]])
    >>> wall = np.full((4, 6), 2.0)
    >>> s = dg.score(wall, wall, ["plane_angle"], quantity="depth", items=items)
    >>> round(s["plane_angle@all"].value, 6)
    45.0
    """

    measure = staticmethod(measure)

    @staticmethod
    def finish(state: State, *, missing: str, share: float = 0.05) -> float:
        """The mean over planes; a missing one costs 90 degrees under `bad`."""
        total, n = float(state.sums[1]), state.count
        if missing in ("bad", "interpolate"):
            total, n = total + _WORST_DEG * state.missing, n + state.missing
        return total / n if n else math.nan
