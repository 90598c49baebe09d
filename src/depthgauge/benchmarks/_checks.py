"""What the schema alone cannot see: names, regions, limits, and keys that do not go together.

Each check says which keys it reads, so that a file with a mistake in one key is still checked for
all mistakes in the others.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Collection, Iterator

from depthgauge._registry import nearest
from depthgauge.benchmarks._messages import shown
from depthgauge.benchmarks._region_checks import (
    blocks_of,
    check_derived,
    check_fit_on,
    check_may_have,
    check_named_regions,
    check_score_regions,
)
from depthgauge.benchmarks.aliases import meaning_of, nearest_meaning
from depthgauge.benchmarks.bins import problems_of
from depthgauge.benchmarks.schema import (
    NO_DATASET,
    NOT_OF_TWINS,
    BenchmarkFile,
    ScoreBlock,
    SideReading,
)
from depthgauge.benchmarks.score_ids import file_name
from depthgauge.errors import DepthgaugeError, Problem
from depthgauge.metrics import METRICS
from depthgauge.quantities import QUANTITIES

_SCALES = (1, 0.5, 0.25)
_PICTURE_RESIZINGS = ("area", "bilinear")
_FOLDER = "folder"
"""The dataset whose files need not say how they store values."""


def check(benchmark: BenchmarkFile, broken: Collection[str] = ()) -> list[Problem]:
    """All mistakes; keys that are already known to be broken are not checked again."""
    own = _OF_ALL + (_OF_SCORES if benchmark.twin is None else _OF_TWINS)
    found = [
        problem
        for function, keys in own
        if not set(keys) & set(broken)
        for problem in function(benchmark)
    ]
    if benchmark.twin is None and not found and not broken:
        found += _check_ids(benchmark)
    return list(dict.fromkeys(found))


def check_file(benchmark: BenchmarkFile, broken: Collection[str] = ()) -> list[Problem]:
    """Mistakes in a file that are allowed in a protocol made for two maps."""
    found = []
    if benchmark.dataset == NO_DATASET and "dataset" not in broken:
        found.append(Problem("dataset", "is 'none', which is for two maps", "name a dataset"))
    if "given_regions" in benchmark.model_fields_set:
        hint = "use [regions], or the dataset's masks by their names"
        found.append(Problem("given_regions", "is for masks that come with a call", hint))
    return found


def _check_tiers(benchmark: BenchmarkFile) -> Iterator[Problem]:
    tiers = list(benchmark.tiers.items())
    for name, inputs in tiers:
        if not inputs:
            yield Problem(f"tiers.{name}", "has no inputs", 'write ["left_image"], for instance')
    for (name, inputs), (after, fewer) in itertools.pairwise(tiers):
        if not set(fewer) < set(inputs):
            what = f"must have less than {name}: some of its inputs, and no others"
            yield Problem(f"tiers.{after}", what)


def _check_quantity(benchmark: BenchmarkFile) -> Iterator[Problem]:
    quantity = benchmark.quantity
    if quantity not in QUANTITIES:
        hint = nearest(quantity, QUANTITIES) or f"known: {', '.join(QUANTITIES)}"
        yield Problem("quantity", f"there is no quantity '{quantity}'", hint)


def _check_dataset(benchmark: BenchmarkFile) -> Iterator[Problem]:
    from depthgauge.datasets import DATASETS

    name, split = benchmark.dataset, benchmark.split
    if name == NO_DATASET:
        return
    if name not in DATASETS:
        yield Problem("dataset", f"there is no dataset '{name}'", nearest(name, DATASETS))
    elif (splits := DATASETS[name].spec.splits) and split not in splits:
        hint = nearest(split, splits) or f"it has {', '.join(splits)}"
        yield Problem("split", f"{name} has no split '{split}'", hint)


def _check_dataset_options(benchmark: BenchmarkFile) -> Iterator[Problem]:
    from depthgauge.datasets import DATASETS

    if not benchmark.dataset_options or benchmark.dataset not in DATASETS:
        return
    signature = inspect.signature(DATASETS[benchmark.dataset].reader)
    known = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name in benchmark.dataset_options:
        if name not in known:
            hint = nearest(name, known) or f"known: {', '.join(known) or 'none'}"
            yield Problem(f"dataset_options.{name}", f"is no option of {benchmark.dataset}", hint)


def _check_twin(benchmark: BenchmarkFile) -> Iterator[Problem]:
    from depthgauge.benchmarks.twins import TWINS

    try:
        TWINS[str(benchmark.twin)].options(benchmark.options)
    except DepthgaugeError as error:
        yield Problem("twin", str(error))


def _check_keys_of_twin(benchmark: BenchmarkFile) -> Iterator[Problem]:
    hint = "leave it out, or make it one of the twin's [options]"
    for key in NOT_OF_TWINS:
        empty = getattr(benchmark, key) in ((), {})
        if key in benchmark.model_fields_set and not empty:
            yield Problem(key, "does nothing here: a twin has its own rules", hint)
    if benchmark.missing == "interpolate":
        yield Problem("missing", "is 'interpolate' but a twin has its own rules", hint)


def _check_bins(benchmark: BenchmarkFile) -> Iterator[Problem]:
    for where, what in problems_of(benchmark):
        yield Problem(where, what)


def _check_hidden(benchmark: BenchmarkFile) -> Iterator[Problem]:
    for index, name in enumerate(benchmark.hidden.scores):
        if name not in benchmark.score_ids:
            hint = nearest(name, benchmark.score_ids)
            yield Problem(f"hidden.scores[{index}]", f"there is no score {shown(name)}", hint)


def _check_reading(benchmark: BenchmarkFile) -> Iterator[Problem]:
    if benchmark.reading.truth != SideReading() and benchmark.dataset not in (NO_DATASET, _FOLDER):
        yield Problem(
            "reading.truth",
            f"dataset '{benchmark.dataset}' says how its truth is stored",
            f"leave it out, or use the dataset '{_FOLDER}'",
        )


def _check_options(benchmark: BenchmarkFile) -> Iterator[Problem]:
    if benchmark.options:
        yield Problem("options", "are for a twin, and there is none", "add twin = ...")


def _check_sizes(benchmark: BenchmarkFile) -> Iterator[Problem]:
    scale = benchmark.truth_scale
    if scale not in _SCALES:
        yield Problem("truth_scale", f"is {scale:g}", "use 1, 0.5 or 0.25")
    elif benchmark.crop and scale != 1:
        what = f"is {shown(benchmark.crop)} with truth_scale = {scale:g}"
        yield Problem("crop", what, "crop goes only with truth_scale = 1")


def _check_truth_size(benchmark: BenchmarkFile) -> Iterator[Problem]:
    if benchmark.truth_size is None or benchmark.quantity not in QUANTITIES:
        return
    quantity = QUANTITIES[benchmark.quantity]
    if quantity.error != "channels" or quantity.main.resize != "keep":
        what = f"is for pictures, not for {benchmark.quantity}"
        yield Problem("truth_size", what, "use truth_scale")
    if benchmark.estimate_resize not in _PICTURE_RESIZINGS:
        hint = f"use {' or '.join(_PICTURE_RESIZINGS)}"
        yield Problem("truth_size", "needs an estimate_resize that blends pixels", hint)
    if benchmark.truth_scale != 1 or benchmark.crop or len(benchmark.resolutions) > 1:
        yield Problem("truth_size", "goes without truth_scale, crop and other resolutions")


def _check_missing(benchmark: BenchmarkFile) -> Iterator[Problem]:
    if benchmark.missing == "good":
        yield Problem("missing", "'good' is for twins only", "use 'bad'")
    if (benchmark.missing == "interpolate") != (benchmark.interpolate is not None):
        yield Problem("interpolate", 'goes with missing = "interpolate", which must say how')
    if (benchmark.interpolate == "constant") != (benchmark.interpolate_constant is not None):
        yield Problem("interpolate_constant", 'goes with interpolate = "constant"')


def _check_truth(benchmark: BenchmarkFile) -> Iterator[Problem]:
    low, high = benchmark.truth.min_depth_m, benchmark.truth.max_depth_m
    if low is not None and high is not None and not low < high:
        what = f"is {low:g} but max_depth_m is {high:g}"
        yield Problem("truth.min_depth_m", what, "it must be less than max_depth_m")


def _check_from_depth(benchmark: BenchmarkFile) -> Iterator[Problem]:
    known = benchmark.quantity in QUANTITIES
    if benchmark.truth.from_depth and known and not QUANTITIES[benchmark.quantity].from_depth:
        what = f"is for normals, which are made of depth, not for {benchmark.quantity}"
        yield Problem("truth.from_depth", what)


def _check_estimate(benchmark: BenchmarkFile) -> Iterator[Problem]:
    for key, pair in (("clip", benchmark.estimate.clip), ("range", benchmark.estimate.range)):
        if isinstance(pair, tuple) and not pair[0] < pair[1]:
            what = f"is [{pair[0]:g}, {pair[1]:g}]"
            yield Problem(f"estimate.{key}", what, "the first must be less than the second")
    known = benchmark.quantity in QUANTITIES
    if benchmark.estimate.inverse and known and QUANTITIES[benchmark.quantity].space != "depth":
        what = f"is true but estimates are {benchmark.quantity}"
        yield Problem("estimate.inverse", what, "only depths can be stored inverted")
    if benchmark.estimate.inverse and benchmark.align.space == "depth":
        hint = "leave the space out: inverse depths are aligned as they are"
        yield Problem("align.space", "is 'depth' but estimate.inverse is true", hint)


def _check_depth_only(benchmark: BenchmarkFile) -> Iterator[Problem]:
    quantity = benchmark.quantity
    if quantity not in QUANTITIES or QUANTITIES[quantity].space is not None:
        return
    only = f"is for depth and disparity only, not for {quantity}"
    if benchmark.align.kind != "none":
        yield Problem("align.kind", f"is '{benchmark.align.kind}' but {only.removeprefix('is ')}")
    for key in ("min_depth_m", "max_depth_m"):
        if getattr(benchmark.truth, key) is not None:
            yield Problem(f"truth.{key}", only)


def _check_blocks(benchmark: BenchmarkFile) -> Iterator[Problem]:
    if not benchmark.scores:
        yield Problem("scores", "there are none", "add a [[scores]] block")
    for where, block in blocks_of(benchmark):
        if block.metric not in METRICS:
            known = nearest_meaning(block.metric)
            hint = f"it is {known} here" if known else nearest(block.metric, METRICS)
            yield Problem(f"{where}.metric", f"there is no metric '{block.metric}'", hint)
            continue
        wrong = list(_check_params(block, where))
        yield from wrong
        if wrong:
            continue
        try:
            list(block.specs())
        except DepthgaugeError as error:
            yield Problem(where, str(error))


def _check_params(block: ScoreBlock, where: str) -> Iterator[Problem]:
    metric = METRICS[block.metric]
    for key, values in block.params.items():
        if key not in metric.params:
            known = [*metric.params, "metric", "region", "name", "resolution", "part"]
            yield Problem(f"{where}.{key}", f"{metric.name} has no '{key}'", nearest(key, known))
        elif not values:
            yield Problem(f"{where}.{key}", "is an empty list, which gives no score")
        for value in values:
            if isinstance(value, bool):
                yield Problem(f"{where}.{key}", f"is {shown(value)} but must be a number or a word")
    if not block.region and not isinstance(block.region, str):
        yield Problem(f"{where}.region", "is an empty list, which gives no score")


def _check_pools(benchmark: BenchmarkFile) -> Iterator[Problem]:
    for _, block in blocks_of(benchmark):
        if block.metric in METRICS and benchmark.pool not in METRICS[block.metric].pools:
            hint = f"it can by {', '.join(METRICS[block.metric].pools)}"
            yield Problem("pool", f"{block.metric} cannot be pooled by '{benchmark.pool}'", hint)


def _check_metrics_quantity(benchmark: BenchmarkFile) -> Iterator[Problem]:
    if benchmark.quantity not in QUANTITIES:
        return  # already reported
    for where, block in blocks_of(benchmark):
        try:
            quantity = benchmark.quantity_of(block.part)
        except DepthgaugeError as error:
            yield Problem(f"{where}.part", str(error))
            continue
        if block.part and block.resolution:
            yield Problem(f"{where}.part", "goes only without a resolution")
        # All layers of a pixel together are scored beside its map.
        wanted = (quantity, quantity if block.part else benchmark.quantity)
        if block.metric in METRICS and not any(map(METRICS[block.metric].can_score, wanted)):
            of = ", ".join(METRICS[block.metric].of)
            meant = meaning_of(block.metric, quantity)
            hint = f"of {quantity} it is {meant.score_id}" if meant.note else ""
            yield Problem(f"{where}.metric", f"{block.metric} scores {of}, not {quantity}", hint)


def _check_ids(benchmark: BenchmarkFile) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for spec in benchmark.specs:
        key = file_name(spec.id)
        if seen.get(key) == spec.id:
            yield Problem("scores", f"'{spec.id}' occurs twice")
        elif key in seen:
            yield Problem("scores", f"'{spec.id}' and '{seen[key]}' would have the same file name")
        seen[key] = spec.id


def _check_resolutions(benchmark: BenchmarkFile) -> Iterator[Problem]:
    named = [(where, block) for where, block in blocks_of(benchmark) if block.resolution]
    for where, block in named:
        if not re.fullmatch(r"[a-z][a-z0-9]*", block.resolution):
            yield Problem(f"{where}.resolution", f"is '{block.resolution}'", "use one plain word")
        if benchmark.truth_scale != 1:
            yield Problem(f"{where}.resolution", "goes only with truth_scale = 1")
        if benchmark.align.kind != "none":
            yield Problem(f"{where}.resolution", "goes only without an alignment")
        if benchmark.estimate_resize == "none":
            hint = "say how, for example estimate_resize = 'block'"
            yield Problem(f"{where}.resolution", "needs estimates to be enlarged", hint)


def _check_perturb(benchmark: BenchmarkFile) -> Iterator[Problem]:
    if benchmark.perturb:
        from depthgauge.perturbations import parse_perturbation

        try:
            parse_perturbation(benchmark.perturb)
        except DepthgaugeError as error:
            yield Problem("perturb", str(error))


_Check = tuple[Callable[[BenchmarkFile], Iterator[Problem]], tuple[str, ...]]
"""A check and the keys that it reads."""

_OF_ALL: tuple[_Check, ...] = (
    (_check_quantity, ("quantity",)),
    (_check_dataset, ("dataset", "split")),
    (_check_dataset_options, ("dataset", "dataset_options")),
    (_check_perturb, ("perturb",)),
    (_check_tiers, ("tiers",)),
)
_OF_TWINS: tuple[_Check, ...] = (
    (_check_twin, ("twin", "options")),
    (_check_keys_of_twin, ()),
)
_OF_SCORES: tuple[_Check, ...] = (
    (_check_options, ("twin",)),
    (_check_sizes, ("twin", "truth_scale", "crop")),
    (_check_truth_size, ("quantity", "truth_size", "estimate_resize", "truth_scale", "crop")),
    (_check_missing, ("twin", "missing", "interpolate", "interpolate_constant")),
    (_check_truth, ("truth",)),
    (_check_from_depth, ("truth", "quantity")),
    (_check_estimate, ("estimate",)),
    (_check_reading, ("reading", "dataset")),
    (_check_hidden, ("hidden", "scores")),
    (_check_bins, ("axes", "regions")),
    (_check_depth_only, ("quantity",)),
    (_check_blocks, ("twin", "scores")),
    (_check_pools, ("scores", "pool")),
    (_check_metrics_quantity, ("scores", "quantity")),
    (check_named_regions, ("regions",)),
    (check_may_have, ("may_have",)),
    (check_derived, ("derived", "scores", "truth_scale")),
    (_check_resolutions, ("scores", "truth_scale", "align", "estimate_resize")),
    (check_fit_on, ("regions", "given_regions")),
    (check_score_regions, ("scores", "regions", "given_regions")),
)
