"""A benchmark on a folder of data and a folder of estimates."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS, Dataset, estimate_candidates, find_estimate
from depthgauge.engine.measure import Prepared, lacking, measure
from depthgauge.engine.pool import Summary, pool_plain, pool_spec
from depthgauge.engine.prepare import prepare
from depthgauge.engine.result import Result
from depthgauge.errors import BadData, DepthgaugeError, NothingScored, Unavailable
from depthgauge.io import read_map
from depthgauge.types import Map, Sample, Score

Progress = Callable[[str, int, int], None]
"""Called with the sample's id, how many are done, how many there are."""


@dataclass
class _Tally:
    """What is known so far."""

    declared: frozenset[str] = frozenset()
    """Masks and labels that some of the samples have."""
    ranged: bool = False
    """Whether estimates outside the samples' disparity range are missing."""
    samples: dict[str, dict[str, Score]] = field(default_factory=dict)
    scenes: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)


def evaluate(
    benchmark: str | Path | Protocol,
    data: str | Path,
    estimates: str | Path,
    *,
    name: str | None = None,
    only: Iterable[str] = (),
    progress: Progress | None = None,
) -> Result:
    """Scores a folder of estimates.

    Args:
        benchmark: Its id, the path of its TOML file, or the protocol itself.
        data: The dataset's folder.
        estimates: The folder of estimates, in the dataset's public layout or in ours.
        name: The method's name where the layout has it in the file names.
        only: Ids of the samples to score; all where it is empty.
        progress: Called after each sample.

    Returns:
        Scores of every sample and their summary. A sample whose estimate is missing or cannot be
        read is listed as failed, and scored as an estimate without a single pixel.

    Raises:
        NothingScored: There was no sample with both truth and estimate.
    """
    protocol = find_benchmark(benchmark)
    dataset = DATASETS[protocol.dataset]
    root = Path(estimates)
    if not root.is_dir():
        raise BadData(f"{root}: there is no such folder of estimates.")
    samples = list(dataset.samples(Path(data), protocol.split))
    chosen = _choose(samples, list(only))
    tally = _Tally(declared=_declared(samples), ranged=_uses_range(protocol, samples))
    for done, sample in enumerate(chosen, start=1):
        # What is read of a sample goes with it, or all maps of the dataset would pile up.
        _evaluate_sample(protocol, dataset, sample.fresh(), root, name, tally)
        if progress is not None:
            progress(sample.id, done, len(chosen))
    _require_scores(tally, protocol, root)
    return Result(
        protocol,
        tally.samples,
        dict(_summarise(protocol, tally)),
        tally.failed,
        tuple(tally.left_out),
    )


def prepared_samples(
    protocol: Protocol,
    data: str | Path,
    estimates: str | Path,
    *,
    name: str | None = None,
    only: Iterable[str] = (),
) -> Iterator[tuple[str, Prepared]]:
    """The maps of each sample as the protocol compares them; failed samples are left out."""
    dataset = DATASETS[protocol.dataset]
    samples = list(dataset.samples(Path(data), protocol.split))
    declared = _declared(samples)
    for sample in _choose(samples, list(only)):
        path = find_estimate(Path(estimates), dataset, sample.id, protocol.quantity, name)
        if path is None or sample.truth is None:
            continue
        try:
            estimate = read_map(path, quantity=protocol.quantity)
            yield sample.id, _prepare_sample(protocol, sample.fresh(), estimate, declared)[0]
        except DepthgaugeError:
            continue  # `evaluate` has said so


def _choose(samples: list[Sample], only: list[str]) -> list[Sample]:
    known = {sample.id for sample in samples}
    for wanted in only:
        if wanted not in known:
            raise BadData(f"there is no sample '{wanted}' in the data; it has {sorted(known)}.")
    return [sample for sample in samples if not only or sample.id in only]


def _declared(samples: list[Sample]) -> frozenset[str]:
    names = {name for sample in samples for name in sample.truth or ()}
    return frozenset(name for name in names if name.endswith(("_mask", "_labels")))


def _uses_range(protocol: Protocol, samples: list[Sample]) -> bool:
    asked = protocol.quantity == "disparity" and protocol.estimate.range == "inputs"
    given = any("disparity_range" in sample.inputs for sample in samples)
    return asked and given and protocol.twin is None


