"""What is wrong with estimates, a folder of them or one, before anything is scored."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from depthgauge._progress import Progress
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS, Dataset, read_estimate
from depthgauge.datasets.estimates import SUFFIXES
from depthgauge.engine.scoring.in_memory.arrays import MapOptions, prepare_maps
from depthgauge.engine.scoring.in_memory.given_maps import Maps
from depthgauge.engine.scoring.layered import dense_layers
from depthgauge.engine.scoring.mixups import Fingerprint, find_mixups, fingerprint
from depthgauge.engine.scoring.official_check import OfficialCheck, check_official
from depthgauge.engine.scoring.prepare import fit_size, needs_focal, scale_truth
from depthgauge.engine.scoring.samples import locate, samples_of
from depthgauge.engine.scoring.twin_files import check_twin_files, wrong_level
from depthgauge.engine.scoring.value_checks import Finding as Finding
from depthgauge.engine.scoring.value_checks import about, check_focal, check_type, check_values
from depthgauge.engine.scoring.value_checks import finding_of as finding_of
from depthgauge.errors import BadData, DepthgaugeError, TooLarge, UnknownScale, WrongShape
from depthgauge.io.stacks import is_member
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Estimate, Inputs, Map, Sample, is_known

_LOW_DENSITY = 0.5
_LONGEST_PX = 4096
"""Side of the largest picture that rows of layers are spread over, if no picture says it."""


def check(
    benchmark: str | Path | Protocol,
    estimates: str | Path,
    data: str | Path | None = None,
    *,
    name: str | None = None,
) -> list[Finding]:
    """Finds all problems of a folder of estimates before it is scored, and says how to fix each.

    Args:
        benchmark: Its id, the path of its TOML file, or the protocol itself.
        estimates: The folder of estimates.
        data: The dataset's folder; without it, missing files and wrong sizes cannot be found.
        name: The method's name, where file names contain it.

    Returns:
        Findings with `sample`, `problem`, `advice` and `serious`; none where all is well.
    """
    return check_estimates(benchmark, data, estimates, name=name)


def check_estimates(
    benchmark: str | Path | Protocol,
    data: str | Path | None,
    estimates: str | Path,
    *,
    name: str | None = None,
    progress: Progress | None = None,
) -> list[Finding]:
    """Every problem of every sample, in the order of the samples.

    Without the dataset's folder, every map in the estimates folder is checked alone: it is then
    unknown which are missing and what size they should have. A twin that has rules of its own
    for submissions knows it without the data too.
    """
    protocol = find_benchmark(benchmark)
    dataset = DATASETS[protocol.dataset]
    root = Path(estimates)
    if not root.is_dir():
        raise BadData(f"{root}: there is no such folder of estimates.")
    own = _own_rules(protocol)
    try:
        known = [] if data is None else _listed(protocol, dataset, Path(data), own is not None)
    except BadData as error:
        # The folder of the data is wrong; so may be that of the estimates.
        others = check_estimates(protocol, None, root, name=name, progress=progress)
        return [Finding("data", _sentence(error), "Then check again."), *others]
    if own is not None:
        return [Finding(*fault) for fault in own(root, {s.id: s.fresh() for s in known})]
    official = check_official(protocol, root, {sample.id: sample.fresh() for sample in known})
    if official is not None:
        return _check_official(protocol, official, known, name)
    samples = _samples(known, root)
    if (fault := wrong_level(dataset, root, [s.id for s, _ in samples], protocol, name)) and data:
        return [Finding(*fault)]
    if data is not None and protocol.twin is not None and TWINS[protocol.twin].check_files:
        faults = check_twin_files(protocol, dataset, [s for s, _ in samples], root, name)
        return [Finding(*fault) for fault in faults]
    return _check_all(protocol, samples, root, name, progress)


def _listed(protocol: Protocol, dataset: Dataset, data: Path, without_truth: bool) -> list[Sample]:
    """The samples that are checked; a twin's own rules may be about those without truth too."""
    if without_truth:
        return list(dataset.samples(data, protocol.split))
    return list(samples_of(protocol, data))


