"""How kernels are compiled: kept on disk where that is possible, one parallel kernel at a time.

Where neither OpenMP nor TBB is installed, numba's own thread pool ends the whole process when two
Python threads start parallel kernels at once. A kernel uses all cores anyway, so they queue.

Parallel kernels return nothing and fill arrays that they are given: numba crashes where Ctrl-C
arrives while it packs several results into a tuple.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

_LOCK = threading.Lock()


def compiled(*, parallel: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compiles the decorated function with numba when it is first called.

    Args:
        parallel: Runs `prange` loops on all cores; the kernel can be called from any thread and
            returns nothing.
        options: Further options of `numba.njit`.
    """
    from numba import njit

    def compile_(function: Callable[..., Any]) -> Any:
        # As in NumPy, a division by zero is infinite; else it would end a parallel kernel.
        settings = {"error_model": "numpy", "parallel": parallel, **options}
        try:
            kernel = njit(cache=True, **settings)(function)
        except RuntimeError:
            # Neither the package's folder nor the user's cache can be written: compile each time.
            kernel = njit(**settings)(function)
        return _one_at_a_time(kernel) if parallel else kernel

    return compile_


def _one_at_a_time(kernel: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(kernel)
    def call(*args: Any) -> Any:
        with _LOCK:
            return kernel(*args)

    return call
