"""How estimates are drawn, one module per quantity.

A module joins by having `SPEC = Drawing(...)` and a function `draw(sample)`. Quantities without a
module are drawn by `_default`.
"""
