"""Rooms that a camera can walk through, one file per kind, in thirty layouts.

    room = interior("kitchen", 7)

A layout fixes size, furniture, colours and textures; small objects, lamps' colours and the sky are
chosen for each picture by whoever photographs the room.
"""

from __future__ import annotations

from collections.abc import Callable

from depthgauge._registry import unknown
from depthgauge.synth.library.interiors._plan import Interior, Top
from depthgauge.synth.library.interiors.bathroom import bathroom
from depthgauge.synth.library.interiors.bedroom import bedroom
from depthgauge.synth.library.interiors.kitchen import kitchen
from depthgauge.synth.library.interiors.living_room import living_room
from depthgauge.synth.library.interiors.office import office

__all__ = ["INTERIORS", "LAYOUTS", "Interior", "Top", "interior"]

INTERIORS: dict[str, Callable[[int], Interior]] = {
    "bathroom": bathroom,
    "bedroom": bedroom,
    "kitchen": kitchen,
    "living-room": living_room,
    "office": office,
}
"""Kinds of rooms by name; a kind is a function of the layout's number."""
_MOST, _OTHERS = 10, 5
LAYOUTS: tuple[tuple[str, int], ...] = tuple(
    (kind, number)
    for kind in INTERIORS
    for number in range(_MOST if kind == "kitchen" else _OTHERS)
)
"""The layouts that sets are made of: ten kitchens and five of every other kind."""


def interior(kind: str, layout: int) -> Interior:
    """A furnished room.

    Raises:
        UnknownName: There is no such kind.
    """
    if kind not in INTERIORS:
        raise unknown("kind of room", kind, tuple(INTERIORS))
    return INTERIORS[kind](layout)
