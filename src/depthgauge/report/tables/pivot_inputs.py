"""At which size a method looks at its pictures, as the options of its run say it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

FULL, HALF, QUARTER = "F", "H", "Q"
_SCALES = {1.0: FULL, 0.5: HALF, 0.25: QUARTER}
_WORDS = {"full": FULL, "half": HALF, "quarter": QUARTER}
NOTE = (
    "F, H, Q: full, half and quarter of the pictures' width and height; "
    "of two pictures of different size, of the smaller one unless said."
)


def input_resolution(options: Mapping[str, Any]) -> str:
    """`F`, `H` or `Q`, another factor, a size in px, or nothing where no option says it.

    `input_size` goes before `input_scale`. Of pictures of two sizes (`match_size`), a scale counts
    from the smaller one, or from the larger one, which is then said.

    >>> input_resolution({"input_scale": 0.25}), input_resolution({"input_size": "320x192"})
    ('Q', '320\u00d7192')
    >>> input_resolution({"input_scale": 0.5, "match_size": "larger"}), input_resolution({})
    ('H of larger', '')
    """
    if size := options.get("input_size"):
        return _WORDS.get(str(size), re.sub(r"(?<=\d)x(?=\d)", "\u00d7", str(size)))
    scale = options.get("input_scale")
    if not isinstance(scale, int | float) or isinstance(scale, bool):
        return ""
    text = _SCALES.get(float(scale), f"{scale:g}")
    return f"{text} of larger" if options.get("match_size") == "larger" else text
