"""Other pictures of the scene: what an estimate can be checked with where there is no truth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from depthgauge.errors import Unavailable
from depthgauge.geometry.rigs import main_camera
from depthgauge.geometry.warping import OtherView
from depthgauge.quantities import QUANTITIES
from depthgauge.regions._checks import same_size
from depthgauge.regions._shared_maps import shared_map
from depthgauge.types import Camera, Map, Rig

_PARALLEL = 1e-6
"""How far the rotations of two parallel cameras may be apart."""


@shared_map("other_views", needs=("quantity", "items"))
def other_views(truth: Map, *, quantity: str, items: Mapping[str, Any]) -> tuple[OtherView, ...]:
    """Pictures of the same scene from parallel cameras, and where each of them is.

    Of a stereo pair: `right_image`. Of a light field: of the row and the column of the centre view
    the first and the last views, and as third views those in the corners, which methods that look
    at that row and column only have not seen. Of flow: `second_image`. Other images are third views
    if the rig has a camera of their name (`top_image`, camera `top`) that is parallel to the main
    one. Of a depth map, the rig says where its pixels are seen.
    """
    declared = QUANTITIES[quantity]
    if declared.error == "length" and declared.channels == 2:
        found = [OtherView(items["second_image"])] if "second_image" in items else []
    elif declared.space is None:
        found = []
    elif "views" in items:
        found = list(_of_light_field(np.asarray(items["views"])))
    else:
        found = list(_of_rig(items, declared.space))
    if not found:
        raise Unavailable(f"there is no other view of a {quantity} map here.", ["right_image"])
    for view in found:
        same_size("another view", view.image, truth)
    return tuple(found)


def _of_light_field(views: Any) -> Iterator[OtherView]:
    """The ends of the cross, then the corners."""
    rows, columns = views.shape[:2]
    middle = rows // 2, columns // 2
    ends = [(r, c) for r in {0, middle[0], rows - 1} for c in {0, middle[1], columns - 1}]
    for row, column in sorted(set(ends) - {middle}):
        down, right = row - middle[0], column - middle[1]
        yield OtherView(views[row, column], (right, down), is_third=bool(down and right))


def _of_rig(items: Mapping[str, Any], space: str) -> Iterator[OtherView]:
    """The right view, and images of other parallel cameras."""
    rig: Rig | None = items.get("rig")
    of_depth = math.nan, 0.0
    if space == "depth":
        if rig is None or not rig.baseline_m > 0:
            return
        of_depth = main_camera(rig).focal_px[0] * rig.baseline_m, rig.principal_offset_px
    if "right_image" in items:
        yield OtherView(items["right_image"], (1.0, 0.0), False, *of_depth)
    if rig is None or not rig.baseline_m > 0:
        return
    for name, camera in rig.cameras.items():
        steps = _steps(main_camera(rig), camera, rig.baseline_m)
        if name not in ("left", "right") and f"{name}_image" in items and steps is not None:
            yield OtherView(items[f"{name}_image"], steps, True, *of_depth)


def _steps(main: Camera, other: Camera, baseline_m: float) -> tuple[float, float] | None:
    """Where a camera is, in baselines; None if it is the same place, or not parallel."""
    pose, place = main.world_from_camera, other.world_from_camera
    x, y, z = pose[:3, :3].T @ (place[:3, 3] - pose[:3, 3]) / baseline_m
    turned = float(np.abs(pose[:3, :3] - place[:3, :3]).max())
    same = main.focal_px == other.focal_px and main.centre_px == other.centre_px
    if turned > _PARALLEL or abs(z) > _PARALLEL or not same or math.hypot(x, y) < _PARALLEL:
        return None
    return float(x), float(y)
