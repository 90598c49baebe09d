"""Twins: public evaluators' own numbers, quirks included. One module each, kept plain.

A twin module has functions in plain NumPy and ends with `SPEC = Twin(...)`, which names them. The
name of the module is the name of the twin.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from depthgauge._declared import name_problems, refuse, revision_problems
from depthgauge._registry import Registry, nearest
from depthgauge.errors import Misuse
from depthgauge.types import Sample, Score


@dataclass(frozen=True, slots=True)
class TwinScores:
    """The scores that a twin computed for one sample."""

    scores: Mapping[str, Score]
    left_out: tuple[str, ...] = ()
    """Regions that cannot be scored for this sample."""


class Fault(NamedTuple):
    """One problem in a submission."""

    sample: str
    """The sample's id, or `submission` for a problem of the whole submission."""
    problem: str
    advice: str
    serious: bool = True
    """Whether the public benchmark rejects it or it costs points."""


Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """What a twin module offers; anything that it does not need is left out."""

    revision: int = 1
    """Raised whenever its code may change a number."""
    options: Callable[[Options], dict[str, Any]]
    """`options(given)`: all options, with defaults filled in; every quirk is one of them, and
    unknown options are errors."""
    score_ids: Callable[[Options], tuple[str, ...]]
    """`score_ids(options)`: the evaluator's own ids, in its order."""
    evaluate: Callable[[Sample, Path, Options], TwinScores]
    """`evaluate(sample, estimate_path, options)`: all scores of one sample."""
    main: str | Callable[[Options], str] = ""
    """The score that sorts a leaderboard, or `main(options)`; by default the first one."""
    verified: bool | Callable[[Options], bool] = True
    """Whether it was compared with numbers that the public program printed, perhaps only under some
    options; False: it follows the documentation or the source of the program, which nobody ran."""
    higher: tuple[str, ...] = ()
    """The metrics for which higher is better."""
    missing: float = math.nan
    """The value that marks a missing estimate in a file."""
    pool: Callable[[Mapping[str, Mapping[str, Score]], Options], Mapping[str, float]] | None = None
    """`pool(samples, options)`: the summary, if it is not the plain mean over samples."""
    check_submission: Callable[[Path, Mapping[str, Sample]], Iterator[Fault]] | None = None
    """`check_submission(root, samples)`: the rules of the public submission."""
    check_files: (
        Callable[[Mapping[str, Path], Mapping[str, Sample], Options], Iterator[Fault]] | None
    ) = None
    """`check_files(files, samples, options)`: problems of the estimates that were found, by id;
    for a twin that has no layout of submissions of its own."""
    explained: Mapping[str, str] = field(default_factory=dict)
    """A sentence about each option that needs one, for reports and pages."""
    more_samples: Callable[[Iterable[Sample], Path], Iterable[Sample]] | None = None
    """`more_samples(samples, root)`: samples with estimates that the dataset lacks."""

    def main_of(self, options: Options) -> str:
        """The score that sorts a leaderboard under these options; empty: the first one."""
        return self.main if isinstance(self.main, str) else self.main(options)

    def source(self, options: Options) -> str:
        """Where its numbers come from under these options, for people."""
        if self.verified(options) if callable(self.verified) else self.verified:
            return "agrees with numbers that the program printed"
        return "from the documentation, not verified against the program"


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
    spec = getattr(module, "SPEC", None)
    if isinstance(spec, Twin):
        name = module.__name__.rpartition(".")[2]
        refuse("twin", name, module, (*name_problems(name), *revision_problems(spec.revision)))
        yield name, spec


TWINS: Registry[Twin] = Registry("twin", __name__, _collect)
