"""What the error bars of a session can be trusted for, in the audit's first line.

Error bars come from a model that was fitted on simulated sessions and checked on others. Whether
they hold for a session like none of those is not known, and the audit says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge.capture.calibrate.calibration import read_calibration
from depthgauge.capture.clean.step import CleanOptions
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.steps import has_step, read_step
from depthgauge.io.text import read_json

WIDTHS_PX = (320, 2056)
PATTERNS = (2, 50)
SCALES = (0.5, 1.0)
"""Sizes, numbers of patterns and scales of matching of the simulated sessions on which error bars
were checked."""
BOARD_RMS_PX = 0.05
"""Boards of those sessions fit to a third of this."""
_SHARED = "in the unbalanced pair over many sessions, since each shares its calibration's errors"
_ENGINE = "classical"
_PATTERNS = "spacetime/patterns.json"
_SHAPING = ("filter", "window_px", "filter_sigma_px", "filter_distance_px")
"""Options of `clean` on which the errors of labels depend most."""
_SMALL_PX = 640
"""Sessions up to this width and those above were counted separately."""


@dataclass(frozen=True, slots=True)
class WeakCell:
    """Labels whose error bars were checked and found too large."""

    pair: str
    where: str
    shares: tuple[int, int]
    """Percentages of labels within one and two standard deviations."""
    above_px: int = 0
    most_px: float = math.inf
    most_patterns: float = math.inf
    """Sessions above this width, up to this width and up to this many patterns are told of it."""

    def __str__(self) -> str:
        one, two = self.shares
        return f"{self.where} ({one} and {two} %)"


WEAK_CELLS = (
    WeakCell("balanced", "for class 1 up to 640 px", (75, 97), most_px=_SMALL_PX),
    WeakCell("balanced", "for class 3 in the 8 largest sessions", (76, 97), above_px=_SMALL_PX),
    WeakCell("unbalanced", "over all 27 sessions", (71, 96)),
    WeakCell("unbalanced", "over the 8 largest", (72, 96), above_px=_SMALL_PX),
    WeakCell("unbalanced", "for class 2 in the 8 largest", (79, 99), above_px=_SMALL_PX),
    WeakCell("unbalanced", "for class 1 up to 640 px", (76, 97), most_px=_SMALL_PX),
    WeakCell(
        "unbalanced", "in 2 of 3 sessions of 640 px", (78, 98), above_px=520, most_px=_SMALL_PX
    ),
    WeakCell("unbalanced", "with two patterns", (74, 97), most_patterns=2),
)
"""All cells in which the goal was missed: by 3 points over all labels of a pair, by 6 elsewhere."""


@dataclass(frozen=True, slots=True)
class BarPromise:
    """Whether error bars were checked on sessions like this one."""

    statement: str
    outside: tuple[str, ...]
    """In what the session differs from all that were checked."""
    except_for: tuple[str, ...] = ()
    """Labels of sessions like this one whose error bars were checked and did not hold."""

    def to_json(self) -> dict[str, Any]:
        """Plain data for `audit.json`."""
        return {
            "statement": self.statement,
            "checked_for": {
                "width_px": list(WIDTHS_PX),
                "patterns": list(PATTERNS),
                "scales": list(SCALES),
                "board_rms_px": BOARD_RMS_PX,
            },
            "outside": list(self.outside),
            "except_for": list(self.except_for),
        }


def bar_promise(work: Path, *, simulated: bool) -> BarPromise:
    """What can be said about the error bars in a work folder.

    Args:
        work: A work folder with labels.
        simulated: Whether the photographs were simulated.
    """
    outside = tuple(_differences(work))
    kind = "other simulated sessions" if simulated else "simulated sessions, never on photographs"
    goal = "68 and 95 % of the labels within one and two standard deviations"
    if outside:
        return BarPromise(
            f"the error bars cannot be promised: {'; '.join(outside)}. They were checked on {kind}",
            outside,
        )
    said = [f"error bars ({goal}) were checked on {kind}"]
    weak = list(_weak_cells(work, "balanced"))
    if (work / "rectify" / "LC.json").is_file():
        said.append(_SHARED)
        weak += _weak_cells(work, "unbalanced")
    return BarPromise("; ".join((*said, *weak)), outside, tuple(weak))


def _weak_cells(work: Path, pair: str) -> Iterator[str]:
    """Where the goal was missed, among sessions like this one: one sentence at most."""
    width = read_pair(work, "LR").left.camera.size_px[0]
    patterns = len(read_json(work / _PATTERNS)["used"])
    found = [
        str(cell)
        for cell in WEAK_CELLS
        if cell.pair == pair
        if cell.above_px < width <= cell.most_px and patterns <= cell.most_patterns
    ]
    if found:
        *first, last = found
        listed = f"{', '.join(first)} and {last}" if first else last
        yield f"error bars of the {pair} pair are too large {listed}"


def _differences(work: Path) -> list[str]:
    width = read_pair(work, "LR").left.camera.size_px[0]
    found = _out_of(width, WIDTHS_PX, f"images are {width} px wide", " px")
    found += _matching(work)
    if has_step(work, "clean"):
        options, usual = read_step(work, "clean").options, CleanOptions()
        changed = [n for n in _SHAPING if n in options and options[n] != getattr(usual, n)]
        if changed:
            found.append(f"`clean` was given {', '.join(changed)}")
    return found + _calibration(work)


def _matching(work: Path) -> list[str]:
    path = work / _PATTERNS
    if not path.is_file():
        return ["the patterns that were matched are not known"]
    record = read_json(path)
    used = len(record["used"])
    found = _out_of(used, PATTERNS, f"the number of matched patterns is {used}", "")
    if record["engine"] != _ENGINE:
        found.append(f"the engine was {record['engine']}")
    if record["scale"] not in SCALES:
        found.append(
            f"the patterns were matched at a scale of {record['scale']:.2g} (checked: "
            f"{' and '.join(f'{scale:g}' for scale in SCALES)})"
        )
    return found


def _calibration(work: Path) -> list[str]:
    if not has_step(work, "calibrate"):
        return ["the calibration is not known"]
    calibration, found = read_calibration(work), []
    if calibration.covariance is None:
        found.append("the calibration has no covariance (it was not refined jointly)")
    rms = max(pose.rms_px for pose in calibration.pairs.values())
    if not rms <= BOARD_RMS_PX:
        found.append(f"boards fit to {rms:.2f} px only (checked: up to {BOARD_RMS_PX} px)")
    return found


def _out_of(value: float, limits: tuple[int, int], said: str, unit: str) -> list[str]:
    low, high = limits
    if low <= value <= high:
        return []
    return [f"{said} (checked: {low} to {high}{unit})"]
