"""Estimates the way Booster's online benchmark and its challenges take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from depthgauge import io
from depthgauge._registry import unknown
from depthgauge.datasets._booster import layout
from depthgauge.datasets._paths import inside
from depthgauge.types import Map

SCALE = 64.0
"""Codes per px: a 16-bit PNG reaches to 1023.98 px."""
_STYLES = ("png", "npy")


def write_submission(
    root: Path,
    estimates: Mapping[str, Map] | Iterable[tuple[str, Map]],
    *,
    style: Literal["png", "npy"] = "png",
    setup: str = layout.BALANCED,
) -> None:
    """Writes disparity maps as they are submitted.

    - `png`, the online benchmark: `<setup>/<Scene>/im0.png`, 16 bits, disparity * 64.
    - `npy`, the challenges: `<Scene>/im0.npy`, float32, without a folder around the scenes.

    `depthgauge check booster-balanced ROOT --data DIR` looks at what was written, and `score` reads
    it. A missing pixel is 0 in a PNG and NaN in a NumPy file.

    Args:
        root: The folder that is zipped and sent.
        estimates: By sample id (`Bathroom/im0`); pairs may come one by one.
        style: Which of the two.
        setup: `balanced` or `unbalanced`, for the PNG style.

    Raises:
        DoesNotFit: A PNG cannot hold a value: below 1/128 px, or above 1023.99 px.
    """
    if style not in _STYLES:
        raise unknown("style of submission", style, _STYLES)
    if setup not in (layout.BALANCED, layout.UNBALANCED):
        raise unknown("setup", setup, (layout.BALANCED, layout.UNBALANCED))
    pairs = estimates.items() if isinstance(estimates, Mapping) else estimates
    for sample_id, values in pairs:
        folder = f"{setup}/" if style == "png" else ""
        path = inside(Path(root), f"{folder}{sample_id}.{style}")
        path.parent.mkdir(parents=True, exist_ok=True)
        scale = SCALE if style == "png" else None
        io.write_map(path, values, quantity="disparity", scale=scale)
