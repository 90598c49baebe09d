"""Twins: public evaluators' own numbers, quirks included. One module each, kept plain.

A twin module has `REVISION`, `options(given) -> dict` (checked, defaults filled in; every quirk is
one of them), `score_ids(options)` and `evaluate(sample, estimate_path, options) -> TwinScores`.
`MAIN` is the score that sorts a leaderboard (the first where it has none), `HIGHER` names the
metrics of which more is better, `MISSING` is the value that a file has where there is no estimate
(NaN where it does not say). `check_submission(root, samples)`, where there is one, gives the rules
of the public submission for `depthgauge check`. `more_samples(samples, root)`, where there is one,
gives samples that a folder of estimates has and the data does not name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Protocol, cast

from depthgauge._registry import Registry, nearest
from depthgauge.errors import Misuse
from depthgauge.types import Sample, Score


@dataclass(frozen=True, slots=True)
class TwinScores:
    """What a twin found for one sample."""

    scores: Mapping[str, Score]
    left_out: tuple[str, ...] = ()
    """Regions whose scores the sample cannot have."""


class Fault(NamedTuple):
    """One problem of a submission."""

    sample: str
    """Its id, or `submission` where it is about all of them."""
    problem: str
    advice: str
    serious: bool = True
    """Whether the public benchmark refuses it or it costs points."""


class Twin(Protocol):
    """What a twin module offers."""

    REVISION: int
    MAIN: str
    HIGHER: tuple[str, ...]
    MISSING: float

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All options, defaults filled in; unknown ones are an error."""

    def score_ids(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The evaluator's own ids, in its order."""

    def evaluate(
        self, sample: Sample, estimate_path: Path, options: Mapping[str, Any]
    ) -> TwinScores:
        """All scores of one sample."""


def fill_options(
    given: Mapping[str, Any], allowed: Mapping[str, tuple[Any, ...]]
) -> dict[str, Any]:
    """Options with defaults (the first allowed value) filled in."""
    for name, value in given.items():
        if name not in allowed:
            raise Misuse(f"there is no option '{name}'. {nearest(name, allowed)}".strip())
        if value not in allowed[name]:
            choices = ", ".join(str(choice) for choice in allowed[name])
            raise Misuse(f"option '{name}' is '{value}' but must be one of: {choices}.")
    return {name: given.get(name, choices[0]) for name, choices in allowed.items()}


def _collect(module: ModuleType) -> Iterator[tuple[str, Twin]]:
    if all(hasattr(module, name) for name in ("REVISION", "score_ids", "evaluate")):
        yield module.__name__.rpartition(".")[2], cast(Twin, module)


TWINS: Registry[Twin] = Registry("twin", __name__, _collect)
