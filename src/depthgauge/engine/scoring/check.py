"""What is wrong with a folder of estimates, before anything is scored: all of it at once."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge._progress import Progress
from depthgauge.benchmarks import Protocol, find_benchmark
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS, Dataset, read_estimate
from depthgauge.datasets.estimates import SUFFIXES
from depthgauge.engine.scoring.prepare import estimate_range, fit_size, needs_focal, scale_truth
from depthgauge.engine.scoring.samples import locate
from depthgauge.errors import BadData, DepthgaugeError, TooLarge
from depthgauge.io import stored_dtype
from depthgauge.metrics.terms import LARGEST
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Estimate, Inputs, Map, Sample, is_known

# Factors by which people store disparity and depth: KITTI's PNG, OpenCV's fixed point, half and
# quarter size, Booster's PNG, millimetres.
_FACTORS = {
    256.0: "the 16-bit PNG code without the division by 256?",
    64.0: "the 16-bit PNG code without the division by 64?",
    16.0: "OpenCV's fixed point without the division by 16?",
    1000.0: "millimetres instead of metres?",
    2.0: "values of half size that were multiplied twice?",
    4.0: "values of quarter size that were multiplied twice?",
    0.5: "a half-size map that was enlarged without scaling its values?",
    0.25: "a quarter-size map that was enlarged without scaling its values?",
    0.001: "kilometres instead of metres?",
    1 / 256: "a value that was divided by 256 twice?",
}
"""Quantities whose maps need fractions and a sign for missing."""
_LOW_DENSITY = 0.5
_MANY_OUTSIDE = 0.05


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of one sample."""

    sample: str
    problem: str
    advice: str
    serious: bool = True
    """Whether it costs points; else it only looks odd."""


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
    findings: list[Finding] = []
    for done, (sample, path) in enumerate(samples, start=1):
        for frame in sample.fresh().frames():  # of a clip; each has its own file
            findings += _check_sample(protocol, dataset, frame, root, name, path)
        if progress is not None:
            progress(sample.id, done, len(samples))
    return findings


def _own_rules(protocol: Protocol) -> Callable[..., Iterator[tuple[Any, ...]]] | None:
    """`check_submission` of a twin: of a folder and the samples by name, the fields of findings."""
    return None if protocol.twin is None else TWINS[protocol.twin].check_submission


def _samples(
    protocol: Protocol, dataset: Dataset, data: str | Path | None, root: Path
) -> list[tuple[Sample, Path | None]]:
    """The samples to check, with the file if it is known already."""
    if data is not None:
        return [(sample, None) for sample in dataset.samples(Path(data), protocol.split)]
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
) -> Iterator[Finding]:
    try:
        path = path or locate(dataset, root, sample.id, protocol.quantity, name)
    except DepthgaugeError as error:
        yield Finding(sample.id, _sentence(error), "Put exactly one estimate there.")
        return
    try:
        found = read_estimate(path, dataset, protocol.quantity)
    except TooLarge as error:
        # What follows the semicolon is for those who call the reader themselves.
        said = str(error).rpartition("; ")[0] or str(error)
        yield Finding(sample.id, f"{said}.", "Write the map at the size of the picture.")
        return
    except DepthgaugeError as error:
        yield Finding(sample.id, _sentence(error), "Write the estimate again.")
        return
    estimate = QUANTITIES[protocol.quantity].map_of(_parts_of(found))
    declared = QUANTITIES[protocol.quantity]
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
    if declared.space is not None and protocol.align.kind == "none":
        yield from _check_values(protocol, sample, estimate, truth)


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
    middle = float(np.median(estimate[np.isfinite(estimate)]))
    items: Mapping[str, Any] = ChainMap(sample.truth or {}, sample.inputs)  # type: ignore[arg-type]  # only read
    low, high = estimate_range(protocol, items)
    # Of a light field: zero is at the focus plane, and ratios of medians tell nothing.
    signed = -LARGEST < low < 0 or (truth is not None and bool((truth < 0).any()))
    if middle < 0 and not signed:
        rule = QUANTITIES[protocol.quantity].value_rule
        yield Finding(
            sample.id,
            f"more than half of the values are negative (median {middle:.3g}).",
            f"The {protocol.quantity} is positive here, {rule}; was the sign turned?",
        )
        return
    if not estimate[np.isfinite(estimate)].any():
        yield Finding(sample.id, "all values are 0.", "Write NaN where there is no estimate.")
        return
    # A score with a focal length of the estimate's own is of depth up to a scale.
    typical = math.nan if signed or needs_focal(protocol) else _typical(truth)
    outside = float(np.mean((estimate < low) | (estimate > high)))
    if outside > _MANY_OUTSIDE:
        yield Finding(
            sample.id,
            f"{100 * outside:.1f} % of the values are outside the allowed {low:g} to {high:g} and "
            "count as missing.",
            _suspect(middle, typical) or "Is the scale right?",
        )
    elif question := _suspect(middle, typical):
        yield Finding(
            sample.id,
            f"the median is {middle:.3g}, the truth's is {typical:.3g}.",
            question,
            serious=False,
        )
    elif truth is None and high < LARGEST and high > 8 and float(np.nanmax(estimate)) <= 1:
        yield Finding(
            sample.id,
            f"all values are between 0 and 1 while up to {high:g} is allowed.",
            "Values are expected in px or m, not normalised.",
        )


def _typical(truth: Map | None) -> float:
    known = np.zeros(0) if truth is None else truth[np.isfinite(truth)]
    return float(np.median(known)) if known.size else math.nan


def _suspect(middle: float, typical: float) -> str:
    """What the ratio of the medians looks like; empty where nothing is odd."""
    if math.isnan(typical) or typical <= 0 or middle == 0 or 0.67 < middle / typical < 1.5:
        return ""
    for factor, question in _FACTORS.items():
        if 0.8 < middle / (typical * factor) < 1.25:
            return f"About {factor:g} times too large: {question}"
    if middle < 1 < typical / 8:
        return "Are the values normalised to 0..1 instead of px or m?"
    return ""
