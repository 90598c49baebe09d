"""The tables of docs/geometry-regions.md about gaps of the truth."""

from __future__ import annotations

from collections.abc import Mapping

from tools._measured import table, update
from tools.evidence import recorded_values

PAGE = "geometry-regions.md"
_PARTS = {
    "jump_edges": "discontinuities M_d",
    "near_foreground": "foreground M_f",
    "near_background": "background M_b",
    "fine_structures": "fine structures M_r",
    "fine_surroundings": "surroundings M_s",
}
_COLUMNS = {
    "gaps open": "24 scenes, gaps open",
    "closed": "24 scenes",
    "worst scene": "24 scenes, worst",
    "right view": "24 scenes, with the right view",
    "crowded, open": "24 crowded scenes, gaps open",
    "crowded, closed": "24 crowded scenes",
    "crowded, right view": "24 crowded scenes, with the right view",
}
_SCENES = ("Motorcycle", "Teddy", "Cones", "Reindeer")


def write_page(*, check: bool = False) -> bool:
    """Brings the tables of the page up to date; True where they are."""
    numbers = recorded_values("gaps")
    if not numbers:
        return False
    return update(PAGE, {"gaps": _kept(numbers), "real": _real(numbers)}, "evidence", check)


def _kept(numbers: Mapping[str, float]) -> str:
    """What is left of each region."""
    rows = [
        [f"`{region}`", *(f"{numbers[f'{part}, {column}']:.3f}" for column in _COLUMNS.values())]
        for region, part in _PARTS.items()
    ]
    return table(["region", *_COLUMNS], rows)


def _real(numbers: Mapping[str, float]) -> str:
    """What is found in measured truth."""
    names = ("fine structures", "their pixels", "median px of one", "pixels of M_d")
    rows = []
    for scene in _SCENES:
        counts = [[numbers[f"{scene}: {n}, gaps {g}"] for g in ("open", "closed")] for n in names]
        rows.append([scene, *(" / ".join(f"{value:g}" for value in pair) for pair in counts)])
    return table(["truth (gaps open / closed)", *names], rows)
