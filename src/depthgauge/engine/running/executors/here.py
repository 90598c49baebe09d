"""In this process, one task after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from depthgauge._options import Options
from depthgauge.engine.running.executors._executor import ExecutorSpec
from depthgauge.engine.running.guard import Event
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.engine.running.task import Context, Task
from depthgauge.engine.running.workers import open_worker
from depthgauge.errors import CannotWrite, DepthgaugeError

SPEC = ExecutorSpec("here", "In this process, for debugging")


def run(context: Context | Jobs, tasks: Sequence[Task | Job], options: Options) -> Iterator[Event]:
    """One task after the other in this process: for debugging, and for functions that only this
    process has. Nothing protects it from a method that crashes or hangs.
    """
    worker = open_worker(context, isolated=False)
    for task in tasks:
        began = time.perf_counter()
        try:
            failed = worker.do(task, lambda: None)
        except CannotWrite:
            raise
        except DepthgaugeError as error:
            yield Event(task.id, broken=str(error))
            continue
        except Exception as error:  # as in a worker: not the method's fault
            yield Event(task.id, broken=f"{worker.activity} raised {type(error).__name__}: {error}")
            continue
        yield Event(task.id, failed=failed, seconds=time.perf_counter() - began)
