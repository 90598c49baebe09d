"""The units of the bootstrap: scenes if samples belong to scenes, else samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.engine.store.record import Run

Floats = NDArray[np.float64]

RESAMPLES = 2000
"""Each tail of a 95 % interval of 8 units then has 11 resamples, of 30 units 37."""


@dataclass(frozen=True, slots=True)
class Units:
    """The independent units of a run: a scene is one, because its frames are not independent."""

    names: tuple[str, ...]
    """Sorted, so that the order of samples does not matter."""
    of: Mapping[str, int]
    """The unit of each sample, as an index into `names`."""
    scenes: bool
    """Whether some unit is a scene of several samples."""

    def index(self, samples: Iterable[str]) -> NDArray[np.intp]:
        """The unit of each of these samples."""
        return np.fromiter((self.of[name] for name in samples), np.intp)

    def add_up(self, samples: Iterable[str], values: Floats) -> Floats:
        """(samples, ...) values summed within each unit: (units, ...)."""
        sums = np.zeros((len(self.names), *values.shape[1:]))
        np.add.at(sums, self.index(samples), values)
        return sums


@dataclass(frozen=True, slots=True)
class Draws:
    """Resamples of the units of a run, the same for all of its methods and scores."""

    units: Units
    counts: Floats
    """(resamples, units): how often each unit was drawn; each row sums to the number of units."""

    def total(self, values: Floats) -> Floats:
        """(units,) or (units, k) values summed over each resample."""
        # Not a matrix product: its last bits would depend on the library and its threads.
        return np.asarray(np.einsum("bu,u...->b...", self.counts, values))

    def ratio(self, numerators: Floats, weights: Floats) -> Floats:
        """Sum of numerators over sum of weights in each resample; NaN if nothing was drawn."""
        above, below = self.total(numerators), self.total(weights)
        if above.ndim > below.ndim:
            below = below[:, np.newaxis]
        filled = np.broadcast_to(below > 0, above.shape)
        return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=filled))


def drawn_median(values: Floats, counts: Floats) -> Floats:
    """The median of every resample; NaN where nothing was drawn.

    Args:
        values: (samples, ...), one value or several for each.
        counts: (resamples, samples): how often each sample was drawn.

    >>> drawn_median(np.array([5.0, 1.0, 3.0]), np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 0.0]]))
    array([3., 3.])
    """
    flat = values.reshape(len(values), -1)
    totals = counts.sum(axis=1)
    found = np.full((len(counts), flat.shape[1]), np.nan)
    for k, column in enumerate(flat.T):
        order = np.argsort(column, kind="stable")
        upto = np.cumsum(counts[:, order], axis=1)
        places = [np.argmax(upto > place[:, np.newaxis], axis=1)
                  for place in ((totals - 1) // 2, totals // 2)]  # fmt: skip
        low, high = (column[order][place] for place in places)
        middle = np.where(low == high, low, (low + high) / 2)
        found[:, k] = np.where(totals > 0, middle, np.nan)
    return found.reshape(len(counts), *values.shape[1:])


def make_units(run: Run) -> Units:
    """The units of a run."""
    scored = {name for result in run.results.values() for name in result.samples}
    return group_samples({*run.samples, *scored}, run.scenes)


def group_samples(samples: Iterable[str], scenes: Mapping[str, str]) -> Units:
    """Samples grouped by scene; one without a scene is its own unit."""
    keys = {name: _key(name, scenes) for name in samples}
    ordered = sorted(set(keys.values()))
    index = {key: i for i, key in enumerate(ordered)}
    of = {name: index[keys[name]] for name in sorted(keys)}
    return Units(tuple(scene or name for scene, name in ordered), of, len(ordered) < len(keys))


def _key(name: str, scenes: Mapping[str, str]) -> tuple[str, str]:
    scene = scenes.get(name, "")
    return scene, "" if scene else name


def draw_units(run: Run, *, resamples: int = RESAMPLES, seed: int = 0) -> Draws:
    """Draws as many units as there are, with replacement, `resamples` times.

    The same seed gives the same draws on every machine, for any order of samples and methods.
    """
    return draw(make_units(run), resamples=resamples, seed=seed)


def draw(units: Units, *, resamples: int = RESAMPLES, seed: int = 0) -> Draws:
    """The same for given units."""
    n = len(units.names)
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn = generator.integers(n, size=(resamples, n)) if n else np.zeros((resamples, 0), int)
    drawn += n * np.arange(resamples)[:, np.newaxis]
    counts = np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n)
    return Draws(units, counts.astype(np.float64))


def whole(units: Units) -> Draws:
    """The draw in which every unit occurs once: it gives the pooled value itself."""
    return Draws(units, np.ones((1, len(units.names))))
