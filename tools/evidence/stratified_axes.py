"""How the baselines degrade along the axes of stratified scenes, and where 50 % fail.

The scenes were tuned on seeds 0 and 1 only.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import depthgauge as dg
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.difficulty.axes import AxisDifficulty, difficulties
from depthgauge.datasets import DATASETS
from depthgauge.methods import find_method
from depthgauge.synth.sets.stratified import SCENES, make_pair, make_scene
from depthgauge.types import Sample
from tools._measured import table, update
from tools.evidence import Number, figure, recorded_values, within

SEEDS = (11, 12)
SIZE_PX = 256
BITING = ("slant", "unique")
"""Axes that take every baseline from below 5 % to above 60 %."""
METHODS = {"stratified": ("lf-epi", "lf-cost-volume"), "stratified-stereo": ("sgbm", "bm")}
ASKED = ("lf-epi", "lf-cost-volume", "sgbm")
"""Whose failures must grow along the axes above."""
STEADY = {"wall": ("lf-epi", "lf-cost-volume")}
"""Axes on which failures of a method never fall by more than a little."""
SHOWN = ("slant", "unique", "wall", "glass", "gloss", "offset", "gain", "noise", "hidden_gap")
_FULL, _SCALE, _BORDER, _WRONG = 512, 10, 15, 0.07


@figure(
    "stratified-axes",
    data=f"stratified scenes of {SIZE_PX}x{SIZE_PX}, 9x9 views, and pairs, seeds "
    f"{', '.join(map(str, SEEDS))}; camouflage of 512x512; all tuned on seeds 0 and 1",
)
def stratified_axes() -> Iterator[Number]:
    """Failures of the baselines in every bin of stratified scenes, and where 50 % fail."""
    with tempfile.TemporaryDirectory() as folder:
        for benchmark, methods in METHODS.items():
            yield from _numbers(benchmark, methods, Path(folder) / benchmark)
    yield from _unsaturated()


def _numbers(benchmark: str, methods: tuple[str, ...], folder: Path) -> Iterator[Number]:
    dataset = "hci4d" if benchmark == "stratified" else "depthgauge"
    keys = {} if dataset == "hci4d" else {"id": "axes", "title": "Axes", "licence": "CC0-1.0"}
    DATASETS[dataset].write(folder / "data", _samples(benchmark), **keys)
    run = dg.run(benchmark, folder / "data", methods, folder / "run", workers=0)
    for found in difficulties(run, make_board(run)):
        stem, count = found.axis.stem, len(found.axis.bins)
        for method in methods:
            line = found.axis.lines[method]
            for k, value in enumerate(line, start=1):
                if np.isfinite(value):
                    yield _bin(f"{benchmark}: {found.axis.metric}@{stem}_{k} of {method}, %",
                               value, stem in BITING and method in ASKED, k, count)  # fmt: skip
            if method in STEADY.get(stem, ()):
                known = np.array([value for value in line if np.isfinite(value)])
                drop = float((np.maximum.accumulate(known) - known).max())
                yield within(f"{benchmark}: largest drop of {method} on {stem}, %", drop, 0, 10)
            yield from _half(benchmark, method, found)


def _bin(name: str, value: float, biting: bool, k: int, count: int) -> Number:
    if biting and k == 1:
        return within(name, value, 0, 5)
    if biting and k == count:
        return within(name, value, 60, 100)
    return Number(name, value)


def _half(benchmark: str, method: str, found: AxisDifficulty) -> Iterator[Number]:
    """Where 50 % fail; beyond the axis, 0 or one more than there are bins."""
    one, count = found.methods[method], len(found.axis.bins)
    start = f"{benchmark}: 50 % of {method} on {found.axis.stem}"
    for name, place in (
        ("bin", one.curve.difficulty),
        ("low", one.curve.low),
        ("high", one.curve.high),
    ):
        yield Number(f"{start}, {name}", min(max(place, 0.0), count + 1.0))
    if one.curve.reaches:
        yield Number(f"{start}, {found.axis.axis_unit or 'value'}", one.value)


def _samples(benchmark: str) -> Iterator[Sample]:
    for seed in SEEDS:
        for name in SCENES:
            if name == "pyramids":  # has no axis
                continue
            if benchmark == "stratified":
                sample = make_scene(name, size_px=SIZE_PX, scale=2, seed=seed)
            else:
                sample = make_pair(name, size_px=SIZE_PX, seed=seed)
            yield replace(sample, id=f"{name}-{seed}")


def _unsaturated() -> Iterator[Number]:
    """What an exact map of the images' size and the baselines score at the high resolution."""
    sample = make_scene("camouflage", size_px=_FULL, scale=_SCALE, seed=SEEDS[0])
    assert sample.truth is not None
    perfect = _badpix(sample.truth.disparity, sample)
    yield Number("camouflage: BadPix(0.07) of an exact map, %", perfect)
    best = np.inf
    for method in METHODS["stratified"]:
        estimate = find_method(method).estimate(sample.inputs.fresh(), "disparity").values  # type: ignore[union-attr]  # one image
        value = _badpix(estimate, sample)
        best = min(best, value)
        yield Number(f"camouflage: BadPix(0.07) of {method}, %", value)
    yield within("camouflage: best method against an exact map", best / perfect, 2.5, 50)


