"""Human performance: the scores of people who annotate the same pictures again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge._progress import Progress
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.datasets import DATASETS, find_estimate
from depthgauge.engine.score_codec import finite
from depthgauge.engine.scoring.evaluate import evaluate
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.scoring.samples import samples_of
from depthgauge.errors import BadData, Misuse, NothingScored

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class HumanScore:
    """One score of an average person."""

    mean: float
    """Mean over the people who have this score; NaN if there are none."""
    standard_error: float
    """Standard error of the mean over people; NaN with fewer than two."""
    values: Mapping[str, float]
    """The value of each person."""
    unit: str = ""


@dataclass(frozen=True)
class HumanPerformance:
    """The scores of an average person on one benchmark."""

    protocol: Protocol
    scores: Mapping[str, HumanScore]
    results: Mapping[str, Result]
    """The result of each person, by the name of the folder."""
    samples: Mapping[str, int]
    """How many pictures each person annotated."""

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        return {
            "schema": SCHEMA,
            "benchmark": self.protocol.id,
            "version": self.protocol.version,
            "protocol_hash": self.protocol.hash,
            "people": dict(self.samples),
            "summary": {
                name: {
                    "mean": finite(score.mean),
                    "standard_error": finite(score.standard_error),
                    "unit": score.unit,
                    "values": {who: finite(value) for who, value in score.values.items()},
                }
                for name, score in self.scores.items()
            },
        }


def human_performance(
    benchmark: str | Path | Protocol,
    data: str | Path,
    folders: Sequence[str | Path],
    *,
    progress: Progress | None = None,
) -> HumanPerformance:
    """Scores the folders of several people as methods, and averages over them.

    Each person is scored on the pictures in his or her folder, because nobody annotates a whole
    dataset again.

    Args:
        benchmark: Its id, the path of its TOML file, or the protocol itself.
        data: The dataset's folder.
        folders: One folder of estimates per person, in any layout that `evaluate` reads; a folder
            without estimates stands for the folders in it.
        progress: Called after each person with the name, the number done and the total.

    Raises:
        Misuse: No folder is given, or two have the same name.
        NothingScored: A folder has no estimate of any picture.
    """
    protocol = find_benchmark(benchmark)
    people = _named(_people(protocol, Path(data), [Path(folder) for folder in folders]))
    results: dict[str, Result] = {}
    samples: dict[str, int] = {}
    for done, (who, folder) in enumerate(people.items(), 1):
        own = _annotated(protocol, Path(data), folder)
        if not own:
            raise NothingScored(
                f"{folder}: has no estimate of {protocol.quantity} for any sample of "
                f"'{protocol.dataset}' ({protocol.split})."
            )
        results[who] = evaluate(protocol, data, folder, only=own)
        samples[who] = len(own)
        if progress is not None:
            progress(who, done, len(people))
    return HumanPerformance(protocol, _averaged(results), results, samples)


def _people(protocol: Protocol, data: Path, folders: Sequence[Path]) -> list[Path]:
    """The folders of single people."""
    found: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise BadData(f"{folder}: there is no such folder of estimates.")
        below = sorted(path for path in folder.iterdir() if path.is_dir())
        own = _annotated(protocol, data, folder)
        found += [folder] if own or not below else below
    return found


def _annotated(protocol: Protocol, data: Path, folder: Path) -> list[str]:
    """The samples for which a folder has an estimate."""
    dataset = DATASETS[protocol.dataset]
    samples = samples_of(protocol, data, [folder])
    return [s.id for s in samples if find_estimate(folder, dataset, s.id, protocol.quantity)]


def _averaged(results: Mapping[str, Result]) -> dict[str, HumanScore]:
    found: dict[str, HumanScore] = {}
    for name in next(iter(results.values())).protocol.score_ids:
        summaries = {w: r.summary[name] for w, r in results.items() if name in r.summary}
        if not summaries:
            continue
        values = {who: summary.value for who, summary in summaries.items()}
        units = [summary.unit for summary in summaries.values()]
        found[name] = HumanScore(*_mean([*values.values()]), values, units[0])
    return found


def _mean(values: Sequence[float]) -> tuple[float, float]:
    known = [value for value in values if math.isfinite(value)]
    n = len(known)
    if n == 0:
        return math.nan, math.nan
    mean = math.fsum(known) / n
    if n == 1:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((v - mean) ** 2 for v in known) / (n - 1) / n)


def _named(folders: Sequence[str | Path]) -> dict[str, Path]:
    """Folders by name; the parent folder is added if two have the same name."""
    paths = [Path(folder).resolve() for folder in folders]
    if not paths:
        raise Misuse("give at least one folder with a person's estimates.")
    if len(set(paths)) < len(paths):
        raise Misuse("a folder is given twice; one person counts once.")
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.parent.name}/{path.name}" for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    return dict(zip(names, paths, strict=True))
