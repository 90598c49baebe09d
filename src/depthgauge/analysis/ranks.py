"""Ranks, mean ranks, agreement of two orders, and which methods are dominated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from depthgauge.analysis.bootstrap.resampling import Floats
from depthgauge.analysis.seeds import labels_of, sample_values
from depthgauge.engine.scoring.pool import rank_key
from depthgauge.engine.store.record import Run

_LARGEST = float(np.finfo(np.float64).max)


def rank_keys(values: ArrayLike, better: str) -> Floats:
    """Numbers that sort the best first, infinitely bad values later, and missing values last.

    Args:
        values: Any shape; NaN where there is no value.
        better: `lower`, `higher`, or `zero` (the smallest absolute value is best).

    >>> rank_keys([0.5, -2.0, float("nan")], "zero").tolist()
    [0.5, 2.0, inf]
    """
    numbers = np.asarray(values, np.float64)
    keys = np.array([rank_key(value, better) for value in numbers.ravel().tolist()], np.float64)
    keys = np.minimum(keys.reshape(numbers.shape), _LARGEST)
    return np.where(np.isnan(numbers), np.inf, keys)


def min_ranks(keys: Floats) -> NDArray[np.int64]:
    """Ranks from 1 along the last axis; equal keys share the better rank.

    >>> min_ranks(np.array([3.0, 1.0, 1.0, 2.0])).tolist()
    [4, 1, 1, 3]
    """
    return np.asarray(1 + (keys[..., np.newaxis, :] < keys[..., np.newaxis]).sum(axis=-1))


def average_ranks(keys: Floats) -> Floats:
    """Ranks from 1 along the last axis; equal keys share the mean of their places.

    >>> average_ranks(np.array([3.0, 1.0, 1.0, 2.0])).tolist()
    [4.0, 1.5, 1.5, 3.0]
    """
    mine, others = keys[..., np.newaxis], keys[..., np.newaxis, :]
    less, as_good = (others < mine).sum(axis=-1), (others <= mine).sum(axis=-1)
    return np.asarray((less + as_good + 1) / 2.0)


def sort_labels(values: Mapping[str, float], better: str) -> list[str]:
    """Methods best first, incomplete ones last, equal ones by name."""
    keys = dict(zip(values, rank_keys(list(values.values()), better).tolist(), strict=True))
    return sorted(values, key=lambda label: (keys[label], label))


def rank_values(values: Mapping[str, float], better: str) -> dict[str, int]:
    """Each method's rank by value: equal values share the better rank, NaN comes last."""
    ranks = min_ranks(rank_keys(list(values.values()), better))
    return dict(zip(values, ranks.tolist(), strict=True))


def mean_ranks(
    run: Run, score_id: str, better: str, labels: Sequence[str] | None = None
) -> dict[str, float]:
    """Each method's rank on every sample (ties share the mean of their places), averaged.

    Samples with an empty region are left out. On a sample without an estimate that cannot be given
    a value, a method comes last. NaN if no sample has the score.

    Args:
        run: Scores of every sample.
        score_id: The id of the score.
        better: Its direction.
        labels: The methods that are ranked; all of the run by default.
    """
    labels = labels_of(run) if labels is None else labels
    values = {label: sample_values(run, label, score_id) for label in labels}
    samples = sorted({name for found in values.values() for name in found})
    if not samples:
        return dict.fromkeys(labels, math.nan)
    table = [[values[label].get(name, math.nan) for label in labels] for name in samples]
    means = average_ranks(rank_keys(table, better)).mean(axis=0)
    return dict(zip(labels, means.tolist(), strict=True))


def kendall_tau(first: ArrayLike, second: ArrayLike) -> float:
    """Kendall's tau-b of two lists of ranks or sortable keys of the same methods.

    tau = (concordant - discordant) / sqrt((pairs - ties in first) * (pairs - ties in second)):
    1 the same order, -1 the reverse. NaN if one of the lists is all ties, or has one entry.

    >>> kendall_tau([1, 2, 3, 4], [1, 2, 4, 3])
    0.6666666666666666
    """
    signs = [_pair_signs(np.asarray(keys, np.float64)) for keys in (first, second)]
    untied = [float(np.abs(sign).sum()) for sign in signs]
    if not all(untied):
        return math.nan
    return float((signs[0] * signs[1]).sum()) / math.sqrt(untied[0] * untied[1])


def _pair_signs(keys: Floats) -> Floats:
    # By comparison, not by difference: methods that come last have infinite keys.
    i, j = np.triu_indices(len(keys), 1)
    return np.asarray(1.0 * (keys[i] > keys[j]) - 1.0 * (keys[i] < keys[j]))


def spearman_rho(first: ArrayLike, second: ArrayLike) -> float:
    """Spearman's rho: the correlation of the average ranks; NaN if a list is all ties.

    >>> spearman_rho([1, 2, 3, 4], [1, 2, 4, 3])
    0.8
    """
    ranks = [average_ranks(np.asarray(keys, np.float64)) for keys in (first, second)]
    x, y = (r - r.mean() if r.size else r for r in ranks)
    norm = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / norm if norm else math.nan


def pareto(
    rows: Mapping[str, Mapping[str, float]], better: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Which methods are dominated, and by whom.

    A dominates B if A is at least as good in every column and better in one. NaN is worse than any
    number, so an incomplete method is dominated by a complete one that is at least as good in its
    other columns. A method without a value in some column dominates no other.

    Args:
        rows: method -> column -> value.
        better: column -> direction; the columns that are used.

    Returns:
        method -> the methods that dominate it, sorted; empty for those on the front.
    """
    labels = sorted(rows)
    keys = np.array([_column_keys(rows, labels, *column) for column in better.items()])
    keys = keys.reshape(len(better), len(labels)).T
    complete = np.isfinite(keys).all(axis=1)
    return {label: _dominating(labels, keys, complete, i) for i, label in enumerate(labels)}


def _column_keys(
    rows: Mapping[str, Mapping[str, float]], labels: Sequence[str], column: str, better: str
) -> Floats:
    return rank_keys([rows[label].get(column, math.nan) for label in labels], better)


def _dominating(
    labels: Sequence[str], keys: Floats, complete: NDArray[np.bool_], i: int
) -> tuple[str, ...]:
    as_good = (keys <= keys[i]).all(axis=1)
    better = (keys < keys[i]).any(axis=1)
    return tuple(labels[j] for j in np.flatnonzero(complete & as_good & better).tolist())
