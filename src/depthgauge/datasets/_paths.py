"""Checks of paths read from files: none of them may leave its folder."""

from __future__ import annotations

from pathlib import Path

from depthgauge.errors import BadData

_MOST = 1024


def unsafe(relative: str) -> str:
    """Why a relative path (or sample id) is refused; empty if it is fine.

    >>> unsafe("Bathroom/im0"), unsafe("../x")
    ('', "a part of it is '..'")
    """
    if not relative or len(relative) > _MOST:
        return "it is empty" if not relative else f"it is longer than {_MOST} characters"
    if any(ord(c) < 32 for c in relative):
        return "it holds control characters"
    if relative.startswith("/") or ":" in relative or "\\" in relative:
        return "it is not a plain relative path with '/' between its parts"
    for part in relative.split("/"):
        if part in ("", ".", ".."):
            return f"a part of it is '{part}'"
    return ""


def inside(root: Path, relative: str) -> Path:
    """The path below `root`; refused if it, or a link on the way, leads outside.

    Raises:
        BadData: The path leaves the folder.
    """
    if why := unsafe(relative):
        raise BadData(f"{root}: the path '{relative}' is refused: {why}.")
    path = root / relative
    if not path.resolve().is_relative_to(root.resolve()):
        raise BadData(f"{root}: the path '{relative}' is refused: a link on it leads outside.")
    return path
