"""What is wrong with estimates, a folder of them or one, before anything is scored."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from depthgauge._progress import Progress
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS, Dataset, read_estimate
from depthgauge.datasets.estimates import SUFFIXES
from depthgauge.engine.scoring.comparison import Circumstances
from depthgauge.engine.scoring.in_memory.arrays import MapOptions, prepare_maps
from depthgauge.engine.scoring.in_memory.given_maps import Maps
from depthgauge.engine.scoring.layered import dense_layers
from depthgauge.engine.scoring.mixups import Fingerprint, find_mixups, fingerprint
from depthgauge.engine.scoring.prepare import estimate_range, fit_size, needs_focal, scale_truth
from depthgauge.engine.scoring.readings import find_notes
from depthgauge.engine.scoring.samples import locate, samples_of
from depthgauge.engine.scoring.twin_files import check_twin_files, wrong_level
from depthgauge.errors import BadData, DepthgaugeError, TooLarge, UnknownScale, WrongShape
from depthgauge.io import stored_dtype
from depthgauge.io.stacks import is_member
from depthgauge.metrics.terms import LARGEST
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Estimate, Inputs, Map, Note, Sample, is_known, overlaid

_LOW_DENSITY = 0.5
_LONGEST_PX = 4096
"""Side of the largest picture that rows of layers are spread over, if no picture says it."""
_MANY_OUTSIDE = 0.05
_SERIOUS = ("sign", "flipped", "transposed", "other-sample")
"""Notes about mistakes that no honest estimate looks like."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of one sample."""

    sample: str
    problem: str
    advice: str
    serious: bool = True
    """Whether it costs points; else it only looks odd."""
    code: str = ""
    """The kind of note that it is, where it is one: `sign`, `factor`, `flipped` ..."""


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
    if (own := _own_rules(protocol)) is not None:
        found = () if data is None else dataset.samples(Path(data), protocol.split)
        return [Finding(*fault) for fault in own(root, {s.id: s.fresh() for s in found})]
    samples = _samples(protocol, dataset, data, root)
    if (fault := wrong_level(dataset, root, [s.id for s, _ in samples], protocol, name)) and data:
        return [Finding(*fault)]
    if data is not None and protocol.twin is not None and TWINS[protocol.twin].check_files:
        faults = check_twin_files(protocol, dataset, [s for s, _ in samples], root, name)
        return [Finding(*fault) for fault in faults]
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


def _samples(
    protocol: Protocol, dataset: Dataset, data: str | Path | None, root: Path
) -> list[tuple[Sample, Path | None]]:
    """The samples to check, with the file if it is known already."""
    if data is not None:
        return [(sample, None) for sample in samples_of(protocol, Path(data))]
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
        yield from _check_type(sample.id, path, dataset)
    if needs_focal(protocol) and protocol.estimate.focal_px is None:
        yield from _check_focal(sample.id, path, found)
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
    yield from _check_values(protocol, sample, estimate, truth)
    if truth is not None and prints is not None:
        about = _about(protocol, {}, (-math.inf, math.inf))
        kept = fingerprint(estimate, truth, protocol.quantity, about)
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


def _check_focal(sample: str, path: Path, found: Estimate) -> Iterator[Finding]:
    focal = found.parts.get("focal_px")
    if focal is None:
        yield Finding(
            sample,
            f"{path.name} comes without a focal length, which the score needs.",
            "Store it with the depth (pred_focal, or focal_px in an estimate.json beside it), or "
            "score with --focal.",
        )


def _check_type(sample: str, path: Path, dataset: Dataset) -> Iterator[Finding]:
    """Types that cannot hold fractions or have no sign for missing."""
    try:
        dtype = stored_dtype(path)
    except DepthgaugeError:
        return  # read in the dataset's own way: no plain map
    scale = next(iter(dataset.spec.png_scales.values()), 256)
    if dtype == np.uint8:
        yield Finding(
            sample,
            f"{path.name} stores bytes: whole values up to 255 only.",
            f"Write a 16-bit PNG (value * {scale:g}), PFM or float32 NPY.",
        )
    elif dtype.kind in "iub" and path.suffix.lower() != ".png":
        yield Finding(
            sample,
            f"{path.name} holds {dtype}, which has no NaN for missing and no fractions.",
            "Write float32.",
            serious=False,
        )


