"""Rigs: the camera that a map belongs to, and the surface normals of a map seen through it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Unavailable
from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.geometry.surfaces import normals_from_depth, normals_from_disparity
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Camera, Map, Rig

REVISION = 1
"""Raised whenever the result of `surface_normals` may change."""
STEP = 0.02
"""A surface ends where a pixel is off the line between its neighbours by more than this share of
its inverse depth."""


def main_camera(rig: Rig) -> Camera:
    """The camera that the maps of a sample belong to: `left`, else `centre`, else the only one.

    Raises:
        Unavailable: There are several cameras and none has one of these names.

    >>> main_camera(Rig({"cam0": Camera((100.0, 100.0), (1.0, 1.0), (3, 3))})).size_px
    (3, 3)
    """
    for name in ("left", "centre"):
        if name in rig.cameras:
            return rig.cameras[name]
    if len(rig.cameras) == 1:
        return next(iter(rig.cameras.values()))
    found = ", ".join(sorted(rig.cameras)) or "none"
    raise Unavailable(
        f"the rig has no camera 'left' or 'centre' that maps belong to, only {found}."
    )


def depth_from_map(values: Map, quantity: str, rig: Rig, camera: Camera) -> Map:
    """The depth in metres that a disparity or depth map says.

    Raises:
        Unavailable: The quantity is neither, or a disparity's baseline is not known.
    """
    space = QUANTITIES[quantity].space
    if space == "depth":
        return values
    if space is None or not (math.isfinite(rig.baseline_m) and rig.baseline_m > 0):
        raise Unavailable(f"{quantity} cannot be turned into depth with this rig.")
    return depth_from_disparity(values, camera.focal_px[0], rig.baseline_m, rig.principal_offset_px)


def normals_from_map(values: NDArray[np.generic], quantity: str, rig: Rig) -> Map:
    """Unit normals of the surface that a disparity or depth map shows; see `normals_from_depth`.

    Raises:
        Unavailable: The rig lacks the map's camera or, for a disparity map, its baseline.
        WrongShape: The map does not have the camera's size.
    """
    camera = main_camera(rig)
    if QUANTITIES[quantity].space == "depth":
        return normals_from_depth(values, camera)
    if not (math.isfinite(rig.baseline_m) and rig.baseline_m > 0):
        raise Unavailable(
            f"normals of a disparity map need the rig's baseline, which is {rig.baseline_m} here."
        )
    return normals_from_disparity(values, camera, rig.baseline_m, rig.principal_offset_px)


def surface_normals(values: NDArray[np.generic], quantity: str, rig: Rig) -> Map:
    """As `normals_from_map`, but NaN where the map jumps, since differences are meaningless there.

    On a plane the inverse depth is linear in the pixels. A pixel has a normal where its inverse
    depth is within 2 % of the mean of both neighbours, along rows and along columns.

    >>> depth = np.tile([2.0, 2.0, 2.0, 4.0, 4.0, 4.0], (3, 1))
    >>> rig = Rig({"left": Camera((9.0, 9.0), (2.5, 1.0), (6, 3))})
    >>> np.isnan(surface_normals(depth, "depth", rig)[1, 1:5, 2])
    array([False,  True,  True, False])
    """
    normals = normals_from_map(values, quantity, rig)
    with np.errstate(divide="ignore", invalid="ignore"):
        power = -1 if QUANTITIES[quantity].space == "depth" else 1
        inverse = np.asarray(values, np.float64) ** power
        along_x = abs(inverse[:, :-2] + inverse[:, 2:] - 2 * inverse[:, 1:-1])[1:-1]
        along_y = abs(inverse[:-2] + inverse[2:] - 2 * inverse[1:-1])[:, 1:-1]
        limit = 2 * STEP * abs(inverse[1:-1, 1:-1])
        goes_on = (along_x <= limit) & (along_y <= limit)
    inner = normals[1:-1, 1:-1]
    inner[~goes_on] = np.nan
    return normals
