"""Quantities: what can be estimated. One file per quantity says all that is special about it.

>>> quantity("flow").unit, quantity("flow").channels
('px', 2)
>>> [name for name in QUANTITIES if quantity(name).space]
['depth', 'disparity', 'image_scene_flow']
"""

from __future__ import annotations

from depthgauge.quantities._axes import inner_axes, map_axes
from depthgauge.quantities._quantity import (
    CONFIDENCE,
    QUANTITIES,
    ErrorKind,
    Part,
    Quantity,
    guess,
    quantity,
)

__all__ = [
    "CONFIDENCE",
    "QUANTITIES",
    "ErrorKind",
    "Part",
    "Quantity",
    "guess",
    "inner_axes",
    "map_axes",
    "quantity",
]
