"""`python -m perf.layered_scoring`: scores of dense flow with four layers, beside plain NumPy.

1280 x 720 pixels, all scores by layer and material of `layers-flow`: wrong numbers of layers and
errors above 1, 3, 5 px and infinity. Careful NumPy computes the errors of each layer once and
keeps what several scores share; the way in which one writes it first computes every score by
itself. All three must agree. Writes `perf/layered_scoring.json`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import depthgauge as dg
from depthgauge.geometry.layers import MATERIALS, NO_MATERIAL, TRANSPARENT
from perf.layers import best

HERE = Path(__file__).parent
SIZE, QUICK = (720, 1280), (72, 128)
LAYERS, TIMES = 4, 8
TAUS = (1.0, 3.0, 5.0, math.inf)
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Key = tuple[str, float, int, str]
"""Metric, tau, layer (0: all), material."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.layered_scoring", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small map")
    parser.add_argument("--out", type=Path, default=HERE / "layered_scoring.json")
    options = parser.parse_args()
    estimate, truth, materials = scene(QUICK if options.quick else SIZE)
    ours, careful, first = (
        way(estimate, truth, materials) for way in (ours_scores, careful_scores, first_scores)
    )
    for key, value in ours.items():
        for other in (careful, first):
            if not math.isclose(value, other[key], abs_tol=1e-9):
                raise SystemExit(f"{key}: {value} here, {other[key]} in plain NumPy")
    calls = {
        "ours": lambda: ours_scores(estimate, truth, materials),
        "careful": lambda: careful_scores(estimate, truth, materials),
    }
    body: dict[str, Any] = {
        "size_px": estimate.shape[2:0:-1],
        "layers": LAYERS,
        "scores": len(keys()),
        "cores": os.cpu_count(),
        "load": [round(part, 1) for part in os.getloadavg()],
        **{f"{name}_s": best(call, TIMES) for name, call in calls.items()},
        **{f"{name}_cpu_s": best_cpu(call, TIMES) for name, call in calls.items()},
        "first_s": best(lambda: first_scores(estimate, truth, materials), 1),
    }
    options.out.write_text(json.dumps(body, indent=1) + "\n")
    Console().print(table(body))


