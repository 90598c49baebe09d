"""`python -m perf.monocular`: monocular depth as people usually score it, beside ours.

Writes `perf/monocular.json`. One picture of 640x480, as in NYU Depth v2: the nine usual columns
inside Eigen's box, the fit of scale and shift, and the thinning of jumps for boundary recall.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import depthgauge as dg
from depthgauge.geometry.alignment import fit_alignment
from depthgauge.geometry.boundary_maps.depth_jumps import largest_of_runs
from depthgauge.types import Map, Mask

SIZE = (480, 640)
COLUMNS = (
    *("delta:1.25", "delta:1.5625", "delta:1.953125", "absrel", "sqrel"),
    *("rms", "rmse_log", "silog", "log10"),
)
RULES = {
    "truth": {"min_depth_m": 1e-3, "max_depth_m": 10.0, "limits": "open"},
    "estimate": {"range": "none", "clip": [1e-3, 10.0]},
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.monocular", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repeats: proves agreement only")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("monocular.json"))
    options = parser.parse_args()
    rows = measure(1 if options.quick else 30)
    options.out.write_text(json.dumps({"size": SIZE, "cpu_seconds": rows}, indent=1) + "\n")
    made = Table("what", title="milliseconds of processor time, one picture, best of several")
    for heading in ("ours", "usual", "times"):
        made.add_column(heading, justify="right")
    for name, (ours, usual) in rows.items():
        made.add_row(name, f"{1e3 * ours:.2f}", f"{1e3 * usual:.2f}", f"{usual / ours:.1f}")
    Console().print(made)


def measure(repeats: int) -> dict[str, tuple[float, float]]:
    """Processor seconds of ours and of the usual way; both must give the same."""
    estimate, truth = scene()
    pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "nine columns": (lambda: ours(estimate, truth), lambda: usual(estimate, truth)),
        "scale and shift": (lambda: fit(estimate, truth), lambda: usual_fit(estimate, truth)),
        "thinned jumps": (
            lambda: largest_of_runs(truth.astype(np.float64), 5.0),
            lambda: usual_thinning(truth, 5.0),
        ),
    }
    rows = {}
    for name, (mine, theirs) in pairs.items():
        np.testing.assert_allclose(mine(), theirs(), rtol=1e-4)
        rows[name] = (best(mine, repeats), best(theirs, repeats))
    return rows


def best(call: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def scene() -> tuple[Map, Map]:
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0 : SIZE[0], 0 : SIZE[1]]
    truth = (2 + 0.005 * x + 0.01 * y + rng.uniform(0, 0.3, SIZE)).astype(np.float32)
    truth[rng.random(SIZE) < 0.1] = np.nan
    estimate = (np.nan_to_num(truth, nan=3.0) * rng.uniform(0.8, 1.25, SIZE)).astype(np.float32)
    return estimate, truth


def ours(estimate: Map, truth: Map) -> list[float]:
    found = dg.score(
        estimate, truth, COLUMNS, quantity="depth", crop="nyu", protocol=RULES, check=False
    )
    return [found[f"{name}@all"].value for name in COLUMNS]


def usual(estimate: Map, truth: Map) -> list[float]:
    """As BTS and those after it write it: a mask, then a pass for each column."""
    known = np.nan_to_num(truth)
    valid = (known > 1e-3) & (known < 10)
    box = np.zeros(valid.shape)
    box[45:471, 41:601] = 1
    valid = np.logical_and(valid, box)
    g, p = known[valid], np.clip(estimate, 1e-3, 10)[valid]
    ratio = np.maximum(g / p, p / g)
    deltas = [100 * (ratio < 1.25**k).mean() for k in (1, 2, 3)]
    logs = np.log(p) - np.log(g)
    return [
        *deltas,
        np.mean(np.abs(g - p) / g),
        np.mean((g - p) ** 2 / g),
        np.sqrt(((g - p) ** 2).mean()),
        np.sqrt(((np.log(g) - np.log(p)) ** 2).mean()),
        np.sqrt(np.mean(logs**2) - np.mean(logs) ** 2) * 100,
        np.mean(np.abs(np.log10(p) - np.log10(g))),
    ]


def fit(estimate: Map, truth: Map) -> tuple[float, float]:
    found = fit_alignment(estimate, truth, kind="scale_shift", space="depth", quantity="depth")
    return found.scale, found.shift


def usual_fit(estimate: Map, truth: Map) -> tuple[float, float]:
    """As Marigold's alignment: `numpy.linalg.lstsq` over the valid pixels."""
    valid = np.isfinite(truth)
    columns = np.column_stack([estimate[valid], np.ones(valid.sum(), np.float32)])
    scale, shift = np.linalg.lstsq(columns, truth[valid], rcond=None)[0]
    return float(scale), float(shift)


def usual_thinning(values: Map, limit: float) -> Mask:
    """As Depth Pro's program: a Python loop over all pixels above the limit."""
    kept = np.zeros(values.shape, bool)
    rows, columns = np.nonzero(values > limit)
    run: list[int] = []
    for i in range(rows.size + 1):
        end = i == rows.size or not run
        if not end and rows[i] == rows[run[-1]] and columns[i] == columns[run[-1]] + 1:
            run.append(i)
            continue
        if run:
            _keep(kept, values, rows[run], columns[run])
        run = [i]
    return kept


def _keep(kept: Mask, values: Map, rows: NDArray[Any], columns: NDArray[Any]) -> None:
    largest = int(np.argmax(values[rows, columns]))
    kept[rows[largest], columns[largest]] = True


if __name__ == "__main__":
    main()
