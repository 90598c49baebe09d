"""What a method's process may see, and what it may leave behind.

Folders and other processes are hidden from it where the kernel allows that to a plain user.

A user namespace gives the process a view of its own: an empty file system lies over each hidden
folder, and it sees no processes but its own and its children, which end with it. It keeps no
privileges, so it cannot undo any of this.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import warnings
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

_NEW_NAMESPACES = 0x00020000 | 0x10000000 | 0x20000000  # mounts, users, processes
_RECURSIVE, _PRIVATE = 0x4000, 0x40000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_DEATH_SIGNAL, _DUMPABLE, _ORPHANS_TO_ME, _NO_NEW_PRIVILEGES = 1, 4, 36, 38
_CAPABILITIES_V3 = 0x20080522
_NOT_ROOT = 1000
_ROUNDS = 3


class CannotHide(Exception):
    """The kernel, or the container, does not allow it."""


def end_with_parent() -> None:
    """Ends this process when the one that started it ends, even if that was killed."""
    if sys.platform == "linux":
        _libc().prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Makes this process the parent of what its children leave behind, so that it can be ended."""
    if sys.platform == "linux":
        _libc().prctl(_ORPHANS_TO_ME, 1, 0, 0, 0)


def hide(folders: Sequence[Path]) -> None:
    """Hides folders from this process, which continues in a grandchild of its own.

    Only the grandchild returns; this process waits for it and ends as it does.

    Raises:
        CannotHide: Nothing was changed.
    """
    if not can_hide():
        raise CannotHide("this system does not allow user namespaces, which hide folders")
    _enter(folders)


def _enter(folders: Sequence[Path]) -> None:
    user, group = os.getuid(), os.getgid()
    _call("unshare", _NEW_NAMESPACES)
    _map_user(user, group)
    _continue_in_child()
    _call("mount", b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    for folder in folders:
        where = os.fsencode(folder.resolve())
        _call("mount", b"none", where, b"tmpfs", _READ_ONLY, b"size=4k,mode=000")
    limits = _NO_SETUID | _NO_DEVICES | _NO_EXEC
    _call("mount", b"proc", b"/proc", b"proc", limits, None)
    _drop_privileges()
    # A working folder that was entered before it was hidden would still be open.
    try:
        os.chdir(os.getcwd())
    except OSError:
        os.chdir("/")
    # The first process of a namespace is deaf to most signals; a method must not be.
    _continue_in_child()


@cache
def can_hide() -> bool:
    """Whether this system allows it; tried in a child, since there is no way back."""
    if sys.platform != "linux":
        return False
    with warnings.catch_warnings():
        # Python warns of threads, which a child that only makes system calls does not need.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            _enter(())
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _map_user(user: int, group: int) -> None:
    inside = user or _NOT_ROOT  # root inside would get all privileges back by starting a program
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{inside} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group or _NOT_ROOT} {group} 1")


def _continue_in_child() -> None:
    """Goes on in a child; this process waits for it, lets go of everything, and ends as it does."""
    child = os.fork()
    if not child:
        end_with_parent()
        return
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    ended, status = os.wait()
    while ended != child:  # orphans of a namespace come to its first process
        ended, status = os.wait()
    code = os.waitstatus_to_exitcode(status)
    if code < 0 and os.getpid() != 1:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


def _drop_privileges() -> None:
    _libc().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if _libc().capset(header, nothing):
        raise OSError(ctypes.get_errno(), "capset")
    # Entering a namespace made us unreadable to the user who started us and who measures us.
    _libc().prctl(_DUMPABLE, 1, 0, 0, 0)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc(), name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def end_descendants(process: int) -> None:
    """Ends the children of a process, and theirs; itself it leaves alone.

    A program that starts others while it is ended is looked at again.
    """
    for _ in range(_ROUNDS):
        found = descendants(process)
        for number in found:
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
        if not found:
            return


def descendants(process: int) -> list[int]:
    """All children of a process and theirs, as far as Linux's /proc tells."""
    children: dict[int, list[int]] = defaultdict(list)
    for number in _processes():
        with suppress(OSError, ValueError, IndexError):
            # The name in parentheses may hold anything; the parent is the second field after it.
            after = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            if after[0] != "Z":
                children[int(after[1])].append(number)
    found: list[int] = []
    waiting = [process]
    while waiting:
        for child in children[waiting.pop()]:
            found.append(child)
            waiting.append(child)
    return found


def _processes() -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []
