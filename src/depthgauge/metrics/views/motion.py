"""Whether a generated video moves like the true one: consistency along the true motion, flicker."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId
from depthgauge.geometry.warping import warp_backward
from depthgauge.metrics._metric import metric
from depthgauge.metrics.views._frames import (
    Picture,
    as_codes,
    finish_frames,
    frame_state,
    judged_views,
)
from depthgauge.types import Map, Mask, State, is_known
from depthgauge.units import Unit

_NEEDS = ("previous_estimate", "previous_truth")
_LEAST_PX = 12
"""OpenCV's flow needs as much."""
_WORST_EXCESS, _WORST_CHANGE = 1.0, 2.0
_PRESETS = ("ultrafast", "fast", "medium")


def true_motion(now: Picture, before: Picture, preset: str, agree_px: float) -> tuple[Map, Mask]:
    """Where each pixel was in the frame before, and for which pixels both directions agree.

    Args:
        now: The true view; missing pixels are black.
        before: The true view of the frame before.
        preset: Of dense inverse search: `ultrafast`, `fast` or `medium`.
        agree_px: How far a pixel may be from itself after both ways.

    Returns:
        Flow (H, W, 2) from now to before, and the pixels that are consistent.
    """
    import cv2

    presets = {name: getattr(cv2, f"DISOPTICAL_FLOW_PRESET_{name.upper()}") for name in _PRESETS}
    search = cv2.DISOpticalFlow.create(presets[preset])
    grey = [
        cv2.cvtColor(as_codes(np.nan_to_num(view)), cv2.COLOR_RGB2GRAY) for view in (now, before)
    ]
    back = search.calc(grey[0], grey[1], None)
    forth = warp_backward(search.calc(grey[1], grey[0], None), back)
    off = np.hypot(back[..., 0] + forth[..., 0], back[..., 1] + forth[..., 1])
    return back, np.asarray(off <= agree_px)


def _change(now: Map, before: Map) -> NDArray[np.float32]:
    """Mean absolute change of the channels of each pixel."""
    return np.asarray(np.mean(np.abs(now - before), axis=2), np.float32)


@metric(
    "temporal_error",
    category="views",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, 1),
    of=("view",),
    cite="after Lai et al. 2018",
    formula="mean of max(0, |E(t) - W E(t-1)| - |T(t) - W T(t-1)|), W along the true flow",
    revision=1,
    needs=_NEEDS,
    choices={"flow": _PRESETS},
    missing_costs="a pixel that is missing in either frame has 1",
)
class TemporalError:
    """How much a video changes along the true motion, beyond what the true video does.

    Dense inverse search finds the motion of the true view from each frame to the one before. The
    generated frame before is moved along it and compared with the present one; the same is done
    with the true frames, whose own change (light, noise, errors of the flow) is subtracted from
    each pixel, and what is below 0 counts as 0. Judged are pixels whose motion is found in both
    directions to `agree_px`. The true video has 0, and nothing has less. A smooth video has little
    to change, so it is read beside a measure of reconstruction. For clips; the first frame has
    none.
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        previous_estimate: Map,
        previous_truth: Map,
        flow: str = "medium",
        agree_px: float = 1.0,
    ) -> State:
        """The mean over the frame's consistent pixels."""
        estimate, truth, judged, _ = judged_views(estimate, truth, region)
        before, true_before, _, _ = judged_views(previous_estimate, previous_truth, None)
        if min(truth.shape[:2]) < _LEAST_PX:
            return frame_state(State(0, 0), math.nan)
        motion, agrees = true_motion(truth, true_before, flow, agree_px)
        true_change = _change(truth, warp_backward(true_before, motion))
        judged = judged & agrees & np.isfinite(true_change)
        excess = np.maximum(_change(estimate, warp_backward(before, motion)) - true_change, 0)
        return _mean_state(excess[judged], _WORST_EXCESS)

    @staticmethod
    def finish(state: State, *, missing: str, flow: str = "medium", agree_px: float = 1.0) -> float:
        """The mean over pairs of frames."""
        return finish_frames(state, missing)


@metric(
    "flicker",
    category="views",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, 2),
    of=("view",),
    cite="us",
    formula="mean over blocks and channels of |mean e(t) - mean e(t-1)|, e = E - T",
    revision=1,
    needs=_NEEDS,
    missing_costs="a block with a missing pixel in either frame has 2",
)
class Flicker:
    """How much the brightness of blocks jumps from frame to frame, in comparison with the truth.

    The error of a view, estimate - truth, is averaged over blocks of `block` x `block` px, and its
    change since the frame before is measured, channel by channel. Detail within a block does not
    count, nor does an error that stays. The true video has 0. For clips; the first frame has none.
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        previous_estimate: Map,
        previous_truth: Map,
        block: int = 16,
    ) -> State:
        """The mean over the frame's blocks."""
        if block < 1:
            raise BadScoreId(f"flicker: block is {block} but must be at least 1.")
        estimate, truth, judged, _ = judged_views(estimate, truth, region)
        before, true_before, _, _ = judged_views(previous_estimate, previous_truth, None)
        judged = judged & is_known(true_before)
        errors = (estimate - truth).astype(np.float64) - (before - true_before)
        means = _block_means(errors, block)
        whole = _block_means(judged[..., None].astype(np.float64), block)[..., 0] == 1
        return _mean_state(np.mean(np.abs(means), axis=2)[whole], _WORST_CHANGE)

    @staticmethod
    def finish(state: State, *, missing: str, block: int = 16) -> float:
        """The mean over pairs of frames."""
        return finish_frames(state, missing)


def _block_means(values: NDArray[np.float64], block: int) -> NDArray[np.float64]:
    """Means over whole blocks, the first in the upper left corner; NaN where a value is missing."""
    rows, columns = (n // block for n in values.shape[:2])
    cut = values[: rows * block, : columns * block]
    return np.asarray(cut.reshape(rows, block, columns, block, values.shape[2]).mean(axis=(1, 3)))


def _mean_state(values: NDArray[np.floating], worst: float) -> State:
    """The mean of what is judged, with and without what is missing (NaN)."""
    present = values[np.isfinite(values)]
    count, lost = present.size, values.size - present.size
    total = float(np.sum(present, dtype=np.float64))
    both = (total + worst * lost) / values.size if values.size else math.nan
    return frame_state(State(count, lost), both, total / count if count else math.nan)
