"""Units of scores, and how a score follows when the unit of its quantity changes."""

from __future__ import annotations

from enum import Enum

from depthgauge.quantities import QUANTITIES


class Unit(Enum):
    """The unit of a score: its symbol, and the power of the quantity's own unit in it.

    A score of degree 1 doubles when estimate and truth (and thresholds in the same unit) double,
    one of degree 2 grows fourfold, one of degree 0 stays as it is.
    """

    PERCENT = ("%", 0)
    RATIO = ("", 0)
    DEGREE = ("deg", 0)
    DECIBEL = ("dB", 0)
    PIXEL = ("px", 0)
    """A length in the picture, whatever the quantity."""
    METRE = ("m", 0)
    """A length in space, whatever the quantity."""
    QUANTITY = ("{}", 1)
    QUANTITY_SQUARED = ("{}\u00b2", 2)
    HUNDREDTH_PER_PX2 = ("0.01 {}/px\u00b2", 1)
    """Curvature times 100, as light-field papers give it."""

    def __init__(self, symbol: str, degree: int) -> None:
        self.symbol = symbol
        self.degree = degree

    def of(self, quantity: str) -> str:
        """The symbol for scores of that quantity: `px`, `m`, `px²`, `%` ...

        >>> Unit.QUANTITY_SQUARED.of("depth"), Unit.PERCENT.of("flow")
        ('m²', '%')
        """
        base = QUANTITIES[quantity].unit if quantity in QUANTITIES else ""
        return self.symbol.format(base) if base or self.degree == 0 else ""
