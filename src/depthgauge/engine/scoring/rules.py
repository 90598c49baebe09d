"""What a judge goes by, and what it says about one estimate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from depthgauge.benchmarks import Protocol
from depthgauge.engine.store.record import Curve
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import check_names
from depthgauge.types import Note, Sample, Score, overlaid


@dataclass(frozen=True)
class Rules:
    """A protocol, and what must be known about all samples to score one of them."""

    protocol: Protocol
    declared: frozenset[str] = frozenset()
    """Masks and labels that some of the samples have, or may have."""
    ranged: bool = False
    """Whether estimates outside the samples' disparity range are missing."""

    @classmethod
    def of(cls, protocol: Protocol, samples: Iterable[Sample]) -> Rules:
        """What the samples have, taken together."""
        prefixes = [f"{name}_" if name else "" for name in protocol.resolutions]
        names = {f"{start}{name}" for start in prefixes for name in protocol.may_have}
        ranged = QUANTITIES[protocol.quantity].range_input
        given = False
        for sample in samples:
            names.update(sample.truth or ())
            given = given or ranged in sample.inputs
        asked = protocol.estimate.range == "inputs"
        declared = frozenset(name for name in names if name.endswith(("_mask", "_labels")))
        return cls(protocol, declared, asked and given and protocol.twin is None)


def check_regions(rules: Rules, sample: Sample) -> None:
    """Rejects a protocol with a region that the data cannot have, before any method runs.

    Raises:
        UnknownName: There is no region, mask or label of that name.
    """
    protocol = rules.protocol
    if protocol.twin is not None:
        return
    items = overlaid(sample.truth or {}, sample.inputs)
    for resolution, part in protocol.views:
        prefix = f"{resolution}_" if resolution else ""
        texts = {**protocol.regions, **protocol.region_texts_at(resolution, part)}
        own = {name.removeprefix(prefix) for name in items if name.startswith(prefix)}
        declared = {n.removeprefix(prefix) for n in rules.declared if n.startswith(prefix)}
        check_names(texts, dict.fromkeys(own), declared)


@dataclass(frozen=True)
class Outcome:
    """The outcome of scoring one estimate of one sample."""

    scores: Mapping[str, Score] = field(default_factory=dict)
    failed: str = ""
    """Why there is no usable estimate; it is then scored as one without a single pixel."""
    left_out: tuple[str, ...] = ()
    """What this sample cannot be scored on: `sample`, `sample@region`, `sample: why`."""
    skipped: bool = False
    """Whether the whole sample is left out."""
    curve: Curve | None = None
    truth_hash: str = ""
    notes: tuple[Note, ...] = ()
    """What speaks against the way in which the estimate was read."""
