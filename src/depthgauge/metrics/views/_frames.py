"""What all metrics of views share: pictures without gaps, and means over the frames of a clip."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadEstimate, WrongShape
from depthgauge.io.shown import shown
from depthgauge.metrics._judged import judged_pixels
from depthgauge.types import Image, Map, Mask, State, is_known

Picture = NDArray[np.float32]
"""(H, W, 3), red, green and blue as they are shown, from 0 to 1, without missing pixels."""

PAINTED = (
    "a missing pixel is shown as the colour that is farthest from the true one (0 or 1 in each "
    "channel), under every rule"
)
"""What a missing pixel costs in metrics that need a whole picture."""
_ROUNDING = 0.02
"""How far beyond 0 and 1 a channel may be, as after resampling with a sharpening kernel."""
_TOTAL, _FRAMES, _LOST, _KNOWN_TOTAL, _KNOWN_FRAMES = range(5)


def judged_views(
    estimate: Map, truth: Map, region: Mask | None
) -> tuple[Picture, Picture, Mask, Mask]:
    """Both views, the pixels that are judged, and those of them that have an estimate.

    Raises:
        BadEstimate: The estimate has values that are no colours.
        WrongShape: The maps are no pictures of three channels and of one size.
    """
    estimate, truth, judged = judged_pixels(estimate, truth, region)
    if estimate.ndim != 3 or estimate.shape[2] != 3:
        raise WrongShape(f"a view is (H, W, 3), red, green and blue, found {estimate.shape}.")
    known = is_known(estimate)
    inside = estimate if known.all() else np.where(known[..., None], estimate, np.float32(0))
    low, high = (float(f(inside, initial=0)) for f in (np.min, np.max))
    if low < -_ROUNDING or high > 1 + _ROUNDING:
        raise BadEstimate(
            f"a view has colours from 0 to 1, but this one has values from {low:g} to {high:g}; "
            "divide 8-bit codes by 255."
        )
    clipped = np.clip(estimate, np.float32(0), np.float32(1))
    return clipped, truth, judged, judged & known


def whole_views(estimate: Map, truth: Map, region: Mask | None) -> tuple[Picture, Picture, State]:
    """Both views without gaps, for metrics that look at whole pictures, and the pixels' counts.

    Outside of the region both are the truth; a missing pixel inside is as far from it as possible.
    """
    estimate, truth, judged, present = judged_views(estimate, truth, region)
    if present.all():
        return estimate, truth, State(present.size, 0)
    target = np.where(is_known(truth)[..., None], truth, np.float32(0)).astype(np.float32)
    farthest = (target < 0.5).astype(np.float32)
    painted = np.where(judged[..., None], farthest, target)
    whole = np.where(present[..., None], estimate, painted).astype(np.float32)
    count = int(np.count_nonzero(present))
    return whole, target, State(count, int(np.count_nonzero(judged)) - count)


def as_picture(image: Image, size: tuple[int, ...], name: str = "left_image") -> Picture:
    """An input image as a picture of that size (height, width).

    Raises:
        WrongShape: It has another size, or is no picture.
    """
    values = image[..., None] if image.ndim == 2 else image[..., :3]
    if values.shape[:2] != size[:2]:
        found, wanted = (f"{shape[1]}x{shape[0]}" for shape in (values.shape, size))
        raise WrongShape(f"{name} is {found} but the views are {wanted}; give it at their size.")
    return np.ascontiguousarray(np.broadcast_to(shown(values), (*size[:2], 3)))


def as_codes(picture: Picture) -> NDArray[np.uint8]:
    """A picture as 8-bit codes, for libraries that take nothing else."""
    return np.asarray(np.rint(np.clip(picture, 0, 1) * np.float32(255)), np.uint8)


def frame_state(counts: State, value: float, known_value: float | None = None) -> State:
    """The state of one frame.

    Args:
        counts: The numbers of pixels; a frame without judged pixels adds nothing.
        value: With what missing pixels cost; NaN if the frame has no number, which leaves the clip
            without one.
        known_value: Without the missing pixels, for the rule `skip`; the same if it is None.
    """
    sums = np.zeros(5)
    if counts.count + counts.missing:
        lost = math.isnan(value)
        sums[[_TOTAL, _FRAMES, _LOST]] = (0.0, 0, 1) if lost else (value, 1, 0)
        known = value if known_value is None else known_value
        if counts.count and not math.isnan(known):
            sums[[_KNOWN_TOTAL, _KNOWN_FRAMES]] = known, 1
    return State(counts.count, counts.missing, sums)


def finish_frames(state: State, missing: str) -> float:
    """The mean over frames; NaN if there are none, or if a frame has no number."""
    if missing in ("skip", "good"):
        total, frames = state.sums[[_KNOWN_TOTAL, _KNOWN_FRAMES]]
    else:
        total, frames = state.sums[[_TOTAL, _FRAMES]]
        if state.sums[_LOST]:
            return math.nan
    return float(total / frames) if frames else math.nan


def frame_count(state: State) -> int:
    """How many frames of a clip, or of several clips, have a number in this state.

    Of metrics of views that have a value per frame.
    """
    return int(state.sums[_FRAMES])
