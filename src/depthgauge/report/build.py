"""From a run to its report."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.analysis.agreement import least_error, median_difference_map, share_wrong
from depthgauge.analysis.board import Board
from depthgauge.analysis.curves import correct_curves
from depthgauge.analysis.make_board import make_board
from depthgauge.analysis.oracle_scores import score_oracles
from depthgauge.analysis.practical import threshold_of
from depthgauge.analysis.resampling import draw_units
from depthgauge.analysis.seeds import sample_values
from depthgauge.analysis.stability import rank_probabilities, rank_stability
from depthgauge.engine.maps import RunMaps
from depthgauge.engine.measure import Prepared
from depthgauge.engine.record import Run
from depthgauge.errors import DepthgaugeError
from depthgauge.metrics import METRICS
from depthgauge.report.choice import MOST_SAMPLES, choose_samples
from depthgauge.report.page import (
    CurvePoint,
    Curves,
    Page,
    Provenance,
    RankStability,
    SamplePictures,
    Scatter,
    radar_of,
    start_page,
)
from depthgauge.report.picture_groups import SampleMaps, draw_sample
from depthgauge.report.scatter import count_pairs, scatter_edges
from depthgauge.report.tables import show_number
from depthgauge.types import Map
from depthgauge.units import QUANTITY_UNITS

Progress = Callable[[str, int, int], None]
_USUAL_THRESHOLD = {"disparity": 2.0, "flow": 3.0, "depth": 0.1}
_MEDIAN_NEEDS = 3
_SHOWN_THRESHOLDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
"""Of the rank chart; more of them could not be told apart."""


def build_page(
    run: Run,
    *,
    data: Path | None = None,
    main: str | None = None,
    accuracy: float | None = None,
    practical: Mapping[str, float] | None = None,
    with_oracles: bool = False,
    with_pictures: bool = True,
    most_pictures: int = MOST_SAMPLES,
    progress: Progress | None = None,
) -> Page:
    """Everything that the report of a run shows.

    Args:
        run: A finished run.
        data: The dataset's folder, for pictures; by default the one that the run used. Where it
            is not there, the report has no pictures and says why.
        main: The score that sorts the methods; the protocol's first by default.
        accuracy: How far the truth may be off, in the quantity's unit; by default what the
            protocol says.
        practical: score id -> differences below this do not matter.
        with_oracles: Whether the oracles are computed; reads every stored estimate once.
        with_pictures: Whether there are any; not where several runs were put together.
        most_pictures: Samples with pictures.
        progress: Called with what was done, how much of it, of how much.
    """
    maps: RunMaps | None = None
    notes = ["Several runs were put together; their pictures are in the reports of each."]
    if with_pictures:
        maps, notes = _open_maps(run, data)
    oracles = None
    if with_oracles and maps is not None:
        try:
            oracles = score_oracles(maps, progress)
        except DepthgaugeError as error:
            notes.append(f"There are no oracles: {error}")
    board = make_board(run, main=main, accuracy=accuracy, practical=practical, oracles=oracles)
    known = values_of(run)
    values = {row.label: known[row.label] for row in board.rows if row.label in known}
    pictures: list[SamplePictures] = []
    scatter: dict[str, Scatter] = {}
    if maps is not None and most_pictures > 0:
        chosen = choose_samples(board, values, most_pictures)
        pictures, scatter, lost = _draw(maps, board, chosen, progress)
        notes += lost
    return start_page(
        run.protocol,
        board,
        samples=values,
        pictures=tuple(pictures),
        curves=_curves(run),
        stability=_stability(run, board),
        radar=radar_of(board),
        scatter={label: scatter[label] for label in values if label in scatter},
        rank_probabilities=_probabilities(run, board),
        provenance=_provenance(run),
        notes=tuple(notes),
    )


def _open_maps(run: Run, data: Path | None) -> tuple[RunMaps | None, list[str]]:
    if run.protocol.twin is not None:
        return None, ["A twin compares maps in its own way, so there are no pictures of it here."]
    if not all(body["kept"] or not body["keeps"] for body in run.info.get("methods", ())):
        return None, ["Not all estimates of this run were kept, so there are no pictures."]
    try:
        return RunMaps(run, data), []
    except DepthgaugeError as error:
        return None, [f"There are no pictures, because the data could not be read: {error}"]


def values_of(run: Run) -> dict[str, dict[str, dict[str, float]]]:
    """Label -> sample -> score id -> value, the mean over seeds where there are several."""
    return {entrant.label: _values(run, entrant.label) for entrant in run.entrants}


def _values(run: Run, label: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for score_id in run.protocol.score_ids:
        for sample, value in sample_values(run, label, score_id).items():
            found.setdefault(sample, {})[score_id] = value
    return {sample: found[sample] for sample in run.samples if sample in found}


def _draw(
    maps: RunMaps,
    board: Board,
    chosen: Mapping[str, tuple[str, ...]],
    progress: Progress | None,
) -> tuple[list[SamplePictures], dict[str, Scatter], list[str]]:
    edges = scatter_edges(_truths(maps, chosen))
    scatter: dict[str, Scatter] = {}
    pictures: list[SamplePictures] = []
    lost: list[str] = []
    for done, (sample, why) in enumerate(chosen.items(), start=1):
        try:
            found = maps.all_prepared(sample)
            pictures.append(draw_sample(sample_maps(maps, board, sample, found, why)))
        except DepthgaugeError as error:
            lost.append(f"There are no pictures of {sample}: {error}")
            continue
        for label, prepared in found.items():
            scatter[label] = count_pairs(
                prepared.allowed, prepared.truth, edges, scatter.get(label)
            )
        if progress is not None:
            progress(f"drawing {sample}", done, len(chosen))
    return pictures, scatter, lost


def _truths(maps: RunMaps, samples: Iterable[str]) -> Iterator[Map]:
    for sample in samples:
        with suppress(DepthgaugeError):  # it is said where the sample is drawn
            yield maps.truth(sample)


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
    truth = maps.truth(sample)
    stack = [found[label].allowed for label in labels]
    threshold = _threshold(maps.run, board)
    several = len(stack) > 1
    return SampleMaps(
        sample=sample,
        quantity=quantity,
        truth=truth,
        images={name.replace("_", " "): image for name, image in maps.images(sample).items()},
        estimates=dict(zip(labels, stack, strict=True)),
        errors={label: _error(quantity, found[label]) for label in labels},
        error_name="end-point error" if quantity == "flow" else "absolute error",
        median_diffs={
            label: -median_difference_map(stack, truth, n) for n, label in enumerate(labels)
        }
        if len(stack) >= _MEDIAN_NEEDS
        else {},
        share_wrong=100 * share_wrong(stack, truth, threshold) if several else None,
        share_wrong_at=f"error above {threshold:g} {QUANTITY_UNITS.get(quantity, '')}".strip(),
        least_error=least_error(stack, truth) if several else None,
        notes=_notes(maps.run, board, sample),
        why=why,
    )


def _error(quantity: str, prepared: Prepared) -> Map:
    metric = METRICS["epe" if quantity == "flow" else "mae"]
    return metric.error_map(prepared.allowed, prepared.truth)


def _threshold(run: Run, board: Board) -> float:
    for spec in run.protocol.specs:
        if spec.id == board.main and (found := threshold_of(spec)) is not None:
            return found
    return _USUAL_THRESHOLD.get(run.protocol.quantity, 1.0)


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
        notes[row.label] = f"{column.metric} {show_number(value)} {column.unit}".strip()
    return notes


def _curves(run: Run) -> Curves | None:
    found = correct_curves(run, draws=draw_units(run))
    if not found:
        return None
    marks = {limit for spec in run.protocol.specs if (limit := threshold_of(spec)) is not None}
    return Curves(
        {label: _points(curve) for label, curve in found.items()},
        unit=QUANTITY_UNITS.get(run.protocol.quantity, ""),
        marks=tuple(sorted(marks)),
        missing=run.protocol.missing,
    )


def _points(curve: Any) -> Sequence[CurvePoint]:
    columns = (curve.thresholds, curve.percent, curve.low, curve.high)
    return [CurvePoint(*map(float, row)) for row in zip(*columns, strict=True)]


def _stability(run: Run, board: Board) -> RankStability | None:
    if len(run.entrants) < 2 or not any(run.curves.values()):
        return None
    found = rank_stability(run, main=board.main)
    # Where nearly all methods are nearly right or nearly wrong, ranks say nothing.
    telling = np.flatnonzero(
        (found.bad.max(axis=0) > 1)
        & (found.bad.min(axis=0) < 99)
        & np.isin(found.thresholds, [*_SHOWN_THRESHOLDS, found.main or 1.0])
    )
    if telling.size < 2:
        return None
    return RankStability(
        thresholds=tuple(float(t) for t in found.thresholds[telling]),
        ranks={
            label: [int(r) for r in found.ranks[n, telling]] for n, label in enumerate(found.labels)
        },
        values={
            label: [float(v) for v in found.bad[n, telling]] for n, label in enumerate(found.labels)
        },
        unit=QUANTITY_UNITS.get(run.protocol.quantity, ""),
    )


def _probabilities(run: Run, board: Board) -> dict[str, Sequence[float]]:
    found = rank_probabilities(run, board.main) if len(run.entrants) > 1 else None
    if found is None:
        return {}
    shares = dict(zip(found.labels, found.shares, strict=True))
    labels = [row.label for row in board.rows if row.label in shares]
    return {label: [float(share) for share in shares[label]] for label in labels}


def _provenance(run: Run) -> Provenance:
    info = run.info
    made_by = dict(info.get("made_by", {}))
    host = made_by.pop("host", "")
    left_out = [text for found in run.results.values() for text in found.left_out]
    return Provenance(
        date=str(info.get("finished") or info.get("started") or ""),
        host=host,
        versions=made_by,
        commands=tuple(info.get("commands", ())),
        hashes={
            "protocol": run.protocol.hash,
            **{f"options of {e.label}": e.options_hash for e in run.entrants},
            **{f"truth of {name}": digest for name, digest in sorted(run.truth_hashes.items())},
        },
        left_out=tuple(dict.fromkeys([*info.get("left_out", ()), *left_out])),
    )