def _truth(protocol: Protocol, sample: Sample) -> Map | None:
    """The truth at the size that is compared, if it is in the data."""
    quantity = QUANTITIES[protocol.quantity]
    if sample.truth is None or quantity.main.name not in sample.truth:
        return None
    return scale_truth(protocol, quantity.map_of(sample.truth))


def _check_values(
    protocol: Protocol, sample: Sample, estimate: Map, truth: Map | None
) -> Iterator[Finding]:
    """Sign, range and scale: against the truth if there is one, else the range of the inputs."""
    known = estimate[np.isfinite(estimate)]
    if not known.any():
        yield Finding(sample.id, "all values are 0.", "Write NaN where there is no estimate.")
        return
    if protocol.estimate.inverse:
        return  # the tests of readings are about depths
    items = overlaid(sample.truth or {}, sample.inputs)
    low, high = estimate_range(protocol, items)
    notes = () if truth is None else _notes(protocol, estimate, truth, items, (low, high))
    outside = 0.0
    if QUANTITIES[protocol.quantity].space is not None and protocol.align.kind == "none":
        outside = float(np.mean((estimate < low) | (estimate > high)))
    if outside > _MANY_OUTSIDE:
        yield Finding(
            sample.id,
            f"{100 * outside:.1f} % of the values are outside the allowed {low:g} to {high:g} and "
            "count as missing.",
            " ".join(note.sentences(command=True) for note in notes) or "Is the scale right?",
        )
    elif notes:
        yield from (finding_of(note, sample.id) for note in notes)
    elif protocol.align.kind == "none":
        yield from _check_alone(protocol, sample, known, truth, low, high)


def _notes(
    protocol: Protocol,
    estimate: Map,
    truth: Map,
    items: Mapping[str, Any],
    allowed: tuple[float, float],
) -> tuple[Note, ...]:
    return find_notes(estimate, truth, protocol.quantity, _about(protocol, items, allowed))


def _about(
    protocol: Protocol, items: Mapping[str, Any], allowed: tuple[float, float]
) -> Circumstances:
    # A score with a focal length of the estimate's own is of depth up to a scale.
    kind = protocol.align.kind
    kind = "median" if kind == "none" and needs_focal(protocol) else kind
    low, high = allowed
    return Circumstances(align=kind, space=protocol.align.space, items=items, low=low, high=high)


def finding_of(note: Note, sample: str) -> Finding:
    """A note as a finding; its advice is what the command line would be told."""
    advice = note.sentences(command=True).removeprefix(note.text).strip()
    return Finding(sample, note.text, advice, serious=note.code in _SERIOUS, code=note.code)


def _check_alone(
    protocol: Protocol,
    sample: Sample,
    known: NDArray[np.float32],
    truth: Map | None,
    low: float,
    high: float,
) -> Iterator[Finding]:
    """What the values tell by themselves."""
    declared = QUANTITIES[protocol.quantity]
    middle = float(np.median(known))
    # Of a light field: zero is at the focus plane.
    signed = -LARGEST < low < 0 or (truth is not None and bool((truth < 0).any()))
    if truth is None and middle < 0 and not signed and declared.space is not None:
        yield Finding(
            sample.id,
            f"more than half of the values are negative (median {middle:.3g}).",
            f"The {declared.name} is positive here, {declared.value_rule}; was the sign turned?",
        )
        return
    typical = high / 8 if truth is None else _typical(truth)
    limited = high < LARGEST if truth is None else not (signed or needs_focal(protocol))
    if declared.space is not None and limited and typical > 8 and 0 < float(known.max()) <= 1:
        yield Finding(
            sample.id,
            f"all values are between 0 and 1 while about {typical:.3g} is usual.",
            "Are they normalised? Values are expected in px or m.",
        )


def _typical(truth: Map) -> float:
    known = truth[np.isfinite(truth)]
    return float(np.median(known)) if known.size else math.nan
