"""Warping of maps from one view to another, and which pixels both views of a pair see."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry._maps import as_map, as_plane, need_positive, need_same_size
from depthgauge.types import Map, Mask

View = Literal["right", "left"]
"""The view that a disparity points to: x' = x - d to the right view, x' = x + d to the left."""


@dataclass(frozen=True, slots=True)
class OtherView:
    """Another picture of the scene that a map belongs to, taken by a parallel camera."""

    image: NDArray[np.generic]
    """(H, W) or (H, W, C)."""
    steps: tuple[float, float] = (1.0, 0.0)
    """Where its camera is, to the right and down, in baselines of the disparity."""
    is_third: bool = False
    """Whether it is beyond the pair that is usually matched."""
    depth_px_m: float = math.nan
    """Of a depth map: focal length times baseline, so that d = depth_px_m / z - offset_px."""
    offset_px: float = 0.0

    def moves(self, values: Map) -> Map:
        """Where each pixel of a disparity, depth or flow map goes, (H, W, 2), within the view.

        What would leave the view goes to its border.

        >>> view = OtherView(np.zeros((1, 3)))
        >>> view.moves(np.float32([[1, 1, np.nan]]))[..., 0]
        array([[ 0., -1., nan]], dtype=float32)
        """
        if values.ndim == 3:
            move = np.array(values, np.float32)
        else:
            move = np.stack(self._along_axes(values), axis=-1)
        height, width = values.shape[:2]
        for axis, at in enumerate((np.arange(width)[None, :], np.arange(height)[:, None])):
            last = (width, height)[axis] - 1
            move[..., axis] = np.clip(at + move[..., axis], 0, last) - at
        return np.asarray(move, np.float32)

    def _along_axes(self, values: Map) -> list[Map]:
        """How far each pixel of a disparity or depth map goes along x and along y."""
        # A depth of 0 has an infinite disparity, which leads nowhere across the baseline: NaN.
        with np.errstate(divide="ignore", invalid="ignore"):
            d = values
            if not math.isnan(self.depth_px_m):
                d = np.float32(self.depth_px_m) / values - np.float32(self.offset_px)
            return [-np.float32(step) * d for step in self.steps]


@dataclass(frozen=True, slots=True)
class Visibility:
    """What both views of a pair see, and what only one of them does."""

    visible: Mask
    """Pixels of the left view that the right one sees too."""
    occluded: Mask
    """Pixels of the left view that the right one does not see."""
    right_only: Mask | None = None
    """Pixels of the right view that the left one does not see; None if nothing says so."""


def seen_by_right_only(disparity: Map, visible: Mask) -> Mask:
    """Pixels of the right view that no visible pixel of the left one lands on.

    A single pixel between two others that are landed on is the gap of a slanted surface, and is
    seen by both.

    Args:
        disparity: The left view's.
        visible: The pixels of the left view that both see.

    >>> seen = np.array([[False, False, True, True, True]])
    >>> seen_by_right_only(np.array([[2, 2, 2, 0, 0]], np.float32), seen)
    array([[False,  True,  True, False, False]])
    """
    shown = np.where(visible, disparity, np.float32(np.nan))
    landed = np.isfinite(warp_forward(np.ones_like(shown), shown))
    gap = np.zeros_like(landed)
    gap[:, 1:-1] = landed[:, :-2] & landed[:, 2:] & ~landed[:, 1:-1]
    return ~(landed | gap)


def warp_forward(
    values: NDArray[np.generic],
    displacement: NDArray[np.generic],
    *,
    depth: NDArray[np.generic] | None = None,
    towards: View = "right",
) -> Map:
    """Moves each pixel's value to where the pixel goes; the nearest surface wins.

    A pixel lands on the nearest pixel of the other view. Where several land on the same pixel, the
    one with the smallest depth wins, or with the largest disparity if no depth is given; among
    equals the first in reading order. A missing value still hides what is behind it.

    Args:
        values: (H, W) or (H, W, C) in the first view.
        displacement: Disparity (H, W), or flow (H, W, 2) with (x', y') = (x + u, y + v); pixels
            where it is missing are dropped.
        depth: (H, W) depth of the first view; needed for flow. Pixels without depth are dropped.
        towards: For disparities, the view they point to.

    Returns:
        float32 in the second view, NaN where nothing lands.

    >>> warp_forward(np.array([[1.0, 2.0, 3.0]]), np.array([[0.0, 1.0, 1.0]]))
    array([[ 2., 3., nan]], dtype=float32)
    """
    source = as_map(values)
    move, sign = _displacement(source, displacement, towards)
    from depthgauge.geometry._kernels import landing_sources

    sources: NDArray[np.int64] = landing_sources(move, _nearness(move, depth), sign)
    flat = source.reshape(source.shape[0] * source.shape[1], -1)
    landed = flat[np.maximum(sources, 0).ravel()]
    landed[sources.ravel() < 0] = np.nan
    return landed.reshape(source.shape)


def warp_backward(
    values: NDArray[np.generic], displacement: NDArray[np.generic], *, towards: View = "right"
) -> Map:
    """The other view's values seen from this one: each pixel looks up its value bilinearly.

    Args:
        values: (H, W) or (H, W, C) in the second view.
        displacement: Disparity (H, W) or flow (H, W, 2) of the first view, as in `warp_forward`.
        towards: For disparities, the view they point to.

    Returns:
        float32 in the first view; NaN where the displacement is missing or points outside the
        second view, or where a required neighbour is missing.

    >>> warp_backward(np.array([[10.0, 20.0, 30.0]]), np.array([[0.5, 0.5, 0.0]]))
    array([[nan, 15., 30.]], dtype=float32)
    """
    source = as_map(values)
    move, sign = _displacement(source, displacement, towards)
    from depthgauge.geometry._kernels import fetch_bilinear

    fetched: Map = fetch_bilinear(source.reshape(*source.shape[:2], -1), move, sign)
    return fetched.reshape(source.shape)


def left_right_consistent(
    left_disparity: NDArray[np.generic],
    right_disparity: NDArray[np.generic],
    threshold_px: float = 1.0,
) -> Mask:
    """True where the right view also sees the left view's pixel, judged by its own disparity.

    A pixel is visible where |d_L(x) - d_R(x - d_L(x))| <= threshold, with d_R at the nearest pixel.
    Pixels that leave the view are not visible, nor are those that `left_right_unknown` marks.

    >>> left_right_consistent(np.array([[0.0, 1.0, 3.0]]), np.array([[1.0, 9.0, 3.0]]))
    array([[ True, True, False]])
    """
    need_positive(threshold_px=threshold_px)
    return np.equal(_left_right(left_disparity, right_disparity, threshold_px), 1)


def left_right_unknown(
    left_disparity: NDArray[np.generic], right_disparity: NDArray[np.generic]
) -> Mask:
    """True where visibility is unknown: the disparity of the pixel or of its match is missing.

    >>> left_right_unknown(np.array([[5.0, 1.0, np.nan]]), np.array([[np.nan, 9.0, 9.0]]))
    array([[False,  True,  True]])
    """
    return np.equal(_left_right(left_disparity, right_disparity, 1.0), 2)


def _left_right(
    left_disparity: NDArray[np.generic], right_disparity: NDArray[np.generic], threshold_px: float
) -> NDArray[np.uint8]:
    left = as_plane(left_disparity, "the left disparity")
    right = as_plane(right_disparity, "the right disparity")
    need_same_size(left, right, ("the left disparity", "the right disparity"))
    from depthgauge.geometry._kernels import left_right_codes

    codes: NDArray[np.uint8] = left_right_codes(left, right, float(threshold_px))
    return codes


def _displacement(
    values: Map, displacement: NDArray[np.generic], towards: View
) -> tuple[Map, float]:
    """The displacement as (H, W, 1 or 2), and the sign with which it is added."""
    if towards not in ("right", "left"):
        raise Misuse(f"towards must be 'right' or 'left', found '{towards}'")
    move = as_map(displacement)
    need_same_size(values, move, ("the map", "the displacement"))
    if move.ndim == 2:
        return move[..., None], -1.0 if towards == "right" else 1.0
    if move.shape[2] != 2:
        raise WrongShape(
            f"a displacement is a disparity (H, W) or a flow (H, W, 2), found {move.shape}"
        )
    return move, 1.0


def _nearness(move: Map, depth: NDArray[np.generic] | None) -> Map:
    """Decides between pixels that land on the same pixel: larger is nearer."""
    if depth is not None:
        plane = as_plane(depth, "depth")
        need_same_size(plane, move, ("depth", "the displacement"))
        return -plane
    if move.shape[2] == 2:
        raise Misuse("a flow does not say what is in front; give depth as well")
    return move[..., 0]
