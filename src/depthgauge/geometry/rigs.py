"""Rigs: the camera that a map belongs to, and the normals of what a map shows through it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Unavailable
from depthgauge.geometry.surfaces import normals_from_depth, normals_from_disparity
from depthgauge.types import Camera, Map, Rig


def main_camera(rig: Rig) -> Camera:
    """The camera whose pixels the maps of a sample have: `left`, else `centre`, else the only one.

    Raises:
        Unavailable: There are several cameras and none has such a name.

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


def normals_from_map(values: NDArray[np.generic], quantity: str, rig: Rig) -> Map:
    """Unit normals of the surface that a disparity or depth map shows; see `normals_from_depth`.

    Raises:
        Unavailable: The rig lacks the map's camera or, for a disparity map, its baseline.
        WrongShape: The map is not of the camera's size.
    """
    camera = main_camera(rig)
    if quantity == "depth":
        return normals_from_depth(values, camera)
    if not (math.isfinite(rig.baseline_m) and rig.baseline_m > 0):
        raise Unavailable(
            f"normals of a disparity map need the rig's baseline, which is {rig.baseline_m} here."
        )
    return normals_from_disparity(values, camera, rig.baseline_m, rig.principal_offset_px)
