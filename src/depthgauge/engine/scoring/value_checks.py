"""What the values of one estimate tell: their type, range, sign and scale."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks import Protocol
from depthgauge.datasets import Dataset
from depthgauge.engine.scoring.comparison import Circumstances
from depthgauge.engine.scoring.prepare import estimate_range, needs_focal
from depthgauge.engine.scoring.readings import find_notes
from depthgauge.errors import DepthgaugeError
from depthgauge.io import stored_dtype
from depthgauge.metrics.terms import LARGEST
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Estimate, Map, Note, Sample, overlaid

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


def check_focal(sample: str, path: Path, found: Estimate) -> Iterator[Finding]:
    """Whether a focal length came with the depth."""
    focal = found.parts.get("focal_px")
    if focal is None:
        yield Finding(
            sample,
            f"{path.name} comes without a focal length, which the score needs.",
            "Store it with the depth (pred_focal, or focal_px in an estimate.json beside it), or "
            "score with --focal.",
        )


def check_type(sample: str, path: Path, dataset: Dataset) -> Iterator[Finding]:
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


def check_values(
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
    return find_notes(estimate, truth, protocol.quantity, about(protocol, items, allowed))


def about(
    protocol: Protocol, items: Mapping[str, Any], allowed: tuple[float, float]
) -> Circumstances:
    """What a comparison of the values has to know."""
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
