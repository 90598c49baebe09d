"""Scores of two arrays or two files, without a benchmark."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import ArrayLike

from depthgauge.benchmarks.aliases import meaning_of, notes
from depthgauge.benchmarks.protocol import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.in_memory.given_maps import (
    Maps,
    as_mask,
    guessed_quantity,
    parts_of,
    stored_scale,
)
from depthgauge.engine.scoring.in_memory.maps_protocol import (
    blocks_of,
    check_region_name,
    maps_protocol,
)
from depthgauge.engine.scoring.in_memory.plain_call import score_plain
from depthgauge.engine.scoring.layered import dense_layers, layer_items, layered_truth
from depthgauge.engine.scoring.measure import PreparedSample, lacking, measure
from depthgauge.engine.scoring.pool import pool_spec
from depthgauge.engine.scoring.prepare import prepare, prepare_truth
from depthgauge.engine.scoring.readings import notes_of, warn_of
from depthgauge.engine.scoring.result import Scores
from depthgauge.errors import BadEstimate, BadScoreId, NotGiven, Unavailable, WrongShape
from depthgauge.io.reading import Reading, parse_invalid, parse_scale
from depthgauge.metrics import METRICS
from depthgauge.quantities import QUANTITIES
from depthgauge.regions import REGIONS
from depthgauge.types import Estimate, Map, Mask, Note, Score

AS_GIVEN = {"estimate": 1.0, "truth": 1.0}
P = ParamSpec("P")
R = TypeVar("R")


class MapOptions(TypedDict, total=False):
    """The keywords of `score`, which says what each does; all that score maps take them."""

    regions: Mapping[str, ArrayLike | str] | None
    mask: ArrayLike | str | Path | None
    quantity: str | None
    missing: str
    align: str | Mapping[str, Any]
    estimate_resize: str
    crop: int | str
    range: tuple[float, float] | None
    derived: str | Iterable[str]
    items: Mapping[str, Any] | None
    scale: float | str | None
    estimate_scale: float | str | None
    truth_scale: float | str | None
    invalid: float | str | Iterable[float]
    estimate_invalid: float | str | Iterable[float]
    truth_invalid: float | str | Iterable[float]
    protocol: Mapping[str, Any] | None
    check: bool


_DEFAULTS = MapOptions(
    regions=None,
    mask=None,
    quantity=None,
    missing="bad",
    align="none",
    estimate_resize="none",
    crop=0,
    range=None,
    derived=(),
    items=None,
    scale=None,
    estimate_scale=None,
    truth_scale=None,
    invalid=(),
    estimate_invalid=(),
    truth_invalid=(),
    protocol=None,
    check=True,
)
"""The one place where the options of `score` have their defaults."""
READING_OPTIONS = frozenset(
    f"{side}{name}" for name in ("scale", "invalid") for side in ("", "estimate_", "truth_")
)
"""Those that say how stored numbers become values."""


def _shows_options(function: Callable[P, R]) -> Callable[P, R]:
    """Shows the options and their defaults in a signature, in place of `**options`."""
    own = inspect.signature(function)
    *before, _ = own.parameters.values()
    kinds = {name: MapOptions.__annotations__[name] for name in _DEFAULTS}
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kinds[name]
        )
        for name, default in _DEFAULTS.items()
    ]
    function.__signature__ = own.replace(parameters=[*before, *options])  # type: ignore[attr-defined]  # inspect reads it
    return function


@_shows_options
def score(
    estimate: Maps | Estimate,
    truth: Maps | None,
    metrics: str | Iterable[str] = (),
    **options: Unpack[MapOptions],
) -> Scores:
    """Scores an estimate against a truth: arrays, tensors, or files that `read_map` reads.

    Args:
        estimate: (H, W), or (H, W, 2) for flow; NaN, infinite or masked where there is none. Axes
            of length 1 around it are dropped. For a quantity of several parts, a dict of them by
            name.
        truth: The same size; NaN or infinite where it is not known. None where all metrics judge
            an estimate by itself (`weak_bumpiness`, `spatial_sparsity`).
        metrics: Score ids such as `badpix:2` or `mae`; `badpix:2@glass` for one region only,
            `flow/epe` for one part. Names that papers use (`rmse`, `a1`, `bad-2.0`, `EPE`) are
            understood; the scores have our ids. A usual set for the quantity where none is given.
        options: The keywords of `MapOptions`:
            regions: Masks by name, or expressions over them (`"glass & near:3"`), beside `all`.
            mask: Pixels to score; all others are left out of every region and of the alignment.
            quantity: `disparity`, `depth`, `flow`, `normals` ...; by default flow for two channels,
                normals for three, else disparity.
            missing: What a missing estimate costs: `bad` (the default) or `skip`.
            align: `none`, `median`, `scale` or `scale_shift`; `scale_shift:disparity` to fit in
                another space than the quantity's own; or a table as in a benchmark.
            estimate_resize: How an estimate of another size is brought to the truth's: `nearest`,
                `block`, `bilinear`, `zoom`, or `area` for pictures.
            crop: The box that is scored: `garg`, `eigen`, `nyu`, `45:471,41:601` (rows, columns) in
                px or `0.4:0.99,0.0:1.0` in fractions; or the width of a border to leave out.
            range: The least and the largest possible value; an estimate outside counts as missing.
            derived: Parameters of what regions and metrics share: `edges:0.1` for a jump of 0.1 px.
            items: What else metrics and regions need, by name: `rig`, `left_image` ...
            scale: What stored numbers are multiplied by, instead of what the files say: `0.001` for
                millimetres, `1/256` for KITTI's codes; `estimate_scale` and `truth_scale` for one.
            invalid: Stored numbers that mean missing, such as 0 or `[0, -1]`; `estimate_invalid`
                and `truth_invalid` for one. Neither is part of the protocol's hash.
            protocol: Other keys of a benchmark: `{"truth": {"max_depth_m": 80}}`.
            check: Whether to test, on some pixels, if the maps are read as what they are; what
                speaks against it is a `DepthgaugeWarning` and is kept in `Scores.notes`.

    Returns:
        Scores by id (`badpix:2@all`), with the protocol and its hash.

    >>> import depthgauge as dg
    >>> s = dg.score([[1.0, 2.0, 5.5, float("nan")]], [[1.0, 2.0, 3.0, 4.0]], "badpix:2")
    >>> s["badpix:2@all"].value, s["badpix:2@all"].count, s["badpix:2@all"].missing
    (50.0, 3, 1)
    """
    ids = (metrics,) if isinstance(metrics, str) else tuple(metrics or ())
    scores = score_plain(estimate, truth, ids, options)
    if scores is None:
        scores = score_prepared(*prepare_maps(estimate, truth, ids, **options))
    warn_of(scores.notes)
    named = _names_note(METRICS.changes, ids, scores.protocol.quantity)
    return replace(scores, notes=(*scores.notes, Note("name", named))) if named else scores


@lru_cache(maxsize=64)
def _names_note(_: int, ids: tuple[str, ...], quantity: str) -> str:
    """The sentence about names that are not our own, made once."""
    return notes(ids, quantity)


@_shows_options
def prepare_maps(
    estimate: Maps | Estimate,
    truth: Maps | None,
    metrics: str | Iterable[str] = (),
    **options: Unpack[MapOptions],
) -> tuple[Protocol, dict[str, PreparedSample]]:
    """The protocol that the arguments of `score` make, and each part's maps as it compares them.

    The main map is the part "".
    """
    if unknown := options.keys() - _DEFAULTS.keys():
        raise TypeError(f"score() got an unexpected keyword argument '{min(unknown)}'")
    given = _DEFAULTS.copy()
    given.update(options)
    quantity = given["quantity"]
    if isinstance(estimate, Estimate):
        quantity = quantity or estimate.quantity
        main = QUANTITIES[quantity].main.name
        estimate = {main: estimate.values, **estimate.parts}
    ids = [metrics] if isinstance(metrics, str) else list(metrics or ())
    said = quantity is not None
    if quantity is None:
        quantity = guessed_quantity(estimate if truth is None else truth)
    declared = QUANTITIES[quantity]
    ids = [meaning_of(text, quantity).score_id for text in ids]
    readings = {side: _reading_of(given, side) for side in ("estimate", "truth")}
    estimates = parts_of(estimate, declared, readings["estimate"], "estimate")
    main = declared.main.name
    if truth is None:
        truths = {main: _no_truth(estimates[main], ids)}
    else:
        truths = parts_of(truth, declared, readings["truth"], "truth")
    size = declared.map_of(truths).shape[:2]
    masks, named = _split_regions(given["regions"] or {}, size)
    mask = None if given["mask"] is None else _mask_of_size(given["mask"], "the mask", size)
    keys = {name: given[name] for name in ("missing", "align", "estimate_resize", "crop")}
    protocol = maps_protocol(
        ids,
        quantity,
        masks=masks,
        limits_pixels=mask is not None,
        named={name: text for name, text in named.items() if name not in REGIONS},
        own=[name for name in named if name in REGIONS],
        derived=given["derived"],
        **{**keys, **_reading_keys(readings), **_with_range(given)},
    )
    values = estimates.pop(main)
    count = len(truths[main])
    try:
        whole = dense_layers(protocol, Estimate(values, quantity, estimates), size, count)
    except BadEstimate as error:
        if not isinstance(estimate, (str, Path)):
            raise
        raise BadEstimate(f"{estimate}: {error}") from None
    prepared = {
        part: prepare_part(protocol, part, whole, truths, given["items"] or {}, masks, mask)
        for _, part in protocol.views
    }
    if given["check"] and truth is not None:
        maps = {"estimate": estimate, "truth": truth}
        layers = declared.main.is_stack
        stored = {side: stored_scale(maps[side], readings[side], layers=layers) for side in maps}
        scales = {side: scale for side, scale in stored.items() if scale is not None}
        found = notes_of(protocol, prepared[""], quantity_said=said, mask=mask, scales=scales)
        prepared[""] = replace(prepared[""], notes=found)
    return protocol, prepared


def _with_range(given: MapOptions) -> dict[str, Any]:
    """The other keys of the protocol, with the range of estimates that a call says."""
    keys = other_keys(given["protocol"])
    if given["range"] is None:
        return keys
    table = dict(keys.get("estimate", {}))
    if "range" in table:
        raise BadScoreId("the call says the range twice: as range and in protocol; give one.")
    return {**keys, "estimate": {**table, "range": list(given["range"])}}


def other_keys(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Keys of a protocol that a call adds, without those that it says in another way."""
    keys = dict(given or {})
    own = ("id", "version", "dataset", "split", "quantity", "regions", "derived", "scores", "twin")
    if taken := [name for name in own if name in keys]:
        raise BadScoreId(f"'{taken[0]}' is not set like this; the call says it itself.")
    return keys


