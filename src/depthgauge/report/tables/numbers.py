"""Numbers with their units, as pages and pictures show them."""

from __future__ import annotations

from depthgauge._tables import show_number


def show_amount(value: float, unit: str) -> str:
    """A number with its unit.

    >>> show_amount(2.5, "px"), show_amount(2.5, ""), show_amount(2.5, "0.01 px")
    ('2.500 px', '2.500', '2.500 \u00d7 0.01 px')
    """
    return f"{show_number(value)}{unit_after_number(unit)}"


def unit_after_number(unit: str) -> str:
    """A unit as written after a number: one that begins with a number itself is a factor."""
    if not unit:
        return ""
    return f" \u00d7 {unit}" if unit[0].isdigit() else f" {unit}"
