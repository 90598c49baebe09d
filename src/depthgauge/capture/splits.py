"""Divides scenes into train, test-stereo and test-mono so that the splits are similar.

Similar in two ways: the shares of the material classes, and the distribution of disparities
(figures 7 and 8). The largest distance between any two splits is minimised.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.labels import CLASSES
from depthgauge.datasets import booster
from depthgauge.errors import BadData, Misuse
from depthgauge.types import Map

SPLITS = {"train": 38, "test-stereo": 26, "test-mono": 21}
"""The splits, with the number of scenes that Booster has in each."""
_STARTS = 4
_COARSE = 96
"""Bins of disparities during the search."""
_CLASSES = CLASSES["materials"]
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SceneCounts:
    """The counts of a scene that its split depends on."""

    name: str
    materials: NDArray[np.int64]
    """(4,) pixels of each class."""
    disparities: NDArray[np.int64]
    """Labelled pixels by whole px of disparity, from 0."""


@dataclass(frozen=True, slots=True)
class Splits:
    """Which scene is in which split, and how similar the splits are."""

    scenes: Mapping[str, tuple[str, ...]]
    distances: Mapping[str, float]
    """`materials` and `disparities`: the largest distance between two splits, 0 to 1."""
    seed: int

    def counts(self, scenes: Iterable[SceneCounts]) -> dict[str, list[SceneCounts]]:
        """The counts of each split's scenes."""
        known = {scene.name: scene for scene in scenes}
        return {split: [known[name] for name in names] for split, names in self.scenes.items()}

    def to_json(self) -> dict[str, Any]:
        """Plain data for a file."""
        scenes = {split: list(names) for split, names in self.scenes.items()}
        return {
            "schema": 1,
            "scenes": scenes,
            "largest_distance": dict(self.distances),
            "seed": self.seed,
        }


def count_scene(
    name: str, disparity: Map, materials: NDArray[np.integer[Any]] | None = None
) -> SceneCounts:
    """Counts what is in a scene's labels; pixels without a label are not counted.

    >>> count_scene("a", np.array([[0.5, 2.0, np.nan]]), np.array([[0, 3, 3]])).materials
    array([1, 0, 0, 1])
    """
    known = np.isfinite(disparity) & (disparity > 0)
    whole = np.floor(disparity[known]).astype(np.int64)
    found = np.zeros(0, np.int64) if materials is None else materials[known].astype(np.int64)
    if found.size and (found.min() < 0 or found.max() >= _CLASSES):
        raise BadData(f"scene '{name}': materials must be 0..{_CLASSES - 1}, found {found.max()}.")
    return SceneCounts(name, np.bincount(found, minlength=_CLASSES), np.bincount(whole))


def count_dataset(root: Path, split: str) -> list[SceneCounts]:
    """Counts the scenes of a split of a dataset in Booster's layout.

    Raises:
        BadData: A scene has no truth.
    """
    found: dict[str, SceneCounts] = {}
    for sample in booster.samples(root, split):
        if sample.scene in found:
            continue  # its illuminations share one truth
        truth = sample.truth
        if truth is None:
            raise BadData(
                f"{root}: scene '{sample.scene}' of split '{split}' has no truth; give the folder "
                "that was written with it (--with-truth)."
            )
        items = truth.fresh()
        found[sample.scene] = count_scene(
            sample.scene, items["disparity"], items.get("material_labels")
        )
    return list(found.values())


def count_splits(root: Path) -> dict[str, list[SceneCounts]]:
    """Counts the scenes of all splits that a dataset in Booster's layout has.

    Raises:
        BadData: It has none of the splits, or a scene has no truth.
    """
    splits: dict[str, list[SceneCounts]] = {}
    why = ""
    for split in SPLITS:
        try:
            splits[split] = count_dataset(root, split)
        except BadData as error:
            why = str(error)
    if not splits:
        raise BadData(why)
    return splits


