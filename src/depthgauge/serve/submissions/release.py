"""What leaves of a result whose truth is hidden, and how often a team may ask for one."""

from __future__ import annotations

import math
from collections.abc import Iterator

from depthgauge.engine.scoring.result import Result
from depthgauge.serve.submissions.registry import Registered
from depthgauge.serve.submissions.rounding import best_value, coarse

DIGITS = 3
"""Of benchmarks that were added before there were steps; adding them again sets steps."""


def released(found: Registered, result: Result) -> Iterator[tuple[str, str, float | None]]:
    """What may be known of a result: sample (empty: all), score id, value.

    Of hidden truth only what the benchmark's `[hidden]` lists, rounded. Counts, missing pixels,
    states and reasons are never in it.
    """
    rules = found.protocol.hidden
    everything = found.hidden is None
    names = found.protocol.score_ids if everything else found.protocol.released_scores
    for name in names:
        whole = result.summary.get(name)  # none where no sample has such a region
        yield "", name, None if whole is None else _shown(found, name, whole.value)
        if everything or rules.samples:
            for sample, scores in result.samples.items():
                if name in scores and scores[name].why != "dataset":
                    yield sample, name, _shown(found, name, scores[name].value)


def _shown(found: Registered, name: str, value: float) -> float | None:
    if found.hidden is None:
        return rounded(value, None)
    best = best_value(found.protocol, name) if found.rounding is not None else None
    if found.rounding is not None and best is not None:
        return coarse(value, best, found.rounding, name)
    return rounded(value, found.protocol.hidden.digits or DIGITS)


def rounded(value: float, digits: int | None) -> float | None:
    """A value with so many significant digits; None for what is no number.

    >>> rounded(12.3456, 3), rounded(float("nan"), 3), rounded(0.1 + 0.2, None)
    (12.3, None, 0.30000000000000004)
    """
    if not math.isfinite(value):
        return None
    return value if digits is None else float(f"{value:.{digits}g}")
