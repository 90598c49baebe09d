"""Geometry of maps: cameras, disparity and depth, warping, resizing, surfaces, alignment, filling;
and the structure of a map: discontinuities, fine structures, planar and curved surfaces.

Every function takes and returns float32 maps in which a missing value is NaN, and documents how it
treats missing values. Pixel centres are at integers; camera axes are x right, y down, z forward.
"""

from depthgauge.geometry.alignment import Alignment, apply_alignment, fit_alignment
from depthgauge.geometry.cardboard import fill_cardboard
from depthgauge.geometry.discontinuities.continuity import Surfaces, find_surfaces, fitted_curvature
from depthgauge.geometry.discontinuities.edges import Edges, edges_from_mask, find_edges, front
from depthgauge.geometry.discontinuities.gaps import ClosedMap, close_gaps
from depthgauge.geometry.discontinuities.structures import (
    Structures,
    find_structures,
    structures_from_masks,
)
from depthgauge.geometry.disparity import (
    depth_from_disparity,
    depth_from_lightfield_disparity,
    disparity_from_depth,
    lightfield_disparity_from_depth,
)
from depthgauge.geometry.distances import distance_to, nearest_pixel
from depthgauge.geometry.filling import fill
from depthgauge.geometry.intrinsics import (
    camera_from_mm,
    camera_from_pixels,
    focal_px,
    scale_camera,
)
from depthgauge.geometry.link_system import LinkSolution, LinkSystem
from depthgauge.geometry.normal_integration import IntegratedDepth, integrate_normals
from depthgauge.geometry.projection import (
    backproject,
    inverse_pose,
    project,
    rays,
    slopes_at,
    to_camera,
    to_world,
    transform,
)
from depthgauge.geometry.ray_scene import Hits, RayScene
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
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
    "ClosedMap",
    "Edges",
    "Hits",
    "IntegratedDepth",
    "LinkSolution",
    "LinkSystem",
    "RayScene",
    "RectifiedPair",
    "RectifiedView",
    "Structures",
    "Surfaces",
    "apply_alignment",
    "backproject",
    "camera_from_mm",
    "camera_from_pixels",
    "close_gaps",
    "crop_border",
    "curvature",
    "depth_from_disparity",
    "depth_from_lightfield_disparity",
    "disparity_from_depth",
    "distance_to",
    "edges_from_mask",
    "fill",
    "fill_cardboard",
    "find_edges",
    "find_structures",
    "find_surfaces",
    "fit_alignment",
    "fitted_curvature",
    "focal_px",
    "front",
    "hessian",
    "integrate_normals",
    "inverse_pose",
    "left_right_consistent",
    "left_right_unknown",
    "lightfield_disparity_from_depth",
    "nearest_pixel",
    "normals_from_depth",
    "normals_from_disparity",
    "pad_border",
    "project",
    "rays",
    "resize",
    "resize_labels",
    "scale_camera",
    "slopes_at",
    "structures_from_masks",
    "subsample_truth",
    "to_camera",
    "to_world",
    "transform",
    "warp_backward",
    "warp_forward",
]
