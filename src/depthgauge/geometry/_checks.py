"""Checks of parameters; each kind of mistake has one sentence.

Regions run the same checks when a protocol is made, long before there is a map.
"""

from __future__ import annotations

import math

from depthgauge.errors import Misuse

_WIDEST = 99
"""px; each thread needs memory for a window of this width squared."""

GAPS = ("background", "open")
"""What missing truth counts as: as what is behind, or as unknown."""


def need_jump(jump: float) -> None:
    """Refuses a jump that is negative or not finite."""
    if not 0 <= jump < math.inf:
        raise Misuse(f"jump is {jump:g}; it must be finite and cannot be negative")


def need_length(name: str, length_px: int) -> None:
    """Refuses a width or a distance that is negative."""
    if length_px < 0:
        raise Misuse(f"{name} is {length_px}; a length cannot be negative")


def need_window(window: int, least: int = 1) -> None:
    """Refuses a window width that is even, too small or unreasonably large."""
    if not least <= window <= _WIDEST or window % 2 == 0:
        raise Misuse(f"window is {window}; a window's width is odd, from {least} to {_WIDEST}")


def need_gaps(gaps: str) -> None:
    """Refuses a word that is not one of `GAPS`."""
    if gaps not in GAPS:
        raise Misuse(f"gaps is '{gaps}'; it must be {' or '.join(GAPS)}")


def need_bends(flat: float, bend: float) -> None:
    """Refuses limits of curvature between which nothing is curved."""
    if not 0 <= flat <= bend:
        raise Misuse(f"flat is {flat:g} and bend {bend:g}; they must be 0 <= flat <= bend")
