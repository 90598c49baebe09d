"""How a process ended, and what it wrote last, in words."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import IO

_LAST_WORDS = 2000
_GRACE_S = 3.0


def last_words(stderr: IO[bytes]) -> str:
    """The end of what a process wrote to a file."""
    with suppress(OSError, ValueError):
        size = stderr.seek(0, os.SEEK_END)
        stderr.seek(max(0, size - _LAST_WORDS))
        return stderr.read().decode(errors="replace").strip()
    return ""


def why_it_ended(process: subprocess.Popen[bytes], what: str) -> str:
    """How a process ended that should not have.

    Args:
        process: One that no longer answers.
        what: What to call it: `the method's process`.
    """
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
    code = process.returncode
    if code is None:
        return f"{what} no longer answers"
    if code > 128:  # as the first process of a namespace says it
        code = 128 - code
    if code >= 0 or -code not in set(signal.Signals):
        return f"{what} ended with exit code {abs(code)}"
    name = signal.Signals(-code).name
    perhaps = ", perhaps because memory ran out" if name == "SIGKILL" else ""
    return f"{what} was ended by {name}{perhaps}"
