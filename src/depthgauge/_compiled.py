"""How kernels are compiled and run: cached on disk, serial, on several threads for large calls.

A kernel is serial code that releases the interpreter's lock. A *banded* one works on a range of
rows, tiles or anything else whose parts do not depend on each other. A small call runs in the
calling thread, as in NumPy. A large one is cut into bands; the calling thread and some helpers take
the next band whenever they finish one. No thread spins, so on a busy machine a call is not slower
with helpers than without. What a band computes does not depend on where bands end, so the number of
threads does not change a bit.

`DEPTHGAUGE_THREADS` limits the threads of a call; else there is one for each core that the process
may use. Helpers are started by the first large call, and again in a forked process.

Kernels return nothing and fill given arrays: numba crashes if Ctrl-C arrives while it packs
several results into a tuple.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from depthgauge.errors import Misuse

ALONE_NS = 2_000_000
"""Work estimated to take less runs in the calling thread; above this, two cores were faster."""
BAND_NS = 250_000
"""Approximate time of a band: long compared with handing it over, short compared with the wait."""


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compiles the decorated function with numba when it is first called.

    Args:
        options: Further options of `numba.njit`.
    """
    from numba import njit

    _watch_compiler()

    def compile_(function: Callable[..., Any]) -> Any:
        # As in NumPy, a division by zero is infinite.
        settings = {"error_model": "numpy", "nogil": True, **options}
        try:
            kernel = njit(cache=True, **settings)(function)
        except RuntimeError:
            # Neither the package's folder nor the user's cache can be written: compile each time.
            return njit(**settings)(function)
        _forgive(kernel)
        return kernel

    return compile_


def _forgive(kernel: Any) -> None:
    """Makes a full disk or a damaged file of numba's cache cost time instead of the call."""
    cache = getattr(kernel, "_cache", None)
    load, save = getattr(cache, "load_overload", None), getattr(cache, "save_overload", None)
    if cache is None or load is None or save is None:
        return  # numba keeps it elsewhere by now

    def load_or_compile(*args: Any) -> Any:
        try:
            return load(*args)
        except Exception:  # whatever a damaged file leads to; it is written anew
            with suppress(Exception):
                cache.flush()
            return None

    def save_if_possible(*args: Any) -> None:
        with suppress(Exception):
            save(*args)

    cache.load_overload, cache.save_overload = load_or_compile, save_if_possible


class Notice:
    """Says once, on a terminal or in a notebook, that kernels are compiled if that takes long."""

    TEXT = "depthgauge: compiling kernels, once per installation ..."
    AFTER_S = 2.0

    def __init__(self) -> None:
        self.silent = False
        self._lock = threading.Lock()
        self._depth, self._spent = 0, 0.0
        self._began = 0.0
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Compiling begins; one kernel may compile another."""
        with self._lock:
            self._depth += 1
            if self._depth > 1 or self.silent:
                return
            self._began = time.monotonic()
            self._timer = threading.Timer(max(0.0, self.AFTER_S - self._spent), self._say)
            self._timer.daemon = True
            self._timer.start()

    def end(self) -> None:
        """And ends."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and self._timer is not None:
                self._timer.cancel()
                self._timer = None
                self._spent += time.monotonic() - self._began

    def _say(self) -> None:
        shown = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
        if shown and not self.silent:
            self.silent = True
            sys.stderr.write(f"{self.TEXT}\n")
            sys.stderr.flush()


NOTICE = Notice()


@functools.cache
def _watch_compiler() -> None:
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]  # numba has no types
        def on_start(self, event: Any) -> None:
            NOTICE.begin()

        def on_end(self, event: Any) -> None:
            NOTICE.end()

    event.register("numba:compile", Listener())


def banded(
    over: str,
    *,
    axis: int = 0,
    step: int = 1,
    cost: int = 4,
    room: Callable[..., tuple[Any, ...]] | None = None,
    **options: Any,
) -> Callable[[Callable[..., Any]], Any]:
    """Compiles a kernel whose first two arguments, `begin` and `end`, are not given by its callers.

    It does its work for the range begin..end of an axis of one of its arrays, returns nothing, and
    two ranges never write the same element.

    Args:
        over: The argument whose axis is cut into bands, or that gives the number.
        axis: Which of its axes.
        step: Bands begin at multiples of it.
        cost: About how many nanoseconds an element of the largest array takes.
        room: Makes the scratch space of each thread from the caller's arguments; the kernel gets it
            after `end`. Arrays that kernels create themselves take long to compile.
        options: Further options of `numba.njit`.
    """

    def compile_(function: Callable[..., Any]) -> Any:
        kernel = compiled(**options)(function)
        names = list(inspect.signature(function).parameters)
        place = names.index(over) - len(names)  # from the end: the caller does not give the room

        @functools.wraps(kernel)
        def call(*args: Any) -> None:
            given = args[place]
            count = given if isinstance(given, int) else given.shape[axis]
            work = cost * max(getattr(arg, "size", 0) for arg in args)

            def start() -> Callable[[int, int], None]:
                mine = (*room(*args), *args) if room else args
                return lambda begin, end: kernel(begin, end, *mine)

            in_bands(start, count, work, step)

        return call

    return compile_


