"""Edges of depth: distances from true edges (iBims' DBE), and Depth Pro's boundaries."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadScoreId
from depthgauge.geometry.boundary_maps.depth_jumps import (
    Jumps,
    canny_edges,
    jumps,
    mask_steps,
    nearness,
    thin_jumps,
)
from depthgauge.geometry.distances import distance_to
from depthgauge.metrics._judged import judged_pixels, need_size, whole_region
from depthgauge.metrics._metric import metric
from depthgauge.metrics.moments import same_size
from depthgauge.types import Map, Mask, State
from depthgauge.units import Unit

_IBIMS = "Koch, Liebel, Fraundorfer & Körner 2018"
_DEPTH_PRO = "Bochkovskii et al., Depth Pro, 2024"
FACTORS = np.linspace(1.05, 1.25, 10)
WEIGHTS = FACTORS / FACTORS.sum()
_DIRECTIONS = 4


def measure_distances(
    estimate: Map, truth: Map, region: Mask | None, *, edges_mask: Mask, limit: float = 10.0
) -> State:
    """Sums of distances, from estimated edges and from true ones, with their numbers."""
    if limit <= 0:
        raise BadScoreId(f"limit is {limit:g} but must be above 0.")
    estimate, truth = same_size(estimate, truth)
    need_size(edges_mask, "edges_mask", truth)
    judged = whole_region(region, truth)
    true = np.asarray(edges_mask, bool) & judged
    found = canny_edges(np.where(estimate > 0, estimate, np.nan)) & judged
    known = np.isfinite(estimate) & (estimate > 0)
    sums = np.zeros(3)
    if true.any() and found.any():
        from_found = distance_to(true)[found].astype(np.float64)
        near = from_found[from_found < limit]
        sums[0], sums[1] = near.sum(), near.size
    present = true & known
    if present.any():
        away = distance_to(found)[present].astype(np.float64) if found.any() else math.inf
        sums[2] = np.minimum(away, limit).sum() if found.any() else limit * present.sum()
    return State(int(present.sum()), int((true & ~known).sum()), sums)


@metric(
    "edge_accuracy",
    category="geometry",
    unit=Unit.PIXEL,
    better="lower",
    bounds=(0, math.inf),
    of=("depth",),
    cite=_IBIMS,
    formula="mean distance to the true edges, over estimated edges closer than limit",
    revision=1,
    needs=("edges_mask",),
    missing_costs="has no edge; without an estimated edge near a true one, the score is the limit",
)
class EdgeAccuracy:
    """How far estimated edges of depth are from the true ones, in px (iBims' dbe_acc).

    Edges of the estimate are those of Canny's detector in the depth scaled to 0..1. Those farther
    than the limit from every true edge are not judged: `edge_completeness` says what was missed.

    >>> import numpy as np, depthgauge as dg
    >>> step = np.tile(np.where(np.arange(16) < 8, 1.0, 3.0), (12, 1))
    >>> edges = np.tile(np.arange(16) == 8, (12, 1))
    >>> s = dg.score(step, step, "edge_accuracy", quantity="depth", items={"edges_mask": edges})
    >>> 0 <= s["edge_accuracy@all"].value <= 1
    True
    """

    measure = staticmethod(measure_distances)

    @staticmethod
    def finish(state: State, *, missing: str, limit: float = 10.0) -> float:
        """The mean; the limit if there is no such edge."""
        if not state.count + state.missing:
            return math.nan
        return float(state.sums[0] / state.sums[1]) if state.sums[1] else limit


@metric(
    "edge_completeness",
    category="geometry",
    unit=Unit.PIXEL,
    better="lower",
    bounds=(0, math.inf),
    of=("depth",),
    cite=_IBIMS,
    formula="mean over true edges of min(distance to the estimated edges, limit)",
    revision=1,
    needs=("edges_mask",),
    missing_costs="costs the limit, on a true edge",
)
class EdgeCompleteness:
    """How far true edges of depth are from the estimated ones, at most the limit, in px.

    iBims' dbe_com without its flaw: there, a single edge far away counts with its full distance.

    >>> import numpy as np, depthgauge as dg
    >>> step = np.tile(np.where(np.arange(16) < 8, 1.0, 3.0), (12, 1))
    >>> edges = np.tile(np.arange(16) == 8, (12, 1))
    >>> flat = np.ones((12, 16))
    >>> items = {"edges_mask": edges}
    >>> s = dg.score(flat, step, "edge_completeness:5", quantity="depth", items=items)
    >>> s["edge_completeness:5@all"].value
    5.0
    """

    measure = staticmethod(measure_distances)

    @staticmethod
    def finish(state: State, *, missing: str, limit: float = 10.0) -> float:
        """The mean; a true edge without an estimate costs the limit under `bad`."""
        total, n = float(state.sums[2]), state.count
        if missing in ("bad", "interpolate"):
            total, n = total + limit * state.missing, n + state.missing
        return total / n if n else math.nan


def _pairs(pixels: Mask) -> Jumps:
    """Pairs of neighbours that are both inside, in each direction."""
    across, down = pixels[:, 1:] & pixels[:, :-1], pixels[1:] & pixels[:-1]
    return across, down, across, down


def _counts(found: Jumps, true: Jumps, judged: Jumps, known: Jumps) -> NDArray[np.float64]:
    """(4, 4): for each direction common, estimated, true, and true jumps without an estimate."""
    rows = []
    for mine, theirs, inside, there in zip(found, true, judged, known, strict=True):
        right = theirs & inside
        rows.append(
            [
                np.count_nonzero(mine & right & there),
                np.count_nonzero(mine & inside & there),
                np.count_nonzero(right),
                np.count_nonzero(right & ~there),
            ]
        )
    return np.array(rows, np.float64)


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over directions of part / whole, (K, 4) to (K,); directions without any are left
    out; 0 if there are none at all.
    """
    there = whole > 0
    shares = np.divide(part, whole, out=np.zeros_like(part), where=there)
    return np.asarray(shares.sum(axis=1) / np.maximum(there.sum(axis=1), 1))


def _counted(state: State, missing: str) -> NDArray[np.float64]:
    """(K, 4, 4) counts, of which true jumps without an estimate are taken out under `skip`."""
    counts = state.sums.reshape(FACTORS.size, _DIRECTIONS, 4).copy()
    if missing not in ("bad", "interpolate"):
        counts[:, :, 2] -= counts[:, :, 3]
    return counts


@metric(
    "depth_boundary_f1",
    category="geometry",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1),
    of=("depth",),
    cite=_DEPTH_PRO,
    formula="sum over t of w_t 2 P_t R_t / (P_t + R_t), t = 1.05 .. 1.25, w_t = t / sum t",
    revision=1,
    missing_costs="has no jump beside it, so true jumps there are not found (`skip`: are left out)",
)
class DepthBoundaryF1:
    """How well jumps of depth between neighbouring pixels are found, whatever the scale.

    A jump is a pair of neighbours whose depths differ by more than a factor t; left, right, upper
    and lower pixels that are nearer count separately. Precision and recall are means over these
    four, F is the weighted mean over ten factors. Directions without jumps are left out of a mean,
    where Depth Pro's own program counts them as 0. Counts are numbers of true jumps at the lowest
    factor; a picture without any has no score.

    >>> import numpy as np, depthgauge as dg
    >>> truth = np.tile(np.where(np.arange(8) < 4, 1.0, 3.0), (6, 1))
    >>> moved = np.roll(truth, 1, axis=1)
    >>> s = dg.score(5 * truth, truth, "depth_boundary_f1", quantity="depth")
    >>> round(s["depth_boundary_f1@all"].value, 6)
    1.0
    >>> dg.score(moved, truth, "depth_boundary_f1", quantity="depth")["depth_boundary_f1@all"].value
    0.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None) -> State:
        """Counts of jumps at every factor, in each direction."""
        estimate, truth, judged = judged_pixels(estimate, truth, region)
        known = np.isfinite(estimate) & (estimate > 0)
        mine, theirs = nearness(estimate), nearness(truth)
        pairs = _pairs(judged), _pairs(known)
        counts = np.stack([_counts(jumps(mine, t), jumps(theirs, t), *pairs) for t in FACTORS])
        true, lost = int(counts[0, :, 2].sum()), int(counts[0, :, 3].sum())
        return State(true - lost, lost, counts.ravel())

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """The weighted mean of F over the factors."""
        counts = _counted(state, missing)
        if not counts[0, :, 2].sum():
            return math.nan
        precision = _share(counts[:, :, 0], counts[:, :, 1])
        recall = _share(counts[:, :, 0], counts[:, :, 2])
        both = precision + recall
        f = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
        return float(WEIGHTS @ f)


@metric(
    "matte_boundary_recall",
    category="geometry",
    unit=Unit.RATIO,
    better="higher",
    bounds=(0, 1),
    of=("depth",),
    cite=_DEPTH_PRO,
    formula="sum over t of w_t R_t, t = 1.05 .. 1.25, w_t = t / sum t",
    revision=1,
    needs=("matte_mask",),
    missing_costs="has no jump beside it, so outlines there are not found (`skip`: are left out)",
)
class MatteBoundaryRecall:
    """The share of an object's outline at which the estimate jumps, the object being nearer.

    For pictures with a mask of a foreground object and without true depth. Of consecutive jumps
    along a row or column only the largest counts. Four directions and ten factors are averaged as
    in `depth_boundary_f1`.

    >>> import numpy as np, depthgauge as dg
    >>> mask = np.tile(np.arange(8) < 4, (6, 1))
    >>> depth = np.where(mask, 1.0, 3.0)
    >>> s = dg.score(
    ...     depth, depth, "matte_boundary_recall", quantity="depth", items={"matte_mask": mask}
    ... )
    >>> round(s["matte_boundary_recall@all"].value, 6)
    1.0
    """

    @staticmethod
    def measure(estimate: Map, truth: Map, region: Mask | None, *, matte_mask: Mask) -> State:
        """Counts of outlines at every factor, in each direction; the truth is not used."""
        need_size(matte_mask, "matte_mask", estimate)
        # Regions hold pixels with truth; where there is none at all, the picture is judged.
        whole = region is None or not np.isfinite(truth).any()
        judged = np.ones(estimate.shape[:2], bool) if whole else whole_region(region, truth)
        known = np.isfinite(estimate) & (estimate > 0)
        mine, outline = nearness(estimate), mask_steps(matte_mask)
        pairs = _pairs(judged), _pairs(known)
        counts = np.stack([_counts(thin_jumps(mine, t), outline, *pairs) for t in FACTORS])
        true, lost = int(counts[0, :, 2].sum()), int(counts[0, :, 3].sum())
        return State(true - lost, lost, counts.ravel())

    @staticmethod
    def finish(state: State, *, missing: str) -> float:
        """The weighted mean of recall over the factors."""
        counts = _counted(state, missing)
        if not counts[0, :, 2].sum():
            return math.nan
        return float(WEIGHTS @ _share(counts[:, :, 0], counts[:, :, 2]))
