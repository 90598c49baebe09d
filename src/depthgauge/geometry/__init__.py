"""Geometry of maps: cameras, disparity and depth, warping, resizing, surfaces, alignment, filling.

Every function takes and returns float32 maps in which a missing value is NaN, and says what becomes
of it. Pixel centres are at integers; camera axes are x right, y down, z forward.
"""

from depthgauge.geometry.alignment import Alignment, apply_alignment, fit_alignment
from depthgauge.geometry.disparity import (
    depth_from_disparity,
    depth_from_lightfield_disparity,
    disparity_from_depth,
    lightfield_disparity_from_depth,
)
from depthgauge.geometry.filling import fill
from depthgauge.geometry.intrinsics import (
    camera_from_mm,
    camera_from_pixels,
    focal_px,
    scale_camera,
)
from depthgauge.geometry.projection import (
    backproject,
    inverse_pose,
    project,
    rays,
    to_camera,
    to_world,
    transform,
)
from depthgauge.geometry.resizing import (
    crop_border,
    pad_border,
    resize,
    resize_labels,
    subsample_truth,
)
from depthgauge.geometry.surfaces import (
    curvature,
    hessian,
    normals_from_depth,
    normals_from_disparity,
)
from depthgauge.geometry.warping import (
    left_right_consistent,
    left_right_unknown,
    warp_backward,
    warp_forward,
)

__all__ = [
    "Alignment",
    "apply_alignment",
    "backproject",
    "camera_from_mm",
    "camera_from_pixels",
    "crop_border",
    "curvature",
    "depth_from_disparity",
    "depth_from_lightfield_disparity",
    "disparity_from_depth",
    "fill",
    "fit_alignment",
    "focal_px",
    "hessian",
    "inverse_pose",
    "left_right_consistent",
    "left_right_unknown",
    "lightfield_disparity_from_depth",
    "normals_from_depth",
    "normals_from_disparity",
    "pad_border",
    "project",
    "rays",
    "resize",
    "resize_labels",
    "scale_camera",
    "subsample_truth",
    "to_camera",
    "to_world",
    "transform",
    "warp_backward",
    "warp_forward",
]