def _badpix(estimate: np.ndarray, sample: Sample) -> float:
    assert sample.truth is not None
    n = _BORDER * _SCALE
    finer = np.repeat(np.repeat(estimate, _SCALE, axis=0), _SCALE, axis=1)
    error = np.abs(finer - sample.truth.high_disparity)[n:-n, n:-n]
    return 100 * float(np.mean(~(error <= _WRONG)))


def write_page(*, check: bool = False) -> bool:
    """Brings the tables of docs/stratified.md up to date; True where they are."""
    numbers = recorded_values("stratified-axes")
    return bool(numbers) and update(
        "stratified.md",
        {
            "axes": bins_table(numbers),
            "difficulty": halves_table(numbers),
            "camouflage": camouflage_table(numbers),
        },
        "evidence",
        check,
    )


def camouflage_table(numbers: dict[str, float]) -> str:
    """What an exact map and the methods score on camouflage."""
    start = "camouflage: BadPix(0.07) of "
    names = {"an exact map": "an exact map"} | {m: f"`{m}`" for m in METHODS["stratified"]}
    cells = [f"{numbers[f'{start}{name}, %']:.2f} %" for name in names]
    return table(["BadPix(0.07) of", *names.values()], [["camouflage, 512x512", *cells]])


def bins_table(numbers: dict[str, float]) -> str:
    """Failures in every bin, a row for each axis and method."""
    rows = []
    for stem in SHOWN:
        for benchmark, methods in METHODS.items():
            for method in methods:
                found = _line(numbers, benchmark, stem, method)
                if found:
                    rows.append([f"`{stem}`", f"`{method}`", " ".join(f"{v:.0f}" for v in found)])
    return table(["axis", "method", "failures from the easiest bin to the hardest, %"], rows)


def _line(numbers: dict[str, float], benchmark: str, stem: str, method: str) -> list[float]:
    found = {
        int(name.partition(f"@{stem}_")[2].partition(" ")[0]): value
        for name, value in numbers.items()
        if name.startswith(f"{benchmark}: ")
        and f"@{stem}_" in name
        and name.endswith(f" of {method}, %")
    }
    return [found[k] for k in sorted(found)]


def halves_table(numbers: dict[str, float]) -> str:
    """The difficulty at 50 % failure, a row for each axis."""
    methods = [(benchmark, method) for benchmark, own in METHODS.items() for method in own]
    rows = []
    for stem in SHOWN:
        cells = [_cell(numbers, benchmark, stem, method) for benchmark, method in methods]
        rows.append([f"`{stem}`", *cells])
    return table(["axis", *(f"`{method}`" for _, method in methods)], rows)


def _cell(numbers: dict[str, float], benchmark: str, stem: str, method: str) -> str:
    start = f"{benchmark}: 50 % of {method} on {stem}, "
    if f"{start}bin" not in numbers:
        return ""
    place, low, high = (numbers[f"{start}{name}"] for name in ("bin", "low", "high"))
    count = len(_line(numbers, benchmark, stem, method))
    if place <= 0:
        return "< 1"
    if place > count:
        return f"> {count}"
    ends = ["..." if end <= 0 or end > count + 0.5 else f"{end:.1f}" for end in (low, high)]
    unit = next(
        n for n in numbers if n.startswith(start) and not n.endswith((" bin", "low", "high"))
    )
    name = unit.removeprefix(start).replace("value", "")
    return f"{place:.1f} [{ends[0]}, {ends[1]}], {numbers[unit]:.3g} {name}".rstrip()
