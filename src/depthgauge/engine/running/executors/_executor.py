"""What an executor declares, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

from depthgauge._options import Options
from depthgauge._registry import Registry
from depthgauge.engine.running.guard import Event
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.engine.running.task import Context, Task


@dataclass(frozen=True, slots=True)
class ExecutorSpec:
    """What is known of an executor before it is used. None of this changes a score."""

    name: str
    title: str
    options: type[Options] = Options


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs tasks of a run, or jobs, somewhere.

    `run(context, tasks, options)` yields an `Event` for each task, in any order. What a task makes
    is written to its folder where the task ran, so that storage must be shared.
    """

    spec: ExecutorSpec
    run: Callable[[Context | Jobs, Sequence[Task | Job], Options], Iterator[Event]]


def _collect(module: ModuleType) -> Iterator[tuple[str, Executor]]:
    spec = getattr(module, "SPEC", None)
    if isinstance(spec, ExecutorSpec):
        yield spec.name, Executor(spec, module.run)


EXECUTORS: Registry[Executor] = Registry(
    "executor", "depthgauge.engine.running.executors", collect=_collect
)
"""All executors by name; a module of this folder joins by having a `SPEC` and `run`."""
