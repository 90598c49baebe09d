"""Hides folders from a program, and ends what a program leaves behind; the standard library alone.

`python -m depthgauge._confine SOCKET PROGRAM...` hides what it is told and becomes the program.
"""

from __future__ import annotations

from depthgauge._confine.family import (
    adopt_orphans,
    descendants,
    end_descendants,
    end_with_parent,
)
from depthgauge._confine.ways import WAYS, CannotHide, hiding_way

__all__ = [
    "WAYS",
    "CannotHide",
    "adopt_orphans",
    "descendants",
    "end_descendants",
    "end_with_parent",
    "hiding_way",
]