def reading_key(given: Mapping[str, Any]) -> dict[str, Any]:
    """What some of the `READING_OPTIONS` say, as a key of a protocol."""
    options = {**_DEFAULTS, **given}
    return _reading_keys({side: _reading_of(options, side) for side in ("estimate", "truth")})


def _reading_of(options: Mapping[str, Any], side: str) -> Reading:
    """What the call says about the stored numbers of one side."""
    for both, one in (("scale", f"{side}_scale"), ("invalid", f"{side}_invalid")):
        if options[both] not in (None, ()) and options[one] not in (None, ()):
            raise BadScoreId(f"{both} is for both maps and {one} for one; give one of them.")
    scale = options[f"{side}_scale"] if options["scale"] is None else options["scale"]
    marks = options[f"{side}_invalid"] if options["invalid"] == () else options["invalid"]
    return Reading(parse_scale(scale, f"{side}_scale"), parse_invalid(marks, f"{side}_invalid"))


def _reading_keys(readings: Mapping[str, Reading]) -> dict[str, Any]:
    """The same as keys of a protocol; nothing where nothing is said."""
    said = {side: asdict(reading) for side, reading in readings.items() if reading != Reading()}
    return {"reading": said} if said else {}


def prepare_part(
    protocol: Protocol,
    part: str,
    estimate: Estimate,
    truths: Mapping[str, Any],
    items: Mapping[str, Any],
    given: Mapping[str, Mask],
    mask: Mask | None,
) -> PreparedSample:
    """One part of a sample as a protocol compares it; refuses what two maps cannot give."""
    declared = QUANTITIES[protocol.quantity]
    name = declared.part(part).name if part else declared.main.name
    if name not in truths:
        raise BadScoreId(f"the truth has no part '{name}', which {protocol.score_ids[0]} needs.")
    if declared.main.is_stack:
        items = {**items, **truths}
        items |= layer_items(protocol, items, part)
    picked = layered_truth(protocol, items, part)
    plain = declared.map_of(truths, part) if picked is None else picked
    ready = prepare_truth(protocol, plain, items, given, part=part)
    for region, why in ready.regions.unavailable.items():
        raise NotGiven(f"region '{region}'", why, ready.regions.needs.get(region, ()))
    if mask is not None:
        ready = replace(ready, masks={name: known & mask for name, known in ready.masks.items()})
    prepared = prepare(protocol, estimate, ready)
    for spec in protocol.specs_at(part=part):
        if lacks := lacking(prepared, spec):
            raise NotGiven(spec.metric.name, f"it needs {', '.join(lacks)}", lacks)
    return prepared


