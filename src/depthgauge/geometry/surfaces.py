"""Surface normals, second derivatives and curvature of maps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry._maps import as_plane
from depthgauge.geometry.disparity import depth_from_disparity
from depthgauge.geometry.projection import need_camera_size, ray_slopes
from depthgauge.types import Camera, Map


def normals_from_depth(depth_m: NDArray[np.generic], camera: Camera) -> Map:
    """Unit normals (H, W, 3) of the surface in a depth map, pointing to the viewer.

    With P the back-projected points, n = dP/dy x dP/dx, normalised; derivatives are central
    differences. Camera axes: a wall seen head-on has the normal (0, 0, -1).

    Returns:
        float32; NaN in the outermost rows and columns, and where the pixel or one of its four
        neighbours is missing or not positive.

    Raises:
        WrongShape: The map does not have the camera's size.

    >>> camera = Camera((100.0, 100.0), (1.0, 1.0), (3, 3))
    >>> normals_from_depth(np.full((3, 3), 2.0), camera)[1, 1] + 0.0
    array([ 0., 0., -1.], dtype=float32)
    """
    depth = as_plane(depth_m, "depth")
    need_camera_size(depth, camera)
    from depthgauge.geometry._kernels import normals

    found: Map = normals(depth, *ray_slopes(camera))
    return found


def normals_from_disparity(
    disparity_px: NDArray[np.generic], camera: Camera, baseline_m: float, offset_px: float = 0.0
) -> Map:
    """Unit normals of the surface in a disparity map, computed from its depth.

    See `depth_from_disparity` for the arguments and `normals_from_depth` for the result.
    """
    depth = depth_from_disparity(disparity_px, camera.focal_px[0], baseline_m, offset_px)
    return normals_from_depth(depth, camera)


def hessian(values: NDArray[np.generic]) -> Map:
    """Second derivatives (H, W, 3) per pixel squared: d2/dx2, d2/dxdy, d2/dy2.

    Central differences, exact on quadratics. NaN in the outermost rows and columns and where any of
    the 3 x 3 pixels is missing.

    >>> y, x = np.mgrid[0:3, 0:3]
    >>> hessian(x * x + 3 * x * y - y * y)[1, 1]
    array([ 2., 3., -2.], dtype=float32)
    """
    plane = as_plane(values, "the map")
    from depthgauge.geometry._kernels import second_derivatives

    found: Map = second_derivatives(plane)
    return found


def curvature(values: NDArray[np.generic]) -> Map:
    """Both eigenvalues (H, W, 2) of the Hessian, the larger magnitude first.

    They are the second derivatives across and along the direction in which the map bends most; both
    are 0 on planes. NaN as in `hessian`.

    >>> y, x = np.mgrid[0:3, 0:3]
    >>> curvature(0.5 * x * x - 2 * y * y)[1, 1]
    array([-4., 1.], dtype=float32)
    """
    second = hessian(values)
    xx, xy, yy = second[..., 0], second[..., 1], second[..., 2]
    mean = (xx + yy) / 2
    radius = np.hypot((xx - yy) / 2, xy)
    # The eigenvalue of larger magnitude has the sign of the mean.
    radius = np.copysign(radius, mean)
    return np.stack([mean + radius, mean - radius], axis=-1)
