"""Which way to hide folders this system allows."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from depthgauge._confine import landlock, namespaces

WAYS = ("namespaces", "landlock")
"""The ways to hide folders; the first that works is taken."""


class CannotHide(Exception):
    """The kernel, or the container, does not allow it."""


def hiding_way(ways: Sequence[str] = WAYS) -> str:
    """The first of these ways that works here; empty if none does."""
    works = {"namespaces": _namespaces_work, "landlock": _landlock_works}
    return next((way for way in ways if works[way]()), "")


def hide(folders: Sequence[Path], ways: Sequence[str] = WAYS) -> tuple[str, Path | None]:
    """Hides folders from this process, which may continue in a grandchild of its own.

    Returns:
        In which way; and a new folder for temporary files, if one was needed.

    Raises:
        CannotHide: It is not possible here.
    """
    way = hiding_way(ways)
    try:
        if way == "namespaces":
            namespaces.hide(folders)
            return way, None
        if way == "landlock":
            return way, landlock.hide(folders)
    except OSError as error:
        raise CannotHide(f"folders cannot be hidden here ({error})") from error
    raise CannotHide("this system has neither user namespaces nor Landlock, which hide folders")


@cache
def _namespaces_work() -> bool:
    """Tried in a child, since there is no way back."""
    if sys.platform != "linux":
        return False
    with warnings.catch_warnings():
        # Python warns of threads, which a child that only makes system calls does not need.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            namespaces.hide(())
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@cache
def _landlock_works() -> bool:
    return sys.platform == "linux" and landlock.works()
