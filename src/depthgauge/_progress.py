"""How long-running work reports its progress."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is in all."""


def no_progress(what: str, done: int, of: int) -> None:
    """Reports nothing."""
    del what, done, of
