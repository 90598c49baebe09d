"""All maps of one sample that are drawn, made from a run's data and estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from depthgauge.analysis.board import Board
from depthgauge.analysis.maps.across_methods import (
    least_error,
    median_difference_map,
    median_error,
    share_wrong,
)
from depthgauge.analysis.maps.stacks import unit_vectors
from depthgauge.analysis.practical import threshold_of
from depthgauge.analysis.seeds import sample_values, values_alone
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.measure import Prepared, lacking
from depthgauge.engine.store.record import Run
from depthgauge.metrics import METRICS
from depthgauge.quantities import QUANTITIES
from depthgauge.report.pictures.draw import SampleMaps
from depthgauge.report.pictures.kinds import kind_of
from depthgauge.report.pictures.metric_maps import error_map_of, judged_by, metric_maps
from depthgauge.report.pictures.normal_row import rig_of
from depthgauge.report.pictures.outlines import outline_of
from depthgauge.report.tables.numbers import show_amount
from depthgauge.types import Map, Mask

_USUAL_THRESHOLD = {"disparity": 2.0, "flow": 3.0, "depth": 0.1, "normals": 11.25}
_ERRORS = {"flow": "epe", "normals": "mean_angle"}
_SHOWN_ANYWAY = ("median_angle", "balanced_angle", "lsiv", "lsiv_root")
"""Metrics whose maps are the errors themselves."""
_ERROR_NAMES = {"flow": "end-point error", "normals": "angle to the truth"}
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
    quantity, kind = protocol.quantity, kind_of(protocol)
    bare = maps.missing(sample)
    truth = bare.truth
    ordered = {row.label: found[row.label] for row in board.rows if row.label in found}
    labels = list(ordered)
    stack = [_drawable(quantity, each.allowed) for each in ordered.values()]
    errors = _errors(protocol, ordered)
    threshold = _threshold(maps.run, board)
    # Where only pairs of points are known, or only shapes, there is nothing to be counted.
    comparable = kind != "shapes" and bool(bare.known.any())
    several, enough = comparable and len(stack) > 1, comparable and len(stack) >= _MEDIAN_NEEDS
    return SampleMaps(
        sample=sample,
        quantity=quantity,
        kind=kind,
        truth=truth,
        images={name.replace("_", " "): image for name, image in maps.images(sample).items()},
        estimates=dict(zip(labels, stack, strict=True)),
        errors=errors.maps if bare.known.any() else {},
        judged=errors.judged,
        error_name=errors.name,
        error_unit=errors.unit,
        median_diffs={
            label: -median_difference_map(stack, truth, n)
            for n, label in enumerate(labels)
            if enough
        },
        share_wrong=100 * share_wrong(stack, truth, threshold) if several else None,
        share_wrong_at=f"error above {threshold:g} {QUANTITIES[quantity].unit}".strip(),
        median_error=median_error(stack, truth) if enough else None,
        least_error=least_error(stack, truth) if several else None,
        outline=outline_of(protocol, bare) if kind == "values" else None,
        rig=rig_of(protocol, bare),
        metric_maps=metric_maps(
            protocol, ordered, _scores(maps.run, labels, sample), without=_SHOWN_ANYWAY
        ),
        notes=sample_notes(maps.run, board, sample),
        why=why,
    )


@dataclass(frozen=True)
class _Errors:
    """The errors of all methods, and what they are."""

    maps: Mapping[str, Map]
    name: str
    unit: str | None = None
    """The quantity's own where it is None."""
    judged: Mask | None = None
    """The pixels that they are about; all with truth where it is None."""


def _errors(protocol: Protocol, found: Mapping[str, Prepared]) -> _Errors:
    quantity = protocol.quantity
    if kind_of(protocol) != "shapes":
        metric = METRICS[_ERRORS.get(quantity, "mae")]
        maps = {label: metric.error_map(each.allowed, each.truth) for label, each in found.items()}
        return _Errors(maps, _ERROR_NAMES.get(quantity, "absolute error"))
    spec = _shape_spec(protocol)
    if spec is None or any(lacking(each, spec) for each in found.values()):
        return _Errors({}, "")
    maps = {label: error_map_of(each, spec) for label, each in found.items()}
    judged = judged_by(next(iter(found.values())), spec) if found else None
    return _Errors(maps, "distance after the best scale of each surface", "std of X", judged)


def _shape_spec(protocol: Protocol) -> ScoreSpec | None:
    """The score whose distances are shown where depth has no other error."""
    specs = {spec.metric.name: spec for spec in protocol.specs if spec.metric.error_map_with}
    return specs.get("lsiv_root", specs.get("lsiv"))


def _drawable(quantity: str, estimate: Map) -> Map:
    """The estimate; normals with length 1."""
    return unit_vectors(estimate) if quantity == "normals" else estimate


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


def sample_notes(run: Run, board: Board, sample: str) -> dict[str, str]:
    """By label, in the order of the board: the method's score here, or why it failed."""
    column = board.column(board.main)
    notes = {}
    for row in board.rows:
        if row.oracle:
            continue
        if sample in row.failed:
            notes[row.label] = f"failed: {row.failed[sample]}"
            continue
        if column.level == "sample":
            value = sample_values(run, row.label, board.main).get(sample, math.nan)
            notes[row.label] = f"{column.metric} {show_amount(value, column.unit)}"
            continue
        alone = values_alone(run, row.label, board.main, [sample])
        notes[row.label] = "".join(
            f"{column.metric} {show_amount(value, column.unit)} of this sample alone"
            for value in alone.values()
        )
    return notes
