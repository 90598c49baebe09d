"""Two views at one time, as the audit compares them, from any layout."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.datasets._stereogen.scene import Pair, RigScene
from depthgauge.errors import Unavailable, WrongShape
from depthgauge.geometry.projection import backproject, inverse_pose, project, transform
from depthgauge.types import Camera, Image, Map, Sample

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ViewPair:
    """A left and a right picture, and where depth says that pixels of the left one are."""

    left: Image
    right: Image
    there: Floats
    """(H, W, 2) position in the right view; NaN without depth."""
    nearness: Floats
    """(H, W) inverse depth, or disparity, that the right view must have there."""
    right_nearness: Floats | None
    """(H, W) what the right view has; None if the data does not say."""
    back: Callable[[Floats, Floats], Floats]
    """From positions in the right view and its nearness there to positions in the left view."""
    shift: Floats
    """(H, W) disparity in px, of which a wrong scale is a share."""


def rig_pair(scene: RigScene, pair: Pair, frame: int) -> ViewPair:
    """Two cameras of a rig at a frame, by their poses.

    Raises:
        BadFile: A video is damaged.
    """
    left, right = (scene.camera(number, frame) for number in pair)
    depth, right_depth = (scene.depth(number, frame) for number in pair)
    across = inverse_pose(right.world_from_camera) @ left.world_from_camera
    points = transform(backproject(depth, left).astype(np.float64), across)
    there = project(points, right)
    with np.errstate(divide="ignore", invalid="ignore"):
        nearness, right_nearness = 1 / points[..., 2], 1 / np.asarray(right_depth, np.float64)
    grid = pixel_grid(depth.shape)
    return ViewPair(
        scene.image(pair[0], frame),
        scene.image(pair[1], frame),
        there,
        nearness,
        right_nearness,
        _backwards(left, right),
        np.hypot(*np.moveaxis(there - grid, -1, 0)),
    )


def _backwards(left: Camera, right: Camera) -> Callable[[Floats, Floats], Floats]:
    across = inverse_pose(left.world_from_camera) @ right.world_from_camera

    def back(positions: Floats, nearness: Floats) -> Floats:
        slopes = (positions - right.centre_px) / right.focal_px
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = 1 / nearness[..., None]
        rays = np.concatenate([slopes, np.ones_like(slopes[..., :1])], axis=-1)
        return np.asarray(project(transform(rays * depth, across), left), np.float64)

    return back


def sample_pair(sample: Sample) -> ViewPair:
    """Both pictures and the disparity of a sample of stereo matching.

    Raises:
        Unavailable: It lacks a picture or the disparity.
        WrongShape: Its pictures and maps differ in size.
    """
    truth = {} if sample.truth is None else sample.truth
    for items, name in ((sample.inputs, "left_image"), (sample.inputs, "right_image")):
        if name not in items:
            raise Unavailable(f"{sample.id}: has no {name} to compare.")
    if "disparity" not in truth:
        raise Unavailable(f"{sample.id}: has no true disparity to compare the pictures with.")
    left, right = sample.inputs["left_image"], sample.inputs["right_image"]
    disparity = np.asarray(truth["disparity"], np.float64)
    other = np.asarray(truth["right_disparity"], np.float64) if "right_disparity" in truth else None
    _same_size(sample.id, left, right, disparity, other)
    there = pixel_grid(disparity.shape)
    there[..., 0] -= disparity
    there[np.isnan(disparity)] = np.nan
    return ViewPair(left, right, there, disparity, other, _rectified_back, disparity)


def _rectified_back(positions: Floats, nearness: Floats) -> Floats:
    found = positions.copy()
    found[..., 0] += nearness
    return found


def _same_size(
    name: str, left: Image, right: Image, disparity: Floats, other: Floats | None
) -> None:
    sizes = {left.shape[:2], right.shape[:2], disparity.shape}
    if other is not None:
        sizes.add(other.shape)
    if len(sizes) > 1:
        listed = ", ".join(f"{w}x{h}" for h, w in sorted(sizes))
        raise WrongShape(f"{name}: pictures and maps have the sizes {listed}; they must be equal.")


def pixel_grid(shape: tuple[int, ...]) -> Floats:
    """The position (x, y) of every pixel."""
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]]
    return np.stack([x, y], axis=-1).astype(np.float64)


# --- what depth alone can tell --------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class RoundTrip:
    """Pixels of the left view that go to the right view and back by its own depth."""

    error_px: Floats
    """(H, W); NaN where a pixel is occluded, outside, or without depth."""
    inside: int
    """Pixels with depth in both views."""

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Where both views agree about the depth."""
        return np.isfinite(self.error_px)


def round_trip(views: ViewPair, threshold: float) -> RoundTrip | None:
    """The reprojection error of pixels that are not occluded; None without the right depth.

    Args:
        views: Both views.
        threshold: A pixel is occluded if the right view's nearness differs by more than this
            share from what the left view's depth gives.
    """
    if views.right_nearness is None:
        return None
    seen = bilinear(views.right_nearness, views.there, spread=threshold)
    with np.errstate(invalid="ignore", divide="ignore"):
        agree = np.abs(seen - views.nearness) <= threshold * views.nearness
    returned = views.back(views.there, seen)
    error = np.hypot(*np.moveaxis(returned - pixel_grid(seen.shape), -1, 0))
    return RoundTrip(np.where(agree, error, np.nan), int(np.isfinite(seen).sum()))


def bilinear(values: Floats, positions: Floats, spread: float = math.inf) -> Floats:
    """Values between pixels; NaN outside, or if the four around differ by more than a share."""
    height, width = values.shape
    x, y = positions[..., 0], positions[..., 1]
    with np.errstate(invalid="ignore"):
        inside = (x >= 0) & (x <= width - 1) & (y >= -0.5) & (y <= height - 0.5)
    # Half a pixel above the first row is the first row, or rounding would lose it.
    x0 = np.clip(np.where(inside, x, 0.0), 0, width - 1)
    y0 = np.clip(np.where(inside, y, 0.0), 0, height - 1)
    left = np.minimum(x0.astype(np.int64), max(width - 2, 0))
    top = np.minimum(y0.astype(np.int64), max(height - 2, 0))
    right, below = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    fx, fy = x0 - left, y0 - top
    four = np.stack(
        [values[top, left], values[top, right], values[below, left], values[below, right]]
    )
    weights = np.stack([(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy])
    # A neighbour without weight does not matter, known or not.
    known = np.where(weights > 1e-9, four, np.nan)
    found = np.nansum(np.where(weights > 1e-9, four * weights, 0.0), axis=0)
    missing = (np.isnan(four) & (weights > 1e-9)).any(axis=0)
    with np.errstate(invalid="ignore"):
        low = np.fmin.reduce(known, axis=0)
        high = np.fmax.reduce(known, axis=0)
        torn = high - low > spread * np.abs(found) if math.isfinite(spread) else np.False_
    return np.where(inside & ~missing & ~torn, found, np.nan)


def valid_share(depth: Map | Floats) -> float:
    """The share of pixels with depth."""
    return float(np.isfinite(depth).mean())