def score_prepared(protocol: Protocol, prepared: Mapping[str, PreparedSample]) -> Scores:
    """All scores of a protocol on the prepared maps of each part."""
    found: dict[str, Score] = {}
    for part, maps in prepared.items():
        specs, quantity = protocol.specs_at(part=part), protocol.quantity_of(part)
        found |= measure(maps, specs, quantity, protocol.missing, protocol.pool)
        for score_id, why in maps.unavailable.items():
            raise Unavailable(f"{score_id}: {why}")
    scores = {spec.id: _whole(protocol, spec, found) for spec in protocol.specs}
    return Scores(protocol, scores, prepared[""].notes)


def _whole(protocol: Protocol, spec: ScoreSpec, found: Mapping[str, Score]) -> Score:
    """A score; one that only a dataset has is computed as if these two maps were all of it."""
    score = found[spec.id]
    if score.level == "sample":
        return score
    value = pool_spec(spec, {"": score}, {}, "pixel", protocol.missing).value
    return replace(score, value=value, level="sample")


def _no_truth(estimate: Map, ids: Iterable[str]) -> Map:
    """A truth of zeros, for metrics that do not use it."""
    metrics = [METRICS[block["metric"]] for block in blocks_of(list(ids), [])]
    if using := [metric.name for metric in metrics if metric.uses_truth]:
        raise BadScoreId(f"{using[0]} needs a truth; only an estimate is given.")
    if not metrics:
        raise BadScoreId("without a truth, say which metrics: weak_bumpiness or spatial_sparsity.")
    return np.zeros_like(estimate)


def _split_regions(
    regions: Mapping[str, ArrayLike | str], size: tuple[int, ...]
) -> tuple[dict[str, Mask], dict[str, str]]:
    given: dict[str, Mask] = {}
    named: dict[str, str] = {}
    for name, region in regions.items():
        if not (isinstance(region, str) and region == name and name in REGIONS):
            check_region_name(name)
        if isinstance(region, str):
            named[name] = region
        else:
            given[name] = _mask_of_size(region, f"region '{name}'", size)
    return given, named


def _mask_of_size(mask: ArrayLike | str | Path, what: str, size: tuple[int, ...]) -> Mask:
    found = as_mask(mask)
    if found.shape != size:
        raise WrongShape(f"{what} is {found.shape} but the maps are {size}; make it so.")
    return found