def _evaluate_sample(
    protocol: Protocol,
    dataset: Dataset,
    sample: Sample,
    root: Path,
    name: str | None,
    tally: _Tally,
) -> None:
    if sample.truth is None or protocol.quantity not in sample.truth:
        tally.left_out.append(sample.id)
        return
    tally.scenes[sample.id] = sample.scene
    if tally.ranged and "disparity_range" not in sample.inputs:
        # Other samples have one, so this one is scored by a milder rule; that must be seen.
        tally.left_out.append(f"{sample.id}: disparity_range")
    try:
        path = locate(dataset, root, sample.id, protocol.quantity, name)
        if protocol.twin is not None:
            _score_twin(protocol, sample, path, tally)
        else:
            estimate = read_map(path, quantity=protocol.quantity)
            _score_sample(protocol, sample, estimate, tally)
    except Unavailable as error:
        tally.left_out.append(f"{sample.id}: {error}")
        del tally.scenes[sample.id]
    except DepthgaugeError as error:
        tally.failed[sample.id] = str(error)
        if protocol.twin is None:
            _score_sample(protocol, sample, None, tally)


def locate(dataset: Dataset, root: Path, sample: str, quantity: str, name: str | None) -> Path:
    """The file of a sample's estimate; an error that says where it was looked for."""
    path = find_estimate(root, dataset, sample, quantity, name)
    if path is None:
        places = estimate_candidates(dataset, sample, quantity, name)
        raise BadData(f"{root}: no estimate for '{sample}'; expected {' or '.join(places[:2])}.")
    return path


def _score_twin(protocol: Protocol, sample: Sample, path: Path, tally: _Tally) -> None:
    twin = TWINS[str(protocol.twin)]
    found = twin.evaluate(sample, path, twin.options(protocol.options))
    tally.samples[sample.id] = dict(found.scores)
    tally.left_out += [f"{sample.id}@{region}" for region in found.left_out]


def _score_sample(protocol: Protocol, sample: Sample, estimate: Map | None, tally: _Tally) -> None:
    prepared, unavailable = _prepare_sample(protocol, sample, estimate, tally.declared)
    tally.samples[sample.id] = measure(
        prepared, protocol.specs, protocol.quantity, protocol.missing, protocol.pool
    )
    tally.left_out += [f"{sample.id}@{region}" for region in unavailable]
    tally.left_out += [
        f"{sample.id}: {spec.id}" for spec in protocol.specs if lacking(prepared, spec)
    ]


def _prepare_sample(
    protocol: Protocol, sample: Sample, estimate: Map | None, declared: frozenset[str]
) -> tuple[Prepared, dict[str, str]]:
    if sample.truth is None:
        raise Unavailable(f"{sample.id}: has no truth.")
    items: Mapping[str, Any] = ChainMap(sample.truth, sample.inputs)  # type: ignore[arg-type]  # only read
    return prepare(protocol, estimate, sample.truth[protocol.quantity], items, declared=declared)


def _summarise(protocol: Protocol, tally: _Tally) -> Iterator[tuple[str, Summary]]:
    if protocol.twin is not None:
        for score_id in protocol.score_ids:
            scores = {n: s[score_id] for n, s in tally.samples.items() if score_id in s}
            if scores:
                yield score_id, pool_plain(scores, len(tally.failed))
        return
    for spec in protocol.specs:
        scores = {n: s[spec.id] for n, s in tally.samples.items() if spec.id in s}
        if scores:
            pooled = pool_spec(spec, scores, tally.scenes, protocol.pool, protocol.missing)
            yield spec.id, pooled


def _require_scores(tally: _Tally, protocol: Protocol, root: Path) -> None:
    if len(tally.samples) > 0 and len(tally.failed) < len(tally.scenes):
        return
    if tally.failed:
        first = next(iter(tally.failed.values()))
        raise NothingScored(f"none of the {len(tally.failed)} samples could be scored: {first}")
    raise NothingScored(
        f"no sample of '{protocol.dataset}' ({protocol.split}) has a truth of {protocol.quantity}; "
        f"there is nothing to compare {root} with."
    )
