"""Tasks in chunks of about two seconds: few messages, and no long wait at the end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

from depthgauge.engine.running.jobs import Job
from depthgauge.engine.running.task import Task

_TARGET_S = 2.0
_LARGEST = 256


class Chunks:
    """Hands out tasks in their order; chunks grow as tasks prove quick. Safe from any thread."""

    def __init__(self, tasks: Iterable[Task | Job], workers: int) -> None:
        self._tasks = deque(tasks)
        self.workers = max(1, workers)
        """How many share the tasks; may change."""
        self._lock = threading.Lock()
        self._seconds = 0.0
        self._done = 0

    def take(self) -> list[Task | Job]:
        """The next chunk; empty when there is nothing left."""
        with self._lock:
            return [self._tasks.popleft() for _ in range(min(self._size(), len(self._tasks)))]

    def took(self, seconds: float) -> None:
        """Learns how long one task took."""
        with self._lock:
            self._seconds += seconds
            self._done += 1

    def _size(self) -> int:
        if not self._done:
            return 1
        fitting = _TARGET_S / max(self._seconds / self._done, 1e-6)
        fair = len(self._tasks) / (2 * self.workers)  # the last chunks are small
        return max(1, int(min(fitting, fair, _LARGEST)))
