"""Photographs that lost something on the way: strong JPEG compression, automatic exposure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from depthgauge.errors import BadFile
from depthgauge.io.photographs.jpeg_quality import jpeg_quality

LEAST_QUALITY = 95.0
"""Below this quality, blocks of a JPEG move matches."""
MOST_VARIATION = 0.05
"""Random patterns have the same mean brightness to less than a hundredth."""


def qualities(paths: Iterable[Path]) -> dict[Path, float]:
    """The quality of every JPEG among some files; others, and damaged ones, are left out."""
    found = {}
    for path in paths:
        try:
            quality = jpeg_quality(path)
        except BadFile:
            continue
        if quality is not None:
            found[path] = quality
    return found


def compression_warnings(where: str, paths: Iterable[Path]) -> list[str]:
    """A sentence if some of the photographs are strongly compressed JPEGs.

    Args:
        where: What they are, at the beginning of the sentence.
        paths: The files.
    """
    found = qualities(paths)
    strong = {path: quality for path, quality in found.items() if quality < LEAST_QUALITY}
    if not strong:
        return []
    worst = min(strong.values())
    return [
        f"{where}: {len(strong)} photographs are JPEG of a quality down to {worst:.0f}, which "
        "moves matches by up to a tenth of a pixel; use RAW, TIFF or PNG, or at least quality "
        f"{LEAST_QUALITY:.0f}."
    ]


def brightness_warnings(where: str, means: Mapping[str, float]) -> list[str]:
    """A sentence if the mean brightness of patterns varies: exposure was not fixed.

    Args:
        where: What they are, at the beginning of the sentence.
        means: Mean grey level by pattern.
    """
    if len(means) < 2:
        return []
    usual = float(np.median(list(means.values())))
    if usual <= 0:
        return []
    low, high = (pick(means, key=lambda name: means[name]) for pick in (min, max))
    if max(means[high] / usual - 1, 1 - means[low] / usual) <= MOST_VARIATION:
        return []
    return [
        f"{where}: the mean brightness varies between patterns, from {means[low]:.0f} ({low}) to "
        f"{means[high]:.0f} ({high}) grey levels, so exposure or white balance was automatic, or a "
        "light changed; fix them, since matching compares patterns with each other."
    ]
