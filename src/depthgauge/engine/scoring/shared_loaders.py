"""Whether two samples share their truth or inputs, without reading them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from depthgauge.types import Items


def is_same(one: Items | None, other: Items | None, names: Iterable[str] | None = None) -> bool:
    """Whether items are the same objects or would be read by equal calls; nothing is read."""
    if one is other or one is None or other is None:
        return one is other
    mine, others = one.unread(), other.unread()
    wanted = set(mine) | set(others) if names is None else set(names)
    return all(
        n in mine and n in others and _is_same_thing(mine[n], others[n]) for n in sorted(wanted)
    )


def _is_same_thing(one: Any, other: Any) -> bool:
    if isinstance(one, Path) and isinstance(other, Path):
        return one == other
    if not (isinstance(one, partial) and isinstance(other, partial)):
        return one is other
    plain = all(isinstance(part, (Path, str, int, float)) for part in one.args + other.args)
    # Other objects, such as arrays, cannot be compared with a plain ==.
    return (
        plain
        and (one.func, one.args) == (other.func, other.args)
        and not (one.keywords or other.keywords)
    )