def _check_official(
    protocol: Protocol, official: OfficialCheck, known: list[Sample], name: str | None
) -> list[Finding]:
    """The faults of a folder in a public layout, and those of the values in its good files."""
    findings = [Finding(*fault) for fault in official.faults]
    good = [(sample, None) for sample in known if sample.id not in official.faulty]
    return [*findings, *_check_all(protocol, good, official.root, name)]


def _check_all(
    protocol: Protocol,
    samples: Sequence[tuple[Sample, Path | None]],
    root: Path,
    name: str | None,
    progress: Progress | None = None,
) -> list[Finding]:
    dataset = DATASETS[protocol.dataset]
    findings: list[Finding] = []
    prints: dict[str, Fingerprint] = {}
    for done, (sample, path) in enumerate(samples, start=1):
        for frame in sample.fresh().frames():  # of a clip; each has its own file
            findings += _check_sample(protocol, dataset, frame, root, name, path, prints)
        if progress is not None:
            progress(sample.id, done, len(samples))
    faulty = {finding.sample for finding in findings}
    whole = {name: kept for name, kept in prints.items() if name not in faulty}
    return [*findings, *(finding_of(n, n.sample) for n in find_mixups(whole).values())]


def check_maps(
    estimate: Maps | Estimate, truth: Maps, **options: Unpack[MapOptions]
) -> list[Finding]:
    """Whether two maps are read as what they are, and how to say it otherwise.

    Args:
        estimate: As in `score`.
        truth: As in `score`.
        options: As in `score`.

    Returns:
        Findings with `problem`, `advice` and `code`; none where nothing speaks against the maps.

    Raises:
        DepthgaugeError: The maps cannot be compared at all.
    """
    _, prepared = prepare_maps(estimate, truth, **options)
    maps = prepared[""]
    found = [finding_of(note, "") for note in maps.notes]
    if not is_known(maps.estimate).any():
        advice = "NaN and infinity mean missing; write numbers where there is an estimate."
        found.append(Finding("", "the estimate has no finite value.", advice))
    return found


def _own_rules(protocol: Protocol) -> Callable[..., Iterator[tuple[Any, ...]]] | None:
    """`check_submission` of a twin: of a folder and the samples by name, the fields of findings."""
    return None if protocol.twin is None else TWINS[protocol.twin].check_submission


def _samples(known: Iterable[Sample], root: Path) -> list[tuple[Sample, Path | None]]:
    """The samples to check, with the file if it is known already."""
    if found := [(sample, None) for sample in known]:
        return list(found)
    files = sorted(path for suffix in SUFFIXES for path in root.rglob(f"*.{suffix}"))
    if not files:
        raise BadData(f"{root}: no map in it; expected one of {', '.join(SUFFIXES)}.")
    return [(Sample(str(path.relative_to(root)), Inputs({}), None), path) for path in files]


