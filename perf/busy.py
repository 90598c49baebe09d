"""`python -m perf.busy`: one call of `dg.score` beside careful NumPy, idle and on a busy machine.

Five metrics (mae, rms, badpix:1, badpix:2, d1) on truths with holes. Both take turns in one
process; times are medians. Busy means five spinning processes for each core. Writes
`perf/busy.json`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import depthgauge as dg
from depthgauge.types import Map

METRICS = ("mae", "rms", "badpix:1", "badpix:2", "d1")
SIZES = ((64, 64), (240, 320), (480, 640), (1080, 1920), (3000, 4000), (6000, 8000))
PER_CORE = 5


def careful(estimate: Map, truth: Map) -> tuple[float, ...]:
    """The same five numbers in NumPy: each map is indexed once, nothing is computed twice."""
    known = np.isfinite(truth)
    there = truth[known]
    error = estimate[known] - there
    size = np.abs(error)
    over = size > 3
    over &= size > np.float32(0.05) * np.abs(there)
    n = size.size
    return (
        float(size.mean(dtype=np.float64)),
        float(np.sqrt(np.square(error, dtype=np.float64).mean())),
        100 * np.count_nonzero(size > 1) / n,
        100 * np.count_nonzero(size > 2) / n,
        100 * np.count_nonzero(over) / n,
    )


def pair(shape: tuple[int, int]) -> tuple[Map, Map]:
    rng = np.random.default_rng(0)
    truth = 60 * rng.random(shape, dtype=np.float32) + 1
    estimate = truth + rng.standard_normal(shape, dtype=np.float32)
    truth[: shape[0] // 4, : shape[1] // 3] = np.nan
    return estimate, truth


def spin() -> None:
    while True:
        pass


@contextmanager
def load(processes: int) -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    busy = [context.Process(target=spin, daemon=True) for _ in range(processes)]
    for process in busy:
        process.start()
    try:
        yield
    finally:
        for process in busy:
            process.terminate()
            process.join()


def medians(calls: tuple[Callable[[], Any], ...], seconds: float) -> list[float]:
    """The median time of each; they take turns."""
    times: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for call, found in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
    return [statistics.median(found) for found in times]


def measure(shape: tuple[int, int], seconds: float) -> dict[str, float]:
    estimate, truth = pair(shape)
    scores = dg.score(estimate, truth, METRICS)
    np.testing.assert_allclose(
        [score.value for score in scores.values()], careful(estimate, truth), rtol=1e-5
    )
    calls = (
        lambda: dg.score(estimate, truth, METRICS),
        lambda: dg.score(estimate, truth, METRICS, check=False),
        lambda: careful(estimate, truth),
    )
    ours, unchecked, numpy = medians(calls, seconds)
    return {"ours_s": ours, "unchecked_s": unchecked, "numpy_s": numpy, "ratio": ours / numpy}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.busy", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small maps, a moment each")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("busy.json"))
    options = parser.parse_args()
    sizes, seconds = (SIZES[:3], 0.2) if options.quick else (SIZES, 5.0)
    cores = len(os.sched_getaffinity(0))
    rows: dict[str, Any] = {"cores": cores}
    table = Table("px", "load", "ours ms", "without check ms", "NumPy ms", "ours / NumPy")
    for name, processes in (("idle", 0), ("busy", PER_CORE * cores)):
        with load(processes):
            for shape in sizes:
                row = measure(shape, seconds)
                rows[f"{shape[1]}x{shape[0]} {name}"] = row
                shown = [f"{1e3 * row[key]:.2f}" for key in ("ours_s", "unchecked_s", "numpy_s")]
                table.add_row(f"{shape[1]}x{shape[0]}", name, *shown, f"{row['ratio']:.2f}")
    options.out.write_text(json.dumps(rows, indent=1) + "\n")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
