"""Orientation of surfaces: angles between the normals of the estimate and those of the truth."""

from __future__ import annotations

import math

import numpy as np

from depthgauge.geometry.rigs import normals_from_map
from depthgauge.metrics._judged import finish_mean, finish_share, judged_pixels, mean_state
from depthgauge.metrics._metric import metric
from depthgauge.types import Map, Mask, Rig, State
from depthgauge.units import Unit

NUMBERS = ("disparity", "depth")
WORST_DEG = 180.0


def angle_map(estimate: Map, truth: Map, rig: Rig, quantity: str) -> Map:
    """Angle in degrees between the surfaces of two maps, seen through the rig's main camera.

    NaN in the outermost rows and columns and where a normal cannot be computed, which needs the
    pixel and its four neighbours.
    """
    return _angles(estimate, truth, None, rig, quantity)[0]


def _angles(
    estimate: Map, truth: Map, region: Mask | None, rig: Rig, quantity: str
) -> tuple[Map, Mask]:
    """The angles, and the pixels of the region at which the truth has a normal."""
    from depthgauge.metrics.kernels.surfaces import angles_between

    estimate, truth, judged = judged_pixels(estimate, truth, region)
    true_normals = normals_from_map(truth, quantity, rig)
    angles = np.full(truth.shape, np.nan, np.float32)
    angles_between(normals_from_map(estimate, quantity, rig), true_normals, angles)
    return angles, judged & np.isfinite(true_normals[..., 0])


class _AngleMap:
    @staticmethod
    def error_map(estimate: Map, truth: Map, *, rig: Rig, quantity: str) -> Map:
        """The angle at each pixel."""
        return angle_map(estimate, truth, rig, quantity)


@metric(
    "angular_error",
    category="geometry",
    unit=Unit.DEGREE,
    better="lower",
    bounds=(0, 180),
    of=NUMBERS,
    cite="Honauer 2019, equation 4.1",
    formula="mean angle(normal of the estimate, normal of the truth)",
    revision=1,
    needs=("rig", "quantity"),
)
class AngularError(_AngleMap):
    """Mean angle between the surface normals of the estimate and those of the truth.

    Normals are computed from the depth map, by central differences of the points that the rig's
    main camera sees (`left`, else `centre`, else the only one). Shifting a surface along the axes
    does not matter, tilting it does. Pixels at which the truth has no normal (the outermost ones
    and those beside unknown truth) are left out. A missing estimate also removes the normals of its
    neighbours, and each of them is missing.

    >>> import numpy as np
    >>> import depthgauge as dg
    >>> rig = dg.Rig({"left": dg.Camera((1.0, 1.0), (1.0, 1.0), (3, 3))})
    >>> slanted = 4.0 / (2.0 + np.array([[-1.0, 0.0, 1.0]] * 3))  # the plane z = 2 - x / 2
    >>> s = dg.score(slanted, np.full((3, 3), 2.0), "angular_error", quantity="depth",
    ...              items={"rig": rig})
    >>> round(s["angular_error@all"].value, 3), s["angular_error@all"].count
    (26.565, 1)
    """

    @staticmethod
    def measure(
        estimate: Map, truth: Map, region: Mask | None, *, rig: Rig, quantity: str
    ) -> State:
        """Sum of the angles."""
        return mean_state(*_angles(estimate, truth, region, rig, quantity))

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """Mean of the angles."""
        return finish_mean(state, missing, worst=WORST_DEG)


@metric(
    "median_angular_error",
    category="geometry",
    unit=Unit.DEGREE,
    better="lower",
    bounds=(0, 180),
    of=NUMBERS,
    cite="Honauer 2019, section 7.3.2 (MAE), after equation 4.1",
    formula="median angle(normal of the estimate, normal of the truth)",
    revision=1,
    needs=("rig", "quantity"),
)
class MedianAngularError(_AngleMap):
    """Median angle between the surface normals of the estimate and those of the truth.

    Like `angular_error`, but a few wild normals do not change it. For an even number of angles it
    is the mean of the two middle ones; a missing pixel under `bad` counts as an angle of 180
    degrees.

    >>> import numpy as np
    >>> import depthgauge as dg
    >>> rig = dg.Rig({"left": dg.Camera((1.0, 1.0), (1.0, 1.0), (3, 3))})
    >>> slanted = 4.0 / (2.0 + np.array([[-1.0, 0.0, 1.0]] * 3))  # the plane z = 2 - x / 2
    >>> s = dg.score(slanted, np.full((3, 3), 2.0), "median_angular_error", quantity="depth",
    ...              items={"rig": rig})
    >>> round(s["median_angular_error@all"].value, 3)
    26.565
    """

    @staticmethod
    def measure(
        estimate: Map, truth: Map, region: Mask | None, *, rig: Rig, quantity: str
    ) -> State:
        """All angles, sorted."""
        angles, judged = _angles(estimate, truth, region, rig, quantity)
        found = np.sort(angles[judged & np.isfinite(angles)])
        return State(found.size, int(np.count_nonzero(judged)) - found.size, values=found)

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """The angle in the middle."""
        if state.values is None:
            return math.nan
        lost = state.missing if missing in ("bad", "interpolate") else 0
        perfect = state.missing if missing == "good" else 0
        return _median(state.values, perfect, lost)


