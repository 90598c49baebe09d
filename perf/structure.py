"""`python -m perf.structure`: R-SSIM and the histogram error beside their usual implementations.

Maps of 1.4 Mpx. R-SSIM stands beside scikit-image's SSIM with the same window, the earth mover's
distance beside `scipy.stats.wasserstein_distance`, tile by tile; they must agree. Both the time
that passes and the processor time of all threads are taken; ratios are of the latter. Writes
`perf/structure.json`.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import wasserstein_distance
from skimage.metrics import structural_similarity

from depthgauge.metrics import METRICS
from depthgauge.metrics.structure.histograms import tiles
from perf.views import Taken, agree, best

HERE = Path(__file__).parent
SIZE, QUICK = (960, 1440), (96, 144)
WINDOW = 11
"""That of scikit-image with a deviation of 1.5."""
Maps = tuple[np.ndarray, np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.structure", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small maps: agreement only")
    parser.add_argument("--out", type=Path, default=HERE / "structure.json")
    options = parser.parse_args()
    maps = make_maps(QUICK if options.quick else SIZE)
    load = [round(part, 1) for part in os.getloadavg()]
    rows = dict(timed(maps))
    body = {"size_px": maps[0].shape[::-1], "cores": os.cpu_count(), "load": load}
    times = {
        key: {name: row[i] for name, row in rows.items()} for i, key in enumerate(Taken._fields)
    }
    options.out.write_text(json.dumps({**body, **times}, indent=1) + "\n")
    Console(width=110).print(table(rows))


def make_maps(size: tuple[int, int]) -> Maps:
    """A smooth surface with steps, and an estimate with noise."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0 : size[0], 0 : size[1]].astype(np.float32)
    truth = 30 + 8 * np.sin(x / 90) + y / 60 + 12 * ((x // 200 + y // 150) % 2)
    return (truth + rng.normal(0, 0.5, size)).astype(np.float32), truth.astype(np.float32)


def timed(maps: Maps) -> Iterator[tuple[str, Taken]]:
    """Times by name; ours by the metric's id."""
    yield "r_ssim", best(lambda: value("r_ssim", maps, window=WINDOW))
    yield "r_ssim, scikit-image", best(lambda: skimage_ssim(maps), 2)
    agree("R-SSIM", skimage_ssim(maps), value("r_ssim", maps, window=WINDOW), 1e-9)
    yield "ms_r_ssim", best(lambda: value("ms_r_ssim", maps))
    yield "histogram_error", best(lambda: value("histogram_error", maps))
    yield "histogram_error, SciPy", best(lambda: scipy_distance(maps), 2)
    agree("the histogram error", scipy_distance(maps), value("histogram_error", maps), 1e-6)


def value(name: str, maps: Maps, **params: float) -> float:
    metric = METRICS[name]
    bound = metric.bind(params)
    return metric.finish(metric.measure(*maps, **bound), **bound)


def skimage_ssim(maps: Maps) -> float:
    """With the constants of ours, over windows within the map."""
    _, full = structural_similarity(
        *(v.astype(np.float64) for v in maps), data_range=1.0, K1=1e-6, K2=1e-3, full=True,
        gaussian_weights=True, sigma=1.5, use_sample_covariance=False, win_size=WINDOW,
    )  # fmt: skip
    half = WINDOW // 2
    return float(full[half:-half, half:-half].mean())


def scipy_distance(maps: Maps) -> float:
    found = [
        wasserstein_distance(*(v[tile].ravel() for v in maps)) for tile in tiles(maps[0].shape, 2)
    ]
    return float(np.mean(found))


def table(rows: dict[str, Taken]) -> Table:
    made = Table("what", title="structure of maps")
    for heading in ("ms", "ms of the processor", "times ours"):
        made.add_column(heading, justify="right")
    for name, (seconds, cpu) in rows.items():
        metric, comma, _ = name.partition(",")
        ratio = f"{cpu / rows[metric].cpu_seconds:.1f}" if comma else ""
        made.add_row(name, f"{1e3 * seconds:.1f}", f"{1e3 * cpu:.1f}", ratio)
    return made


if __name__ == "__main__":
    main()
