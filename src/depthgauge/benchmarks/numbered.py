"""Numbered names: `bins_{1..15}` stands for `bins_1`, `bins_2` ... `bins_15`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from depthgauge.errors import BadScoreId

_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
_MOST = 1000
"""The longest range of numbered names."""


def expand(text: str) -> list[str]:
    """All texts that a text with a range stands for; several ranges advance together.

    >>> expand("bins_{1..3}")
    ['bins_1', 'bins_2', 'bins_3']
    >>> expand("all")
    ['all']
    """
    return [_filled(text, n) for n in _numbers(text)] or [text]


def expand_all(texts: Iterable[str]) -> list[str]:
    """All texts that several texts stand for, in order."""
    return [each for text in texts for each in expand(text)]


def expand_table(table: Mapping[str, str]) -> dict[str, str]:
    """A table in which the range in a key and the range in its value advance together.

    A range may count down.

    >>> expand_table({"gap_{1..2}": "gaps & bins_{2..1}"})
    {'gap_1': 'gaps & bins_2', 'gap_2': 'gaps & bins_1'}
    """
    return dict(_pairs(table))


def _pairs(table: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        names, texts = expand(key), expand(value)
        if len(names) == 1 and len(texts) > 1:
            raise BadScoreId(f"'{value}' has a range but its name '{key}' has none.")
        if len(texts) == 1:
            texts *= len(names)
        if len(texts) != len(names):
            raise BadScoreId(f"'{key}' and '{value}' count differently.")
        yield from zip(names, texts, strict=True)


def _numbers(text: str) -> list[int]:
    """The numbers of the ranges in a text; all ranges must be equal."""
    found = {(int(a), int(b)) for a, b in _RANGE.findall(text)}
    if not found:
        return []
    if len(found) > 1:
        raise BadScoreId(f"'{text}' has two different ranges; use one.")
    first, last = found.pop()
    if abs(last - first) > _MOST:
        raise BadScoreId(f"'{text}': a range has at most {_MOST} numbers.")
    return list(range(first, last + 1) if first <= last else range(first, last - 1, -1))


def _filled(text: str, number: int) -> str:
    return _RANGE.sub(str(number), text)
