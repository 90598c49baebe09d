"""Collapses runs of numbered names in long lists."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBERED = re.compile(r"(?P<stem>.*\D)(?P<number>\d+)", re.DOTALL)
_FEWEST = 3


def shortened(names: Iterable[str]) -> list[str]:
    """Neighbours that are numbered one after the other as one entry, three at least.

    >>> shortened(["a@gap_1", "a@gap_2", "a@gap_3", "b", "c_7", "c_8"])
    ['a@gap_1 to 3', 'b', 'c_7', 'c_8']
    """
    groups: list[list[str]] = []
    for name in names:
        if groups and _follows(groups[-1][-1], name):
            groups[-1].append(name)
        else:
            groups.append([name])
    return [text for group in groups for text in _texts(group)]


def _follows(before: str, name: str) -> bool:
    first, second = _NUMBERED.fullmatch(before), _NUMBERED.fullmatch(name)
    if first is None or second is None or first["stem"] != second["stem"]:
        return False
    return int(second["number"]) == int(first["number"]) + 1


def _texts(group: list[str]) -> list[str]:
    last = _NUMBERED.fullmatch(group[-1])
    if len(group) < _FEWEST or last is None:
        return group
    return [f"{group[0]} to {last['number']}"]
