"""Pixel by pixel, which of some methods is best, and where each is better than the others."""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from depthgauge.analysis.maps.across_methods import best_method, median_difference_map
from depthgauge.report.pictures.colours import NO_TRUTH_COLOUR, Rgb, rgb_of
from depthgauge.report.pictures.encode import encode, picture_of_map, signed_bar
from depthgauge.report.pictures.model import ColourBar, Picture
from depthgauge.serve.exhibits.files import WIDE
from depthgauge.serve.exhibits.pack import read_member
from depthgauge.types import Map, Mask

BEST = "best"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8578d", "#d98c00", "#3a9bd9")
"""Of the methods, in their order: those of the charts."""
_EQUAL, _NOBODY = "#c9c9c4", "#1c1c1c"

Kept = tuple[tuple[Path, str], ...]
"""The small error map of each method: its pack and its name there."""


@functools.lru_cache(maxsize=32)
def compared_maps(kept: Kept, labels: tuple[str, ...], unit: str) -> Mapping[str, Picture]:
    """The pictures by name: `best`, and `against-0` ... for each method.

    With two methods there is one picture of the difference of their errors, with more of them
    each is compared with the median of all (MedianDiff, Honauer 2019). Empty if the maps have
    different sizes.
    """
    stored = [_read(pack, name) for pack, name in kept]
    if len(stored) < 2 or len({each.shape for each in stored}) > 1:
        return {}
    known: Mask = ~np.isinf(stored[0])
    errors = [np.where(known, each, np.float32(np.nan)) for each in stored]
    found = {BEST: _best(errors, labels, known)}
    if len(errors) == 2:
        away = {0: errors[0] - errors[1]}
        captions = {
            0: f"error of {labels[0]} minus error of {labels[1]} (blue: {labels[0]} is better)"
        }
    else:
        zero = np.where(known, np.float32(0), np.float32(np.nan))
        away = {k: median_difference_map(errors, zero, k) for k in range(len(errors))}
        captions = {
            k: f"{label} against the median (blue: better)" for k, label in enumerate(labels)
        }
    bar = signed_bar(away.values(), known, unit)
    for place, values in away.items():
        picture = picture_of_map(values, known, bar, captions[place], wide=WIDE)
        found[f"against-{place}"] = picture
    return found


def _read(pack: Path, name: str) -> Map:
    with np.load(io.BytesIO(read_member(pack, name) or b"")) as stored:
        values: Map = stored["values"]
    return values


def _best(errors: Sequence[Map], labels: Sequence[str], known: Mask) -> Picture:
    """Every pixel in the colour of the method that has the smallest error there."""
    zero = np.where(known, np.float32(0), np.float32(np.nan))
    best = best_method(errors, zero)
    picture: Rgb = np.full((*best.shape, 3), rgb_of(NO_TRUTH_COLOUR), np.uint8)
    count = max(1, int(known.sum()))
    entries = []
    for place, (label, colour) in enumerate(zip(labels, COLOURS, strict=False)):
        here = best == place
        picture[here] = rgb_of(colour)
        entries.append((f"{label}: {100 * here.sum() / count:.0f} %", colour))
    equal = best == -1
    if equal.any():
        picture[equal] = rgb_of(_EQUAL)
        entries.append((f"equally good: {100 * equal.sum() / count:.0f} %", _EQUAL))
    nobody = known & np.isnan(best)
    if nobody.any():
        picture[nobody] = rgb_of(_NOBODY)
        entries.append((f"no estimate: {100 * nobody.sum() / count:.0f} %", _NOBODY))
    bar = ColourBar(0.0, 1.0, "", "entries", no_truth=bool((~known).any()), entries=tuple(entries))
    height, width = best.shape
    return Picture(
        encode(picture, lossless=True), (width, height), "best method of each pixel", bar
    )
