"""Regions beside gaps of the truth: what occlusion takes from them, and what real truth has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry import find_edges, find_structures
from depthgauge.types import Map, Mask
from tools._occluded_scenes import SEEDS, SIZES_PX, Size, occluded_scene
from tools._real_truths import real_truths
from tools.evidence import DATA, Number, figure, within

_PARTS = {
    "discontinuities M_d": ("edges", "edge"),
    "foreground M_f": ("edges", "foreground"),
    "background M_b": ("edges", "background"),
    "fine structures M_r": ("structures", "mask"),
    "surroundings M_s": ("structures", "surrounding"),
}


@figure(
    "gaps",
    data=f"{2 * len(SEEDS)} random scenes with exact truth, with and without what the other camera "
    "does not see; Middlebury's Motorcycle, Teddy, Cones and Reindeer",
    needs=("middlebury-motorcycle", "middlebury-classic", "middlebury-2005-2006"),
)
def gaps() -> Iterator[Number]:
    """How much of geometry's regions is left where truth is missing beside objects.

    Each region is found in the whole truth and in the truth without hidden pixels. The number is
    the intersection over the union, over all pixels that keep their truth: of all scenes together,
    with gaps closed and, for comparison, left open; with gaps closed by the right view's truth
    (without what the left camera does not see); and of the worst scene. In crowded scenes, the
    background between two things is often hidden as a whole; then nothing in the left view's truth
    shows that they are two, and the numbers are lower. The default parameters were chosen on the
    scenes of `stereo-scenes` and on Motorcycle, not on these.
    """
    for kind, size in SIZES_PX.items():
        yield from _scenes(kind, size, budget=kind == "scenes")
    for name, truth in real_truths(DATA).items():
        yield from _real(name, truth)


def _scenes(kind: str, size: Size, *, budget: bool) -> Iterator[Number]:
    counts = {seed: _counts(seed, size) for seed in SEEDS}
    for part in _PARTS:
        each = {
            gaps_are: np.array([counts[seed][part, gaps_are] for seed in SEEDS], np.float64)
            for gaps_are in ("closed", "right", "open")
        }
        whole = {how: float(n[:, 0].sum() / n[:, 1].sum()) for how, n in each.items()}
        title = f"{part}, {len(SEEDS)} {kind}"
        right, worst = f"{title}, with the right view", f"{title}, worst"
        least = _least(each["closed"])
        yield within(title, whole["closed"], 0.98, 1) if budget else Number(title, whole["closed"])
        yield within(worst, least, 0.9, 1) if budget else Number(worst, least)
        yield within(right, whole["right"], 0.98, 1)
        yield Number(f"{right}, worst", _least(each["right"]))
        yield Number(f"{title}, gaps open", whole["open"])


def _least(counts: NDArray[np.float64]) -> float:
    """The smallest intersection over the union, of scenes that have the region."""
    some = counts[counts[:, 1] > 0]
    return float((some[:, 0] / some[:, 1]).min())


def _counts(seed: int, size: Size) -> dict[tuple[str, str], tuple[int, int]]:
    """The pixels that both have and that either has, of each region."""
    full, hidden, right = occluded_scene(seed, size)
    truth = np.where(hidden, np.float32(np.nan), full)
    exact = _regions(full)
    found = {
        "closed": _regions(truth),
        "right": _regions(truth, right_disparity=right),
        "open": _regions(truth, gaps="open"),
    }
    made = {}
    for part, (thing, name) in _PARTS.items():
        for gaps_are, regions in found.items():
            one, two = (getattr(r[thing], name) & ~hidden for r in (exact, regions))
            made[part, gaps_are] = (int((one & two).sum()), int((one | two).sum()))
    return made


def _regions(truth: Map, **options: Any) -> dict[str, object]:
    return {
        "edges": find_edges(truth, truth, **options),
        "structures": find_structures(truth, truth, **options),
    }


def _real(name: str, truth: Map) -> Iterator[Number]:
    """What is found in a truth that was measured."""
    for gaps in ("background", "open"):
        found = find_structures(truth, truth, gaps=gaps)
        word = "closed" if gaps == "background" else "open"
        sizes = _sizes(found.labels)
        yield Number(f"{name}: fine structures, gaps {word}", float(sizes.size))
        yield Number(f"{name}: their pixels, gaps {word}", float(sizes.sum()))
        median = float(np.median(sizes)) if sizes.size else 0.0
        if name == "Motorcycle" and gaps == "background":
            yield within(f"{name}: median px of one, gaps {word}", median, 20, 1000)
        else:
            yield Number(f"{name}: median px of one, gaps {word}", median)
        edges: Mask = find_edges(truth, truth, gaps=gaps).edge
        yield Number(f"{name}: pixels of M_d, gaps {word}", float(edges.sum()))


def _sizes(labels: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.bincount(labels.reshape(-1))[1:]
