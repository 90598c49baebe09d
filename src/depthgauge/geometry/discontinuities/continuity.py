"""Where a map shows continuous surfaces, and which of them are planar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from depthgauge.geometry._checks import need_bends, need_window
from depthgauge.geometry._maps import as_map, need_same_size
from depthgauge.geometry.discontinuities._jumps import find_jumps
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map, Mask


@dataclass(frozen=True, slots=True)
class Surfaces:
    """The continuous surfaces of a map (Honauer 2019, section 4.2.1)."""

    continuous: Mask
    """M_c: no jump nearby, and little curvature."""
    planar: Mask
    """M_p: the planar ones."""
    curved: Mask
    """M_n: the curved ones."""


def fitted_curvature(values: Map, window: int = 9, where: Mask | None = None) -> Map:
    """How strongly a map bends at each pixel: the larger magnitude of its Hessian's eigenvalues.

    The Hessian belongs to the least-squares quadratic over `window` x `window` pixels. Noise of s
    px per pixel makes it uncertain by 0.24 s for a window of 5, 0.04 s for 9 and 0.013 s for 13;
    `curvature` (central differences) is uncertain by 2.4 s.

    Args:
        values: (H, W) or (H, W, C); the largest value over the channels counts.
        window: Width in px, odd, from 3 to 99.
        where: (H, W) pixels to compute, which is faster; None for all.

    Returns:
        float32 (H, W), per px squared; NaN where the window leaves the image or has missing values.

    Raises:
        WrongShape: The sizes differ.
        Misuse: The window is not odd, or not from 3 to 99.

    >>> y, x = np.mgrid[0:5, 0:5]
    >>> fitted_curvature(0.5 * x * x - 2 * y * y, 5)[2, 2]
    np.float32(4.0)
    """
    need_window(window, least=3)  # two pixels have no curvature
    array = as_map(values)
    from depthgauge.geometry.discontinuities import _fit_kernels as kernels

    out = np.full(array.shape[:2], np.nan, np.float32)
    if where is None:
        where = np.zeros((0, 0), bool)
    else:
        need_same_size(where, array, ("the mask", "the map"))
    kernels.fitted_curvature(array.reshape(*array.shape[:2], -1), window // 2, where, out)
    return out


def find_surfaces(
    truth: Map,
    quantity: str,
    *,
    jump: float = 1.0,
    bend: float = 0.05,
    flat: float = 0.002,
    window: int = 9,
    wide: int = 13,
) -> Surfaces:
    """The continuous surfaces of a dense map, split into planar and curved ones.

    A pixel is continuous if the `window` around it is complete, contains no pixel of a jump (see
    `find_edges`), and has a curvature of at most `bend`. It is planar if the curvature is at most
    `flat`, in this window or in the `wide` one. The curvature is the `fitted_curvature`. Disparity
    and inverse depth are linear on every plane, but depth is not. For depth, the curvature is
    therefore that of 1 / depth times the depth squared: in m per px squared, equal to that of the
    depth itself where the surface faces the camera, and 0 on every plane. For flow it is the larger
    of the two channels.

    Within a window of 9 px, a surface with a curvature of 0.05 px per px squared deviates from its
    tangent plane by 0.4 px, well below a jump. One with a curvature of 0.002 deviates by 0.016 px,
    less than truth measured with light can show (its noise may be 0.04 px). Errors of such truth
    are alike in neighbouring pixels, so that a flat floor looks bent in streaks: the wide window
    sees over them. Use a `flat` of 0.005 for truth in steps of a quarter px. For rendered truth
    without noise use a `flat` of 0.0001 and no wide window (`wide` = `window`); for rendered light
    fields also a jump of 0.1, a bend of 0.005 and a `flat` of 0.0002.

    Args:
        truth: (H, W) or (H, W, C), NaN where missing.
        quantity: Quantity of the truth; only depth is treated specially.
        jump: In the truth's unit.
        bend: In the truth's unit per px squared.
        flat: In the truth's unit per px squared.
        window: Width in px, odd, from 3 to 99.
        wide: Likewise; not used if it is not wider than the window.

    Raises:
        Misuse: A negative jump, a bend below flat, or a window that is not odd and from 3 to 99.
    """
    need_bends(flat, bend)
    need_window(wide, least=3)
    values = as_map(truth)
    first = values if values.ndim == 2 else values[..., 0]
    edge = find_jumps(values, first, jump).sides().edge
    # A plane is linear in disparity and in inverse depth, not in depth.
    inverted = QUANTITIES[quantity].space == "depth"
    heights = _inverse(values) if inverted else values.copy()
    # A window with a missing value has no curvature.
    heights[edge] = np.nan
    bends = _bends(heights, window, first if inverted else None)
    continuous = bends <= np.float32(bend)
    planar = bends <= np.float32(flat)
    curved = continuous & ~planar
    if wide > window and curved.any():
        # A smaller window has room wherever a wide one has.
        bends = _bends(heights, wide, first if inverted else None, curved)
        planar |= bends <= np.float32(flat)
        curved &= ~planar
    return Surfaces(continuous, planar, curved)


def _bends(heights: Map, window: int, depth: Map | None, where: Mask | None = None) -> Map:
    """The curvature; that of the depth itself if heights are its inverse."""
    bends = fitted_curvature(heights, window, where)
    if depth is not None:
        bends *= depth * depth
    return bends


def _inverse(depth: Map) -> Map:
    inverse = np.full(depth.shape, np.nan, np.float32)
    return np.divide(1.0, depth, out=inverse, where=depth > 0)
