"""Long lists, shortened for the person who reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_NAMES = re.compile(r"'[^']*'")
_OPEN = re.compile(r"'[^']*'|-?\d[\d.,]*")
"""What differs between two notes of one kind: names and numbers."""


def first_few(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """The first names of a list as part of a sentence, and how many more there are.

    >>> first_few(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    listed = separator.join(names[:most])
    more = len(names) - most
    return f"{listed}{separator.rstrip(', ')} and {more} more" if more > 0 else listed


def few_of_each_kind(notes: Iterable[str], most: int = 8) -> tuple[str, ...]:
    """At most `most` notes of each kind, then how many more there are; no note twice.

    Two notes are of one kind if they differ in names and numbers only. They are the same note if
    their names also agree: each stroke is mentioned once.

    >>> few_of_each_kind((f"Stroke '{i}' is short." for i in "abcda"), most=2)
    ("Stroke 'a' is short.", "Stroke 'b' is short.", 'and 2 more of this kind.')
    """
    kinds: dict[str, dict[tuple[str, ...], str]] = {}
    for note in notes:
        names = tuple(_NAMES.findall(note)) or (note,)
        kinds.setdefault(_OPEN.sub("_", note), {}).setdefault(names, note)
    said: list[str] = []
    for found in kinds.values():
        listed = list(found.values())
        # One more line is no longer than the line that says so.
        shown = listed if len(listed) <= most + 1 else listed[:most]
        said += shown
        if len(shown) < len(listed):
            said.append(f"and {len(listed) - len(shown)} more of this kind.")
    return tuple(said)