def best_cpu(call: Callable[[], Any], times: int) -> float:
    """The least processor time of some calls: also on a busy machine it says what they cost."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)


def keys() -> list[Key]:
    """The scores by layer and material of `layers-flow`."""
    found: list[Key] = [("count_bad", t, k, "any") for k in range(LAYERS + 1) for t in TAUS]
    found += [("multi_bad", t, 0, name) for name in ("any", *MATERIALS) for t in TAUS[:3]]
    found += [("multi_bad", 1.0, k + 1, name) for k in range(LAYERS) for name in MATERIALS]
    return found


def scene(size: tuple[int, int]) -> tuple[Floats, Floats, Bytes]:
    """A room behind panes: each further layer covers a third of the one before."""
    rng = np.random.default_rng(4)
    rows, columns = np.mgrid[: size[0], : size[1]].astype(np.float32)
    truth = np.full((LAYERS, *size, 2), np.nan, np.float32)
    materials = np.full((LAYERS, *size), NO_MATERIAL, np.uint8)
    seen = np.ones(size, bool)
    for k in range(LAYERS):
        truth[k][seen] = np.stack([0.01 * columns + k, 0.02 * rows - k], axis=2)[seen]
        behind = seen & (columns < size[1] / 3 ** (k + 1))
        materials[k][seen] = np.where((rows[seen] // 40) % 2, 0, 2)
        materials[k][behind] = TRANSPARENT
        seen = behind
    noise = rng.normal(0, 2, truth.shape).astype(np.float32)
    estimate = truth + noise
    lost = rng.random(size) < 0.05
    for k in range(1, LAYERS):
        estimate[k][lost | np.isnan(estimate[k - 1, ..., 0])] = np.nan
    return estimate, truth, materials


def ours_scores(estimate: Floats, truth: Floats, materials: Bytes) -> dict[Key, float]:
    ids = {key: _id(key) for key in keys()}
    found = dg.score(
        estimate,
        truth,
        list(ids.values()),
        quantity="layered_flow",
        items={"layer_material": materials},
        check=False,
    )
    return {key: found[f"{name}@all"].value for key, name in ids.items()}


def _id(key: Key) -> str:
    metric, tau, layer, material = key
    return f"{metric}:{tau:g},{layer},{material}"


def careful_scores(estimate: Floats, truth: Floats, materials: Bytes) -> dict[Key, float]:
    """Errors once per layer; the largest error once per layer and material."""
    known, there = (np.isfinite(each[..., 0] + each[..., 1]) for each in (truth, estimate))
    with np.errstate(invalid="ignore"):
        squares = ((estimate - truth) ** 2).sum(axis=3)
    errors = np.sqrt(squares)
    errors[known & ~there] = np.inf
    errors[~known] = np.nan
    right = plausible(known, there, materials)
    any_known = known.any(axis=0)
    worst: dict[tuple[int, str], Floats] = {}
    found = {}
    for key in keys():
        metric, tau, layer, material = key
        if (layer, material) not in worst:
            part = errors if not layer else errors[layer - 1 : layer]
            codes = materials if not layer else materials[layer - 1 : layer]
            if material != "any":
                part = np.where(codes == MATERIALS.index(material), part, np.float32(np.nan))
            worst[layer, material] = np.fmax.reduce(part, axis=0)
        largest = worst[layer, material]
        judged = any_known & ~np.isnan(largest)
        good = (largest <= tau) & np.isfinite(largest)
        if metric == "count_bad":
            good &= right
        n = int(judged.sum())
        found[key] = 100.0 * (n - int((good & judged).sum())) / n if n else math.nan
    return found


def plausible(
    known: NDArray[np.bool_], there: NDArray[np.bool_], materials: Bytes
) -> NDArray[np.bool_]:
    """Whether the number of layers fits the last annotated one."""
    number = np.arange(1, len(known) + 1)[:, None, None]
    last = np.where(known, number, 0).max(axis=0)
    estimated = np.logical_and.accumulate(there, axis=0).sum(axis=0)
    code = np.take_along_axis(materials, np.maximum(last - 1, 0)[None], axis=0)[0]
    right: NDArray[np.bool_] = np.where(code == TRANSPARENT, estimated >= last, estimated == last)
    return right


def first_scores(estimate: Floats, truth: Floats, materials: Bytes) -> dict[Key, float]:
    """As one writes it first: every score from the maps."""
    found = {}
    for key in keys():
        metric, tau, layer, material = key
        largest = np.full(truth.shape[1:3], np.nan, np.float32)
        for k in range(LAYERS):
            if layer in (0, k + 1):
                error = np.linalg.norm(estimate[k] - truth[k], axis=2)
                error[np.isnan(estimate[k, ..., 0])] = np.inf
                error[np.isnan(truth[k, ..., 0])] = np.nan
                if material != "any":
                    error[materials[k] != MATERIALS.index(material)] = np.nan
                largest = np.fmax(largest, error)
        bad = ~((largest <= tau) & np.isfinite(largest))
        if metric == "count_bad":
            known, there = (np.isfinite(each[..., 0]) for each in (truth, estimate))
            bad |= ~plausible(known, there, materials)
        judged = ~np.isnan(largest)
        found[key] = 100.0 * float(bad[judged].mean()) if judged.any() else math.nan
    return found


def table(body: dict[str, Any]) -> Table:
    width, height = body["size_px"]
    made = Table(title=f"{body['scores']} scores, {width}x{height}, {LAYERS} layers")
    for heading in ("ours", "careful NumPy", "as one writes it first"):
        made.add_column(f"{heading}, ms", justify="right")
    made.add_row(*(f"{1000 * body[key]:.0f}" for key in ("ours_s", "careful_s", "first_s")))
    return made


if __name__ == "__main__":
    main()
