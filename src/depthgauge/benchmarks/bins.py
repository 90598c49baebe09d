"""Families of numbered regions with as many bins as the data has.

`"gap_{1..15}" = "gaps & vertical_bins_{1..15}"` with `[axes.gap] bins = "vertical_bins"` stands for
all bins of the labels `vertical_bins`: fifteen is only their usual number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from depthgauge.benchmarks.schema import BenchmarkFile, ScoreBlock


@dataclass(frozen=True, slots=True)
class Bins:
    """The bins of some labels, as the data has them."""

    count: int
    levels: tuple[float, ...] = ()
    """The property in each; empty if the data does not say it."""


@dataclass(frozen=True, slots=True)
class Family:
    """Numbered regions of one name, each with one bin of some labels."""

    stem: str
    labels: str
    texts: tuple[str, ...]
    """The expression of each number, from 1 on."""

    @property
    def falls(self) -> bool:
        """Whether the first region has the last bin."""
        return _bin_of(self.texts[0], self.labels) > 1

    def resized(self, count: int) -> dict[str, str]:
        """The regions for another number of bins."""
        return {
            f"{self.stem}_{k}": _bins_in(self.labels).sub(
                f"{self.labels}_{count + 1 - k if self.falls else k}", self.texts[0]
            )
            for k in range(1, count + 1)
        }

    def in_order(self, levels: Sequence[float]) -> tuple[float, ...]:
        """The levels of bins, in the order of the regions."""
        return tuple(reversed(levels)) if self.falls else tuple(levels)


def families_of(benchmark: BenchmarkFile) -> list[Family]:
    """The families whose number of bins comes from the data."""
    found = []
    for stem, axis in benchmark.axes.items():
        texts: list[str] = []
        while axis.bins and (text := benchmark.regions.get(f"{stem}_{len(texts) + 1}")) is not None:
            texts.append(text)
        if texts:
            found.append(Family(stem, axis.bins, tuple(texts)))
    return found


def problems_of(benchmark: BenchmarkFile) -> list[tuple[str, str]]:
    """What is wrong with the families: a place, and what is wrong there."""
    families = {family.stem: family for family in families_of(benchmark)}
    found = []
    for stem, axis in benchmark.axes.items():
        where = f"axes.{stem}"
        if not axis.bins:
            continue
        if stem not in families:
            found.append((where, f"has bins, but there is no region {stem}_1"))
            continue
        family = families[stem]
        count = len(family.texts)
        if family.resized(count) != dict(zip(_names(stem, count), family.texts, strict=True)):
            found.append((where, f"its regions are not bins 1 to {count} of {family.labels}"))
    return found


def keys_with_bins(benchmark: BenchmarkFile, bins: Mapping[str, Bins]) -> dict[str, Any]:
    """The keys of a benchmark that other numbers of bins change; empty if nothing changes.

    Args:
        benchmark: Its families are given by `[axes]`.
        bins: By the name of the labels; families of other labels stay as they are.
    """
    regions = dict(benchmark.regions)
    axes = {stem: axis.model_dump(exclude_unset=True) for stem, axis in benchmark.axes.items()}
    counts: dict[str, tuple[int, int]] = {}
    for family in families_of(benchmark):
        there = bins.get(family.labels)
        if there is None:
            continue
        before = len(family.texts)
        if there.count != before:
            counts[family.stem] = before, there.count
            for name in _names(family.stem, before):
                del regions[name]
            regions |= family.resized(there.count)
        if there.levels:
            axes[family.stem]["values"] = family.in_order(there.levels)
        elif there.count != before:
            axes[family.stem].pop("values", None)
    found: dict[str, Any] = {}
    if counts:
        found["regions"] = regions
        found["scores"] = [_resized(block, counts) for block in benchmark.scores]
    if any(axis.get("values", ()) != benchmark.axes[stem].values for stem, axis in axes.items()):
        found["axes"] = axes
    return found


def _resized(block: ScoreBlock, counts: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """A block with all regions of each family in the place of the first."""
    body = block.model_dump(exclude_unset=True)
    listed = [block.region] if isinstance(block.region, str) else list(block.region)
    gone = {name: stem for stem, (before, _) in counts.items() for name in _names(stem, before)}
    if not gone.keys() & set(listed):
        return body
    regions: dict[str, None] = {}
    for name in listed:
        stem = gone.get(name)
        regions |= dict.fromkeys([name] if stem is None else _names(stem, counts[stem][1]))
    return {**body, "region": list(regions)}


def _names(stem: str, count: int) -> list[str]:
    return [f"{stem}_{k}" for k in range(1, count + 1)]


def _bins_in(labels: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w]){re.escape(labels)}_(\d+)(?![\w])")


def _bin_of(text: str, labels: str) -> int:
    found = _bins_in(labels).search(text)
    return 0 if found is None else int(found[1])
