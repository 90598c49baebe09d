"""Counts all records of a folder, or all samples of a dataset, for `statistics`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from depthgauge.annotate.quality.statistics import RegionFacts, facts_of_annotation, facts_of_sample
from depthgauge.annotate.records.folders import read_all
from depthgauge.datasets import DATASETS
from depthgauge.errors import BadData, DepthgaugeError

Notes = Callable[[str], None]
Progress = Callable[[str, int, int], None]


def facts_of_records(
    places: Iterable[Path], *, notes: Notes, progress: Progress | None = None
) -> Iterator[RegionFacts]:
    """What is counted of every file of records."""
    for recorded in read_all(places, notes=notes, progress=progress):
        yield facts_of_annotation(recorded.annotation)


def facts_of_dataset(
    root: Path, dataset: str, split: str, *, notes: Notes, progress: Progress | None = None
) -> Iterator[RegionFacts]:
    """What is counted of every sample with truth; one damaged sample costs itself only."""
    if not root.is_dir():
        raise BadData(f"{root}: there is no such folder of data.")
    samples = list(DATASETS[dataset].samples(root, split))
    for done, sample in enumerate(samples):
        if progress is not None:
            progress(sample.id, done, len(samples))
        try:
            facts = facts_of_sample(sample.fresh())
        except DepthgaugeError as error:
            notes(f"{sample.id}: left out: {error}")
            continue
        if facts is not None:
            yield facts
