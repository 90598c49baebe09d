"""The error maps of a protocol: which there are, what they show, where they go."""

from __future__ import annotations

from pathlib import Path

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec, file_name
from depthgauge.engine.measure import Prepared, lacking
from depthgauge.metrics import Order, Recipe
from depthgauge.metrics.terms import ABS, Term
from depthgauge.report.metric_maps import error_map_of, judged_by
from depthgauge.report.pictures import write_error_map

_LABELS = {
    "abs": "|e| in {}",
    "signed": "e in {}",
    "log": "ln(estimate / truth)",
    "relative": "|e| / |truth|",
}


def write_error_maps(
    folder: Path, protocol: Protocol, prepared: Prepared, sample: str
) -> list[str]:
    """Draws what was scored, once where several metrics show the same.

    Returns:
        The metrics that have no error map, or lack what they need on this sample.
    """
    without: list[str] = []
    drawn: set[object] = set()
    for metric_id, spec in {s.id.partition("@")[0]: s for s in protocol.specs}.items():
        own = spec.metric.error_map_with is not None
        if (spec.metric.recipe(**spec.params) is None and not own) or lacking(prepared, spec):
            without.append(metric_id)
            continue
        what = _shown(spec)
        if what is not None and what in drawn:
            continue
        drawn.add(what)
        write_error_map(
            folder / f"{file_name(metric_id)}.png",
            error_map_of(prepared, spec),
            prepared.known,
            title=f"{sample}: {metric_id}",
            unit=_label(spec, protocol.quantity),
            aside=prepared.known & ~judged_by(prepared, spec) if own else None,
        )
    return without


def _shown(spec: ScoreSpec) -> tuple[Term, float | None, bool] | None:
    """What the map of a pixel metric shows; None for a map of its own."""
    recipe = spec.metric.recipe(**spec.params)
    if isinstance(recipe, Order):
        return ABS, None, False
    if not isinstance(recipe, Recipe) or recipe.from_counts:
        return None
    term = recipe.shown or recipe.terms[0]
    # A plain mean of |e| and everything else that shows |e| are one picture.
    factor = None if recipe.factor in (None, 1.0) else recipe.factor
    return term, factor, recipe.flipped


def _label(spec: ScoreSpec, quantity: str) -> str:
    shown = _shown(spec)
    unit = spec.metric.unit.of(quantity)
    if shown is None or shown[1] is not None:
        return unit
    return _LABELS.get(shown[0].name, "{}").format(unit) or "ratio"
