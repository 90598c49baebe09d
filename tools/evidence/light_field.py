"""What the light-field methods reach on full-size light fields, and how long they take.

Numbers are those of the public toolkit (BadPix of 0.07 px, a border of 15 px left out).
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import depthgauge as dg
from depthgauge.datasets import DATASETS
from depthgauge.methods import find_method
from depthgauge.synth.sets.stratified import make_scene
from depthgauge.types import Sample
from tools._measured import table, update
from tools.evidence import DATA, Number, figure, recorded_values

METHODS = ("lf-cost-volume", "lf-epi", "lf-pair")
BEST = "lf-cost-volume"
SCENES = ("backgammon", "dots", "pyramids", "stripes")
TARGETS = {"pyramids": 8.0, "backgammon": 15.0}
"""BadPix(0.07) that the better method stays below, in percent."""
SLOWEST_S = 90.0
BORDER_PX = 15
ANTINOUS = DATA / "lf-hci-antinous"
EPINET = DATA / "lf-hci-epinet-results"


@figure(
    "light-field",
    data="the four stratified scenes, 9x9 views of 512x512, truth of 5120x5120; antinous",
    needs=("lf-hci-antinous", "lf-hci-epinet-results"),
)
def light_field_methods() -> Iterator[Number]:
    """BadPix(0.07) by the toolkit's rules of all methods, median error, and seconds an estimate.

    Times are those of one process on this machine's cores, after a first call that compiles.
    """
    antinous = _antinous()
    _warm_up()
    found: dict[tuple[str, str], float] = {}
    for scene in SCENES:
        yield from _stratified(scene, found)
    for scene, limit in TARGETS.items():
        best = min(found[method, scene] for method in METHODS)
        yield Number(f"{scene}: BadPix(0.07) of the best, %", best, limit / 2, limit / 2)
    errors = []
    for method in METHODS:
        estimate, seconds = _estimate(method, antinous)
        error = np.abs(estimate - antinous.truth.disparity)[_inner(estimate.shape)]  # type: ignore[union-attr]  # it has truth
        errors.append(float(np.nanmedian(error)))
        yield Number(f"antinous: median error of {method}, px", errors[-1])
        bad = 100.0 * float(np.mean(~(error <= 0.07)))
        yield Number(f"antinous: BadPix(0.07) of {method}, %", bad)
        yield Number(f"antinous: seconds of {method}", seconds, SLOWEST_S / 2, SLOWEST_S / 2)
    yield Number("antinous: median error of the best, px", min(errors), 0.015, 0.015)
    yield from _without_truth()


def _without_truth() -> Iterator[Number]:
    """What can be said about estimates without a truth: EPINET's of dino and cotton."""
    for scene in ("dino", "cotton"):
        path = EPINET / f"{scene}.epinet.pfm"
        scores = dg.score(path, None, "weak_bumpiness", quantity="disparity")
        value = scores["weak_bumpiness@all"].value
        yield Number(f"{scene}: weak bumpiness of EPINET's estimate, 0.01 px/px2", value)


def _stratified(scene: str, found: dict[tuple[str, str], float]) -> Iterator[Number]:
    """All methods on one scene."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        DATASETS["hci4d"].write(root / "data", [make_scene(scene)])
        sample = next(iter(DATASETS["hci4d"].samples(root / "data", "all")))
        for method in METHODS:
            estimate, seconds = _estimate(method, sample)
            place = root / method / "disp_maps"
            place.mkdir(parents=True)
            marked = np.where(np.isfinite(estimate), estimate, np.float32(np.inf))
            np.save(place / f"{scene}.npy", marked)
            result = dg.evaluate("hci4d-toolkit", root / "data", place)
            scores = {name: score.value for name, score in result.samples[scene].items()}
            found[method, scene] = scores["badpix_0070"]
            for name, value in scores.items():
                if name not in ("runtime", "runtime_log") and np.isfinite(value):
                    yield Number(f"{scene}: {name} of {method}", value)
            yield Number(f"{scene}: seconds of {method}", seconds, SLOWEST_S / 2, SLOWEST_S / 2)


def _estimate(method: str, sample: Sample) -> tuple[np.ndarray, float]:
    """The estimate of a sample, and the seconds that it took."""
    inputs = sample.inputs.fresh()
    inputs["views"]
    start = time.perf_counter()
    values = find_method(method).estimate(inputs, "disparity").values
    return values, time.perf_counter() - start


def _warm_up() -> None:
    small = make_scene("pyramids", size_px=64, views=9, scale=2)
    for method in METHODS:
        _estimate(method, small)


def _antinous() -> Sample:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "additional" / "antinous"
        shutil.copytree(ANTINOUS, place)
        sample = next(iter(DATASETS["hci4d"].samples(Path(folder), "all")))
        sample.inputs["views"], sample.truth["disparity"]  # type: ignore[index]  # read while it is there
        return Sample(
            "antinous",
            type(sample.inputs)(sample.inputs.at_hand()),
            type(sample.truth)({"disparity": sample.truth.disparity}),  # type: ignore[union-attr,misc]  # it has truth
        )


def _inner(shape: tuple[int, ...]) -> np.ndarray:
    inner = np.zeros(shape, bool)
    inner[BORDER_PX:-BORDER_PX, BORDER_PX:-BORDER_PX] = True
    return inner


def write_page(*, check: bool = False) -> bool:
    """Brings the table of docs/light-field-methods.md up to date; True where it is."""
    numbers = recorded_values("light-field")
    return bool(numbers) and update(
        "light-field-methods.md", {"light field": rows(numbers)}, "evidence", check
    )


def rows(numbers: dict[str, float]) -> str:
    """The table of docs/light-field-methods.md from the record's numbers."""
    head = ["scene", *(f"`{m}`" for m in METHODS)]
    body = [
        [scene, *(f"{numbers[f'{scene}: badpix_0070 of {m}']:.2f} %" for m in METHODS)]
        for scene in SCENES
    ]
    body.append(
        [
            "antinous, median error",
            *(f"{numbers[f'antinous: median error of {m}, px']:.4f} px" for m in METHODS),
        ]
    )
    body.append(
        [
            "seconds a scene, most",
            *(
                f"{max(numbers[f'{s}: seconds of {m}'] for s in (*SCENES, 'antinous')):.0f} s"
                for m in METHODS
            ),
        ]
    )
    return table(head, body)
