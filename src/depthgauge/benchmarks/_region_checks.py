"""Mistakes in the regions and masks that a benchmark names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from depthgauge.benchmarks._named_regions import names_used
from depthgauge.benchmarks.schema import BenchmarkFile, ScoreBlock
from depthgauge.errors import DepthgaugeError, Problem
from depthgauge.metrics import METRICS
from depthgauge.regions import resolve
from depthgauge.regions._shared_maps import is_shared_map, maker_of


def blocks_of(benchmark: BenchmarkFile) -> Iterator[tuple[str, ScoreBlock]]:
    """The blocks of scores, with where they are in the file."""
    for index, block in enumerate(benchmark.scores):
        yield f"scores[{index}]", block


def check_named_regions(benchmark: BenchmarkFile) -> Iterator[Problem]:
    """Names that regions get in the file."""
    fine: dict[str, str] = {}
    for name, text in benchmark.regions.items():
        try:
            resolve.defaults(text)
            resolve.revisions({name: text})  # also rejects a second meaning
        except DepthgaugeError as error:
            yield Problem(f"regions.{name}", str(error))
            continue
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            yield Problem(f"regions.{name}", "is not a valid name", "use letters, digits and _")
        elif name in benchmark.given_regions:
            yield Problem(f"regions.{name}", "is also given as a mask with the call", "rename one")
        fine[name] = text
    for name, text in fine.items():
        if name in (through := names_used(text, fine)):
            others = ", ".join(sorted(through - {name}))
            yield Problem(f"regions.{name}", f"is defined by itself, through {others}")


def check_may_have(benchmark: BenchmarkFile) -> Iterator[Problem]:
    """Masks that only some samples have."""
    for index, name in enumerate(benchmark.may_have):
        if not re.fullmatch(r"[a-z][a-z0-9_]*_(mask|labels)", name):
            hint = "masks end with _mask, label maps with _labels"
            yield Problem(f"may_have[{index}]", f"is '{name}'", hint)


def check_derived(benchmark: BenchmarkFile) -> Iterator[Problem]:
    """Maps that are computed from others."""
    for thing, text in benchmark.derived.items():
        try:
            maker_of(thing, text)
        except DepthgaugeError as error:
            yield Problem(f"derived.{thing}", str(error))
    if benchmark.truth_scale == 1:
        return
    for where, block in blocks_of(benchmark):
        needs = METRICS[block.metric].needs if block.metric in METRICS else ()
        if "rig" in needs or any(map(is_shared_map, needs)):
            what = f"{block.metric} needs items at the full size of the truth"
            yield Problem(f"{where}.metric", what, "it goes only with truth_scale = 1")


def check_fit_on(benchmark: BenchmarkFile) -> Iterator[Problem]:
    """The region that an alignment is fitted on."""
    yield from _check_region(benchmark, "align.fit_on", benchmark.align.fit_on)


def check_score_regions(benchmark: BenchmarkFile) -> Iterator[Problem]:
    """The regions of scores."""
    for where, block in blocks_of(benchmark):
        if isinstance(block.region, str):
            yield from _check_region(benchmark, f"{where}.region", block.region)
            continue
        for index, name in enumerate(block.region):
            yield from _check_region(benchmark, f"{where}.region[{index}]", name)


def _check_region(benchmark: BenchmarkFile, where: str, text: str) -> Iterator[Problem]:
    if not text or text in benchmark.regions or text in benchmark.given_regions:
        return
    try:
        resolve.defaults(text)
    except DepthgaugeError as error:
        yield Problem(where, str(error))