def assign_splits(
    scenes: Sequence[SceneCounts], sizes: Mapping[str, int] | None = None, *, seed: int = 0
) -> Splits:
    """Assigns scenes: first greedily, then by exchanging scenes while that helps.

    The distance of two splits is the larger of: half the sum of the differences of their material
    shares, and the largest difference of their cumulative disparity distributions. The same
    scenes, sizes and seed always give the same splits, in any order of the scenes.

    Args:
        scenes: All scenes.
        sizes: Scenes of each split; by default in the proportions of Booster (38, 26, 21).
        seed: Seed of the random starts; the best result is returned.

    Raises:
        Misuse: Two scenes have the same name, or the sizes do not add up to the number of scenes.
    """
    ordered = sorted(scenes, key=lambda scene: scene.name)
    wanted = dict(default_sizes(len(ordered)) if sizes is None else sizes)
    _check(ordered, wanted)
    bins = _Bins.of(ordered, _COARSE)
    counts = np.array(list(wanted.values()))
    draw = np.random.default_rng(seed)
    best = _exchange(bins, _greedy(bins, counts), len(counts))
    for _ in range(_STARTS):
        start = draw.permutation(np.repeat(np.arange(len(counts)), counts))
        other = _exchange(bins, start, len(counts))
        if _cost(bins, other, len(counts)) < _cost(bins, best, len(counts)) - 1e-12:
            best = other
    names = {
        split: tuple(scene.name for scene, of in zip(ordered, best, strict=True) if of == number)
        for number, split in enumerate(wanted)
    }
    return Splits(names, _distances(_Bins.of(ordered), best, len(counts)), seed)


def default_sizes(count: int) -> dict[str, int]:
    """Sizes in Booster's proportions, all above 0.

    >>> default_sizes(85), default_sizes(10)
    ({'train': 38, 'test-stereo': 26, 'test-mono': 21},
     {'train': 5, 'test-stereo': 3, 'test-mono': 2})
    """
    if count < len(SPLITS):
        raise Misuse(f"{len(SPLITS)} splits need at least as many scenes, found {count}")
    whole = sum(SPLITS.values())
    exact = {split: count * share / whole for split, share in SPLITS.items()}
    sizes = {split: max(1, math.floor(part)) for split, part in exact.items()}
    while sum(sizes.values()) != count:
        step = 1 if sum(sizes.values()) < count else -1
        most = max(
            (s for s in sizes if step > 0 or sizes[s] > 1),
            key=lambda s: step * (exact[s] - sizes[s]),
        )
        sizes[most] += step
    return sizes


def distances_between(first: Iterable[SceneCounts], second: Iterable[SceneCounts]) -> Any:
    """The distances `materials` and `disparities` of two groups of scenes."""
    groups = [list(first), list(second)]
    numbers = np.repeat([0, 1], [len(group) for group in groups])
    return _distances(_Bins.of([*groups[0], *groups[1]]), numbers, 2)


@dataclass(frozen=True, slots=True)
class _Bins:
    materials: Array
    """(scenes, classes)."""
    disparities: Array
    """(scenes, bins)."""

    @classmethod
    def of(cls, scenes: Sequence[SceneCounts], bins: int | None = None) -> _Bins:
        """The counts of all scenes, disparities px by px or in at most `bins` bins."""
        most = max(1, *(len(scene.disparities) for scene in scenes))
        wide = 1 if bins is None else math.ceil(most / bins)
        length = wide * math.ceil(most / wide)
        padded = [np.pad(s.disparities, (0, length - len(s.disparities))) for s in scenes]
        disparities = np.array(padded, np.float64).reshape(len(scenes), -1, wide).sum(axis=2)
        materials = np.array([scene.materials for scene in scenes], np.float64)
        return cls(materials, disparities)


def _check(scenes: Sequence[SceneCounts], sizes: Mapping[str, int]) -> None:
    names = [scene.name for scene in scenes]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Misuse(f"two scenes have the name '{twice}'; give each its own name")
    if any(size < 1 for size in sizes.values()) or sum(sizes.values()) != len(scenes):
        raise Misuse(
            f"sizes must be positive and add up to the {len(scenes)} scenes, found "
            f"{', '.join(f'{split} {size}' for split, size in sizes.items())}"
        )


def _shares(counts: Array) -> Array:
    """Rows of counts as shares; a row without counts is uniform."""
    total = counts.sum(axis=-1, keepdims=True)
    even = np.full(counts.shape, 1.0 / counts.shape[-1])
    return np.asarray(np.divide(counts, total, out=even, where=total > 0))