def _median(values: Map, below: int, above: int) -> float:
    """Median of sorted angles with some perfect ones added before and some worst ones after."""
    n = below + values.size + above
    if not n:
        return math.nan

    def at(place: int) -> float:
        if place < below:
            return 0.0
        return float(values[place - below]) if place - below < values.size else WORST_DEG

    return (at((n - 1) // 2) + at(n // 2)) / 2.0


@metric(
    "angular_badpix",
    category="geometry",
    unit=Unit.PERCENT,
    better="lower",
    bounds=(0, 100),
    of=NUMBERS,
    cite="Honauer 2019, section 4.2.1, after equation 4.1",
    formula="100 * mean [not angle <= degrees]",
    revision=1,
    needs=("rig", "quantity"),
)
class AngularBadPix(_AngleMap):
    """Percentage of pixels whose normal is off by more than an angle, or that have no normal.

    Like `angular_error`; an angle of exactly the limit is not bad.

    >>> import numpy as np
    >>> import depthgauge as dg
    >>> rig = dg.Rig({"left": dg.Camera((1.0, 1.0), (1.0, 1.0), (3, 3))})
    >>> slanted = 4.0 / (2.0 + np.array([[-1.0, 0.0, 1.0]] * 3))  # the plane z = 2 - x / 2
    >>> s = dg.score(slanted, np.full((3, 3), 2.0), ["angular_badpix:26", "angular_badpix:27"],
    ...              quantity="depth", items={"rig": rig})
    >>> s["angular_badpix:26@all"].value, s["angular_badpix:27@all"].value
    (100.0, 0.0)
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        rig: Rig,
        quantity: str,
        degrees: float = 5.0,
    ) -> State:
        """Number of angles above the limit."""
        angles, judged = _angles(estimate, truth, region, rig, quantity)
        over = np.where(np.isnan(angles), np.nan, ~(angles <= np.float32(degrees)))
        return mean_state(over, judged)

    @staticmethod
    def finish(state: State, *, missing: str, degrees: float = 5.0) -> float:
        """Percentage of pixels above the limit."""
        return finish_share(state, missing)

    @staticmethod
    def error_map(
        estimate: Map, truth: Map, *, rig: Rig, quantity: str, degrees: float = 5.0
    ) -> Map:
        """The angle at each pixel."""
        return angle_map(estimate, truth, rig, quantity)


@metric(
    "surface_angle",
    category="geometry",
    unit=Unit.DEGREE,
    better="lower",
    bounds=(0, 180),
    of=NUMBERS,
    cite="after Honauer 2019, equation 4.1",
    formula="mean angle((-x slope, -y slope, 1) of the estimate, that of the truth)",
    revision=1,
)
class SurfaceAngle:
    """Mean angle between the surfaces z = map(x, y) of estimate and truth, without a camera.

    The map's values are used as heights in pixels. The angles depend on the unit of the map and are
    not those of the scene, so they compare estimates of one map only. If a rig is known,
    `angular_error` is the better number.

    >>> import depthgauge as dg
    >>> flat, steep = [[0, 0, 0]] * 3, [[0, 1, 2]] * 3
    >>> round(dg.score(steep, flat, "surface_angle")["surface_angle@all"].value, 3)
    45.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None) -> State:
        """Sum of the angles."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        known = np.isfinite(SurfaceAngle.error_map(truth, truth))
        return mean_state(SurfaceAngle.error_map(estimate, truth), judged & known)

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """Mean of the angles."""
        return finish_mean(state, missing, worst=WORST_DEG)

    @staticmethod
    def error_map(estimate: Map, truth: Map) -> Map:
        """The angle at each pixel."""
        from depthgauge.metrics.kernels.surfaces import angles_between_slopes

        angles = np.full(truth.shape, np.nan, np.float32)
        angles_between_slopes(estimate, truth, angles)
        return angles
