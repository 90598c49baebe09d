"""The second way to hide folders: Landlock, where user namespaces are not allowed.

Landlock knows permissions only, never prohibitions, and a permission for a folder holds for all
that is in it. So everything beside the hidden folders is permitted, entry by entry, all the way
from the root. The folders on that way can be listed, and with them the names in hidden folders; no
file there can be opened, made, renamed or removed. No file can be made in a folder on that way
either, so there is a new folder for temporary files where that is needed.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from depthgauge._confine.system import drop_privileges, system_call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_TELL_VERSION = 1
_BENEATH_PATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _LIST, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
_ALL = (1 << 15) - 1
"""All rights to files of version 3; earlier versions could not forbid to cut files."""
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_SIGNALS_STAY_INSIDE = 1 << 1


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def works() -> bool:
    """Whether the kernel has it, in a version that can also forbid to cut files."""
    return _version() >= 3


def hide(folders: Sequence[Path]) -> Path | None:
    """Hides the content of folders from this process and all that it starts, for ever.

    There must be no other threads. Where the folder for temporary files holds a hidden one, there
    is another one afterwards, which is returned and has to be removed by somebody else.

    Raises:
        OSError: The kernel does not allow it, or a folder above cannot be listed.
    """
    hidden = {folder.resolve() for folder in folders}
    above = {parent for folder in hidden for parent in folder.parents}
    temporary = None
    if Path(tempfile.gettempdir()).resolve() in above:
        temporary = Path(tempfile.mkdtemp(prefix="depthgauge-"))
        os.environ["TMPDIR"] = str(temporary)
    rules = _new_ruleset()
    try:
        for path, rights in _permitted(hidden, above):
            _permit(rules, path, rights)
        drop_privileges()
        system_call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)
    return temporary


def permit_only(readable: Sequence[Path], writable: Sequence[Path]) -> None:
    """Leaves this process, and all that it starts, these files and folders and no others, for ever.

    What is readable can also be executed; what is writable cannot. Files that are open stay open,
    and so do network connections. There must be no other threads. Places that do not exist are
    left out.

    Raises:
        OSError: The kernel does not allow it.
    """
    rules = _new_ruleset()
    try:
        wanted = [(path, _EXECUTE | _READ_FILE | _LIST) for path in readable]
        wanted += [(path, _ALL & ~_EXECUTE) for path in writable]
        for path, rights in wanted:
            place = path.resolve()
            _permit(rules, place, rights if place.is_dir() else rights & _OF_A_FILE)
        drop_privileges()
        system_call(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _permitted(hidden: set[Path], above: set[Path]) -> Iterator[tuple[Path, int]]:
    """What may be done where."""
    for folder in above:
        yield folder, _LIST
        with os.scandir(folder) as entries:
            for entry in entries:
                path = folder / entry.name
                # A link is no way round: what counts is the place that it leads to.
                if path in hidden or path in above or entry.is_symlink():
                    continue
                yield path, _ALL if entry.is_dir(follow_symlinks=False) else _OF_A_FILE


def _permit(rules: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return  # it has gone meanwhile, or nobody here may use it
    try:
        rule = _Rule(rights, place)
        system_call(_ADD_RULE, rules, _BENEATH_PATH, ctypes.byref(rule), 0)
    finally:
        os.close(place)


def _new_ruleset() -> int:
    attributes = _Ruleset(_ALL, 0, 0)
    size = 8  # of what version 3 knows
    if _version() >= 6:
        attributes.scoped = _SIGNALS_STAY_INSIDE
        size = ctypes.sizeof(attributes)
    return system_call(_CREATE_RULESET, ctypes.byref(attributes), size, 0)


def _version() -> int:
    try:
        return system_call(_CREATE_RULESET, None, 0, _TELL_VERSION)
    except (OSError, AttributeError):
        return 0
