"""Whether generated pictures and videos, as a set, look like the true ones: FID and FVD."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId
from depthgauge.io.weights import is_network
from depthgauge.metrics._metric import metric
from depthgauge.metrics.views._features import (
    feature_count,
    frame_for_video,
    picture_features,
    video_features,
)
from depthgauge.metrics.views._frames import PAINTED, whole_views
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

Rows = NDArray[np.float64]
_MISSING = (
    f"{PAINTED}. A frame without any estimate leaves the set without a number; `skip`: it is left "
    "out"
)


def frechet_distance(first: Rows, second: Rows) -> float:
    """The Frechet distance of two Gaussians with the means and covariances of two sets.

    |m - n|^2 + trace(S + T - 2 (S T)^(1/2)); the root's trace is that of the symmetric
    (S^(1/2) T S^(1/2))^(1/2), whose eigenvalues are real.

    Args:
        first: (n, k), one vector per row; n is at least 2.
        second: (m, k).
    """
    apart = first.mean(axis=0) - second.mean(axis=0)
    one, two = (np.cov(rows, rowvar=False).reshape(apart.size, -1) for rows in (first, second))
    values, vectors = np.linalg.eigh(one)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    shared = np.linalg.eigvalsh(root @ two @ root)
    total = np.trace(one) + np.trace(two) - 2 * np.sum(np.sqrt(np.maximum(shared, 0)))
    return max(0.0, float(apart @ apart + total))


def _state(counts: State, features: str, found: list[Rows]) -> State:
    """Features of the estimate and of the truth side by side, one row per picture or video."""
    lost = float(not counts.count and bool(counts.missing))
    rows = np.zeros((0, 2 * feature_count(features)))
    if found and counts.count:
        rows = np.concatenate(found)[None]
    return State(counts.count, counts.missing, np.array([lost]), rows=rows)


def _finish(state: State, missing: str) -> float:
    rows = state.rows
    if rows is None or (state.sums[0] and missing not in ("skip", "good")):
        return math.nan
    half = rows.shape[1] // 2
    return frechet_distance(rows[:, :half], rows[:, half:]) if len(rows) > 1 else math.nan


def _check(name: str, features: str, own: tuple[str, ...]) -> None:
    if features not in own and not is_network(features):
        raise BadScoreId(
            f"{name}: features is '{features}' but must be {', '.join(own)}, or a network by its "
            "hash (onnx- and 12 digits)."
        )


@metric(
    "fid",
    category="views",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=("view",),
    cite="Heusel et al. 2017",
    formula="|m - n|^2 + trace(S + T - 2 (S T)^(1/2)) of the features of all frames",
    revision=1,
    level="dataset",
    missing_costs=_MISSING,
)
class Fid:
    """Frechet distance between the generated and the true frames of a dataset, as sets.

    Every frame is described by a vector; the two sets of vectors are compared as Gaussians. Which
    vector is part of the protocol, and numbers of different ones have nothing in common:
    `filters` (the default) are 54 numbers on colour and texture that need no network, `alex` is
    the last layer of AlexNet (weights as for `lpips`), and `onnx-...` a network by its hash, such
    as Inception. Only Inception's numbers are those of papers. The distance shrinks with the
    number of frames, so only sets of one size are compared. No picture is kept: a state holds the
    vectors.
    """

    @staticmethod
    def measure(
        estimate: Map, truth: Map, region: Mask | None, *, features: str = "filters"
    ) -> State:
        """The two vectors of a frame."""
        _check("fid", features, ("filters", "alex"))
        shown, target, counts = whole_views(estimate, truth, region)
        views = (shown, target) if counts.count else ()
        return _state(counts, features, [picture_features(view, features) for view in views])

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The distance of the two sets."""
        return _finish(state, missing)


@metric(
    "fvd",
    category="views",
    unit=Unit.RATIO,
    better="lower",
    bounds=(0, math.inf),
    of=("view",),
    cite="Unterthiner et al. 2019",
    formula="as fid, of the features of short videos",
    revision=1,
    needs=("clip_memory",),
    level="dataset",
    missing_costs=_MISSING,
)
class Fvd:
    """Frechet distance between the generated and the true videos of a dataset, as sets.

    Clips are cut into windows of `window` frames, one after the other; what remains at the end is
    left out. Each window is described by a vector: `motion` (the default) are 78 numbers on colour,
    texture and change that need no network, `onnx-...` is a network by its hash, such as I3D.
    Everything else is as for `fid`. A window is kept at the small size that is described.
    """

    @staticmethod
    def measure(
        estimate: Map,
        truth: Map,
        region: Mask | None,
        *,
        clip_memory: dict[str, Any],
        features: str = "motion",
        window: int = 4,
    ) -> State:
        """The two vectors of the window that ends with this frame, if one does."""
        _check("fvd", features, ("motion",))
        if window < 1:
            raise BadScoreId(f"fvd: window is {window} but must be at least 1.")
        shown, target, counts = whole_views(estimate, truth, region)
        frames: list[tuple[Any, ...]] = clip_memory.setdefault("frames", [])
        frames.append(tuple(frame_for_video(view, features) for view in (shown, target)))
        if len(frames) < window:
            return _state(counts, features, [])
        sides = [np.stack(side) for side in zip(*frames, strict=True)]
        frames.clear()
        return _state(counts, features, [video_features(side, features) for side in sides])

    @staticmethod
    def finish(state: State, *, missing: str, **parameters: Any) -> float:
        """The distance of the two sets."""
        return _finish(state, missing)
