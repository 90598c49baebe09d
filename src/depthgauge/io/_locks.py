"""Folders that only one process may work on at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from depthgauge.errors import BadData, CannotWrite


@contextmanager
def only_one(path: Path, busy: str) -> Iterator[None]:
    """Keeps other processes out while the block runs; the file stays, the lock does not.

    Args:
        path: A file in the folder that is locked.
        busy: The message for the second process.

    Raises:
        BadData: Another process is working there.
        CannotWrite: The file cannot be made.
    """
    try:
        # Opened for appending, so that the second process does not empty it.
        lock = open(path, "a", encoding="utf-8")  # noqa: SIM115  # closed below
    except OSError as error:
        raise CannotWrite(
            f"{path.parent}: cannot be written ({error.strerror}); choose another folder."
        ) from error
    with lock:
        _lock(lock, busy)
        yield


def _lock(file: Any, busy: str) -> None:
    try:
        import fcntl
    except ImportError:  # no such lock on this system; two at once do no harm but extra work
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BadData(busy) from error
    except OSError:
        return  # a file system without locks
