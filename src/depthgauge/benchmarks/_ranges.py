"""Numbered names in one line: `bins_{1..15}` stands for `bins_1`, `bins_2` ... `bins_15`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from depthgauge.errors import BadScoreId

_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
_MOST = 1000


def expand(text: str) -> list[str]:
    """All texts that one with a range stands for; all its ranges count together.

    >>> expand("bins_{1..3}")
    ['bins_1', 'bins_2', 'bins_3']
    >>> expand("all")
    ['all']
    """
    return [_filled(text, n) for n in _numbers(text)] or [text]


def expand_all(texts: Iterable[str]) -> list[str]:
    """The texts of several, in order."""
    return [each for text in texts for each in expand(text)]


def expand_table(table: Mapping[str, str]) -> dict[str, str]:
    """A table whose numbered keys take their numbers along into the values.

    >>> expand_table({"gap_{1..2}": "gaps & bins_{1..2}"})
    {'gap_1': 'gaps & bins_1', 'gap_2': 'gaps & bins_2'}
    """
    return dict(_pairs(table))


def _pairs(table: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        numbers = _numbers(key)
        if not numbers:
            if _RANGE.search(value):
                raise BadScoreId(f"'{value}' has a range but its name '{key}' has none.")
            yield key, value
        if (inner := _numbers(value)) and inner != numbers:
            raise BadScoreId(f"'{key}' and '{value}' count differently.")
        for n in numbers:
            yield _filled(key, n), _filled(value, n)


def _numbers(text: str) -> list[int]:
    """The numbers that the ranges of a text count through; they have to be the same."""
    found = {(int(a), int(b)) for a, b in _RANGE.findall(text)}
    if not found:
        return []
    if len(found) > 1:
        raise BadScoreId(f"'{text}' has two different ranges; use one.")
    first, last = found.pop()
    if not first <= last <= first + _MOST:
        raise BadScoreId(f"'{text}': a range counts up, by {_MOST} at most.")
    return list(range(first, last + 1))


def _filled(text: str, number: int) -> str:
    return _RANGE.sub(str(number), text)
