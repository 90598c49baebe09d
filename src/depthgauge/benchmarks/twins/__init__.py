"""Twins: public evaluators' own numbers, quirks included. One module each, kept plain.

A twin module has functions in plain NumPy, and `SPEC = Twin(...)` at its end, which names them. It
is known by the name of its module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from depthgauge._declared import name_problems, refuse, revision_problems
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


Options = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """What a twin module offers; what it has no need of is left out."""

    revision: int = 1
    """Raised whenever its code may change a number."""
    options: Callable[[Options], dict[str, Any]]
    """`options(given)`: all options, defaults filled in; every quirk is one of them, and unknown
    ones are an error."""
    score_ids: Callable[[Options], tuple[str, ...]]
    """`score_ids(options)`: the evaluator's own ids, in its order."""
    evaluate: Callable[[Sample, Path, Options], TwinScores]
    """`evaluate(sample, estimate_path, options)`: all scores of one sample."""
    main: str = ""
    """The score that sorts a leaderboard; the first one where it is left out."""
    higher: tuple[str, ...] = ()
    """The metrics of which more is better."""
    missing: float = math.nan
    """The value that a file has where there is no estimate."""
    pool: Callable[[Mapping[str, Mapping[str, Score]], Options], Mapping[str, float]] | None = None
    """`pool(samples, options)`: the summary, where it is not the plain mean over samples."""
    check_submission: Callable[[Path, Mapping[str, Sample]], Iterator[Fault]] | None = None
    """`check_submission(root, samples)`: the rules of the public submission."""
    more_samples: Callable[[Iterable[Sample], Path], Iterable[Sample]] | None = None
    """`more_samples(samples, root)`: samples of a folder of estimates that the dataset lacks."""


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
