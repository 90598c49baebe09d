"""Runs a program with a time limit and measures its cost; kills everything that it started."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from depthgauge.methods._calls.meter import Usage, status_bytes

_INEXACT_BYTES = 1 << 25
"""Linux counts pages per core and sums them up only now and then."""


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a program ended."""

    exit_code: int
    """Negative: the signal that ended it."""
    too_long: bool
    """Whether it was killed because it ran longer than allowed."""
    usage: Usage
    """Memory and processor time of the program and of the children that it waited for."""


def run(
    arguments: Sequence[str], folder: Path, limit_s: float, stdout: Path, stderr: Path
) -> ProcessExit:
    """Runs a program to its end or to the time limit, with empty standard input.

    Processes that it left running in its process group are killed. It writes to files, not to
    pipes: it cannot block on them, and a child that keeps them open cannot keep us waiting.

    Raises:
        OSError: It cannot be started.
    """
    with stdout.open("wb") as out, stderr.open("wb") as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=folder,
            start_new_session=True,
        )
    # Not on Windows, and on macOS only from Python 3.13.
    if hasattr(os, "wait4") and hasattr(os, "waitid"):
        return _wait_and_measure(process, start, limit_s)
    return _wait(process, start, limit_s)


def _wait_and_measure(
    process: subprocess.Popen[bytes], start: float, limit_s: float
) -> ProcessExit:
    watch = _Watch(process.pid, start + limit_s)
    watch.start()
    try:
        # Ended but not yet reaped, so that its process id cannot be reused below.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    finally:
        time_s = time.perf_counter() - start
        watch.stop()
        _kill_group(process.pid)
        _, status, spent = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    usage = Usage(
        time_s, spent.ru_utime + spent.ru_stime, watch.peak_mb(_in_bytes(spent.ru_maxrss))
    )
    killed = watch.killed and process.returncode == -signal.SIGKILL
    return ProcessExit(process.returncode, killed, usage)


def _wait(process: subprocess.Popen[bytes], start: float, limit_s: float) -> ProcessExit:
    too_long = False
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        too_long = True
    finally:
        time_s = time.perf_counter() - start
        _kill_group(process.pid)
        with suppress(OSError):
            process.kill()
        process.wait()
    return ProcessExit(process.returncode, too_long, Usage(time_s, math.nan, None))


def _kill_group(leader: int) -> None:
    if hasattr(os, "killpg"):
        with suppress(OSError):  # no process is left
            os.killpg(leader, signal.SIGKILL)


def _in_bytes(maxrss: int) -> int:
    return maxrss if sys.platform == "darwin" else maxrss * 1024


class _Watch(threading.Thread):
    """Kills a process group at a deadline; until then samples its leader's memory."""

    def __init__(self, leader: int, deadline: float) -> None:
        super().__init__(daemon=True)
        self.killed = False
        self._leader = leader
        self._deadline = deadline
        self._seen: int | None = None
        self._ended = threading.Event()
        self._ours = status_bytes("VmHWM")

    def run(self) -> None:
        step = 0.005
        while not self.killed:
            self._seen = status_bytes("VmHWM", self._leader) or self._seen
            left = self._deadline - time.perf_counter()
            if self._ended.wait(max(0.0, min(step, left))):
                return
            if left <= 0:
                self.killed = True
                _kill_group(self._leader)
            step = min(step * 1.2, 0.1)

    def stop(self) -> None:
        """Stops watching; nothing is killed after this."""
        self._ended.set()
        self.join()

    def peak_mb(self, reported: int) -> float | None:
        """The peak memory of the program, in 10^6 bytes.

        Linux reports at least what *we* used when we started it. So the reported value is used if
        it is clearly larger than that; else the sampled value, which misses at most the last
        moments.
        """
        inherited = self._ours is not None and reported <= self._ours + _INEXACT_BYTES
        peak = self._seen if inherited else reported
        return None if peak is None else peak / 1e6