def _shares_of_all(counts: Array) -> Array:
    """Counts of scenes as shares of the total over all scenes."""
    return counts / max(float(counts.sum()), 1.0)


def _apart(one: tuple[Array, Array], two: tuple[Array, Array]) -> tuple[Array, Array]:
    """Distances of groups, given by their counts (..., bins) of materials and disparities."""
    materials = np.abs(_shares(one[0]) - _shares(two[0])).sum(axis=-1) / 2
    rising = np.cumsum(_shares(one[1]), axis=-1) - np.cumsum(_shares(two[1]), axis=-1)
    return np.asarray(materials), np.asarray(np.abs(rising).max(axis=-1))


def _sums(bins: _Bins, numbers: NDArray[np.intp], count: int) -> list[tuple[Array, Array]]:
    members = (numbers == number for number in range(count))
    return [(bins.materials[m].sum(axis=0), bins.disparities[m].sum(axis=0)) for m in members]


def _distances(bins: _Bins, numbers: NDArray[np.intp], count: int) -> dict[str, float]:
    found = [_apart(a, b) for a, b in combinations(_sums(bins, numbers, count), 2)]
    largest = np.max(np.array(found, np.float64).reshape(-1, 2), axis=0, initial=0.0)
    return {"materials": float(largest[0]), "disparities": float(largest[1])}


def _cost_of(groups: Sequence[tuple[Array, Array]]) -> Array:
    """The largest distance of any two groups; among equals the smaller mean is better."""
    found = [d for a, b in combinations(groups, 2) for d in _apart(a, b)]
    stacked = np.stack(np.broadcast_arrays(*found))
    return np.asarray(stacked.max(axis=0) + 0.05 * stacked.mean(axis=0))


def _cost(bins: _Bins, numbers: NDArray[np.intp], count: int) -> float:
    return float(_cost_of(_sums(bins, numbers, count))) if count > 1 else 0.0


def _greedy(bins: _Bins, sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The most unusual scenes first, each into the split that lacks most of what it has."""
    whole = (bins.materials.sum(axis=0), bins.disparities.sum(axis=0))
    unusual = np.maximum(*_apart((bins.materials, bins.disparities), whole))
    both = np.concatenate(
        [_shares_of_all(bins.materials), _shares_of_all(bins.disparities)], axis=1
    )
    lacking = np.outer(sizes / sizes.sum(), both.sum(axis=0))
    left = sizes.copy()
    numbers = np.full(len(unusual), -1, np.intp)
    for scene in np.argsort(-unusual, kind="stable"):
        # The decrease of the sum of squares of everything that is lacking.
        gain = np.where(left > 0, lacking @ both[scene], -math.inf)
        chosen = int(np.argmax(gain))
        numbers[scene] = chosen
        lacking[chosen] -= both[scene]
        left[chosen] -= 1
    return numbers


def _exchange(bins: _Bins, start: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Exchanges the two scenes that help most, as long as that helps."""
    numbers = np.asarray(start, np.intp).copy()
    best = _cost(bins, numbers, count)
    while True:
        swaps = [_best_swap(bins, numbers, a, b, count) for a, b in combinations(range(count), 2)]
        if not swaps or min(swaps)[0] >= best - 1e-12:
            return numbers
        best, one, other = min(swaps)
        numbers[[one, other]] = numbers[[other, one]]


def _best_swap(
    bins: _Bins, numbers: NDArray[np.intp], first: int, second: int, count: int
) -> tuple[float, int, int]:
    """Cost and scenes of the best exchange between two splits."""
    ones, others = np.nonzero(numbers == first)[0], np.nonzero(numbers == second)[0]
    groups = _sums(bins, numbers, count)
    found = (math.inf, -1, -1)
    for one in ones:  # one at a time: all pairs at once would need their histograms in memory
        moved = tuple(part[others] - part[one] for part in (bins.materials, bins.disparities))
        tried = list(groups)
        tried[first] = (groups[first][0] + moved[0], groups[first][1] + moved[1])
        tried[second] = (groups[second][0] - moved[0], groups[second][1] - moved[1])
        costs = _cost_of(tried)
        best = int(np.argmin(costs))
        found = min(found, (float(costs[best]), int(one), int(others[best])))
    return found
