"""The error maps of a protocol: which there are, what they show, where they go."""

from __future__ import annotations

from pathlib import Path

from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec, file_name
from depthgauge.engine.scoring.measure import Prepared, lacking
from depthgauge.metrics import Order, Recipe
from depthgauge.metrics.boundaries import FALSE_ALARM, HIT, MISSED
from depthgauge.metrics.terms import ABS, Term
from depthgauge.report.pictures.files import write_class_map, write_error_map, write_picture
from depthgauge.report.pictures.metric_maps import error_map_of, judged_by
from depthgauge.report.pictures.quantities.boundaries import CODE_COLOURS
from depthgauge.report.pictures.quantities.planes import paint_beside

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
    if protocol.quantity == "planes":
        # There is no error of a pixel; what can be seen is which planes were found.
        image = prepared.items.get("left_image")
        picture = paint_beside(prepared.allowed, prepared.truth, image)
        write_picture(folder / "planes.png", picture)
        return []
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
        path, title = folder / f"{file_name(metric_id)}.png", f"{sample}: {metric_id}"
        if protocol.quantity == "boundaries":
            _write_matches(path, prepared, spec, title)
            continue
        write_error_map(
            path,
            error_map_of(prepared, spec),
            prepared.known,
            title=title,
            unit=_label(spec, protocol.quantity),
            aside=prepared.known & ~judged_by(prepared, spec) if own else None,
        )
    return without


def _write_matches(path: Path, prepared: Prepared, spec: ScoreSpec, title: str) -> None:
    """What became of lines, at the threshold that is best for this sample."""
    codes = error_map_of(prepared, spec)
    masks = {
        name: (codes == code, CODE_COLOURS[code])
        for name, code in (("missed", MISSED), ("false alarm", FALSE_ALARM), ("hit", HIT))
    }
    write_class_map(path, masks, prepared.known, title=f"{title}, at its own best threshold")


def _shown(spec: ScoreSpec) -> tuple[object, ...] | None:
    """What the map of a metric shows, to be drawn once; None where it is of that score alone."""
    recipe = spec.metric.recipe(**spec.params)
    if recipe is None and "boundaries" in spec.metric.of:
        # All scores of boundaries are made of the same matches.
        return spec.metric.error_map_with, *spec.params.items()
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
    if quantity == "normals" and unit != "%":
        return f"angle in {unit}"
    if shown is None or shown[1] is not None or not isinstance(shown[0], Term):
        return unit
    return _LABELS.get(shown[0].name, "{}").format(unit) or "ratio"
