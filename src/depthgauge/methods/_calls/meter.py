"""The cost of a call: time, processor time, memory."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_SAMPLED_EVERY_S = 0.005


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of a call or a program."""

    time_s: float
    """Wall-clock time from start to end."""
    cpu_s: float
    """Processor time of all threads together, including system time."""
    peak_memory_mb: float | None
    """The peak memory of the process in 10^6 bytes, including Python, its libraries and everything
    allocated before the call. It is what a machine must have, not what the call added. None if the
    system does not report it."""


def metered(call: Callable[[], T]) -> tuple[T, Usage]:
    """Runs a call and measures its cost.

    Processor time and memory are those of this process: other threads are included, programs that
    the call starts are not.

    >>> value, usage = metered(lambda: sum(range(10)))
    >>> value, usage.time_s >= 0
    (45, True)
    """
    peak = _HighWaterMark() if _HighWaterMark.works() else _Sampler()
    with peak:
        cpu, start = time.process_time(), time.perf_counter()
        value = call()
        usage_time, usage_cpu = time.perf_counter() - start, time.process_time() - cpu
    return value, Usage(usage_time, usage_cpu, peak.mb())


class Meter:
    """The cost of what another process does, seen from outside; it begins now.

    Args:
        process: Its number.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self._peak = _HighWaterMark(process) if _HighWaterMark.works(process) else None
        self._paused_s = 0.0
        self._cpu, self._start = process_cpu_s(process), time.perf_counter()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Time within is not the other process's."""
        began = time.perf_counter()
        yield
        self._paused_s += time.perf_counter() - began

    def usage(self) -> Usage:
        """What it cost until now."""
        wall = time.perf_counter() - self._start - self._paused_s
        with self._peak or _Peak():
            pass
        peak = None if self._peak is None else self._peak.mb()
        return Usage(wall, process_cpu_s(self._process) - self._cpu, peak)


def process_cpu_s(process: int) -> float:
    """Processor time of all threads of a process; NaN where the system does not tell."""
    try:
        # The number of a process's clock, as glibc's clock_getcpuclockid makes it.
        return time.clock_gettime((~process << 3) | 2)
    except (OSError, OverflowError, AttributeError):
        return math.nan


class _Peak:
    """The peak memory within a `with` block."""

    def __enter__(self) -> _Peak:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def mb(self) -> float | None:
        """In 10^6 bytes; None if unknown."""
        return None


class _HighWaterMark(_Peak):
    """The mark that Linux keeps; it is reset to the present size before the call."""

    def __init__(self, process: int | str = "self") -> None:
        self._bytes: int | None = None
        self._process = process

    @staticmethod
    def works(process: int | str = "self") -> bool:
        try:
            Path(f"/proc/{process}/clear_refs").write_text("5")
        except OSError:
            return False
        mark, now = status_bytes("VmHWM", process), status_bytes("VmRSS", process)
        # Some containers accept the write but ignore it.
        return mark is not None and now is not None and mark <= now + 2**22

    def __exit__(self, *_: object) -> None:
        self._bytes = status_bytes("VmHWM", self._process)

    def mb(self) -> float | None:
        return None if self._bytes is None else self._bytes / 1e6


class _Sampler(_Peak):
    """A thread that samples the memory; it misses peaks shorter than its interval."""

    def __init__(self) -> None:
        self._bytes = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def mb(self) -> float | None:
        return self._bytes / 1e6 if self._bytes else None

    def _look(self) -> None:
        ended = False
        while not ended:
            self._bytes = max(self._bytes, status_bytes("VmRSS") or 0)
            ended = self._ended.wait(_SAMPLED_EVERY_S)


def status_bytes(key: str, process: int | str = "self") -> int | None:
    """A size (`VmRSS`, `VmHWM`) of a process from Linux's /proc; None if unavailable."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    return None
