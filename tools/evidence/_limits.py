"""Numbers that must lie between two limits."""

from __future__ import annotations

from tools.evidence import Number


def within(name: str, value: float, least: float, most: float) -> Number:
    """A number that may be anything from the least to the most."""
    return Number(name, value, (least + most) / 2, (most - least) / 2)
