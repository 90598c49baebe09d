"""A benchmark on a folder of data and a folder of estimates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from depthgauge._progress import Progress
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.datasets import (
    DATASETS,
    find_estimate,
    read_clip,
    read_estimate,
)
from depthgauge.engine.scoring.data_bins import with_bins_of
from depthgauge.engine.scoring.gather import gather
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.engine.scoring.mixups import find_mixups
from depthgauge.engine.scoring.readings import warn_of
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.scoring.rules import Outcome, Rules
from depthgauge.engine.scoring.samples import choose, expected, locate, samples_of
from depthgauge.errors import BadData, DepthgaugeError, Misuse, NothingScored
from depthgauge.types import Sample


def evaluate(
    benchmark: str | Path | Protocol,
    data: str | Path,
    estimates: str | Path,
    *,
    name: str | None = None,
    only: Iterable[str] = (),
    check: bool = True,
    trust: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Scores a folder of estimates.

    Args:
        benchmark: Its id, the path of its TOML file, or the protocol itself.
        data: The dataset's folder.
        estimates: The folder of estimates, in the dataset's public layout or in ours.
        name: The method's name, if the layout uses it in file names.
        only: Ids of the samples to score; if empty, all.
        check: Whether to test, on some pixels of each sample, if estimates are read as what they
            are; what speaks against it is a `DepthgaugeWarning` and is kept in `Result.notes`.
        trust: Whether files are read without a look at the hashes that a dataset lists.
        progress: Called after each sample.

    Returns:
        Scores of every sample and their summary. A sample whose estimate is missing or cannot be
        read is listed as failed, and scored as an estimate without a single pixel.

    Raises:
        NothingScored: No sample has both truth and estimate.
    """
    protocol = find_benchmark(benchmark)
    if protocol.perturb:
        raise Misuse(
            f"{protocol.id} scores methods on images with {protocol.perturb}; estimates in files "
            "were made from other images; run the methods."
        )
    root = Path(estimates)
    if not root.is_dir():
        raise BadData(f"{root}: there is no such folder of estimates.")
    samples = samples_of(protocol, Path(data), [root], trust=trust)
    protocol = with_bins_of(protocol, samples)
    judge = Judge(Rules.of(protocol, samples), with_hashes=False, with_notes=check)
    judge.prints = {}
    outcomes: dict[str, Outcome] = {}
    wanted = list(only)
    chosen = choose(samples, wanted)
    if not wanted:
        chosen = expected(chosen, protocol, root, name)
    for done, sample in enumerate(chosen, start=1):
        outcomes[sample.id] = _score(judge, sample, root, name)
        if progress is not None:
            progress(sample.id, done, len(chosen))
    result = gather(protocol, outcomes, {sample.id: sample.scene for sample in chosen})
    _require_scores(result, root)
    result = replace(result, notes=(*result.notes, *find_mixups(judge.prints).values()))
    warn_of(result.notes)
    absent = sorted({sample.id for sample in samples} - {sample.id for sample in chosen})
    if wanted or not absent:
        return result
    return replace(result, left_out=(*result.left_out, *(f"{n}: no estimate" for n in absent)))


def _score(judge: Judge, sample: Sample, root: Path, name: str | None) -> Outcome:
    protocol = judge.protocol
    dataset, quantity, length = DATASETS[protocol.dataset], protocol.quantity, sample.length
    if length is None:
        return judge.score_file(sample, partial(locate, dataset, root, sample.id, quantity, name))
    said = protocol.reading.estimate.reading
    find = partial(read_clip, root, dataset, sample.id, quantity, length, name, said)
    return judge.score_map(sample, find)


def prepared_samples(
    protocol: Protocol,
    data: str | Path,
    estimates: str | Path,
    *,
    name: str | None = None,
    only: Iterable[str] = (),
    trust: bool = False,
) -> Iterator[tuple[str, PreparedSample]]:
    """The maps of each sample as the protocol compares them; failed samples are left out."""
    dataset = DATASETS[protocol.dataset]
    samples = samples_of(protocol, Path(data), trust=trust)
    protocol = with_bins_of(protocol, samples)
    judge = Judge(Rules.of(protocol, samples), with_hashes=False)
    for sample in choose(samples, only):
        path = find_estimate(Path(estimates), dataset, sample.id, protocol.quantity, name)
        if path is None or sample.truth is None:
            continue
        try:
            said = protocol.reading.estimate.reading
            estimate = read_estimate(path, dataset, protocol.quantity, said)
            yield sample.id, judge.prepared(sample, estimate)
        except DepthgaugeError:
            continue  # `evaluate` reports it


def _require_scores(result: Result, root: Path) -> None:
    n = len(result.samples.keys() | result.failed.keys())
    if len(result.samples) > 0 and len(result.failed) < n:
        return
    if result.failed:
        first = next(iter(result.failed.values()))
        raise NothingScored(f"none of the {len(result.failed)} samples could be scored: {first}")
    protocol = result.protocol
    raise NothingScored(
        f"no sample of '{protocol.dataset}' ({protocol.split}) has {protocol.quantity} as truth; "
        f"there is nothing to compare {root} with. "
        f"Its truth comes from {DATASETS[protocol.dataset].spec.sample_layout}."
    )
