"""Parents and children: who ends with whom."""

from __future__ import annotations

import os
import signal
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from depthgauge._confine.system import libc

_DEATH_SIGNAL, _ORPHANS_TO_ME = 1, 36
_ROUNDS = 3


def end_with_parent() -> None:
    """Ends this process when the one that started it ends, even if that was killed."""
    if sys.platform == "linux":
        libc().prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Makes this process the parent of what its children leave behind, so that it can be ended."""
    if sys.platform == "linux":
        libc().prctl(_ORPHANS_TO_ME, 1, 0, 0, 0)


def end_descendants(process: int) -> None:
    """Ends the children of a process, and theirs; itself it leaves alone.

    A program that starts others while it is ended is looked at again.
    """
    for _ in range(_ROUNDS):
        found = descendants(process)
        for number in found:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
        if not found:
            return


def descendants(process: int) -> list[int]:
    """All children of a process and theirs, as far as Linux's /proc tells."""
    children: dict[int, list[int]] = defaultdict(list)
    for number in _processes():
        with suppress(OSError, ValueError, IndexError):
            # The name in parentheses may hold anything; the parent is the second field after it.
            after = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            if after[0] != "Z":
                children[int(after[1])].append(number)
    found: list[int] = []
    waiting = [process]
    while waiting:
        for child in children[waiting.pop()]:
            found.append(child)
            waiting.append(child)
    return found


def _processes() -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []
