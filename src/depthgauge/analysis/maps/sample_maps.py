"""Everything worth showing about one sample of a run, as maps and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from depthgauge.analysis.boards.board import Board, Column
from depthgauge.analysis.comparable import has_pixel_errors, has_value_errors, is_up_to_scale
from depthgauge.analysis.maps.across_methods import (
    least_error,
    median_difference_map,
    median_error,
    share_wrong,
)
from depthgauge.analysis.maps.layer_maps import LayerMaps, layer_maps
from depthgauge.analysis.maps.metric_maps import MetricMaps, error_map_of, judged_by, metric_maps
from depthgauge.analysis.maps.stacks import unit_vectors
from depthgauge.analysis.practical import threshold_of
from depthgauge.analysis.precision_recall import (
    PrecisionRecall,
    SampleRates,
    rates_of_sample,
)
from depthgauge.analysis.seeds import sample_values, values_alone
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.measure import PreparedSample, lacking
from depthgauge.engine.store.record import Run
from depthgauge.geometry.rigs import normals_from_map
from depthgauge.metrics import METRICS
from depthgauge.quantities import QUANTITIES, Quantity
from depthgauge.regions import parse
from depthgauge.regions.discontinuities import discontinuities
from depthgauge.types import Image, Map, Mask, Rig

_ERROR_METRICS = {
    "difference": "mae",
    "length": "epe",
    "angle": "mean_angle",
    "channels": "mae",
}
"""The metric whose map shows the errors, by how values are compared."""
_SHOWN_ANYWAY = ("median_angle", "balanced_angle", "lsiv", "lsiv_root")
"""Metrics whose maps are the errors themselves."""
_MEDIAN_NEEDS = 3
_USUAL_JUMP = 1.0

Curves = Mapping[str, PrecisionRecall]


@dataclass(frozen=True, slots=True)
class SampleResult:
    """The result of one method on one sample by the main score of the board."""

    value: float | None = None
    """None if a score of the whole dataset has no value for a single sample."""
    is_alone: bool = False
    """Whether the score is for the whole dataset and the value for this sample alone."""
    failed: str = ""
    """Why there is no estimate; empty if there is one."""
    rates: SampleRates | None = None
    """Precision and recall of boundaries at the method's threshold."""


@dataclass(frozen=True)
class PartMaps:
    """A further part of a sample's estimates, such as `flow` of scene flow, or a confidence."""

    name: str
    quantity: str
    """By whose rules its values are compared and drawn."""
    truth: Map | None
    """None where the protocol does not score it."""
    estimates: Mapping[str, Map]
    """By label; at the truth's size where there is a truth."""
    errors: Mapping[str, Map] = field(default_factory=dict)


@dataclass(frozen=True)
class SampleMaps:
    """What is known about one sample before it is drawn; all maps have the truth's size."""

    sample: str
    quantity: str
    truth: Map
    """(H, W) or (H, W, C); NaN where there is none."""
    is_up_to_scale: bool = False
    """Whether values are known only up to a scale, so that two maps cannot be compared."""
    has_value_errors: bool = True
    """Whether the error of a pixel is a difference of values."""
    images: Mapping[str, Image] = field(default_factory=dict)
    """Images by name: `left_image` ..."""
    estimates: Mapping[str, Map] = field(default_factory=dict)
    """Estimates by label; NaN where missing."""
    errors: Mapping[str, Map] = field(default_factory=dict)
    """Errors by label, (H, W), as the metric shows them; NaN where there is no estimate."""
    judged: Mask | None = None
    """The pixels that errors are about; None: all with truth."""
    error_unit: str | None = None
    """The unit of the errors; None: the quantity's own."""
    median_diffs: Mapping[str, Map] = field(default_factory=dict)
    """By label, (H, W): error minus the median error of all methods; negative is better."""
    share_wrong: Map | None = None
    """(H, W): percentage of methods that are wrong here."""
    wrong_above: float | None = None
    """The error above which a pixel is called wrong."""
    median_error: Map | None = None
    """(H, W): the median error of all methods at each pixel."""
    least_error: Map | None = None
    """(H, W): the error of the best method of each pixel."""
    edges: Mask | None = None
    """Pixels on both sides of the truth's discontinuities; None if there are none."""
    normals_of: Callable[[Map], Map] | None = None
    """Computes surface normals from a map; None if they are not scored."""
    metric_maps: Iterable[MetricMaps] = ()
    """What metrics see; can be iterated once, one metric after the other."""
    main: Column | None = None
    """The main score."""
    results: Mapping[str, SampleResult] = field(default_factory=dict)
    """By label, in the order of the board; failed methods are included."""
    why: tuple[str, ...] = ()
    """Why this sample is shown."""
    protocol: Protocol | None = None
    prepared: Mapping[str, PreparedSample] = field(default_factory=dict)
    """By label: the estimates beside the truth, with everything that metrics need."""
    unestimated: PreparedSample | None = None
    """The sample as it is compared without an estimate."""
    curves: Curves = field(default_factory=dict)
    """Precision and recall of boundaries over the whole dataset, by label."""
    parts: tuple[PartMaps, ...] = ()
    """The maps besides the main one."""
    layers: tuple[LayerMaps, ...] = ()
    """All layers of a quantity that has some; the main map is the last layer of each pixel then."""
    most_wide: int | None = None
    """The largest width of its pictures in pixels; None: the usual one."""
    errors_up_to: float | None = None
    """Where the colours of errors end, so that several samples share a scale; None: where the
    errors of this sample end."""
    scale_truth: Map | None = None
    """Values from which the range of colours is taken, where several maps share one; None: the
    truth's."""


