"""A run in memory: all scores of some methods on one benchmark, and what else was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.result import Result

Key = tuple[str, int]
"""A method's label and a seed."""

THRESHOLDS = (
    0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0, 1.25,
    1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0, 24.0, 32.0, 48.0, 64.0, 100.0,
)  # fmt: skip
"""At which errors the curves are sampled, in the quantity's own unit."""


@dataclass(frozen=True, slots=True)
class Curve:
    """How many pixels of a sample's truth have an error of at most each threshold."""

    within: NDArray[np.int64]
    """One count for each of `THRESHOLDS`."""
    count: int
    """Pixels with truth and estimate."""
    missing: int
    """Pixels with truth and without an estimate."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What one estimate cost."""

    method: str
    seed: int
    sample: str
    time_s: float
    """Wall-clock time of the estimate alone, without reading the sample; NaN where unknown."""
    cpu_s: float
    peak_memory_mb: float
    score_s: float
    """Wall-clock time of preparing and scoring."""
    host: str = ""


@dataclass(frozen=True, slots=True)
class Entrant:
    """One method of a run with its options."""

    label: str
    method: str
    """Its id in the registry."""
    title: str
    options: Mapping[str, Any]
    """All of them, defaults filled in."""
    options_hash: str
    seeds: tuple[int, ...] = (0,)
    older: Mapping[str, str] = field(default_factory=dict)
    """By `seed/sample`: the hash of the older code that its estimate was kept from."""
    conditions: Mapping[str, Any] = field(default_factory=dict)
    """In a benchmark with tiers: `tier`, `inputs`, `type`, `alignment`, `frames`."""

    @property
    def tier(self) -> str:
        """What it was given; empty in a benchmark without tiers, or if nobody knows."""
        return str(self.conditions.get("tier", ""))


@dataclass(frozen=True, slots=True)
class Failure:
    """Samples on which a method failed for the same reason."""

    label: str
    samples: tuple[str, ...]
    """Their names; with the seed if it is not the first."""
    reason: str


@dataclass(frozen=True)
class Run:
    """All scores of some methods on one benchmark."""

    path: Path
    protocol: Protocol
    entrants: tuple[Entrant, ...]
    results: Mapping[Key, Result]
    """Scores, summary and failures of each method and seed."""
    samples: tuple[str, ...]
    """The samples that were scored, in the dataset's order."""
    scenes: Mapping[str, str]
    """The scene of each sample; empty if each sample is its own scene."""
    truth_hashes: Mapping[str, str]
    """What each sample was scored against: SHA-256 of everything that scoring read."""
    curves: Mapping[Key, Mapping[str, Curve]] = field(default_factory=dict)
    timings: tuple[Timing, ...] = ()
    info: Mapping[str, Any] = field(default_factory=dict)
    """The rest of run.json: data folder, versions, host, dates, command."""
    estimate_hashes: Mapping[Key, Mapping[str, str]] = field(default_factory=dict)
    """SHA-256 of each estimate's values, by sample; empty where a method failed."""
    controls: Mapping[str, Result] = field(default_factory=dict)
    """By name: results of views that are known to be right or wrong. Shown, never ranked."""
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By sample: numbers and words by which results are split, such as `baseline_m`."""
    input_hashes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """SHA-256 of the inputs that methods were given, by sample and name, where it was recorded."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What failed, once for each method and reason."""
        found: dict[tuple[str, str], list[str]] = {}
        for (label, seed), result in self.results.items():
            for sample, reason in result.failed.items():
                name = sample if seed == 0 else f"{sample} (seed {seed})"
                found.setdefault((label, reason), []).append(name)
        return tuple(Failure(label, tuple(names), why) for (label, why), names in found.items())

    def to_json(self) -> dict[str, Any]:
        """Every method's results as `score --json` has them, by label; one for each seed."""
        return {
            "schema": 1,
            "run": str(self.path),
            "benchmark": self.protocol.id,
            "version": self.protocol.version,
            "protocol_hash": self.protocol.hash,
            "methods": {
                entrant.label: {
                    "method": entrant.method,
                    "options": dict(entrant.options),
                    "options_hash": entrant.options_hash,
                    "results": [self.results[entrant.label, s].to_json() for s in entrant.seeds],
                }
                for entrant in self.entrants
            },
        }
