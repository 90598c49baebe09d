"""From a run to its report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from depthgauge._progress import Progress
from depthgauge.analysis.baselines import baseline_curves
from depthgauge.analysis.boards.board import Board
from depthgauge.analysis.boards.tier_boards import joined_board
from depthgauge.analysis.comparable import has_value_errors
from depthgauge.analysis.confidence_curves import confidence_curves
from depthgauge.analysis.degradation import degradations
from depthgauge.analysis.difficulty.axes import difficulties
from depthgauge.analysis.maps.oracles import score_oracles
from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.analysis.maps.scatter import Scatter, count_pairs, scatter_edges
from depthgauge.analysis.practical import smallest_differences
from depthgauge.analysis.precision_recall import PrecisionRecall, precision_recall
from depthgauge.analysis.profiles import Profile, choose_profiles
from depthgauge.analysis.sample_choice import (
    MOST_SAMPLES,
    Examples,
    choose_examples,
    choose_samples,
    spread_samples,
)
from depthgauge.analysis.seeds import SampleValues, values_alone, values_of
from depthgauge.analysis.settings_roc import settings_roc
from depthgauge.analysis.stability import rank_probabilities
from depthgauge.analysis.tagged.strata import StrataTable
from depthgauge.analysis.thresholds import curves_of, stability_of
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.store.record import Run
from depthgauge.errors import DepthgaugeError
from depthgauge.report.charts.radar import radar_of
from depthgauge.report.page.model import Page, Provenance, start_page
from depthgauge.report.pictures.examples import example_maps, example_pictures
from depthgauge.report.pictures.model import SamplePictures
from depthgauge.report.pictures.sample import sample_pictures
from depthgauge.report.tables.layers import layer_tables
from depthgauge.report.tables.views import view_tables
from depthgauge.types import Map


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
    profiles: Sequence[str | Path | Profile] | None = None,
    strata: Sequence[StrataTable] = (),
    progress: Progress | None = None,
) -> Page:
    """Everything that the report of a run shows.

    Args:
        run: A finished run.
        data: The dataset's folder, for pictures; by default the one that the run used. If it is
            missing, the report has no pictures and says why.
        main: The score that sorts the methods; the protocol's first by default.
        accuracy: Error bound of the truth, in the quantity's unit; by default what the
            protocol says.
        practical: score id -> differences below this do not matter.
        with_oracles: Whether the oracles are computed; reads every stored estimate once.
        with_pictures: Whether there are any; not where several runs were put together.
        most_pictures: Samples with pictures.
        profiles: Applications whose priorities rank the methods; by default all those for which
            most can be scored.
        strata: Scores by tags.
        progress: Called with what was done, how much of it, of how much.
    """
    maps: RunMaps | None = None
    notes = ["Several runs were merged; the report of each run has its pictures."]
    if with_pictures:
        maps, notes = _open_maps(run, data)
    oracles = None
    if with_oracles and maps is not None:
        try:
            oracles = score_oracles(maps, progress)
        except DepthgaugeError as error:
            notes.append(f"There are no oracles: {error}")
    board = joined_board(run, main=main, accuracy=accuracy, practical=practical, oracles=oracles)
    families = degradations(board, run.protocol)
    known = values_of(run)
    values = {row.label: known[row.label] for row in board.rows if row.label in known}
    curves = precision_recall(run)
    drawn = _DrawnSamples()
    if maps is not None and most_pictures > 0:
        drawn = _draw(maps, board, _chosen(run, board, values, most_pictures), curves, progress)
        notes += drawn.lost
    return start_page(
        run.protocol,
        board,
        samples=values,
        examples=tuple(drawn.examples),
        pictures=tuple(drawn.pictures),
        curves=curves_of(run),
        confidence=confidence_curves(run),
        settings_roc=settings_roc(run),
        stability=None if board.tiers else stability_of(run, board),
        precision_recall={
            row.label: curves[row.label] for row in board.rows if row.label in curves
        },
        layer_tables=tuple(layer_tables(run, board)),
        view_tables=tuple(view_tables(run).values()),
        baseline_curves=tuple(baseline_curves(run) if run.protocol.tiers else ()),
        degradations=families,
        difficulties=difficulties(run, board),
        profiles=choose_profiles(board, profiles),
        strata=tuple(strata),
        radar=radar_of(board, degradations=families),
        scatter={label: drawn.scatter[label] for label in values if label in drawn.scatter},
        rank_probabilities=_probabilities(run, board, practical, accuracy),
        provenance=_provenance(run),
        notes=tuple(notes),
    )


def _open_maps(run: Run, data: Path | None) -> tuple[RunMaps | None, list[str]]:
    if run.protocol.twin is not None:
        return None, ["A twin compares maps in its own way, so this report has no pictures."]
    if not all(body["kept"] or not body["keeps"] for body in run.info.get("methods", ())):
        return None, ["Not all estimates of this run were kept, so there are no pictures."]
    try:
        return RunMaps(run, data), []
    except DepthgaugeError as error:
        return None, [f"There are no pictures, because the data could not be read: {error}"]


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which samples are drawn, and why."""

    samples: Mapping[str, tuple[str, ...]]
    examples: Examples | None = None


