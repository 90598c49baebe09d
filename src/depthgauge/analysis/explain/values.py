"""The value of every protocol of a space, with its words and the command that repeats it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from depthgauge.analysis.explain.space import Shown, Space
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.explaining.measured import Setting, SettingScores
from depthgauge.engine.explaining.source import Source
from depthgauge.engine.scoring.measure import finished
from depthgauge.engine.scoring.pool import pool_spec
from depthgauge.metrics import Missing, Order
from depthgauge.types import Score
from depthgauge.units import Unit

_FLAGS = {"estimate_resize": "--resize", "crop": "--crop"}
"""Keys of a protocol that have an option of their own; `--set` has the others."""
_SHOWN = {
    "": "",
    "fraction": "printed as a fraction",
    "good": "printed as good pixels: 100 - value",
    "percent": "printed in percent",
}


@dataclass(frozen=True)
class Candidate:
    """One protocol and the value that it gives."""

    score: str
    """The score id."""
    setting: Setting
    missing: str
    """`bad`, `skip` or `interpolate`."""
    pool: str
    value: float
    """As it would be printed."""
    unit: str
    shown: Shown = ""
    any_rule: bool = False
    """Whether a missing pixel costs nothing under every rule but filling: no bound is the worst."""

    @property
    def region(self) -> str:
        """Which pixels."""
        return self.score.partition("@")[2] or "all"

    @property
    def metric(self) -> str:
        """The metric with its parameters."""
        return self.score.partition("@")[0]

    @property
    def circumstances(self) -> tuple[str, str, str, str]:
        """Everything but the metric: what two numbers of one table have in common."""
        return self.region, self.setting.name, self.missing, self.pool

    @property
    def departures(self) -> int:
        """In how many ways it is unusual: the fewer, the more plausible."""
        return (
            len(self.setting.keys)
            + (self.missing == "skip")
            + (self.pool != "image")
            + (self.shown != "")
            + (self.region not in ("all", "visible"))
        )

    def words(self, *, several: bool = True) -> str:
        """The protocol for a person."""
        cost = {"bad": "missing pixels are bad", "skip": "missing pixels are left out"}
        costs = "over estimated pixels" if self.any_rule else cost.get(self.missing, "")
        said = [costs, f"pooled by {self.pool}" if several else ""]
        said += [self.setting.name, _SHOWN[self.shown]]
        return "; ".join(text for text in said if text)

    def arguments(self, source: Source, label: str) -> tuple[str, ...]:
        """The arguments of `depthgauge score` that give the value; empty where nothing does."""
        call = source.calls.get(label, ())
        if not call:
            return ()
        said = ["--metric", self.score]
        if self.missing in ("bad", "skip"):
            said += ["--missing", self.missing]
        said += ["--pool", self.pool] if len(source.samples) > 1 else []
        return (*call, *said, *_set_options(self.setting, self.missing))

    def to_json(self) -> dict[str, Any]:
        """The protocol as plain data."""
        return {
            "score": self.score,
            "value": self.value,
            "unit": self.unit,
            "missing": self.missing,
            "pool": self.pool,
            "shown": self.shown or "as it is",
            "keys": dict(self.setting.keys),
            "words": self.words(),
        }


def _set_options(setting: Setting, missing: str) -> Iterator[str]:
    keys = dict(setting.keys)
    if missing == "interpolate":
        keys["missing"] = missing
    for name, value in keys.items():
        if name == "align":
            space = value.get("space")
            yield from ("--align", f"{value['kind']}:{space}" if space else value["kind"])
        elif name in _FLAGS:
            yield from (_FLAGS[name], str(value))
        else:
            yield from _pairs(name, value)


def _pairs(name: str, value: Any) -> Iterator[str]:
    """`--set truth.max_depth_m=80`."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _pairs(f"{name}.{key}", inner)
    else:
        yield from ("--set", f"{name}={value if isinstance(value, str) else json.dumps(value)}")


def all_values(measured: SettingScores, space: Space, quantity: str) -> Iterator[Candidate]:
    """Every protocol that has a value."""
    for n, protocol in enumerate(measured.protocols):
        if n in measured.failed:
            continue
        setting, samples = space.settings[n], measured.scores[n]
        rules = ("interpolate",) if setting.fills else space.missing
        for spec in protocol.specs:
            scores = {name: found[spec.id] for name, found in samples.items() if spec.id in found}
            if not scores:
                continue
            for missing in rules if math.isfinite(spec.metric.worst) else rules[:1]:
                yield from _pooled(spec, scores, measured, space, setting, missing, quantity)


def _pooled(
    spec: ScoreSpec,
    scores: Mapping[str, Score],
    measured: SettingScores,
    space: Space,
    setting: Setting,
    missing: str,
    quantity: str,
) -> Iterator[Candidate]:
    rule: Missing = "interpolate" if missing == "interpolate" else missing  # type: ignore[assignment]  # one of both
    is_order = isinstance(spec.metric.recipe(**spec.params), Order)
    found = {
        name: finished(spec, s.state, quantity, rule, value=s.value if is_order else None)
        for name, s in scores.items()
        if s.state is not None
    }
    for pool in space.pools:
        if pool not in spec.metric.pools or (is_order and pool != "image"):
            continue
        value = pool_spec(spec, found, measured.scenes, pool, rule).value
        if math.isfinite(value):
            unit = next(iter(found.values())).unit
            free = missing != "interpolate" and not math.isfinite(spec.metric.worst)
            plain = Candidate(spec.id, setting, missing, pool, value, unit, any_rule=free)
            yield from _presentations(plain, spec)


def _presentations(plain: Candidate, spec: ScoreSpec) -> Iterator[Candidate]:
    yield plain
    if spec.metric.unit is Unit.PERCENT:
        yield replace(plain, value=plain.value / 100, unit="", shown="fraction")
        if spec.metric.name in ("badpix", "npx", "d1", "fl"):
            yield replace(plain, value=100 - plain.value, shown="good")
    elif spec.metric.unit is Unit.RATIO and plain.value < 1:
        yield replace(plain, value=100 * plain.value, unit="%", shown="percent")
