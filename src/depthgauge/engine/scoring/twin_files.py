"""What is wrong with the files of a twin's estimates, and with the level of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.twins import TWINS, Fault
from depthgauge.datasets import Dataset, find_estimate
from depthgauge.engine.scoring.samples import locate, misplaced
from depthgauge.errors import BadData, DepthgaugeError
from depthgauge.types import Sample

WHOLE = "submission"


def wrong_level(
    dataset: Dataset, root: Path, samples: Sequence[str], protocol: Protocol, name: str | None
) -> Fault | None:
    """The one fault of a folder in which no sample has an estimate, but another folder has some."""
    try:
        found = (find_estimate(root, dataset, s, protocol.quantity, name) for s in samples)
        if not samples or any(path is not None for path in found):
            return None
        other = misplaced(dataset, root, samples[0], protocol.quantity, name)
    except BadData:
        return None  # several estimates of one sample: said later
    if other is None:
        return None
    problem = f"{root} has none of the {len(samples)} estimates, but {other} has."
    return Fault(WHOLE, problem, "Give that folder.")


def check_twin_files(
    protocol: Protocol, dataset: Dataset, samples: Sequence[Sample], root: Path, name: str | None
) -> Iterator[Fault]:
    """Missing files, then what the twin itself finds in the others."""
    twin = TWINS[str(protocol.twin)]
    files: dict[str, Path] = {}
    for sample in samples:
        try:
            files[sample.id] = locate(dataset, root, sample.id, protocol.quantity, name)
        except DepthgaugeError as error:
            yield Fault(sample.id, str(error), "Without it there is no mean at all.")
    if twin.check_files is not None:
        known = {sample.id: sample.fresh() for sample in samples}
        yield from twin.check_files(files, known, twin.options(protocol.options))
