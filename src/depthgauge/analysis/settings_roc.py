"""Error rate against sparsity over the settings of a method: Kostlivá, Čech & Šára 2007.

A run may have one method several times, with different options. Each setting is a point: how many
pixels it leaves without an estimate, and how many of its estimates are wrong. The settings that no
other setting beats in both form the method's curve; the best of all methods together is the
feasibility boundary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from depthgauge.analysis.comparable import has_pixel_errors
from depthgauge.analysis.seeds import seeds_of
from depthgauge.analysis.thresholds import own_thresholds
from depthgauge.engine.store.record import THRESHOLDS, Curve, Run
from depthgauge.errors import Misuse
from depthgauge.quantities import QUANTITIES

_ALONE = ("folder", "command")
"""Kinds of methods whose entries are different methods, not settings of one."""
_USUAL = 1.0


@dataclass(frozen=True, slots=True)
class Setting:
    """One entry of a run: a method with its options."""

    label: str
    sparsity: float
    """Percentage of the truth pixels without an estimate."""
    error: float
    """Percentage of the estimates that are wrong by more than the threshold."""


@dataclass(frozen=True, slots=True)
class RocCurve:
    """The settings of one method, or of all."""

    settings: tuple[Setting, ...]
    """By increasing sparsity."""
    front: tuple[Setting, ...]
    """Those that no other one beats in sparsity and error; errors fall from first to last."""
    area: float
    """Mean over sparsities from 0 to 100 % of the least error that a setting of at most that
    sparsity has, in percent; where there is none, it counts as 100 %. Lower is better."""


@dataclass(frozen=True, slots=True)
class SettingsRoc:
    """The curves of all methods with several settings."""

    threshold: float
    unit: str
    curves: Mapping[str, RocCurve]
    """By method."""
    boundary: RocCurve
    """Of all entries: the feasibility boundary."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def settings_roc(run: Run, threshold: float | None = None) -> SettingsRoc | None:
    """Error rate against sparsity of the methods of a run that have several settings.

    Pixels of all samples are counted together, and seeds of a setting too. None if no method has
    two settings, or if single pixels have no errors.

    Args:
        run: A run with curves.
        threshold: An estimate is wrong if its error exceeds it; one of the thresholds of curves. By
            default the first of the protocol's own, else 1.

    Raises:
        Misuse: Errors were not counted at that threshold.
    """
    if not has_pixel_errors(run.protocol):
        return None
    limit = _threshold(run) if threshold is None else threshold
    if limit not in THRESHOLDS:
        known = ", ".join(f"{t:g}" for t in THRESHOLDS)
        raise Misuse(f"errors were not counted at {limit:g}, only at {known}.")
    groups: dict[str, list[Setting]] = {}
    for entrant in run.entrants:
        curves = [c for s in seeds_of(run, entrant.label) for c in _curves(run, entrant.label, s)]
        point = _setting(entrant.label, curves, THRESHOLDS.index(limit))
        if point is not None:
            name = entrant.label if entrant.method in _ALONE else entrant.method
            groups.setdefault(name, []).append(point)
    several = {name: roc_curve(points) for name, points in groups.items() if len(points) > 1}
    if not several:
        return None
    everything = roc_curve(point for points in groups.values() for point in points)
    unit = QUANTITIES[run.protocol.quantity].unit
    return SettingsRoc(limit, unit, several, everything)


def _threshold(run: Run) -> float:
    return next((t for t in own_thresholds(run.protocol) if t in THRESHOLDS), _USUAL)


def _curves(run: Run, label: str, seed: int) -> list[Curve]:
    return list(run.curves.get((label, seed), {}).values())


def _setting(label: str, curves: list[Curve], at: int) -> Setting | None:
    """The point of one entry; None if it has no pixel at all."""
    count, missing = sum(c.count for c in curves), sum(c.missing for c in curves)
    if not count + missing:
        return None
    within = sum(int(c.within[at]) for c in curves)
    # Without any estimate there is no wrong one, but the setting is of no use either.
    error = 100.0 * (count - within) / count if count else 100.0
    return Setting(label, 100.0 * missing / (count + missing), error)


def roc_curve(points: Iterable[Setting]) -> RocCurve:
    """The curve of some settings.

    >>> points = [Setting("a", 0, 40), Setting("b", 50, 10), Setting("c", 60, 20)]
    >>> curve = roc_curve(points)
    >>> [setting.label for setting in curve.front], curve.area
    (['a', 'b'], 25.0)
    """
    settings = tuple(sorted(points, key=lambda s: (s.sparsity, s.error, s.label)))
    front: list[Setting] = []
    for setting in settings:
        if not front or setting.error < front[-1].error:
            front.append(setting)
    places = np.array([0.0, *(s.sparsity for s in front), 100.0])
    least = np.array([100.0, *(s.error for s in front)])
    return RocCurve(settings, tuple(front), float(np.diff(places) @ least) / 100.0)
