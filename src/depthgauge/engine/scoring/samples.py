"""Which samples a benchmark scores, and where their estimates are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from depthgauge._registry import nearest
from depthgauge._shorten import first_few
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS, Dataset, estimate_candidates, find_estimate
from depthgauge.errors import BadData
from depthgauge.io.npz import array_names
from depthgauge.types import Sample

_MOST_FOLDERS = 50
"""Folders of each level that are searched for misplaced estimates."""


def samples_of(
    protocol: Protocol, data: Path, estimates: Iterable[Path] = (), *, trust: bool = False
) -> list[Sample]:
    """The samples of a benchmark's split.

    Args:
        protocol: The benchmark.
        data: The dataset's folder.
        estimates: Folders of estimates; a twin may add samples that are missing from the dataset.
        trust: Whether files are read without a look at the hashes that the dataset lists.
    """
    dataset = DATASETS[protocol.dataset]
    options = {**protocol.dataset_options, **_reading(protocol)}
    options |= {"trust": trust} if dataset.spec.lists_hashes else {}
    samples = list(dataset.samples(data, protocol.split, **options))
    more = None if protocol.twin is None else TWINS[protocol.twin].more_samples
    if more is not None:
        for root in estimates:
            samples += more(samples, root)
    return samples


def _reading(protocol: Protocol) -> dict[str, Any]:
    """What the benchmark says about how the truth is stored, as options of its dataset."""
    said = protocol.reading.truth.reading
    scale = {} if said.scale is None else {"scale": said.per_unit}
    return {**scale, "invalid": said.invalid} if said.invalid else scale


def expected(
    samples: Iterable[Sample], protocol: Protocol, root: Path, name: str | None = None
) -> list[Sample]:
    """The samples that a folder of estimates is scored on: extra ones only if it has them."""
    dataset = DATASETS[protocol.dataset]
    return [
        sample
        for sample in samples
        if not sample.extra or find_estimate(root, dataset, sample.id, protocol.quantity, name)
    ]


def choose(samples: list[Sample], only: Iterable[str]) -> list[Sample]:
    """The samples with those ids; all if none are given."""
    wanted = list(only)
    known = {sample.id for sample in samples}
    for name in wanted:
        if name not in known:
            said = f"there is no sample '{name}' in the data. {nearest(name, known)}".strip()
            raise BadData(f"{said} It has {first_few(sorted(known), 10)}.")
    return [sample for sample in samples if not wanted or sample.id in wanted]


def locate(dataset: Dataset, root: Path, sample: str, quantity: str, name: str | None) -> Path:
    """The file of a sample's estimate; the error names the places that were searched."""
    path = find_estimate(root, dataset, sample, quantity, name)
    if path is None:
        places = estimate_candidates(dataset, sample, quantity, name)
        if (other := misplaced(dataset, root, sample, quantity, name)) is not None:
            raise BadData(
                f"{root}: no estimate for '{sample}' at this level, but {other} has one; give that "
                "folder."
            )
        raise BadData(
            f"{root}: no estimate for '{sample}'; expected {' or '.join(places[:2])}"
            f"{_other_arrays(root, places)}."
        )
    return path


def misplaced(
    dataset: Dataset, root: Path, sample: str, quantity: str, name: str | None
) -> Path | None:
    """A folder below or around this one from which the sample's estimate is found; None if none is.

    For folders that are given one or two levels too high or too low. What is found from a folder
    around this one must still be inside of this one: other people's files are none of our business.
    """
    below = _folders(root)
    deeper = [folder for path in below for folder in _folders(path)]
    here = root.resolve()
    for folder in (*below, *deeper[:_MOST_FOLDERS], here.parent, here.parent.parent):
        try:
            found = find_estimate(folder, dataset, sample, quantity, name)
        except BadData:
            continue  # several: not a level that anybody means
        if found is not None and found.resolve().is_relative_to(here):
            return folder
    return None


def _folders(root: Path) -> list[Path]:
    try:
        return sorted(path for path in root.iterdir() if path.is_dir())[:_MOST_FOLDERS]
    except OSError:
        return []


def _other_arrays(root: Path, places: Sequence[str]) -> str:
    """What an archive in which the estimate could have been has in its place."""
    for place in places:
        archive = root / Path(place).parent
        if archive.suffix == ".npz" and archive.is_file():
            names = first_few(array_names(archive), 3)
            return f", but the arrays of {archive.name} are named {names}; name them by sample"
    return ""
