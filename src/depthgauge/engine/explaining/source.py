"""What is compared under many protocols: samples with truth, and each method's estimates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.protocol import NO_DATASET
from depthgauge.datasets import DATASETS, Dataset, find_estimate, read_estimate
from depthgauge.engine.running.folders import pair
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.in_memory.given_maps import as_map, guessed_quantity
from depthgauge.engine.scoring.in_memory.maps_protocol import maps_protocol
from depthgauge.engine.scoring.samples import choose
from depthgauge.engine.store.record import Entrant, Run
from depthgauge.errors import BadData, DepthgaugeError, Misuse
from depthgauge.io.reading import Reading
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import REGIONS
from depthgauge.types import ClipEstimate, Estimate, Inputs, Map, Sample, Truth

_FOLDER = "folder"

Found = Map | Estimate | None
"""An estimate; None where there is none, which counts as one without a single pixel."""


@dataclass(frozen=True)
class Source:
    """Samples with truth, and a way to each method's estimate of each of them."""

    quantity: str
    samples: tuple[Sample, ...]
    methods: Mapping[str, Callable[[Sample], Found]]
    """By label."""
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By label: the arguments of `score` that name the same files."""
    dataset: str = NO_DATASET
    split: str = "all"


def source_of_maps(
    estimate: Any,
    truth: Any,
    *,
    quantity: str | None = None,
    estimate_reading: Reading | None = None,
    truth_reading: Reading | None = None,
) -> Source:
    """Two maps: arrays or files."""
    quantity = _pixel_quantity(quantity or guessed_quantity(truth))
    values = as_map(truth, quantity, truth_reading, side="truth")
    are_files = all(isinstance(each, (str, Path)) for each in (estimate, truth))
    name = Path(truth).stem if are_files else "map"
    sample = Sample(name, Inputs({}), Truth({QUANTITIES[quantity].main.name: values}))
    call = ("--estimate", str(estimate), "--truth", str(truth)) if are_files else ()
    given = as_map(estimate, quantity, estimate_reading, side="estimate")
    said = (*call, "--quantity", quantity) if call else ()
    return Source(quantity, (sample,), {"estimate": lambda _: given}, {"estimate": said})


def source_of_folders(
    truth: Path,
    estimates: Mapping[str, Path],
    *,
    quantity: str | None = None,
    pattern: str | None = None,
    truth_pattern: str | None = None,
    only: Iterable[str] = (),
    estimate_reading: Reading | None = None,
    truth_reading: Reading | None = None,
) -> Source:
    """Folders of maps that belong together by name, as `score --truth DIR --estimates DIR`."""
    for folder in (truth, *estimates.values()):
        if not folder.is_dir():
            raise BadData(f"{folder}: there is no such folder.")
    options: dict[str, Any] = {"truth": truth_pattern} if truth_pattern else {}
    options |= {"quantity": quantity} if quantity else {}
    options |= _stored_as(truth_reading)
    found = [s for s in DATASETS[_FOLDER].samples(truth, **options) if s.truth is not None]
    if not found:
        raise BadData(f"{truth}: has pictures but no true map; name the folder of the true maps.")
    quantity = _pixel_quantity(
        quantity or next(name for name in found[0].truth or () if name in QUANTITIES)
    )
    ids = [sample.id for sample in found]
    pairs = {label: pair(label, at, ids, quantity, pattern) for label, at in estimates.items()}
    used = {name for each in pairs.values() for name in each.files}
    wanted = list(only)
    chosen = choose(found, wanted) if wanted else [s for s in found if s.id in used]

    def finder(files: Mapping[str, Path]) -> Callable[[Sample], Found]:
        return lambda sample: (
            as_map(files[sample.id], quantity, estimate_reading, side="estimate")
            if sample.id in files
            else None
        )

    plain = ["--truth", str(truth)]
    for option, text in (("--pattern", pattern), ("--truth-pattern", truth_pattern)):
        plain += [option, text] if text else []
    plain += _samples_said(wanted)
    return Source(
        quantity,
        tuple(chosen),
        {label: finder(each.files) for label, each in pairs.items()},
        {
            label: (*plain, "--estimates", f"{label}={at}", "--quantity", quantity)
            for label, at in estimates.items()
        },
        dataset=_FOLDER,
    )


def source_of_dataset(
    data: Path,
    estimates: Mapping[str, Path],
    *,
    dataset: str | None = None,
    split: str | None = None,
    quantity: str | None = None,
    name: str | None = None,
    only: Iterable[str] = (),
    estimate_reading: Reading | None = None,
) -> Source:
    """A dataset's folder and folders of estimates in its public layout or in ours.

    Args:
        data: The dataset's folder.
        estimates: Folders by the method's label.
        dataset: Its layout; found by trying all of them where it is not said.
        split: Its part; the first with truth where it is not said.
        quantity: What is compared; the dataset's first by default.
        name: The method's name, if the layout uses it in file names.
        only: Ids of samples; all by default.
        estimate_reading: What is said about the stored numbers of estimates.
    """
    layout, split, samples = find_dataset(data, dataset, split)
    quantity = _pixel_quantity(quantity or first_quantity(layout, samples))
    main = QUANTITIES[quantity].main.name
    with_truth = [s for s in samples if s.truth is not None and main in s.truth]
    if not with_truth:
        raise BadData(f"{data}: no sample of '{layout.id}' ({split}) has {quantity} as truth.")
    chosen = choose(with_truth, only)
    for label, folder in estimates.items():
        if not folder.is_dir():
            raise BadData(f"{folder}: there is no such folder of estimates.")
        if not any(find_estimate(folder, layout, s.id, quantity, name) for s in chosen):
            raise BadData(f"{folder}: {label} has no estimate of any of {len(chosen)} samples.")

    def finder(folder: Path) -> Callable[[Sample], Found]:
        return partial(_submitted, folder, layout, quantity, name, estimate_reading)

    plain = ["--dataset", layout.id, "--split", split, "--data", str(data)]
    plain += ["--name", name] if name else []
    plain += [*_samples_said(only), "--quantity", quantity]
    return Source(
        quantity,
        tuple(chosen),
        {label: finder(folder) for label, folder in estimates.items()},
        {label: (*plain, "--estimates", str(folder)) for label, folder in estimates.items()},
        dataset=layout.id,
        split=split,
    )


def source_of_run(run: Run, data: Path | None = None) -> Source:
    """The stored estimates of a run."""
    quantity = _pixel_quantity(run.protocol.quantity)
    maps = RunMaps(run, data)

    def finder(entrant: Entrant) -> Callable[[Sample], Found]:
        failed = run.results[entrant.label, entrant.seeds[0]].failed

        def find(sample: Sample) -> Found:
            if sample.id in failed:
                return None
            return _still(maps.estimate(entrant, sample.id))

        return find

    samples = tuple(maps.sample(name) for name in run.samples)
    return Source(
        quantity,
        samples,
        {entrant.label: finder(entrant) for entrant in run.entrants},
        dataset=run.protocol.dataset,
        split=run.protocol.split,
    )


def dataset_protocol(
    data: Path,
    dataset: str,
    split: str | None,
    metrics: Sequence[str],
    *,
    quantity: str | None = None,
    regions: Mapping[str, str] | None = None,
    **keys: Any,
) -> Protocol:
    """The protocol of a dataset under metrics and rules that come with a call.

    Args:
        data: The dataset's folder.
        dataset: Its layout.
        split: Its part; the first with truth where it is not said.
        metrics: Score ids.
        quantity: What is scored; the dataset's first that is there by default.
        regions: Expressions by name, beside `all`.
        keys: Others of a benchmark: `missing`, `pool`, `align` ...
    """
    layout, split, samples = find_dataset(data, dataset, split)
    asked = dict(regions or {})
    own = [name for name, text in asked.items() if name == text and name in REGIONS]
    return maps_protocol(
        metrics,
        quantity or first_quantity(layout, samples),
        named={name: text for name, text in asked.items() if name not in own},
        own=own,
        **{"id": "two-folders", "dataset": layout.id, "split": split, **keys},
    )


def first_quantity(layout: Dataset, samples: Sequence[Sample]) -> str:
    """The first quantity of a dataset that its samples have."""
    held: Collection[str] = next((s.truth for s in samples if s.truth is not None), ())
    listed = layout.spec.quantities or tuple(QUANTITIES)
    return next((name for name in listed if QUANTITIES[name].main.name in held), listed[0])


def find_dataset(
    data: Path, dataset: str | None = None, split: str | None = None
) -> tuple[Dataset, str, list[Sample]]:
    """The layout of a folder, one of its splits that has truth, and its samples.

    Raises:
        BadData: No layout fits, or several do; names them.
    """
    if dataset is not None:
        layout = DATASETS[dataset]
        found = _with_truth(layout, data, split)
        if found is None:
            layout.samples(data, split or (layout.spec.splits or ("all",))[0])
            raise BadData(f"{data}: no sample of '{dataset}' has a truth.")
        return layout, *found
    fits = {}
    for layout in DATASETS.values():
        if layout.id == _FOLDER:
            continue  # it fits every folder of maps
        if (found := _with_truth(layout, data, split)) is not None:
            fits[layout.id] = found
    if len(fits) != 1:
        said = f"several layouts fit: {', '.join(fits)}" if fits else "no layout fits"
        raise BadData(f"{data}: {said}; name it with --dataset ('depthgauge list datasets').")
    name, found = next(iter(fits.items()))
    return DATASETS[name], *found


def _with_truth(layout: Dataset, data: Path, split: str | None) -> tuple[str, list[Sample]] | None:
    """The first split in which a sample has truth, and its samples."""
    for name in [split] if split else layout.spec.splits or ("all",):
        try:
            samples = list(layout.samples(data, name))
        except (DepthgaugeError, OSError):
            continue
        if any(sample.truth is not None for sample in samples):
            return name, samples
    return None


def _submitted(
    folder: Path,
    layout: Dataset,
    quantity: str,
    name: str | None,
    reading: Reading | None,
    sample: Sample,
) -> Found:
    path = find_estimate(folder, layout, sample.id, quantity, name)
    return None if path is None else _still(read_estimate(path, layout, quantity, reading))


def _stored_as(reading: Reading | None) -> dict[str, Any]:
    """What is said about stored numbers, as options of the dataset `folder`."""
    said = reading or Reading()
    scale: dict[str, Any] = {} if said.scale is None else {"scale": said.per_unit}
    return {**scale, "invalid": said.invalid} if said.invalid else scale


def _still(found: Map | Estimate | ClipEstimate) -> Found:
    if isinstance(found, ClipEstimate):
        raise Misuse("clips cannot be explained; score their frames as single samples.")
    return found


def _samples_said(only: Iterable[str]) -> list[str]:
    return [word for name in only for word in ("--sample", name)]


def _pixel_quantity(quantity: str) -> str:
    declared = QUANTITIES[quantity]
    if declared.main.is_stack or not declared.has_pixel_errors:
        raise Misuse(f"protocols are searched for maps of one value a pixel, not for {quantity}.")
    return quantity
