"""What a call may set of a benchmark: the number of thresholds, and a focal length."""

from __future__ import annotations

from typing import Any

from depthgauge.benchmarks.schema import BenchmarkFile
from depthgauge.errors import Misuse
from depthgauge.metrics import METRICS

_FOCAL = "estimate_focal_px"


def changes(
    benchmark: BenchmarkFile, thresholds: int | None, focal_px: float | None
) -> dict[str, Any]:
    """The keys of a benchmark with what was set; what they make has a hash of its own.

    Raises:
        Misuse: Nothing in this benchmark has such a setting.
    """
    asked: dict[str, Any] = {"thresholds": thresholds, "focal_px": focal_px}
    given = {name: value for name, value in asked.items() if value is not None}
    if benchmark.twin is not None:
        return _of_twin(benchmark, given)
    found: dict[str, Any] = {}
    if "thresholds" in given:
        found["scores"] = _scores(benchmark, given["thresholds"])
    if "focal_px" in given:
        if not any(_FOCAL in spec.metric.needs for spec in benchmark.specs):
            raise Misuse(f"{benchmark.id} scores nothing that needs a focal length; leave it out.")
        said = benchmark.estimate.model_dump(exclude_unset=True)
        found["estimate"] = {**said, "focal_px": given["focal_px"]}
    return found


def _of_twin(benchmark: BenchmarkFile, given: dict[str, Any]) -> dict[str, Any]:
    from depthgauge.benchmarks.twins import TWINS

    known = TWINS[str(benchmark.twin)].options(benchmark.options)
    for name in given:
        if name not in known:
            raise Misuse(f"{benchmark.id} has no {name} to be set; leave it out.")
    return {"options": {**benchmark.options, **given}} if given else {}


def _scores(benchmark: BenchmarkFile, thresholds: int) -> list[dict[str, Any]]:
    blocks = [block.model_dump(exclude_unset=True) for block in benchmark.scores]
    having = [block for block in blocks if "thresholds" in METRICS[block["metric"]].params]
    if not having:
        raise Misuse(f"{benchmark.id} scores nothing at several thresholds; leave them out.")
    for block in having:
        # The ids stay as they are: the hash says that it is another protocol.
        block.setdefault("name", block["metric"])
        block["thresholds"] = thresholds
    return blocks
