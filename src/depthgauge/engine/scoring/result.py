"""What scoring returns: the scores of two maps, or of a method on a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from depthgauge._registry import unknown
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.aliases import meaning_of
from depthgauge.engine.score_codec import finite, public_json
from depthgauge.engine.scoring.pool import Summary, summarise
from depthgauge.errors import DepthgaugeError
from depthgauge.types import Score

SCHEMA = 1


@dataclass(frozen=True)
class Result:
    """All scores of one method on one benchmark, with the protocol that produced them."""

    protocol: Protocol
    samples: Mapping[str, Mapping[str, Score]]
    """By sample, then by score id."""
    summary: Mapping[str, Summary]
    failed: Mapping[str, str] = field(default_factory=dict)
    """Samples without a usable estimate, and why."""
    left_out: tuple[str, ...] = ()
    """Samples without truth, and `sample@region` where a sample lacks what a region needs."""

    def to_json(self) -> dict[str, Any]:
        """The result as plain data: no NaN, no infinity, nothing that another run would change."""
        return {
            "schema": SCHEMA,
            "benchmark": self.protocol.id,
            "version": self.protocol.version,
            "protocol_hash": self.protocol.hash,
            "protocol": self.protocol.resolved(),
            "samples": {
                # What only the whole dataset has is no score of a sample.
                sample: {n: public_json(s) for n, s in scores.items() if s.why != "dataset"}
                for sample, scores in self.samples.items()
            },
            "summary": {name: finite(found.value) for name, found in self.summary.items()},
            "summary_counts": {
                name: [found.used, found.all] for name, found in self.summary.items()
            },
            "failed": dict(self.failed),
            "left_out": list(self.left_out),
        }


@dataclass(frozen=True)
class Scores(Mapping[str, Score]):
    """Scores by id, with the protocol that says what they mean."""

    protocol: Protocol
    scores: Mapping[str, Score]

    @property
    def protocol_hash(self) -> str:
        """Two scores can be compared only if this is equal."""
        return self.protocol.hash

    def as_result(self, sample: str) -> Result:
        """The same as the result of a benchmark with this one sample."""
        summary = {name: summarise(s.value, [s], 1) for name, s in self.scores.items()}
        return Result(self.protocol, {sample: self.scores}, summary)

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: {score.value:g} {score.unit}".rstrip() for name, score in self.items()
        )

    def __getitem__(self, score_id: str) -> Score:
        if score_id not in self.scores:
            return self.scores[self._own_id(score_id)]
        return self.scores[score_id]

    def _own_id(self, typed: str) -> str:
        """Our id for a name that papers use; `@all` where no region is named."""
        with suppress(DepthgaugeError):
            meant = meaning_of(typed, self.protocol.quantity).score_id
            for known in (meant, f"{meant}@all"):
                if known in self.scores:
                    return known
        raise unknown("score", typed, self.scores)

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)
