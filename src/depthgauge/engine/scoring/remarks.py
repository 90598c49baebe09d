"""What a judge adds to the scores of a sample: what was left out, the curve, the file's scale."""

from __future__ import annotations

from collections.abc import Iterable

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.measure import PreparedSample, lacking
from depthgauge.engine.scoring.prepare import PART, PreparedTruth
from depthgauge.engine.store.record import THRESHOLDS, Curve
from depthgauge.metrics.order import count_within
from depthgauge.types import Estimate, Map, Sample

_ENDINGS = ("mask", "labels")
_FLOAT_FILES = (".pfm", ".npy", ".npz", ".exr")


def scales_of(protocol: Protocol, estimate: Map | Estimate) -> dict[str, float]:
    """What the numbers of a float file were multiplied by, so that advice can name another."""
    path = str(estimate.extras.get("path", "")) if isinstance(estimate, Estimate) else ""
    if not path.lower().endswith(_FLOAT_FILES):
        return {}
    return {"estimate": protocol.reading.estimate.reading.scale or 1.0}


def scores_left_out(
    sample: Sample,
    protocol: Protocol,
    specs: Iterable[ScoreSpec],
    prepared: PreparedSample,
    ready: PreparedTruth,
    absent: Iterable[str] = (),
) -> Iterable[str]:
    """Regions and scores that this sample lacks, without those that only some samples have."""
    optional = {*absent, *(name for name in protocol.may_have if name not in ready.items)}
    for region in ready.regions.unavailable:
        if not optional & set(ready.regions.needs.get(region, ())):
            yield f"{sample.id}@{region}"
    for spec in specs:
        lacks = lacking(prepared, spec)
        if parts := [name.removeprefix(PART) for name in lacks if name.startswith(PART)]:
            # Of a method, not of a sample: said once.
            yield f"{spec.id} (an estimate has no {' and no '.join(parts)})"
        elif any(not _is_optional(name, protocol, optional) for name in lacks):
            yield f"{sample.id}: {spec.id}"
        elif spec.id in prepared.unavailable:
            # The same for every sample, so it is said once.
            yield f"{spec.id} ({prepared.unavailable[spec.id].rstrip('.')})"


def _is_optional(need: str, protocol: Protocol, optional: set[str]) -> bool:
    """Whether only some samples have what a metric needs, or what that is computed from."""
    words = protocol.derived.get(need, "").partition(":")[2].split(",")
    return need in optional or any(f"{w}_{end}" in optional for w in words for end in _ENDINGS)


def curve_of(prepared: PreparedSample) -> Curve:
    """How many pixels are within each threshold."""
    within, count, missing = count_within(
        prepared.estimate,
        prepared.truth,
        prepared.known,
        THRESHOLDS,
        low=prepared.low,
        high=prepared.high,
        error=prepared.error,
    )
    return Curve(within, count, missing)
