"""Runs tasks in a worker process that may crash or hang at any moment, and carries on."""

from __future__ import annotations

import math
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from depthgauge.engine.running._worker import receive, send
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.engine.running.task import Context, Task
from depthgauge.errors import CannotWrite, Misuse, WorkerLost
from depthgauge.methods._process import last_words, why_it_ended

_TRIES = 2
_IDLE_DEATHS = _STARTS = 3
_LOOK_EVERY_S = 1.0
_GRACE_S = 3.0
_START_LIMIT_S = 300.0
_THREADS_OF = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "OPENCV_FOR_THREADS_NUM",
)


@dataclass(frozen=True, slots=True)
class Event:
    """The outcome of a task, as the parent process sees it."""

    task: str
    failed: str = ""
    """Why the method failed; its item is written nevertheless."""
    broken: str = ""
    """Why there is no item: the sample cannot be used, or nothing can be written."""
    seconds: float = 0.0


def _limits(threads: int) -> dict[str, str]:
    """Environment of a worker and the programs that it starts; 0 sets no limit."""
    limited = dict.fromkeys(_THREADS_OF, str(threads)) if threads else {}
    ours = {"DEPTHGAUGE_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    return ours | limited


def _limit_s(context: Context | Jobs, task: Task | Job) -> float:
    """How long one estimate, or one job, may take."""
    if isinstance(context, Jobs) or isinstance(task, Job):
        return context.time_limit_s
    return context.limit_of(context.methods[task.method])


def _done(task: Task | Job) -> str:
    return "made" if isinstance(task, Job) else "scored"


class Guard:
    """One worker process, restarted when it dies."""

    def __init__(self, context: Context | Jobs) -> None:
        try:
            pickle.dumps(context)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise Misuse(f"a method cannot be sent to another process ({error}).") from error
        self._context = context
        self._worker: _Worker | None = None
        self._closed = False
        self._idle_deaths = 0

    def start(self) -> None:
        """Starts the worker and waits until it has its kernels."""
        if self._worker is None and not self._closed:
            self._worker = self._ready_worker()
            self._stop_if_closed()

    def _ready_worker(self) -> _Worker:
        """A new worker; one that ends while it starts is replaced, as the system may have done it.

        Raises:
            WorkerLost: It ends again and again, or cannot start.
        """
        why = ""
        for _ in range(_STARTS):
            worker = _Worker(self._context)
            why = worker.wait_until_ready()
            if not why:
                return worker
        raise WorkerLost(why)

    def _stop_if_closed(self) -> None:
        """A guard may be closed while its worker starts."""
        if self._closed:
            self.close()

    def run(self, tasks: Sequence[Task | Job]) -> Iterator[Event]:
        """Runs all tasks; a task whose worker dies twice or takes too long has failed."""
        left = {task.id: task for task in tasks}
        deaths: dict[str, int] = {}
        while left and not self._closed:
            self.start()
            if self._worker is None:
                return
            self._worker.give(list(left.values()))
            for event in self._listen(self._worker, left):
                if isinstance(event, _WorkerDeath):
                    yield from self._after_death(event, left, deaths)
                    break
                self._idle_deaths = 0
                left.pop(event.task)
                yield event

    def close(self) -> None:
        """Ends the worker, and with it what it is doing."""
        self._closed = True
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def _listen(
        self, worker: _Worker, left: dict[str, Task | Job]
    ) -> Iterator[Event | _WorkerDeath]:
        current, deadline, began = "", None, time.monotonic()
        while True:
            message = worker.next_message(deadline)
            if message is _LATE:
                why = f"there was no result after {time.monotonic() - began:.0f} s"
                yield _WorkerDeath(current, why, late=True)
                return
            if message is None:
                yield _WorkerDeath(current, worker.why_it_ended())
                return
            kind = message[0]
            if kind == "start":
                current, began = message[1], time.monotonic()
                # The worker itself ends a method that takes too long, and may start it twice.
                limit = _limit_s(self._context, left[current])
                deadline = time.monotonic() + 2 * (limit + _START_LIMIT_S)
            elif kind == "estimated":
                deadline = None
            elif kind == "done":
                current = ""
                yield Event(message[1], failed=message[2], seconds=time.monotonic() - began)
            elif kind == "broken":
                current = ""
                yield Event(message[1], broken=message[2], seconds=time.monotonic() - began)
            elif kind == "cannot write":
                raise CannotWrite(message[1])
            elif kind == "chunk":
                return

    def _after_death(
        self, died: _WorkerDeath, left: dict[str, Task | Job], deaths: dict[str, int]
    ) -> Iterator[Event]:
        """Decides what happens to the task in which the worker died."""
        said = "" if self._worker is None else self._worker.last_words()
        if self._worker is not None:
            self._worker.stop()
            self._worker = None
        if self._closed:
            return
        if not died.task:
            # Between two tasks no method is to blame; the system may have ended it.
            self._idle_deaths += 1
            if self._idle_deaths >= _IDLE_DEATHS:
                raise WorkerLost(f"worker processes end before they begin: {died.why}.")
            return
        deaths[died.task] = deaths.get(died.task, 0) + 1
        task = left[died.task]
        if task.failed:
            del left[died.task]
            yield Event(died.task, broken=f"it cannot be {_done(task)}: {died.why}.")
            return
        if died.late or deaths[died.task] >= _TRIES:
            why = f"{died.why}; raise --time-limit if it needs more." if died.late else died.why
            left[died.task] = task.given_up(why if died.late else f"{why}.", said)


@dataclass(frozen=True, slots=True)
class _WorkerDeath:
    task: str
    why: str
    late: bool = False


_LATE = object()


class _Worker:
    """A process and the thread that reads its messages."""

    def __init__(self, context: Context | Jobs) -> None:
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed in stop()
        command = [sys.executable, "-P", "-m", "depthgauge.engine.running._worker"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, **_limits(context.threads)},
            start_new_session=True,
        )
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._killed = False
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self._send([path for path in sys.path if path])
            self._send(context)
        except BaseException:
            self.stop()
            raise

    def give(self, tasks: list[Task | Job]) -> None:
        self._send(tasks)

    def wait_until_ready(self) -> str:
        """Why it ended before it was ready, or nothing."""
        message = self.next_message(time.monotonic() + _START_LIMIT_S)
        if message is None or message is _LATE:
            why, said = self.why_it_ended(), self.last_words().rpartition("\n")[2]
            self.stop()
            text = f"a worker process could not be started: {why}. {said}".strip()
            if message is _LATE:
                raise WorkerLost(text)
            return text
        if message[0] == "cannot start":
            self.stop()
            raise WorkerLost(message[1])
        return ""

    def next_message(self, deadline: float | None) -> Any:
        """The next message; None when the process has ended, `_LATE` past the deadline."""
        gone = False
        while True:
            rest = math.inf if deadline is None else deadline - time.monotonic()
            with suppress(queue.Empty):
                return self._messages.get(timeout=max(0.0, min(rest, _LOOK_EVERY_S)))
            if gone:
                return None
            if deadline is not None and time.monotonic() >= deadline:
                return _LATE
            # A child that it forked may keep the pipe open after its own end.
            gone = self._process.poll() is not None

    def why_it_ended(self) -> str:
        """How the process ended, in words."""
        return why_it_ended(self._process, "the process that scores")

    def last_words(self) -> str:
        """The end of what it wrote to stderr."""
        return last_words(self._stderr)

    def stop(self) -> None:
        """Asks it to end, so that it can end its own children; then kills it."""
        if self._process.returncode is None:
            with suppress(OSError):
                self._process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_S)
        if self._process.returncode is None:
            with suppress(OSError, AttributeError):  # not on every system
                os.killpg(self._process.pid, signal.SIGKILL)
            with suppress(OSError):
                self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._stderr):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _send(self, message: Any) -> None:
        pipe = self._process.stdin
        # A dead worker is not an error here: its listener is notified.
        with suppress(BrokenPipeError):
            if pipe is not None:
                send(pipe, message)

    def _read(self) -> None:
        pipe = self._process.stdout
        if pipe is None:
            return
        with pipe:
            try:
                while True:
                    self._messages.put(receive(pipe))
            except (EOFError, OSError, ValueError):
                self._messages.put(None)