def sample_maps(
    maps: RunMaps,
    board: Board,
    sample: str,
    found: Mapping[str, PreparedSample],
    *,
    why: tuple[str, ...] = (),
    curves: Curves | None = None,
    usual_threshold: float = 1.0,
) -> SampleMaps:
    """Computes what may be shown about one sample; methods are in the order of the board.

    Args:
        maps: Truth and images of the run.
        board: The order of the methods, and the main score.
        sample: Its id.
        found: The estimates of this sample beside the truth, by label.
        why: Why it is shown.
        curves: Precision and recall of boundaries of the methods over the whole dataset.
        usual_threshold: The error above which a pixel is called wrong if no score says so.
    """
    protocol = maps.run.protocol
    quantity = QUANTITIES[protocol.quantity]
    bare = maps.missing(sample)
    truth, is_any_known = bare.truth, bool(bare.known.any())
    ordered = {row.label: found[row.label] for row in board.rows if row.label in found}
    stack = [_comparable(quantity, each.allowed) for each in ordered.values()]
    errors = _errors(protocol, ordered) if is_any_known else _Errors()
    threshold = _threshold(maps.run, board, usual_threshold)
    # If only pairs of points are known, or only shapes, there is nothing to count.
    counts = has_pixel_errors(protocol) and is_any_known
    several, enough = counts and len(stack) > 1, counts and len(stack) >= _MEDIAN_NEEDS
    how = quantity.error
    return SampleMaps(
        sample=sample,
        quantity=protocol.quantity,
        truth=truth,
        is_up_to_scale=is_up_to_scale(protocol),
        has_value_errors=has_value_errors(protocol),
        images=maps.images(sample),
        estimates=dict(zip(ordered, stack, strict=True)),
        errors=errors.maps,
        judged=errors.judged,
        error_unit=errors.unit,
        median_diffs={
            label: median_difference_map(stack, truth, n, error=how)
            for n, label in enumerate(ordered)
            if enough
        },
        share_wrong=100 * share_wrong(stack, truth, threshold, error=how) if several else None,
        wrong_above=threshold,
        median_error=median_error(stack, truth, error=how) if enough else None,
        least_error=least_error(stack, truth, error=how) if several else None,
        edges=truth_edges(protocol, bare) if has_value_errors(protocol) else None,
        normals_of=_normals_of(protocol, bare),
        metric_maps=metric_maps(
            protocol, ordered, _scores(maps.run, ordered, sample), without=_SHOWN_ANYWAY
        )
        if quantity.has_pixel_errors
        else (),
        main=board.column(board.main),
        results=_results(maps.run, board, sample, curves or {}),
        why=why,
        protocol=protocol,
        prepared=ordered,
        unestimated=bare,
        curves=curves or {},
        parts=tuple(_parts(maps, sample, list(ordered))),
        layers=layer_maps(bare, ordered),
    )


# --- parts ----------------------------------------------------------------------------------------


def _parts(maps: RunMaps, sample: str, labels: Sequence[str]) -> Iterator[PartMaps]:
    """Scored parts beside their truth, then what else the estimates have."""
    quantity = QUANTITIES[maps.run.protocol.quantity]
    for name in maps.scored_parts:
        if quantity.main.is_stack and ":" in name:  # layers are shown together
            continue
        rules = quantity.of_part(name)
        prepared = maps.all_prepared(sample, name)
        found = {label: prepared[label] for label in labels if label in prepared}
        yield PartMaps(
            name=name,
            quantity=rules.name,
            truth=maps.part_truth(sample, name),
            estimates={label: _comparable(rules, each.allowed) for label, each in found.items()},
            errors=_value_errors(rules, found),
        )
    for name, given in maps.unscored_parts(sample).items():
        own = {label: given[label] for label in labels if label in given}
        if own:
            yield PartMaps(name, quantity.of_part(name).name, None, own)


# --- errors ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Errors:
    """The errors of all methods, and their meaning."""

    maps: Mapping[str, Map] = field(default_factory=dict)
    unit: str | None = None
    judged: Mask | None = None


def _errors(protocol: Protocol, found: Mapping[str, PreparedSample]) -> _Errors:
    if is_up_to_scale(protocol):
        return _shape_errors(protocol, found)
    return _Errors(_value_errors(QUANTITIES[protocol.quantity], found))


def _value_errors(quantity: Quantity, found: Mapping[str, PreparedSample]) -> dict[str, Map]:
    """The error of every pixel, by label; nothing where pixels have no error by themselves."""
    if quantity.error not in _ERROR_METRICS:
        return {}
    show = METRICS[_ERROR_METRICS[quantity.error]].error_map
    return {
        label: show(each.allowed, each.truth, error=each.error) for label, each in found.items()
    }


def _shape_errors(protocol: Protocol, found: Mapping[str, PreparedSample]) -> _Errors:
    """Distances after the best scale, if depth has no other error."""
    spec = _shape_spec(protocol)
    if spec is None or not found or any(lacking(each, spec) for each in found.values()):
        return _Errors()
    maps = {label: error_map_of(each, spec) for label, each in found.items()}
    return _Errors(maps, "std of X", judged_by(next(iter(found.values())), spec))


def _shape_spec(protocol: Protocol) -> ScoreSpec | None:
    specs = {spec.metric.name: spec for spec in protocol.specs if spec.metric.error_map_with}
    return specs.get("lsiv_root", specs.get("lsiv"))


def _comparable(quantity: Quantity, estimate: Map) -> Map:
    """The estimate; directions with length 1."""
    return unit_vectors(estimate) if quantity.error == "angle" else estimate


def _threshold(run: Run, board: Board, usual: float) -> float:
    """The main score's, else the protocol's first, else the usual one."""
    limits = {spec.id: limit for spec in run.protocol.specs if (limit := threshold_of(spec))}
    return limits.get(board.main, next(iter(limits.values()), usual))


# --- edges and normals ----------------------------------------------------------------------------


def truth_edges(protocol: Protocol, prepared: PreparedSample) -> Mask | None:
    """The truth's discontinuities as the protocol understands them; None if there are none.

    The shared map `edges` if the protocol uses it, else the jumps of its region `discontinuities`,
    with that region's defaults if the protocol has none.
    """
    if "edges" in protocol.resolved().get("derived", {}) and "edges" in prepared.items:
        edges: Mask = prepared.items["edges"].edge
    else:
        edges = discontinuities(prepared.truth, jump=_jump(protocol), width=1)
    return edges if edges.any() else None


def _jump(protocol: Protocol) -> float:
    """The jump of the first region `discontinuities` that gives one, else that region's own."""
    for text in protocol.region_texts.values():
        for atom in parse(text).atoms():
            if atom.name == "discontinuities" and atom.params:
                return float(atom.params[0])
    return _USUAL_JUMP


def _normals_of(protocol: Protocol, prepared: PreparedSample) -> Callable[[Map], Map] | None:
    rig = scored_rig(protocol, prepared)
    return None if rig is None else partial(normals_from_map, quantity=protocol.quantity, rig=rig)


def scored_rig(protocol: Protocol, prepared: PreparedSample) -> Rig | None:
    """The rig through which normals are seen; None if none are scored or there is no rig."""
    is_scored = any("rig" in spec.metric.needs for spec in protocol.specs)
    if not is_scored or QUANTITIES[protocol.quantity].space is None:
        return None
    found: Rig | None = prepared.items.get("rig")
    return found


# --- scores ---------------------------------------------------------------------------------------


def _scores(run: Run, labels: Iterable[str], sample: str) -> dict[str, dict[str, float]]:
    """Label -> score id -> value of one sample, of the first seed."""
    wanted = set(labels)
    found = {}
    for entrant in run.entrants:
        if entrant.label in wanted:
            here = run.results[entrant.label, entrant.seeds[0]].samples.get(sample, {})
            found[entrant.label] = {name: score.value for name, score in here.items()}
    return found


def _results(run: Run, board: Board, sample: str, curves: Curves) -> dict[str, SampleResult]:
    level = board.column(board.main).level
    found = {}
    for row in board.rows:
        if row.oracle:
            continue
        label = row.label
        if sample in row.failed:
            found[label] = SampleResult(failed=row.failed[sample])
            continue
        rates = rates_of_sample(run, label, sample, curves.get(label))
        if level == "sample":
            value = sample_values(run, label, board.main).get(sample, math.nan)
            found[label] = SampleResult(value, rates=rates)
        else:
            alone: Sequence[float] = [*values_alone(run, label, board.main, [sample]).values()]
            found[label] = SampleResult(alone[0] if alone else None, is_alone=True, rates=rates)
    return found