def in_bands(
    start: Callable[[], Callable[[int, int], None]], count: int, work_ns: int, step: int = 1
) -> None:
    """Does the work of 0..count: at once if it is little, else in bands on several threads.

    Args:
        start: Called once in each thread; returns the function that does the work of begin..end.
        count: The amount of work.
        work_ns: Approximate time of the work.
        step: Bands begin at multiples of it.
    """
    n = threads() if work_ns > ALONE_NS and count > step else 1
    if n == 1:
        start()(0, count)
        return
    band = max(1, BAND_NS * count // (work_ns * step)) * step
    _Call(start, count, band).run(n)


def threads() -> int:
    """The number of threads that a large call may use."""
    said = os.environ.get("DEPTHGAUGE_THREADS")
    if said is None:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    if not said.isdecimal() or int(said) == 0:
        raise Misuse(
            f"the environment variable DEPTHGAUGE_THREADS is '{said}'; "
            "set it to the number of threads that a call may use, at least 1."
        )
    return int(said)


class _Call:
    """Shared work: any thread takes the next band; the shared state needs no lock."""

    def __init__(
        self, start: Callable[[], Callable[[int, int], None]], count: int, band: int
    ) -> None:
        self._start, self._count, self._band = start, count, band
        self._begins = deque(range(0, count, band))
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()

    def run(self, threads: int) -> None:
        """Does all bands and returns when the last one is done."""
        left = len(self._begins)
        try:
            work = self._start()
            # The first band runs alone: if a kernel must be compiled, one thread does it.
            left -= self._take(work)
            _HELPERS.call(self, min(threads - 1, left))
            while left and self._take(work):
                left -= 1
            for _ in range(left):
                error = self._done.get()
                if error is not None:
                    raise error
        finally:
            # After Ctrl-C no thread takes another band. Running bands hold the arrays that they
            # fill.
            self._begins.clear()

    def help(self) -> None:
        """Does bands in another thread until none are left."""
        try:
            work = self._start()
            while self._take(work):
                self._done.put(None)
        except BaseException as error:
            self._done.put(error)

    def _take(self, work: Callable[[int, int], None]) -> bool:
        """Does the next band; False if there is none."""
        try:
            begin = self._begins.popleft()
        except IndexError:
            return False
        work(begin, min(begin + self._band, self._count))
        return True


class _Helpers:
    """Threads that wait for calls, without using a core, until the process ends."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Starts again in a forked process, which has no threads, and where locks may be held."""
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._lock = threading.Lock()
        self._n = 0

    def call(self, call: _Call, n: int) -> None:
        """Asks n of them for help; late ones find nothing to do."""
        if self._n < n:
            self._start(n)
        for _ in range(min(n, self._n)):
            self._calls.put(call)

    def _start(self, n: int) -> None:
        with self._lock:
            while self._n < n:
                helper = threading.Thread(target=self._serve, name="depthgauge", daemon=True)
                try:
                    helper.start()
                except RuntimeError:
                    return  # The system gives no more threads: the existing ones do the work.
                self._n += 1

    def _serve(self) -> None:
        while True:
            self._calls.get().help()


_HELPERS = _Helpers()


def _wait_for_compiler() -> None:
    """Prevents a fork during compilation, which would never finish in the child."""
    lock = _compiler_lock()
    if lock is not None:
        lock.acquire()


def _let_compiler_go() -> None:
    lock = _compiler_lock()
    if lock is not None and lock.is_locked():
        lock.release()


def _compiler_lock() -> Any:
    """The lock that numba holds while it compiles; nothing if numba is not loaded."""
    module = sys.modules.get("numba.core.compiler_lock")
    return getattr(module, "global_compiler_lock", None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HELPERS.forget)
    os.register_at_fork(
        before=_wait_for_compiler,
        after_in_parent=_let_compiler_go,
        after_in_child=_let_compiler_go,
    )
