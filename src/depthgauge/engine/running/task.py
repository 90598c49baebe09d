"""One estimate to make and score, and what every worker needs for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from depthgauge._canonical import hash_json
from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.rules import Rules
from depthgauge.methods import Method
from depthgauge.types import Sample

_AFTER_OWN_S = 30.0
GIVEN = ("sample", "quantity", "seed", "finder")
"""What a method gets in addition to the inputs of its sample."""


@dataclass(frozen=True, slots=True)
class Task:
    """One estimate of one sample."""

    id: str
    """The name of its file in the run folder, the same on every machine."""
    method: int
    """Which of the context's methods."""
    seed: int
    sample: Sample
    failed: str = ""
    """Set where the method is known to fail here: it is not called again."""
    before: str = ""
    """Why the method failed in the run that is scored again; it has no estimate then."""
    again: bool = False
    """Whether the estimate is made again even if one is stored."""
    details: str = ""
    """What the method wrote before it failed."""
    other: Sample | None = None
    """For controls: a sample of another scene."""

    def given_up(self, why: str, details: str = "") -> Task:
        """The same task, to be scored as one without an estimate."""
        return replace(self, failed=why, details=details)


@dataclass(frozen=True)
class Context:
    """What all tasks of a run share."""

    folder: Path
    """The run folder."""
    rules: Rules
    dataset: str
    methods: tuple[Method, ...]
    keep_estimates: bool = True
    time_limit_s: float = 600.0
    """For one estimate."""
    threads: int = 1
    """Threads of each worker and of the programs that it starts; 0: as many as they like."""
    data: Path | None = None
    """The dataset's folder, which methods must not see."""
    isolate: bool | None = None
    """Whether folders are hidden from methods: None where the system allows it, True or fail."""
    isolated: bool = False
    """Whether each method has a process of its own."""
    slots: int = 1
    """How many workers share this machine."""
    reuse_from: Path | None = None
    """The estimates folder of another run, whose estimates are scored instead of made."""

    @property
    def protocol(self) -> Protocol:
        """What is measured and how."""
        return self.rules.protocol

    def limit_of(self, method: Method) -> float:
        """How long one estimate may take before its worker is ended."""
        own = getattr(method.options, "time_limit_s", None)
        # A command is ended by its own clock, which knows what it wrote; ours is the last resort.
        return own + _AFTER_OWN_S if own else self.time_limit_s


def task_id(protocol_hash: str, label: str, options_hash: str, seed: int, sample: str) -> str:
    """A name that is the same on every machine and for every number of workers."""
    return hash_json([protocol_hash, label, options_hash, seed, sample])[:32]
