"""Closes the network to a process: the kernel refuses it every new socket.

By a filter of system calls (seccomp), which needs no privileges, holds for all that the process
starts, and cannot be taken off again.
"""

from __future__ import annotations

import ctypes
import errno
import platform

from depthgauge._confine.system import call

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _MACHINE_AT = 0, 4
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
_OTHER_NUMBERS = 0x40000000
"""From here on x86 has the same calls with other numbers."""
_IO_URING_SETUP = 425  # would make sockets without the call
_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""The kernel's name of a machine, and the number of `socket`."""


class _Step(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.POINTER(_Step)))


def close_network() -> None:
    """Refuses this process, and all that it starts, every new socket, for ever.

    Sockets that are open stay open, and so do pipes. There must be no other threads.

    Raises:
        OSError: The kernel does not allow it, or the machine is an unknown one.
    """
    if platform.machine() not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no filter for {platform.machine()}")
    machine, socket = _MACHINES[platform.machine()]
    steps = (
        _Step(_LOAD, 0, 0, _MACHINE_AT),
        _Step(_EQUAL, 0, 5, machine),  # programs of another machine have other numbers
        _Step(_LOAD, 0, 0, _NUMBER_AT),
        _Step(_AT_LEAST, 3, 0, _OTHER_NUMBERS),
        _Step(_EQUAL, 2, 0, socket),
        _Step(_EQUAL, 1, 0, _IO_URING_SETUP),
        _Step(_RETURN, 0, 0, _ALLOW),
        _Step(_RETURN, 0, 0, _REFUSE),
    )
    listed = (_Step * len(steps))(*steps)
    program = _Program(len(steps), listed)
    call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    call("prctl", _SECCOMP, _FILTER, ctypes.byref(program), 0, 0)
