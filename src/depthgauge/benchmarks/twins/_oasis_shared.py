"""What the twins of OASIS share: sums over a dataset, and how a folder of estimates is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from depthgauge.benchmarks.twins import Fault
from depthgauge.datasets import DATASETS, find_estimate
from depthgauge.errors import DepthgaugeError
from depthgauge.types import Sample, Score, State, merge_states

DATASET = "oasis"
_WHOLE = "submission"
_AGAIN = "Write the estimate again."


def merged(samples: Mapping[str, Mapping[str, Score]], score_id: str) -> State | None:
    """The states of one score over all samples that have it; None if no sample has it."""
    scores = (found[score_id] for _, found in sorted(samples.items()) if score_id in found)
    states = [score.state for score in scores if score.state is not None]
    return merge_states(states) if states else None


def state_of(count: int, missing: int, sums: Iterable[float]) -> State:
    """A state made of a few sums."""
    return State(count, missing, np.array(list(sums), np.float64))


def check_files(
    root: Path,
    samples: Mapping[str, Sample],
    quantity: str,
    needed: tuple[str, ...],
    check: Callable[[Path, str], Iterator[Fault]],
) -> Iterator[Fault]:
    """Every problem of a folder of estimates, in the order of the samples.

    Args:
        root: The folder of estimates.
        samples: The samples in the data; if there are none, all files in the folder are checked.
        quantity: What is submitted; also the name of the folder.
        needed: Items of the truth that a sample needs to be scored.
        check: Yields the problems of one file; an exception counts as one too.
    """
    wanted = [
        name
        for name, sample in samples.items()
        if sample.truth is not None and all(item in sample.truth for item in needed)
    ]
    if not samples:
        wanted = sorted(path.stem for path in root.glob(f"{quantity}/*.npy"))
    if not wanted:
        yield Fault(
            _WHOLE,
            f"there is no {quantity}/<id>.npy in it."
            if not samples
            else f"no sample of the data has {' and '.join(needed)}.",
            f"Write one file for each image, e.g. {quantity}/0031.npy.",
        )
    for name in wanted:
        yield from _check_one(root, name, quantity, check)


def _check_one(
    root: Path, name: str, quantity: str, check: Callable[[Path, str], Iterator[Fault]]
) -> Iterator[Fault]:
    try:
        path = find_estimate(root, DATASETS[DATASET], name, quantity)
        if path is None:
            yield Fault(name, "there is no estimate.", "Without it there is no score at all.")
            return
        yield from check(path, name)
    except DepthgaugeError as error:
        yield Fault(name, str(error), _AGAIN)
