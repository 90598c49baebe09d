"""Who does the work of an executor: scores estimates of a run, or does jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from depthgauge.engine.running.hosts import Hosts
from depthgauge.engine.running.jobs import Jobs
from depthgauge.engine.running.task import Context
from depthgauge.engine.running.work import do_task
from depthgauge.engine.scoring.judge import Judge
from depthgauge.engine.scoring.warm_up import warm_up
from depthgauge.engine.store.machines import record_machine
from depthgauge.errors import DepthgaugeError


class Worker(Protocol):
    """Does one task after the other."""

    activity: str
    """What it does, for the message about a mistake of ours."""

    def do(self, task: Any, estimated: Callable[[], None]) -> str:
        """Does a task and stores its outcome.

        Args:
            task: A `Task` or a `Job`.
            estimated: Called when what may take too long is over.

        Returns:
            Why a method failed; empty if it did not.

        Raises:
            DepthgaugeError: It cannot be done at all.
        """
        ...

    def close(self) -> None:
        """Ends what it started."""
        ...


def open_worker(context: Context | Jobs, *, isolated: bool = True) -> Worker:
    """A worker with the kernels that its tasks need.

    Args:
        context: What all tasks share.
        isolated: Whether methods run in processes of their own.
    """
    if isinstance(context, Jobs):
        return _JobWorker(context)
    record_machine(context.folder)
    if isolated:
        warm_up(context.rules)
    return _ScoringWorker(context, Hosts(context) if isolated else None)


class _ScoringWorker:
    """Makes and scores estimates."""

    activity = "scoring"

    def __init__(self, context: Context, hosts: Hosts | None) -> None:
        self._context, self._hosts = context, hosts
        self._judge = Judge(context.rules)

    def do(self, task: Any, estimated: Callable[[], None]) -> str:
        return do_task(task, self._context, self._judge, self._hosts, estimated)

    def close(self) -> None:
        if self._hosts is not None:
            self._hosts.close()


class _JobWorker:
    """Does jobs."""

    activity = "making it"

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def do(self, task: Any, estimated: Callable[[], None]) -> str:
        del estimated  # its time limit is for the whole job
        if task.failed:
            raise DepthgaugeError(task.failed)
        if not self._jobs.is_done(task):
            self._jobs.do(task)
        return ""

    def close(self) -> None:
        return
