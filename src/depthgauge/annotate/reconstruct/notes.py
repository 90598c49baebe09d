"""Long lists of notes, made short for the person who reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAMES = re.compile(r"'[^']*'")
_OPEN = re.compile(r"'[^']*'|-?\d[\d.,]*")
"""What differs between two notes of one kind: names and numbers."""


def few(notes: Iterable[str], most: int = 8) -> tuple[str, ...]:
    """At most so many notes of each kind, then how many more there are; nothing twice.

    Notes are of one kind where they differ in names and numbers only, and the same where the names
    are the same too: one stroke is told of once.

    >>> few((f"Stroke '{i}' is short." for i in "abcda"), most=2)
    ("Stroke 'a' is short.", "Stroke 'b' is short.", 'and 2 more of this kind.')
    """
    kinds: dict[str, dict[tuple[str, ...], str]] = {}
    for note in notes:
        names = tuple(_NAMES.findall(note)) or (note,)
        kinds.setdefault(_OPEN.sub("_", note), {}).setdefault(names, note)
    said: list[str] = []
    for found in kinds.values():
        listed = list(found.values())
        # One line more is no longer than the line that says so.
        shown = listed if len(listed) <= most + 1 else listed[:most]
        said += shown
        if len(shown) < len(listed):
            said.append(f"and {len(listed) - len(shown)} more of this kind.")
    return tuple(said)
