"""Calls of the C library."""

from __future__ import annotations

import ctypes
import os

_DUMPABLE, _NO_NEW_PRIVILEGES = 4, 38
_CAPABILITIES_V3 = 0x20080522


def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> int:
    """Calls a function of the C library.

    Raises:
        OSError: It returned a negative number.
    """
    answer = int(getattr(libc(), name)(*arguments))
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return answer


def system_call(number: int, *arguments: object) -> int:
    """Makes a system call that the C library has no function for.

    Raises:
        OSError: It failed.
    """
    whole = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return call("syscall", ctypes.c_long(number), *whole)


def drop_privileges() -> None:
    """Leaves this process without privileges, even root's; nothing that it starts gets them back.

    Raises:
        OSError: The kernel does not allow it.
    """
    call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    call("capset", header, nothing)
    # Whoever started us measures us, and must be able to read what the kernel says about us.
    call("prctl", _DUMPABLE, 1, 0, 0, 0)
