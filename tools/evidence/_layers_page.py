"""The tables and the picture of docs/layers-scenes.md, from the records of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge.datasets import DATASETS
from depthgauge.methods import find_method
from depthgauge.synth.sets.layers._sheet import _counted, _wheel
from depthgauge.types import Sample
from tools._measured import table, update
from tools.evidence import REPOSITORY, recorded_values
from tools.evidence.layers import CLUSTER_CORES, EVERY, FLOW, SET, TAUS

PAGE = "layers-scenes.md"
PICTURE = REPOSITORY / "docs" / "images" / "layers-rooms.webp"
SHOWN = 5
"""Samples of the picture, those with most glass."""
_WIDTH_PX, _GAP_PX = 192, 4
_EPE = ("epe", "npx:1", "npx:3", "npx:5")
_HEAD = ("EPE", *(f"{tau} px" for tau in TAUS))
Numbers = Mapping[str, float]


def write_page(*, check: bool = False) -> bool:
    """Brings the tables of the page up to date; True where they are."""
    numbers = recorded_values("layers")
    return bool(numbers) and update(PAGE, parts(numbers), "evidence", check)


def parts(numbers: Numbers) -> dict[str, str]:
    """The measured parts of the page by their names."""
    first = ("all", "transparent", "reflective", "diffuse")
    last = ("all", "behind_transparent", "reflective", "diffuse")
    return {
        "first": _by_region(numbers, "layers-flow-first", first),
        "last": _by_region(numbers, "layers-flow-last", last),
        "layers": _by_layer(numbers),
        "materials": _by_material(numbers),
        "second": _second(numbers),
        "strata": _strata(numbers),
        "what is in front": _in_front(numbers),
        "set": f"The set has {SET['pairs']} pairs of {SET['width']}x{SET['height']}: "
        f"`depthgauge make layers --pairs {SET['pairs']} --seed {SET['seed']}`.",
        "time": _time(numbers),
    }


def _by_region(numbers: Numbers, benchmark: str, regions: Sequence[str]) -> str:
    rows = [
        [f"`{m}`", r.replace("_", " "), *(_of(numbers, benchmark, m, f"{s}@{r}") for s in _EPE)]
        for m in FLOW
        for r in regions
    ]
    return table(["method", "points", *_HEAD], rows)


def _by_layer(numbers: Numbers) -> str:
    rows = [
        [
            f"`{m}`",
            str(n),
            *(_of(numbers, "layers-flow", m, f"count_bad:{tau},{n}@all") for tau in (*TAUS, "inf")),
        ]
        for m in (*FLOW, "peel")
        for n in (1, 2, 3)
    ]
    return table(["method", "layer", *_HEAD[1:], "any flow"], rows)


def _by_material(numbers: Numbers) -> str:
    kinds = {"all": "", **{k: f",{k}" for k in ("transparent", "reflective", "diffuse")}}
    runs = [*((m, "layers-flow-single") for m in FLOW), (EVERY, "layers-flow")]
    rows = [
        [f"`{m}`", name, *(_of(numbers, b, m, f"multi_bad:{tau}{kind}@all") for tau in TAUS)]
        for m, b in runs
        for name, kind in kinds.items()
    ]
    return table(["method", "points", *_HEAD[1:]], rows)


def _second(numbers: Numbers) -> str:
    names = {
        **{m: f"`{m}`, its flow for every layer" for m in FLOW},
        "peel": "`peel`, where it finds a second layer",
        EVERY: f"`{EVERY}`, everywhere",
    }
    rows = [
        [text, *(f"{numbers[f'layer 2, {m}: bad {tau} px, %']:.1f}" for tau in TAUS)]
        for m, text in names.items()
    ]
    return table(["second layer", *(f"{tau} px" for tau in TAUS)], rows)


def _strata(numbers: Numbers) -> str:
    """The last layer and, along the same axis, the first."""
    bends = ("< 0.25", "0.25 to 1", "1 to 4", "4 to 16", "> 16")
    runs = [("`dis`, first layer", "layers-flow-first"), ("`dis`, last layer", "layers-flow-last")]
    rows = [
        [name, *(_of(numbers, b, "dis", f"npx:3@bent_{n}") for n in range(1, 6))]
        for name, b in runs
    ]
    rows.append(
        [
            f"`{EVERY}`, behind one surface",
            *(_of(numbers, "layers-flow", EVERY, f"npx:3@bent_{n}") for n in range(1, 6)),
        ]
    )
    return table(["bent by, px", *bends], rows)


def _in_front(numbers: Numbers) -> str:
    """By the number of transparent surfaces, and by the contrast of what is behind them."""
    head = ["method", "nothing in front", "one surface", "clear", "less clear", "pale", "faint"]
    regions = ("in_front_1", "in_front_2", *(f"plain_{n}" for n in range(1, 5)))
    rows = [
        [f"`{m}`", *(_of(numbers, "layers-flow", m, f"npx:3@{region}") for region in regions)]
        for m in ("peel", EVERY)
    ]
    return table(head, rows)


def _time(numbers: Numbers) -> str:
    seconds = numbers["core seconds a pair of four pictures"]
    return (
        f"A pair of {SET['width']}x{SET['height']} at {SET['samples']} paths a pixel takes "
        f"{seconds:.0f} core seconds, so **{4 * 3600 / seconds:.0f} pictures an hour "
        f"and core**, with denoising and the truth of all layers. 60,000 pictures, as many as "
        f"LayeredFlow has, take {numbers['core hours of 60,000 pictures']:,.0f} core hours: "
        f"{60_000 / 4 * seconds / 3600 / CLUSTER_CORES:.1f} hours on {CLUSTER_CORES} cores."
    )


def _of(numbers: Numbers, benchmark: str, method: str, score: str) -> str:
    value = numbers.get(f"{benchmark}, {method}: {score}")
    return "" if value is None else f"{value:.1f}"


def draw(data: Path) -> None:
    """Writes the picture: rooms, numbers of layers, first and last flow, and what `dis` sees."""
    from PIL import Image

    samples = sorted(DATASETS["layered"].samples(data), key=_glass, reverse=True)[:SHOWN]
    rows = [np.concatenate(_tiles(sample), axis=1) for sample in samples]
    gap = np.full((_GAP_PX, rows[0].shape[1], 3), 255, np.uint8)
    sheet = np.concatenate([part for row in rows for part in (row, gap)][:-1])
    Image.fromarray(sheet).save(PICTURE, quality=82)


def _glass(sample: Sample) -> float:
    assert sample.truth is not None
    return float((sample.truth.layer_count > 1).mean())


def _tiles(sample: Sample) -> list[NDArray[np.uint8]]:
    from PIL import Image

    truth = sample.truth
    assert truth is not None
    flow = truth.layered_flow
    last = flow[0].copy()
    for layer, material in zip(flow[1:], truth.layer_material[1:], strict=True):
        last[material < 255] = layer[material < 255]
    reach = float(np.nanquantile(np.linalg.norm(flow[0], axis=-1), 0.98))
    seen = find_method("dis").estimate(sample.inputs, "flow").values
    pictures = [sample.inputs.left_image, _counted(truth.layer_count)]
    pictures += [_wheel(f, reach) for f in (flow[0], last, seen)]
    height = round(_WIDTH_PX * last.shape[0] / last.shape[1])
    space = np.full((height, _GAP_PX, 3), 255, np.uint8)
    tiles = [np.asarray(Image.fromarray(p).resize((_WIDTH_PX, height))) for p in pictures]
    return [part for tile in tiles for part in (tile, space)][:-1]
