"""What metrics with their own `measure` share: which pixels they judge, and means over them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape
from depthgauge.metrics.moments import same_size
from depthgauge.types import Map, Mask, State, is_known

Judged = tuple[Mask, Map, Mask]
"""The pixels that fail, the estimate, and the pixels that are judged."""


def judged_pixels(estimate: Map, truth: Map, region: Mask | None) -> tuple[Map, Map, Mask]:
    """Both maps at the same size, and the pixels of the region that have truth."""
    estimate, truth = same_size(estimate, truth)
    return estimate, truth, is_known(truth) & whole_region(region, truth)


def whole_region(region: Mask | None, values: Map) -> Mask:
    """The region; every pixel if none is given."""
    if region is None:
        return np.ones(values.shape[:2], bool)
    if region.shape != values.shape[:2]:
        raise WrongShape(
            f"the region is {_size(region)} but the maps are {_size(values)}; "
            "make the mask at the truth's size."
        )
    return np.asarray(region, bool)


def need_size(thing: NDArray[Any], name: str, values: Map) -> None:
    """Rejects an item that a metric needs if its size differs from that of the maps.

    Raises:
        WrongShape: The size differs.
    """
    if thing.shape[:2] != values.shape[:2]:
        raise WrongShape(
            f"{name} is {_size(thing)} but the maps are {_size(values)}; make it at their size."
        )


def distance(first: Map, second: Map) -> Map:
    """|first - second| of each pixel: for flow the length of the difference vector."""
    difference = first - second
    if difference.ndim == 2:
        return np.asarray(np.abs(difference), np.float32)
    return np.asarray(np.hypot(difference[..., 0], difference[..., 1]), np.float32)


def part(things: Mapping[str, Any], path: tuple[str, str], values: Map) -> NDArray[Any]:
    """A mask or a map inside a shared map, by the names of both.

    Raises:
        WrongShape: It does not have the maps' size.
    """
    thing, name = path
    found: NDArray[Any] = getattr(things[thing], name)
    need_size(found, f"the {thing}' {name}", values)
    return found


def crossed(estimate: Map, truth: Map, region: Mask | None, side: Mask, other: Map) -> Judged:
    """Which pixels of one side of an edge are nearer to the other side's value than to the truth.

    Args:
        estimate: The estimate.
        truth: The truth.
        region: The part of the side that is judged; None for all of it.
        side: The pixels of the side.
        other: The other side's values, continued into this one; NaN where unknown.
    """
    estimate, truth, judged = judged_pixels(estimate, truth, region)
    need_size(side, "what is judged", truth)
    fails = distance(estimate, other) < distance(estimate, truth)
    return fails, estimate, judged & side & is_known(other)


def mean_state(values: NDArray[Any], judged: Mask) -> State:
    """The state of a mean: judged pixels without a value are missing."""
    inside = values[judged]
    present = inside[np.isfinite(inside)]
    total = np.sum(present, dtype=np.float64)
    return State(present.size, inside.size - present.size, np.array([total]))


def finish_mean(
    state: State, missing: str, *, factor: float = 1.0, worst: float | None = None
) -> float:
    """The mean times a factor; a missing pixel counts as the worst value if there is one."""
    total, n = float(state.sums[0]), state.count
    # Pixels that could not be filled in are still missing.
    if missing in ("bad", "interpolate") and worst is not None:
        total, n = total + worst * state.missing, n + state.missing
    elif missing == "good":
        n += state.missing
    return factor * total / n if n else math.nan


def share_state(fails: Mask, estimate: Map, judged: Mask) -> State:
    """The state of a share: how many judged pixels with an estimate fail."""
    present = judged & is_known(estimate)
    count = np.count_nonzero(present)
    failed = np.count_nonzero(fails & present)
    return State(int(count), int(np.count_nonzero(judged) - count), np.array([float(failed)]))


def finish_share(state: State, missing: str) -> float:
    """Percentage of pixels that fail; under `bad` a missing pixel fails."""
    return finish_mean(state, missing, factor=100.0, worst=1.0)


def share_map(fails: Mask, estimate: Map, judged: Mask) -> Map:
    """A map whose mean is the share: 100 where a judged pixel fails, 0 where it does not."""
    return shown(100.0 * fails, judged & is_known(estimate))


def shown(values: NDArray[Any], judged: Mask) -> Map:
    """A map for display: the values where pixels are judged, NaN elsewhere."""
    return np.where(judged, values, np.nan).astype(np.float32)


def _size(values: NDArray[Any]) -> str:
    return "x".join(str(n) for n in values.shape)
