"""Whether a run gives the same numbers again: its data hashed, its stored estimates scored anew."""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from depthgauge._progress import Progress
from depthgauge.engine.running.data_check import data_state
from depthgauge.engine.running.rescore import rescore
from depthgauge.engine.store.load import load_run
from depthgauge.engine.store.record import Run
from depthgauge.errors import BadData, Misuse
from depthgauge.types import Score

CLOSE = 1e-9
"""Relative difference that other libraries or processors may make."""
Answer = Literal["same bits", "same to 1e-9", "different"]


@dataclass(frozen=True, slots=True)
class Difference:
    """A score that came out otherwise."""

    method: str
    seed: int
    sample: str
    score: str
    before: float
    now: float


@dataclass(frozen=True)
class Verification:
    """What scoring a run again has shown."""

    answer: Answer
    samples: tuple[str, ...]
    """Those that were scored again."""
    scores: int
    """How many numbers were compared."""
    differences: tuple[Difference, ...]
    """All that are not the same to 1e-9, the largest first."""
    data: str
    """`same`, or why the data could not be compared with what the run read."""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "answer": self.answer,
            "samples": list(self.samples),
            "scores": self.scores,
            "data": self.data,
            "differences": [
                {
                    "method": each.method,
                    "seed": each.seed,
                    "sample": each.sample,
                    "score": each.score,
                    "before": _finite(each.before),
                    "now": _finite(each.now),
                }
                for each in self.differences
            ],
        }


def verify(
    folder: str | Path,
    *,
    data: str | Path | None = None,
    share: float = 1.0,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Scores the stored estimates of a run again and compares every number.

    Args:
        folder: The run folder.
        data: The dataset's folder; by default the one that the run used.
        share: Which share of the samples is looked at, chosen at random: 0.1 for a tenth.
        seed: Of the choice.
        workers: Worker processes; by default one for each core.
        progress: Called after each item.

    Raises:
        BadData: The inputs or the truth have changed, or the estimates are gone.
    """
    if not 0 < share <= 1:
        raise Misuse(f"the share is {share:g} but must be above 0 and at most 1.")
    before = load_run(folder)
    state = data_state(before, data)
    if state.state == "changed":
        raise BadData(f"{folder}: {state.sentence}; nothing was scored again.")
    n = max(1, round(share * len(before.samples)))
    chosen = set(random.Random(seed).sample(before.samples, n))
    ordered = tuple(name for name in before.samples if name in chosen)
    with tempfile.TemporaryDirectory(prefix="depthgauge-verify-") as place:
        options: dict[str, Any] = {"data": data, "workers": workers, "progress": progress}
        again = rescore(folder, before.protocol, Path(place) / "run", only=ordered, **options)
    pairs = list(_pairs(before, again, ordered))
    found = [each for each in pairs if not _is_close(each.before, each.now)]
    found.sort(key=_size, reverse=True)
    equal = all(_is_equal(each.before, each.now) for each in pairs)
    answer: Answer = "different" if found else "same bits" if equal else "same to 1e-9"
    said = state.sentence or "same"
    return Verification(answer, ordered, len(pairs), tuple(found), said)


def _pairs(before: Run, again: Run, samples: tuple[str, ...]) -> Iterator[Difference]:
    """Every number of both runs; what only one of them has is compared with NaN."""
    for (label, seed), result in again.results.items():
        old = before.results[label, seed]
        for sample in samples:
            first, second = old.samples.get(sample, {}), result.samples.get(sample, {})
            for name in dict.fromkeys((*first, *second)):
                values = (_value(first.get(name)), _value(second.get(name)))
                yield Difference(label, seed, sample, name, *values)


def _value(score: Score | None) -> float:
    return math.nan if score is None else score.value


def _is_equal(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _is_close(a: float, b: float) -> bool:
    return _is_equal(a, b) or math.isclose(a, b, rel_tol=CLOSE)


def _size(each: Difference) -> float:
    distance = abs(each.now - each.before) / max(abs(each.before), abs(each.now), 1e-300)
    return distance if math.isfinite(distance) else math.inf


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
