"""Maps: places that a subject moves through, one file per kind.

    place = MAPS["Street"].build(2)

A module joins by having `MAP = MapKind(...)`. A layout fixes everything in a place; two kinds are
reserved and never used for training.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from depthgauge._registry import Registry
from depthgauge.synth.library.maps._place import MapKind, Place

__all__ = ["MAPS", "MapKind", "Place", "maps_of"]


def _collect(module: ModuleType) -> Iterator[tuple[str, MapKind]]:
    found = getattr(module, "MAP", None)
    if isinstance(found, MapKind):
        yield found.name, found


MAPS: Registry[MapKind] = Registry("map", "depthgauge.synth.library.maps", collect=_collect)
"""All kinds of maps by name."""


def maps_of(*, reserved: bool) -> list[str]:
    """The names of the maps that are kept for tests, or of all others."""
    return [name for name, kind in MAPS.items() if kind.reserved == reserved]
