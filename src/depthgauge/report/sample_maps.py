"""All maps of one sample that are drawn, made from a run's data and estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from depthgauge.analysis.board import Board
from depthgauge.analysis.method_maps import least_error, median_difference_map, share_wrong
from depthgauge.analysis.oracles import per_pixel_median_difference
from depthgauge.analysis.practical import threshold_of
from depthgauge.analysis.seeds import sample_values
from depthgauge.engine.maps import RunMaps
from depthgauge.engine.measure import Prepared
from depthgauge.engine.record import Run
from depthgauge.metrics import METRICS
from depthgauge.report.metric_maps import metric_maps
from depthgauge.report.normal_row import rig_of
from depthgauge.report.outlines import outline_of
from depthgauge.report.picture_groups import SampleMaps
from depthgauge.report.tables import show_amount
from depthgauge.types import Map
from depthgauge.units import QUANTITY_UNITS

_USUAL_THRESHOLD = {"disparity": 2.0, "flow": 3.0, "depth": 0.1}
_MEDIAN_NEEDS = 3


def sample_maps(
    maps: RunMaps,
    board: Board,
    sample: str,
    found: Mapping[str, Prepared],
    why: tuple[str, ...] = (),
) -> SampleMaps:
    """All that is drawn of one sample; methods in the order of the board."""
    protocol = maps.run.protocol
    quantity = protocol.quantity
    labels = [row.label for row in board.rows if row.label in found]
    bare = maps.missing(sample)
    truth = bare.truth
    ordered = {label: found[label] for label in labels}
    stack = [each.allowed for each in ordered.values()]
    threshold = _threshold(maps.run, board)
    several, enough = len(stack) > 1, len(stack) >= _MEDIAN_NEEDS
    return SampleMaps(
        sample=sample,
        quantity=quantity,
        truth=truth,
        images={name.replace("_", " "): image for name, image in maps.images(sample).items()},
        estimates=dict(zip(labels, stack, strict=True)),
        errors={label: _error(quantity, found[label].allowed, truth) for label in labels},
        error_name="end-point error" if quantity == "flow" else "absolute error",
        median_diffs={
            label: -median_difference_map(stack, truth, n)
            for n, label in enumerate(labels)
            if enough
        },
        share_wrong=100 * share_wrong(stack, truth, threshold) if several else None,
        share_wrong_at=f"error above {threshold:g} {QUANTITY_UNITS.get(quantity, '')}".strip(),
        median_error=_error(quantity, per_pixel_median_difference(stack, truth), truth)
        if enough
        else None,
        least_error=least_error(stack, truth) if several else None,
        outline=outline_of(protocol, bare),
        rig=rig_of(protocol, bare),
        metric_maps=metric_maps(protocol, ordered, _scores(maps.run, labels, sample)),
        notes=_notes(maps.run, board, sample),
        why=why,
    )


def _error(quantity: str, estimate: Map, truth: Map) -> Map:
    return METRICS["epe" if quantity == "flow" else "mae"].error_map(estimate, truth)


def _scores(run: Run, labels: Sequence[str], sample: str) -> dict[str, dict[str, float]]:
    """Label -> score id -> value of one sample, of the first seed."""
    found = {}
    for entrant in run.entrants:
        if entrant.label in labels:
            here = run.results[entrant.label, entrant.seeds[0]].samples.get(sample, {})
            found[entrant.label] = {name: score.value for name, score in here.items()}
    return found


def _threshold(run: Run, board: Board) -> float:
    """The main score's, or else the protocol's first."""
    limits = {spec.id: limit for spec in run.protocol.specs if (limit := threshold_of(spec))}
    first = next(iter(limits.values()), _USUAL_THRESHOLD.get(run.protocol.quantity, 1.0))
    return limits.get(board.main, first)


def _notes(run: Run, board: Board, sample: str) -> dict[str, str]:
    """Each method's score here, or why it failed."""
    column = board.column(board.main)
    notes = {}
    for row in board.rows:
        if row.oracle:
            continue
        if sample in row.failed:
            notes[row.label] = f"failed: {row.failed[sample]}"
            continue
        value = sample_values(run, row.label, board.main).get(sample, math.nan)
        notes[row.label] = f"{column.metric} {show_amount(value, column.unit)}"
    return notes
