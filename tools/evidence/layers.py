"""Baselines on rooms with glass: flow and disparity of every layer, and what rendering takes.

The set is kept in out/evidence and made again when its generator has changed.
"""

from __future__ import annotations

import json
import math
import resource
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import depthgauge as dg
from depthgauge.datasets import DATASETS
from depthgauge.engine.running.run import run
from depthgauge.geometry.layers import NO_MATERIAL
from depthgauge.methods import find_method
from depthgauge.synth.generators import generate
from depthgauge.types import Sample
from tools.evidence import REPOSITORY, Number, figure, within
from tools.evidence._sources import LAYER_MAKERS, digest

SET: dict[str, Any] = {"pairs": 40, "width": 480, "height": 360, "samples": 32, "seed": 1600}
FLOW, STEREO = ("dis", "farneback"), ("sgbm",)
EVERY = "peel:prune=false"
"""The method of two layers where the number of layers does not count, as in table 5."""
RUNS: Mapping[str, tuple[str, ...]] = {
    "layers-flow": (*FLOW, "peel", EVERY),
    **{f"layers-flow-{of}": FLOW for of in ("first", "last", "single")},
    **{f"layers-disparity{of}": STEREO for of in ("", "-first", "-last", "-single")},
}
TAUS = (1, 3, 5)
CLUSTER_CORES = 256


@figure(
    "layers",
    data=f"`depthgauge make layers --pairs {SET['pairs']} --seed {SET['seed']}`: "
    f"{SET['width']}x{SET['height']} px at two times, {SET['samples']} paths a pixel, denoised",
    needs=("embreex", "mitsuba", "pyoidn"),
)
def layers() -> Iterator[Number]:
    """Scores of the baselines on every benchmark of layers, and core seconds a rendered pair."""
    data = made()
    for benchmark, methods in RUNS.items():
        yield from _scores(benchmark, data, methods)
    samples = list(DATASETS["layered"].samples(data))
    second = {name: _second_layer(samples, name) for name in (*FLOW, "peel", EVERY)}
    for name, rates in second.items():
        for tau, rate in rates.items():
            yield Number(f"layer 2, {name}: bad {tau} px, %", rate)
    best = min(second[name][3] for name in FLOW)
    yield within(f"layer 2, {EVERY}: better than one flow, points", best - second[EVERY][3], 0, 50)
    yield within("layer 2, peel: found at all within 3 px, %", 100 - second["peel"][3], 5, 100)
    yield from _seen_again(samples)
    yield from _throughput(data)
    from tools.evidence._layers_page import draw

    draw(data)


def made() -> Path:
    """The set, in a folder that is named by all that decides its bytes."""
    folder = REPOSITORY / "out" / "evidence" / f"layers-{digest(LAYER_MAKERS)}"
    there = len(list(folder.glob("*/sample.json")))
    before = _children_s()
    generate("layers", folder, **SET)
    if new := SET["pairs"] - there:
        spent = {"pairs": new, "core_s": round(_children_s() - before, 1)}
        folder.with_suffix(".json").write_text(json.dumps(spent), encoding="utf-8")
    return folder


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _scores(benchmark: str, data: Path, methods: tuple[str, ...]) -> Iterator[Number]:
    with tempfile.TemporaryDirectory(prefix="depthgauge-") as folder:
        done = run(benchmark, data, methods, Path(folder) / "run", keep_estimates=False)
        for (label, _), result in done.results.items():
            for score, found in result.summary.items():
                if math.isfinite(found.value):
                    yield Number(f"{benchmark}, {label}: {score}", found.value)


def _second_layer(samples: list[Sample], method: str) -> dict[int, float]:
    """Bad pixels of the second layer; a single flow stands for every layer (6.2)."""
    found: dict[int, list[float]] = {tau: [] for tau in TAUS}
    quantity = "flow" if method in FLOW else "layered_flow"
    for sample in samples:
        truth = sample.truth.layered_flow  # type: ignore[union-attr]  # it has truth
        values = find_method(method).estimate(sample.inputs, quantity).values
        if quantity == "flow":
            values = np.stack([values] * len(truth))
        ids = [f"multi_bad:{tau},2" for tau in TAUS]
        scores = dg.score(values, truth, ids, quantity="layered_flow", check=False)
        for tau, score in zip(TAUS, scores.values(), strict=True):
            if score.count + score.missing:
                found[tau].append(score.value)
    return {tau: float(np.mean(rates)) for tau, rates in found.items()}


def _seen_again(samples: list[Sample]) -> Iterator[Number]:
    """How much the two pictures differ where the truth says that they show the same point."""
    import cv2

    off: dict[str, list[Any]] = {"free": [], "through glass": [], "not moved": []}
    for sample in samples:
        truth = sample.truth
        assert truth is not None
        first, second = (
            cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
            for picture in (sample.inputs.first_image, sample.inputs.second_image)
        )
        material, y, x = truth.layer_material, *np.indices(first.shape, dtype=np.float32)
        last = np.minimum((material != NO_MATERIAL).sum(axis=0), len(material)) - 1
        at = (np.maximum(last, 0), y.astype(int), x.astype(int))
        flow = truth.layered_flow[at]
        ends = np.isfinite(flow[..., 0]) & (material[at] == 0)
        to = np.nan_to_num(flow)
        moved = cv2.remap(second, x + to[..., 0], y + to[..., 1], cv2.INTER_LINEAR)
        off["free"].append(np.abs(first - moved)[ends & (last == 0)])
        off["through glass"].append(np.abs(first - moved)[ends & (last > 0)])
        off["not moved"].append(np.abs(first - second)[ends & (last > 0)])
    for name, values in off.items():
        median = float(np.median(np.concatenate(values)))
        yield Number(f"difference of a point's two pictures, {name}: median of 255", median)


def _throughput(data: Path) -> Iterator[Number]:
    spent = json.loads(data.with_suffix(".json").read_text(encoding="utf-8"))
    seconds = spent["core_s"] / spent["pairs"]
    yield Number("core seconds a pair of four pictures", seconds)
    yield Number("pictures an hour and core", 4 * 3600 / seconds)
    hours = 15_000 * seconds / 3600
    yield Number("core hours of 60,000 pictures", hours)
    yield Number(f"hours of 60,000 pictures on {CLUSTER_CORES} cores", hours / CLUSTER_CORES)
