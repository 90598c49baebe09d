"""How photographs were exposed: what is saturated, and what is too dark to show anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Image, Mask

SATURATED_LEVEL = 254.5
"""Grey level of 255 from which a channel is saturated."""
DARK_LEVEL = 4.0
"""A pixel whose brightest channel is below this level shows little but noise."""
MOST_SATURATED = 0.05
"""A larger share of saturated pixels is worth a warning."""
MOST_DARK = 0.10
"""The same for dark pixels."""
_MOST_NAMES = 6


@dataclass(frozen=True, slots=True)
class Exposure:
    """Shares of a photograph's pixels."""

    saturated: float
    """A channel is at its upper end."""
    dark: float
    """All channels are below 4 of 255."""


def levels_of(image: Image) -> NDArray[np.float32]:
    """Grey levels from 0 to 255, (H, W) or (H, W, C); 16 bits keep their precision."""
    if image.dtype == np.uint8:
        return image.astype(np.float32)
    return np.asarray(np.clip(np.nan_to_num(image), 0, 1) * np.float32(255), np.float32)


def saturated_pixels(image: Image) -> Mask:
    """(H, W): where a channel is at its upper end."""
    high = levels_of(image) >= SATURATED_LEVEL
    return np.asarray(high.any(axis=2) if high.ndim == 3 else high)


def exposure_of(image: Image) -> Exposure:
    """Shares of saturated and of dark pixels.

    >>> exposure_of(np.array([[255, 100], [3, 0]], np.uint8))
    Exposure(saturated=0.25, dark=0.5)
    """
    levels = levels_of(image)
    brightest = levels.max(axis=2) if levels.ndim == 3 else levels
    saturated, dark = brightest >= SATURATED_LEVEL, brightest < DARK_LEVEL
    return Exposure(float(saturated.mean()), float(dark.mean()))


def exposure_figures(found: Mapping[str, Mapping[str, Exposure]]) -> dict[str, Any]:
    """By camera: the median and the largest share, and the photograph that has it."""
    figures: dict[str, Any] = {}
    for camera, by_name in found.items():
        if not by_name:
            continue
        own: dict[str, Any] = {}
        for kind in ("saturated", "dark"):
            shares = {name: getattr(e, kind) for name, e in by_name.items()}
            worst = max(shares, key=lambda name: shares[name])
            own[f"{kind}_median_share"] = round(float(np.median(list(shares.values()))), 6)
            own[f"{kind}_most_share"] = round(shares[worst], 6)
            own[f"{kind}_most_in"] = worst
        figures[camera] = own
    return figures


def exposure_warnings(found: Mapping[str, Mapping[str, Exposure]]) -> list[str]:
    """A sentence for each camera with badly exposed photographs, which are named."""
    said = []
    for camera, by_name in found.items():
        for kind, most, what in (
            ("saturated", MOST_SATURATED, "expose shorter, or bracket the exposures"),
            ("dark", MOST_DARK, "expose longer, or bracket the exposures"),
        ):
            bad = {n: share for n, e in by_name.items() if (share := getattr(e, kind)) > most}
            if bad:
                low, high = 100 * min(bad.values()), 100 * max(bad.values())
                share = f"{high:.0f} %" if high - low < 1 else f"{low:.0f} to {high:.0f} %"
                said.append(
                    f"camera {camera}: {share} of the pixels are {kind} in {len(bad)} of "
                    f"{len(by_name)} patterns ({names_of(list(bad))}); {what}."
                )
    return said


def exposure_json(found: Mapping[str, Mapping[str, Exposure]]) -> dict[str, Any]:
    """Plain data: the shares of every photograph, by camera and name."""
    return {
        camera: {name: {k: round(v, 6) for k, v in asdict(e).items()} for name, e in own.items()}
        for camera, own in found.items()
    }


def names_of(names: list[str]) -> str:
    """The first names, and how many there are more.

    >>> names_of([str(n) for n in range(9)])
    '0, 1, 2, 3, 4, 5 and 3 more'
    """
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
