"""Which differences are too small to matter, given the accuracy of the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping

from depthgauge.analysis.curves import CorrectCurve, correct_curves, percent_bad_at
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.store.record import Run
from depthgauge.metrics import Recipe


def smallest_differences(
    run: Run,
    *,
    practical: Mapping[str, float] | None = None,
    accuracy: float | None = None,
) -> dict[str, float]:
    """The smallest difference that matters, by score id; scores without one are left out.

    Args:
        run: With its protocol and curves.
        practical: What was said for single scores; it holds before anything else.
        accuracy: Error bound of the truth, in the quantity's unit, for the other scores (see
            `practical_thresholds`). By default what the protocol says.
    """
    accuracy = run.protocol.truth_accuracy if accuracy is None else accuracy
    limits = practical_thresholds(run, accuracy) if accuracy is not None else {}
    return limits | dict(practical or {})


def practical_thresholds(run: Run, accuracy: float) -> dict[str, float]:
    """Differences below these may come from the truth's own error.

    - Scores in the quantity's own unit (mae, rms, bias, epe, quantiles): the accuracy itself. If
      every true value moves by at most a, each of these moves by at most a.
    - Percentages of pixels over a threshold t (badpix, npx): if true values move by at most a,
      pixels with errors between t - a and t + a may change sides. The threshold is half of the
      change of the pooled percentage between those two, (P(t - a) - P(t + a)) / 2, the largest over
      methods. It is read from the run's curves, which are for the whole truth, not for the score's
      region; without curves these scores have no threshold.

    Other scores (relative errors, angles, squares) have none.

    Args:
        run: A run with its protocol and curves.
        accuracy: The largest error of true values, in the quantity's unit.

    Returns:
        score id -> the smallest difference that matters.
    """
    curves = correct_curves(run)
    found = {}
    for spec in run.protocol.specs:
        if spec.metric.unit.degree == 1:
            found[spec.id] = accuracy
        elif (limit := threshold_of(spec)) is not None and curves:
            found[spec.id] = _half_change(curves, limit, accuracy)
    return {name: value for name, value in found.items() if value > 0}


def threshold_of(spec: ScoreSpec) -> float | None:
    """The threshold above which a score counts pixels; None for other scores."""
    recipe = spec.metric.recipe(**spec.params)
    if isinstance(recipe, Recipe) and [term.name for term in recipe.terms] == ["over"]:
        return recipe.terms[0].params[0]
    return None


def _half_change(curves: Mapping[str, CorrectCurve], limit: float, accuracy: float) -> float:
    changes = [
        percent_bad_at(curve, max(limit - accuracy, 0.0)) - percent_bad_at(curve, limit + accuracy)
        for curve in curves.values()
    ]
    return max((change / 2.0 for change in changes if not math.isnan(change)), default=0.0)
