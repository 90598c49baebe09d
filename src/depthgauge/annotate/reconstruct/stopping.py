"""When a reconstruction stops early: at a time limit, or when nobody needs it any more."""

from __future__ import annotations

import threading
import time

from depthgauge.errors import Cancelled, Misuse


class Stop:
    """A time limit and a switch; give one to each call of `reconstruct`.

    After the time limit the call finishes with what it has and says so in a note. After `cancel`,
    which any thread may call, it raises `Cancelled`.

    >>> stop = Stop(seconds=60)
    >>> stop.late()
    False
    >>> stop.cancel()
    >>> stop.late()
    Traceback (most recent call last):
    depthgauge.errors.Cancelled: this reconstruction was cancelled.
    """

    def __init__(self, seconds: float | None = None) -> None:
        """Begins to count at once.

        Args:
            seconds: The time limit; None for none.

        Raises:
            Misuse: A limit that is not positive.
        """
        if seconds is not None and not seconds > 0:
            raise Misuse(f"the time limit is {seconds:g} s; give a positive number of seconds.")
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Ends the call that this was given to."""
        self._cancelled.set()

    def late(self) -> bool:
        """Whether the time is over.

        Raises:
            Cancelled: `cancel` was called.
        """
        if self._cancelled.is_set():
            raise Cancelled("this reconstruction was cancelled.")
        return self._end is not None and time.monotonic() >= self._end