def _check_sample(
    protocol: Protocol,
    dataset: Dataset,
    sample: Sample,
    root: Path,
    name: str | None,
    path: Path | None,
    prints: dict[str, Fingerprint] | None = None,
) -> Iterator[Finding]:
    read = _read(protocol, dataset, sample.id, root, name, path)
    if isinstance(read, Finding):
        yield read
        return
    path, found = read
    declared = QUANTITIES[protocol.quantity]
    if declared.main.is_stack:
        try:
            found = _dense(protocol, found, sample)
        except DepthgaugeError as error:
            name = f"{path.parent.name}/{path.name}" if is_member(path) else path.name
            advice = "Write the estimate again." if isinstance(error, WrongShape) else ""
            yield Finding(sample.id, f"{name}: {_sentence(error)}", advice)
            return
    estimate = declared.map_of(_parts_of(found))
    if declared.has_pixel_errors:
        yield from check_type(sample.id, path, dataset)
    if needs_focal(protocol) and protocol.estimate.focal_px is None:
        yield from check_focal(sample.id, path, found)
    present = is_known(estimate)
    if not present.any():
        yield Finding(
            sample.id,
            f"{path.name} has no finite value.",
            "NaN and infinity mean missing; write numbers where there is an estimate.",
        )
        return
    density = float(present.mean())
    if density < _LOW_DENSITY:
        yield Finding(
            sample.id,
            f"{path.name} has values at {100 * density:.1f} % of its pixels.",
            f"Missing pixels cost '{protocol.missing}'; fill them if your method can.",
            serious=False,
        )
    truth = _truth(protocol, sample)
    try:
        estimate = estimate if truth is None else fit_size(protocol, estimate, truth)
    except DepthgaugeError as error:
        yield Finding(
            sample.id, f"{path.name}: {_sentence(error)}", "Write the map at the truth's size."
        )
        return
    yield from check_values(protocol, sample, estimate, truth)
    if truth is not None and prints is not None:
        known = about(protocol, {}, (-math.inf, math.inf))
        kept = fingerprint(estimate, truth, protocol.quantity, known)
        prints |= {} if kept is None else {sample.id: kept}


def _read(
    protocol: Protocol,
    dataset: Dataset,
    sample: str,
    root: Path,
    name: str | None,
    path: Path | None,
) -> tuple[Path, Estimate] | Finding:
    """The file of a sample's estimate and what it holds, or why it cannot be read."""
    try:
        path = path or locate(dataset, root, sample, protocol.quantity, name)
    except DepthgaugeError as error:
        return Finding(sample, _sentence(error), "Put exactly one estimate there.")
    said = protocol.reading.estimate.reading
    try:
        return path, read_estimate(path, dataset, protocol.quantity, said)
    except TooLarge as error:
        # What follows the semicolon is for those who call the reader themselves.
        text = str(error).rpartition("; ")[0] or str(error)
        return Finding(sample, f"{text}.", "Write the map at the size of the picture.")
    except UnknownScale as error:
        return Finding(sample, str(error), "Or write a float format, which has no scale.")
    except DepthgaugeError as error:
        return Finding(sample, _sentence(error), "Write the estimate again.")


def _dense(protocol: Protocol, found: Estimate, sample: Sample) -> Estimate:
    """An estimate with all its layers; rows need the size of a truth or a picture."""
    name = QUANTITIES[protocol.quantity].main.name
    if sample.truth is not None and name in sample.truth:
        stack = sample.truth[name]
        return dense_layers(protocol, found, stack.shape[1:3], len(stack))
    image = next((n for n in ("left_image", "first_image") if n in sample.inputs), None)
    if image is not None:
        return dense_layers(protocol, found, sample.inputs[image].shape[:2], 1)
    # Without a picture, rows reach as far as they say.
    reach = np.nan_to_num(found.values[..., :2].reshape(-1, 2).max(axis=0), nan=0.0)
    size = (min(int(reach[1]) + 1, _LONGEST_PX), min(int(reach[0]) + 1, _LONGEST_PX))
    return dense_layers(protocol, found, size, 1)


def _parts_of(found: Estimate) -> dict[str, Any]:
    return {QUANTITIES[found.quantity].main.name: found.values, **found.parts}


def _sentence(error: DepthgaugeError) -> str:
    """What was said, with a full stop: advice follows it."""
    said = str(error).rstrip()
    return said if said.endswith((".", "!", "?")) else f"{said}."


def _truth(protocol: Protocol, sample: Sample) -> Map | None:
    """The truth at the size that is compared, if it is in the data."""
    quantity = QUANTITIES[protocol.quantity]
    if sample.truth is None or quantity.main.name not in sample.truth:
        return None
    return scale_truth(protocol, quantity.map_of(sample.truth))
