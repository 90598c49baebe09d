"""The first way to hide folders: namespaces of Linux, which need no privileges.

A user namespace gives a process a view of its own: an empty file system lies over each hidden
folder, and it sees no processes but its own and its children, which end with it. It keeps no
privileges, so it cannot undo any of this.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from depthgauge._confine.family import end_with_parent
from depthgauge._confine.system import call, drop_privileges

_NEW_NAMESPACES = 0x00020000 | 0x10000000 | 0x20000000  # mounts, users, processes
_RECURSIVE, _PRIVATE = 0x4000, 0x40000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_NOT_ROOT = 1000


def hide(folders: Sequence[Path]) -> None:
    """Hides folders from this process, which continues in a grandchild of its own.

    Only the grandchild returns; this process waits for it and ends as it does. There must be no
    other threads.

    Raises:
        OSError: The kernel, or the container, does not allow it.
    """
    user, group = os.getuid(), os.getgid()
    call("unshare", _NEW_NAMESPACES)
    _map_user(user, group)
    _continue_in_child()
    call("mount", b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    for folder in folders:
        where = os.fsencode(folder.resolve())
        call("mount", b"none", where, b"tmpfs", _READ_ONLY, b"size=4k,mode=000")
    limits = _NO_SETUID | _NO_DEVICES | _NO_EXEC
    call("mount", b"proc", b"/proc", b"proc", limits, None)
    drop_privileges()
    # A working folder that was entered before it was hidden would still be open.
    try:
        os.chdir(os.getcwd())
    except OSError:
        os.chdir("/")
    # The first process of a namespace is deaf to most signals; a method must not be.
    _continue_in_child()


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
