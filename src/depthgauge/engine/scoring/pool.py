"""From the scores of samples to one number: mean, median, per scene or over all pixels."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.benchmarks.twins import TWINS
from depthgauge.metrics import Missing
from depthgauge.types import Score, merge_states


@dataclass(frozen=True, slots=True)
class Summary:
    """One pooled number."""

    value: float
    """NaN if a sample has no estimate and the metric has no worst value."""
    used: int
    """Samples that went into it."""
    all: int
    """Samples that have this score."""
    unit: str = ""
    empty: int = 0
    """Samples whose region is empty; they are not used."""
    density: float = math.nan
    """Share of all truth pixels of the region that have an estimate."""

    @property
    def incomplete(self) -> bool:
        """Whether estimates are missing and the metric has no worst value for them."""
        return math.isnan(self.value) and self.used + self.empty < self.all


def pool_spec(
    spec: ScoreSpec,
    scores: Mapping[str, Score],
    scenes: Mapping[str, str],
    pool: str,
    missing: Missing,
) -> Summary:
    """Pools one score over samples.

    Args:
        spec: What is pooled.
        scores: The score of each sample that has it.
        scenes: The scene of each sample.
        pool: `image`: the mean of the values; `median`: their median; `scene`: states merged within
            each scene, then the mean; `pixel`: all states merged. What only a dataset has is
            always merged.
        missing: What a missing pixel costs.
    """
    filled = {name: score for name, score in scores.items() if score.why != "empty"}
    if spec.metric.level == "dataset":
        pool = "pixel"
    if pool == "image":
        value = plain_mean(score.value for score in filled.values())
    elif pool == "median":
        value = plain_median(score.value for score in filled.values())
    elif pool == "pixel":
        value = _merged(spec, filled.values(), missing)
    else:
        groups: dict[tuple[str, str], list[Score]] = {}
        for name in sorted(filled):
            scene = scenes.get(name, "")
            groups.setdefault((scene, "" if scene else name), []).append(filled[name])
        value = plain_mean(_merged(spec, group, missing) for group in groups.values())
    return summarise(value, scores.values(), len(scores))


def pool_plain(scores: Mapping[str, Score], failed: int) -> Summary:
    """The plain mean over samples; with a failed sample there is none."""
    filled = [score for score in scores.values() if score.why != "empty"]
    value = math.nan if failed else plain_mean(score.value for score in filled)
    return summarise(value, scores.values(), len(scores) + failed)


def pool_twin(
    protocol: Protocol, samples: Mapping[str, Mapping[str, Score]], failed: int
) -> Iterator[tuple[str, Summary]]:
    """A twin's summary: the plain mean over samples, unless the original pools in its own way.

    With a failed sample there is no value: the original program would stop.
    """
    twin = TWINS[str(protocol.twin)]
    pool = twin.pool
    pooled = {} if pool is None or failed else pool(samples, twin.options(protocol.options))
    for score_id in protocol.score_ids:
        scores = {name: found[score_id] for name, found in samples.items() if score_id in found}
        if not scores:
            continue
        if pool is None:
            yield score_id, pool_plain(scores, failed)
            continue
        value = pooled.get(score_id, math.nan)
        yield score_id, summarise(value, scores.values(), len(scores) + failed)


def summarise(value: float, scores: Collection[Score], samples: int) -> Summary:
    """A pooled value with what it was made from."""
    count = sum(score.count for score in scores)
    pixels = count + sum(score.missing for score in scores)
    return Summary(
        value,
        used=sum(1 for score in scores if score.why in (None, "dataset")),
        all=samples,
        unit=next((score.unit for score in scores), ""),
        empty=sum(1 for score in scores if score.why == "empty"),
        density=count / pixels if pixels else math.nan,
    )


def plain_mean(values: Iterable[float]) -> float:
    """The mean; NaN if any value is NaN or there are none. Exact, so the order does not matter."""
    numbers = list(values)
    if not numbers or any(math.isnan(v) for v in numbers):
        return math.nan
    if any(math.isinf(v) for v in numbers):
        return sum(numbers)
    return math.fsum(numbers) / len(numbers)


def plain_median(values: Iterable[float]) -> float:
    """The median, of two middle values their mean; NaN if any value is NaN or there are none.

    >>> plain_median([3.0, 1.0, 2.0]), plain_median([4.0, 1.0, 2.0, 3.0])
    (2.0, 2.5)
    """
    numbers = sorted(values, key=lambda v: (math.isnan(v), v))
    if not numbers or math.isnan(numbers[-1]):
        return math.nan
    low, high = numbers[(len(numbers) - 1) // 2], numbers[len(numbers) // 2]
    return low if low == high else (low + high) / 2


def _merged(spec: ScoreSpec, scores: Iterable[Score], missing: Missing) -> float:
    """One value from merged states; NaN if a sample has none and there is no worst value."""
    # Sorted by the sums themselves, so that the order of samples does not change a bit.
    states = sorted(
        (score.state for score in scores if score.state is not None),
        key=lambda s: (s.count, s.missing, tuple(s.sums)),
    )
    if not states or any(score.why == "missing" for score in scores):
        return math.nan
    return spec.metric.finish(merge_states(states), missing, **spec.params)


def rank_key(value: float, better: str) -> float:
    """A number that sorts the best first and what is incomplete last.

    >>> sorted([2.0, float("nan"), 1.0], key=lambda v: rank_key(v, "lower"))
    [1.0, 2.0, nan]
    """
    if math.isnan(value):
        return math.inf
    return {"lower": value, "higher": -value, "zero": abs(value)}[better]
