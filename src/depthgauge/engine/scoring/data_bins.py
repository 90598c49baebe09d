"""How many bins the data has, for benchmarks whose numbered regions follow it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.bins import Bins, families_of
from depthgauge.errors import BadData
from depthgauge.types import Sample, Truth

AXES = "axes"
"""The item of a truth that says what the numbers of its labels mean: levels by the labels' name."""


def with_bins_of(protocol: Protocol, samples: Iterable[Sample]) -> Protocol:
    """The protocol with as many bins in each family of regions as the samples have.

    Raises:
        BadData: Two samples have different numbers of bins, or different levels in them, so that
            their bins cannot be pooled.
    """
    wanted = {family.labels for family in families_of(protocol)}
    found: dict[str, tuple[str, Bins]] = {}
    for sample in samples if wanted else ():
        for labels, bins in _bins_of(sample, wanted).items():
            first, known = found.setdefault(labels, (sample.id, bins))
            if known != bins:
                raise BadData(
                    f"'{labels}' has {_words(known)} in '{first}' but {_words(bins)} in "
                    f"'{sample.id}': their bins are not equally hard; score them apart."
                )
    return protocol.with_bins({labels: bins for labels, (_, bins) in found.items()})


def _bins_of(sample: Sample, wanted: Iterable[str]) -> dict[str, Bins]:
    truth = sample.truth or Truth({})
    there = [labels for labels in wanted if f"{labels}_labels" in truth]
    if not there:
        return {}
    said = truth.get(AXES, {})
    found = {}
    for labels in there:
        levels = tuple(float(level) for level in said.get(labels, ()))
        count = int(np.max(truth[f"{labels}_labels"], initial=0))
        if levels and count > len(levels):
            raise BadData(
                f"'{labels}' of '{sample.id}' has {count} bins but only {len(levels)} levels; "
                "make the data again."
            )
        if count or levels:
            found[labels] = Bins(len(levels) or count, levels)
    return found


def _words(bins: Bins) -> str:
    levels = f" from {bins.levels[0]:g} to {bins.levels[-1]:g}" if bins.levels else ""
    return f"{bins.count} bins{levels}"
