"""Worker processes on this machine: what one method breaks costs its sample and nothing else."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from depthgauge._options import Options
from depthgauge.engine.running.chunks import Chunks
from depthgauge.engine.running.executors._executor import ExecutorSpec
from depthgauge.engine.running.guard import Event, Guard
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.engine.running.task import Context, Task


class ProcessesOptions(Options):
    """Options of `processes`."""

    workers: int = Field(default=1, ge=1)
    """How many worker processes there are. It changes no score."""


SPEC = ExecutorSpec("processes", "Worker processes on this machine", options=ProcessesOptions)


def run(
    context: Context | Jobs, tasks: Sequence[Task | Job], options: ProcessesOptions
) -> Iterator[Event]:
    """The tasks in worker processes; events come in the order in which tasks end."""
    workers = options.workers
    pool = _Pool(context, Chunks(tasks, workers), min(workers, len(tasks)))
    try:
        yield from pool.events()
    finally:
        pool.close()


class _Pool:
    """A thread for each worker process: it hands out chunks and passes on what comes back."""

    def __init__(self, context: Context | Jobs, chunks: Chunks, workers: int) -> None:
        self._chunks = chunks
        self._guards = [Guard(context) for _ in range(workers)]
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._warm = threading.Event()
        self._threads = [
            threading.Thread(target=self._serve, args=(n,), daemon=True) for n in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def events(self) -> Iterator[Event]:
        """All events; an error of a worker ends it."""
        running = len(self._threads)
        while running:
            event = self._events.get()
            if event is None:
                running -= 1
            elif isinstance(event, BaseException):
                raise event
            else:
                yield event

    def close(self) -> None:
        """Ends all workers at once."""
        self._warm.set()
        closing = [threading.Thread(target=guard.close) for guard in self._guards]
        for thread in closing:
            thread.start()
        for thread in [*closing, *self._threads]:
            thread.join()

    def _serve(self, n: int) -> None:
        guard = self._guards[n]
        try:
            # The first worker compiles the kernels; the others find them in the cache.
            if n > 0:
                self._warm.wait()
            guard.start()
            self._warm.set()
            while chunk := self._chunks.take():
                for event in guard.run(chunk):
                    self._chunks.took(event.seconds)
                    self._events.put(event)
        except BaseException as error:
            self._events.put(error)
        finally:
            self._warm.set()
            self._events.put(None)
