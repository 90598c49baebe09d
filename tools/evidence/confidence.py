"""Whether the light-field method that gives a confidence knows its errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

import depthgauge as dg
from depthgauge.methods import find_method
from depthgauge.synth.sets.stratified import make_scene
from depthgauge.types import Estimate
from tools._measured import table, update
from tools.evidence import Number, figure, recorded_values, within

SCENES = ("backgammon", "dots", "pyramids", "stripes", "slant")
SIZE_PX, SEED, BORDER_PX = 128, 8, 15
METHOD = "lf-epi"
SCORES = ("mae", "ause", "aurg", "badpix:0.07", "density_auc:0.07")


@figure("confidence", data="five stratified light fields of 128x128, 9x9 views, seed 8")
def confidence_of_slopes() -> Iterator[Number]:
    """Errors by the confidence of lf-epi: AUSE, random gain, and bad pixels over density."""
    gains = []
    for scene in SCENES:
        found = _scores(scene)
        for name in SCORES:
            yield Number(f"{scene}: {name}", found[name])
        gains.append(_share(found))
        yield Number(f"{scene}: share of the possible gain, %", gains[-1])
    # A confidence that says nothing has 0, one that knows its errors has 100; bounds from seed 7.
    mean = float(np.mean(gains))
    yield within("mean share of the possible gain, %", mean, 10.0, 90.0)


def _scores(scene: str) -> dict[str, float]:
    sample = make_scene(scene, size_px=SIZE_PX, views=9, scale=1, seed=SEED)
    estimate = find_method(METHOD).estimate(sample.inputs, "disparity")
    assert isinstance(estimate, Estimate)
    parts = {"disparity": estimate.values, "confidence": estimate.parts["confidence"]}
    truth = sample.truth
    assert truth is not None
    found = dg.score(
        parts, truth["disparity"], list(SCORES), quantity="disparity", crop=BORDER_PX, check=False
    )
    return {name.removesuffix("@all"): score.value for name, score in found.items()}


def _share(found: Mapping[str, float]) -> float:
    """How much of what a perfect confidence would gain this one gains."""
    return 100.0 * found["aurg"] / (found["aurg"] + found["ause"])


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/benchmarks/light-field-confidence.md up to date."""
    numbers = recorded_values("confidence")
    if not numbers:
        return False
    page = "benchmarks/light-field-confidence.md"
    return update(page, {"confidence": rows(numbers)}, "evidence", check)


def rows(numbers: Mapping[str, float]) -> str:
    """The table of the page."""
    head = [
        "scene",
        "mae",
        "ause",
        "aurg",
        "share of the possible gain",
        "badpix:0.07",
        "density_auc:0.07",
    ]
    body = [
        [
            scene,
            *(f"{numbers[f'{scene}: {name}']:.3f} px" for name in ("mae", "ause", "aurg")),
            f"{numbers[f'{scene}: share of the possible gain, %']:.0f} %",
            *(f"{numbers[f'{scene}: {name}']:.1f} %" for name in SCORES[3:]),
        ]
        for scene in SCENES
    ]
    return table(head, body)
