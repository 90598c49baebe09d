"""What an evaluation returns, and its strict JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from depthgauge.benchmarks import Protocol
from depthgauge.engine.score_codec import finite, public_json
from depthgauge.engine.scoring.pool import Summary
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
