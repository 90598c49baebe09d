"""One parallel kernel at a time.

Where neither OpenMP nor TBB is installed, numba's own thread pool ends the whole process when two
Python threads start parallel kernels at once. A kernel uses all cores anyway, so they queue.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_LOCK = threading.Lock()


def one_at_a_time(kernel: Callable[P, T]) -> Callable[P, T]:
    """Lets a compiled parallel kernel be called from any thread."""

    @functools.wraps(kernel)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with _LOCK:
            return kernel(*args, **kwargs)

    return call
