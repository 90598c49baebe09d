"""What an accumulator keeps: the scores of each sample with their states, to be pooled once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from depthgauge.benchmarks import Protocol
from depthgauge.engine.score_codec import read_stored, stored_json
from depthgauge.engine.scoring.gather import gather
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.scoring.rules import Outcome
from depthgauge.errors import Misuse
from depthgauge.types import Score


@dataclass(frozen=True)
class KeptSample:
    """What is kept of one sample."""

    id: str | None
    scene: str
    scores: Mapping[str, Score]

    @property
    def nbytes(self) -> int:
        """What its order statistics and rankings take; scores of one region share a list."""
        states = [score.state for score in self.scores.values() if score.state is not None]
        arrays = [a for s in states for a in (s.values, s.rows) if a is not None]
        return sum(array.nbytes for array in {id(array): array for array in arrays}.values())

    def to_plain(self) -> dict[str, Any]:
        """The sample as dicts, lists, numbers and text; read back, it is the same to the bit."""
        scores = {name: stored_json(score) for name, score in self.scores.items()}
        return {"id": self.id, "scene": self.scene, "scores": scores}

    @classmethod
    def from_plain(cls, body: Mapping[str, Any]) -> KeptSample:
        """The sample that `to_plain` wrote."""
        scores = {name: read_stored(score) for name, score in body["scores"].items()}
        return cls(body["id"], body["scene"], scores)


class KeptSamples:
    """Samples in the order in which they came; none twice where they have ids."""

    def __init__(self, memory_limit: int) -> None:
        self.memory_limit = memory_limit
        self._samples: list[KeptSample] = []
        self._ids: set[str] = set()
        self._has_ids: bool | None = None
        self._nbytes = 0

    def __len__(self) -> int:
        return len(self._samples)

    def new_ones(self, ids: Sequence[str | None]) -> list[int]:
        """Which samples of a batch were not there before.

        Raises:
            Misuse: Batches before had ids and this one has none, or the other way round.
        """
        if ids and self._has_ids not in (None, ids[0] is not None):
            said = "had ids" if self._has_ids else "had none"
            raise Misuse(f"the batches before {said}; give ids= with every batch or with none.")
        first = {name: n for n, name in reversed(list(enumerate(ids)))}
        return [
            n
            for n, name in enumerate(ids)
            if name is None or (name not in self._ids and first[name] == n)
        ]

    def promise(self, ids: Iterable[str | None]) -> None:
        """Remembers the ids of samples whose scores come later, with `add(..., promised=True)`."""
        listed = list(ids)
        self._ids |= {name for name in listed if name is not None}
        if listed:
            self._has_ids = listed[0] is not None

    def add(self, samples: Sequence[KeptSample], *, promised: bool = False) -> None:
        """Adds all of them or, where they take too much memory, none.

        Raises:
            Misuse: They keep more bytes than allowed.
        """
        if not promised:
            samples = [samples[n] for n in self.new_ones([sample.id for sample in samples])]
        nbytes = self._nbytes + sum(sample.nbytes for sample in samples)
        if nbytes > self.memory_limit:
            raise Misuse(
                "quantiles or rankings that are not pooled by image keep every error: "
                f"{nbytes / 2**20:.1f} MiB, more than memory_limit = "
                f"{self.memory_limit / 2**20:.1f} MiB; pool by image, leave them out, or raise it."
            )
        self.promise(sample.id for sample in samples)
        self._samples += samples
        self._nbytes = nbytes

    def result(self, protocol: Protocol) -> Result:
        """All scores and their summary; the same for any order of samples that have ids."""
        if self._ids:
            samples = {str(s.id): s for s in sorted(self._samples, key=lambda s: str(s.id))}
        else:
            samples = {str(n): sample for n, sample in enumerate(self._samples)}
        outcomes = {name: Outcome(sample.scores) for name, sample in samples.items()}
        return gather(protocol, outcomes, {name: s.scene for name, s in samples.items()})

    def to_plain(self) -> list[dict[str, Any]]:
        """All samples as plain data."""
        return [sample.to_plain() for sample in self._samples]
