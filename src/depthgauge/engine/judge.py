"""Scores estimates, one sample after the other; what no estimate changes is made once a sample."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import things_hash, truth_hash
from depthgauge.engine.measure import Prepared, lacking, measure
from depthgauge.engine.prepare import Ready, prepare, prepare_truth
from depthgauge.engine.record import THRESHOLDS, Curve
from depthgauge.errors import BadData, DepthgaugeError, Unavailable
from depthgauge.io import read_map
from depthgauge.metrics.order import count_within
from depthgauge.types import Map, Sample, Score

_WITH_CURVES = ("disparity", "depth", "flow")


@dataclass(frozen=True)
class Outcome:
    """What came of one estimate of one sample."""

    scores: Mapping[str, Score] = field(default_factory=dict)
    failed: str = ""
    """Why there is no usable estimate; it is then scored as one without a single pixel."""
    left_out: tuple[str, ...] = ()
    """What this sample cannot be scored on: `sample`, `sample@region`, `sample: why`."""
    skipped: bool = False
    """Whether the whole sample is left out."""
    curve: Curve | None = None
    truth_hash: str = ""


@dataclass(frozen=True)
class Rules:
    """A protocol, and what has to be known of all samples to score one of them."""

    protocol: Protocol
    declared: frozenset[str] = frozenset()
    """Masks and labels that some of the samples have."""
    ranged: bool = False
    """Whether estimates outside the samples' disparity range are missing."""

    @classmethod
    def of(cls, protocol: Protocol, samples: Iterable[Sample]) -> Rules:
        """What the samples have, seen together."""
        names: set[str] = set()
        given = False
        for sample in samples:
            names.update(sample.truth or ())
            given = given or "disparity_range" in sample.inputs
        asked = protocol.quantity == "disparity" and protocol.estimate.range == "inputs"
        declared = frozenset(name for name in names if name.endswith(("_mask", "_labels")))
        return cls(protocol, declared, asked and given and protocol.twin is None)


class Judge:
    """Scores estimates of samples; the truth of the last sample is kept."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.protocol = rules.protocol
        self._sample = ""
        self._ready: Ready | None = None
        self._hash = ""

    def has_truth(self, sample: Sample) -> bool:
        """Whether there is anything to compare with."""
        return sample.truth is not None and self.protocol.quantity in sample.truth

    def score_map(self, sample: Sample, find: Callable[[], Map]) -> Outcome:
        """Scores the map that `find` returns; what it raises makes the sample a failed one."""
        if not self.has_truth(sample):
            return Outcome(left_out=(sample.id,), skipped=True)
        try:
            self._open(sample)
        except Unavailable as error:
            return Outcome(left_out=(f"{sample.id}: {error}",), skipped=True)
        try:
            return self._score(sample, find())
        except DepthgaugeError as error:
            return self.score_none(sample, str(error))

    def score_file(self, sample: Sample, find: Callable[[], Path]) -> Outcome:
        """The same for an estimate in a file; a twin reads it in its own way."""
        if self.protocol.twin is None:
            return self.score_map(sample, lambda: read_map(find(), quantity=self.protocol.quantity))
        if not self.has_truth(sample):
            return Outcome(left_out=(sample.id,), skipped=True)
        sample = sample.fresh()  # what is read of it goes with it
        twin = TWINS[self.protocol.twin]
        known = str(truth_hash(sample))
        try:
            found = twin.evaluate(sample, find(), twin.options(self.protocol.options))
        except Unavailable as error:
            return Outcome(left_out=(f"{sample.id}: {error}",), skipped=True)
        except DepthgaugeError as error:
            return Outcome(failed=str(error), truth_hash=known)
        left_out = tuple(f"{sample.id}@{region}" for region in found.left_out)
        return Outcome(dict(found.scores), left_out=left_out, truth_hash=known)

    def score_none(self, sample: Sample, why: str) -> Outcome:
        """What a sample costs that has no estimate: in a twin it has no scores at all."""
        if not self.has_truth(sample):
            return Outcome(failed=why, left_out=(sample.id,), skipped=True)
        if self.protocol.twin is not None:
            return Outcome(failed=why, truth_hash=str(truth_hash(sample.fresh())))
        try:
            found = self._score(sample, None)
        except Unavailable as error:
            return Outcome(left_out=(f"{sample.id}: {error}",), skipped=True)
        return Outcome(
            found.scores, why, found.left_out, curve=found.curve, truth_hash=found.truth_hash
        )

    def hash_of(self, sample: Sample) -> str:
        """SHA-256 of all that scoring this sample reads."""
        self._open(sample)
        return self._hash

    def prepared(self, sample: Sample, estimate: Map | None) -> Prepared:
        """Estimate and truth as they are compared."""
        return prepare(self.protocol, estimate, self._open(sample))

    def _score(self, sample: Sample, estimate: Map | None) -> Outcome:
        ready = self._open(sample)
        prepared = prepare(self.protocol, estimate, ready)
        protocol = self.protocol
        scores = measure(
            prepared, protocol.specs, protocol.quantity, protocol.missing, protocol.pool
        )
        return Outcome(
            scores,
            left_out=tuple(self._left_out(sample, prepared, ready)),
            curve=_curve(prepared) if protocol.quantity in _WITH_CURVES else None,
            truth_hash=self._hash,
        )

    def _left_out(self, sample: Sample, prepared: Prepared, ready: Ready) -> Iterable[str]:
        if self.rules.ranged and "disparity_range" not in sample.inputs:
            # Other samples have one, so this one is scored by a milder rule; that must be seen.
            yield f"{sample.id}: disparity_range"
        yield from (f"{sample.id}@{region}" for region in ready.unavailable)
        for spec in self.protocol.specs:
            if lacking(prepared, spec):
                yield f"{sample.id}: {spec.id}"

    def _open(self, sample: Sample) -> Ready:
        """The truth's side of a sample, and a hash of all that it was made from."""
        if self._ready is not None and self._sample == sample.id:
            return self._ready
        self._ready = None
        if sample.truth is None:
            raise BadData(f"{sample.id}: has no truth.")
        # What is read of a sample goes with it, or all maps of the dataset would pile up.
        truth, inputs = sample.truth.fresh(), sample.inputs.fresh()
        items: Mapping[str, Any] = ChainMap(truth, inputs)  # type: ignore[arg-type]  # only read
        ready = prepare_truth(
            self.protocol, truth[self.protocol.quantity], items, declared=self.rules.declared
        )
        for name in {name for spec in self.protocol.specs for name in spec.metric.needs}:
            items.get(name)
        used = {f"inputs/{name}": thing for name, thing in inputs.at_hand().items()}
        used |= {f"truth/{name}": thing for name, thing in truth.at_hand().items()}
        self._hash = things_hash(used)
        self._sample, self._ready = sample.id, ready
        return ready


def _curve(prepared: Prepared) -> Curve:
    within, count, missing = count_within(
        prepared.estimate,
        prepared.truth,
        prepared.known,
        THRESHOLDS,
        low=prepared.low,
        high=prepared.high,
    )
    return Curve(within, count, missing)