def _chosen(run: Run, board: Board, values: SampleValues, most: int) -> _Choice:
    """Samples by the main score; for dataset scores, by the value on each sample alone."""
    main, by = board.main, ""
    if board.column(main).level == "dataset":
        by = f"by {main} of single samples"
        values = {
            label: {name: {main: value} for name, value in values_alone(run, label, main).items()}
            for label in values
        }
    chosen = choose_samples(board, values, most, by=by)
    if not chosen:
        return _Choice(spread_samples(run.samples, most))
    return _Choice(chosen, choose_examples(board, values))


@dataclass(slots=True)
class _DrawnSamples:
    """What was drawn of a run's samples."""

    pictures: list[SamplePictures] = field(default_factory=list)
    examples: Sequence[SamplePictures] = ()
    scatter: dict[str, Scatter] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)


def _draw(
    maps: RunMaps,
    board: Board,
    chosen: _Choice,
    curves: Mapping[str, PrecisionRecall],
    progress: Progress | None,
) -> _DrawnSamples:
    plain = has_value_errors(maps.run.protocol)
    edges = scatter_edges(_truths(maps, chosen.samples) if plain else ())
    drawn = _DrawnSamples()
    examples: dict[str, SampleMaps] = {}
    for done, (sample, why) in enumerate(chosen.samples.items(), start=1):
        try:
            found = maps.all_prepared(sample)
            drawn.pictures.append(sample_pictures(maps, board, sample, found, why, curves))
        except DepthgaugeError as error:
            drawn.lost.append(f"There are no pictures of {sample}: {error}")
            continue
        if chosen.examples is not None and sample in chosen.examples.samples:
            examples[sample] = example_maps(maps, board, sample, found, chosen.examples, curves)
        for label, prepared in found.items() if plain else ():
            drawn.scatter[label] = count_pairs(
                prepared.allowed, prepared.truth, edges, drawn.scatter.get(label)
            )
        if progress is not None:
            progress(f"drawing {sample}", done, len(chosen.samples))
    order = chosen.examples.samples if chosen.examples is not None else ()
    drawn.examples = example_pictures([examples[name] for name in order if name in examples])
    return drawn


def _truths(maps: RunMaps, samples: Iterable[str]) -> Iterator[Map]:
    for sample in samples:
        with suppress(DepthgaugeError):  # reported where the sample is drawn
            yield maps.truth(sample)


def _probabilities(
    run: Run, board: Board, practical: Mapping[str, float] | None, accuracy: float | None
) -> dict[str, Sequence[float]]:
    if len(run.entrants) < 2 or board.tiers:
        return {}
    limits = smallest_differences(run, practical=practical, accuracy=accuracy)
    found = rank_probabilities(run, board.main, practical=limits.get(board.main, 0.0))
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
