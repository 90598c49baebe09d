"""The processes of a run's methods: one for each method, ended when they take too much memory."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from depthgauge.engine.running.hiding import hidden_from
from depthgauge.engine.running.task import Context, Task
from depthgauge.errors import MethodFailed, WorkerLost
from depthgauge.methods import Method, Usage
from depthgauge.methods._process import MethodProcess, ProcessLost
from depthgauge.types import ClipEstimate, Estimate, Frames, Inputs

_TRIES = 2
_STARTS = 3
_LOAD_LIMIT_S = 300.0


class Hosts:
    """Asks each method in a process of its own, one method at a time.

    The processes stay for the next sample while together they use less than their share of the
    memory; otherwise those that were not used for the longest time are ended.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._processes: dict[int, MethodProcess] = {}
        """By the method's number; the one that was used last is the last."""

    def estimate(self, task: Task, inputs: Inputs) -> tuple[Estimate | ClipEstimate, Usage]:
        """The estimate of a task, and what it cost.

        Raises:
            MethodFailed: The method failed, ended its process twice, or took too long.
            BadEstimate: What it returned cannot be scored.
            UnreadableInput: An input that it asked for cannot be read.
            WorkerLost: Its code has changed, or this machine cannot hide what it has to.
        """
        method = self._context.methods[task.method]
        tries = 0
        with _turn(method):
            while True:
                tries += 1
                try:
                    return self._ask(task, method, inputs)
                except ProcessLost as lost:
                    self._end(task.method)
                    if lost.late or tries == _TRIES:
                        raise self._failure(method, lost) from lost

    def close(self) -> None:
        """Ends all processes and what they started."""
        for number in list(self._processes):
            self._end(number)

    def _ask(
        self, task: Task, method: Method, inputs: Inputs
    ) -> tuple[Estimate | ClipEstimate, Usage]:
        process = self._process_of(task.method, method)
        there = inputs.at_hand()
        given = {name: thing for name, thing in there.items() if not isinstance(thing, Frames)}
        lazy = {
            name: len(thing) if isinstance(thing := there.get(name), Frames) else None
            for name in inputs
            if name not in given
        }

        def read(name: str, frame: int | None) -> object:
            if name not in lazy or (frame is None) != (lazy[name] is None):
                raise MethodFailed(f"the method asked for '{name}', which is no input.")
            return inputs[name] if frame is None else inputs[name][frame]

        limit = self._context.limit_of(method)
        try:
            return process.estimate(f"method '{method.label}'", given, lazy, read, limit)
        finally:
            if process.busy:  # it still waits for an input, or still works
                self._end(task.method)
            self._make_room(task.method)

    def _failure(self, method: Method, lost: ProcessLost) -> MethodFailed:
        if not lost.late:
            return MethodFailed(f"{lost.why}.", lost.details)
        limit = self._context.limit_of(method)
        why = f"the method ran longer than {limit:g} s; raise --time-limit where it needs more."
        return MethodFailed(why, lost.details)

    def _process_of(self, number: int, method: Method) -> MethodProcess:
        if number in self._processes:
            self._processes[number] = self._processes.pop(number)
            return self._processes[number]
        starts = 0
        while True:
            starts += 1
            try:
                self._processes[number] = self._started(method)
                return self._processes[number]
            except ProcessLost as lost:
                if lost.late or starts == _STARTS:
                    raise

    def _started(self, method: Method) -> MethodProcess:
        hide, why = hidden_from(method, self._context)
        process = MethodProcess(hide)
        try:
            why = why or process.why_not_hidden
            if self._context.isolate and why:  # the machine's fault, not the method's
                raise WorkerLost(f"--isolate: {why}.")
            process.load(method, _LOAD_LIMIT_S)
        except BaseException:
            process.stop()
            raise
        return process

    def _make_room(self, current: int) -> None:
        """Ends what was not used for long until the rest fits into its share of the memory."""
        allowed = _memory_bytes() / 2 / max(1, self._context.slots)
        used = {number: process.memory_bytes() for number, process in self._processes.items()}
        for number in list(used):
            if number != current and sum(used.values()) > allowed:
                self._end(number)
                used.pop(number)

    def _end(self, number: int) -> None:
        process = self._processes.pop(number, None)
        if process is not None:
            process.stop()


@contextmanager
def _turn(method: Method) -> Iterator[None]:
    """Methods that use the graphics processor wait for each other."""
    if not method.spec.gpu:
        yield
        return
    path = Path(tempfile.gettempdir()) / f"depthgauge-gpu-{os.getuid()}.lock"
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _memory_bytes() -> int:
    """Of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 8 << 30
