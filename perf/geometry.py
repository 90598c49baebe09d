"""`python -m perf.geometry`: what regions and geometry-aware metrics cost on a large map.

Writes `perf/geometry.json`. There is no public program to stand beside; the limit is patience.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from depthgauge.metrics import METRICS
from depthgauge.regions import SHARED_MAPS, SampleMaps
from depthgauge.regions._shared_maps import is_shared_map
from depthgauge.types import Camera, Map, Rig

FULL, QUICK = (3000, 4136), (240, 320)
_WITHOUT_LABELS = ("missed_dots",)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.geometry", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small map")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("geometry.json"))
    options = parser.parse_args()
    shape = QUICK if options.quick else FULL
    rows = dict(_rows(shape))
    body = {"pixels": shape[0] * shape[1], "seconds": rows}
    options.out.write_text(json.dumps(body, indent=1) + "\n")
    Console().print(_table(rows, shape))


def _table(rows: dict[str, float], shape: tuple[int, int]) -> Table:
    made = Table("what", title=f"seconds on {shape[0] * shape[1] / 1e6:.1f} Mpx, after a warm-up")
    made.add_column("seconds", justify="right")
    for name, seconds in rows.items():
        made.add_row(name, f"{seconds:.2f}")
    return made


def _rows(shape: tuple[int, int]) -> Iterator[tuple[str, float]]:
    small, large = _scene(QUICK), _scene(shape)
    for name in [n for n in SHARED_MAPS if is_shared_map(n)]:
        SampleMaps(small["truth"], small, "disparity")[name]  # compiles
        things = SampleMaps(large["truth"], large, "disparity")
        for need in SHARED_MAPS[name].needs:
            if is_shared_map(need):
                things[need]
        yield f"derived {name}", _timed(lambda things=things, name=name: things[name])
    warm = SampleMaps(small["truth"], small, "disparity")
    made = SampleMaps(large["truth"], large, "disparity")
    for name, metric in METRICS.items():
        if metric.measure_with is None or name in _WITHOUT_LABELS:
            continue
        _measure(name, small, warm)
        needed = [n for n in metric.needs if is_shared_map(n)]
        for need in needed:
            made[need]
        yield f"metric {name}", _timed(lambda name=name: _measure(name, large, made))


def _timed(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _measure(name: str, scene: dict[str, Any], things: SampleMaps) -> None:
    metric = METRICS[name]
    known = {"quantity": "disparity", "rig": scene["rig"]}
    needed = {n: known[n] if n in known else things[n] for n in metric.needs}
    params = metric.bind({})
    state = metric.measure(scene["estimate"], scene["truth"], None, **needed, **params)
    metric.finish(state, "bad", **params)


def _scene(shape: tuple[int, int]) -> dict[str, Any]:
    """Slanted planes, blocks, and a fence of thin bars; an estimate with noise and holes."""
    rng = np.random.default_rng(1)
    height, width = shape
    y, x = np.mgrid[:height, :width].astype(np.float32)
    truth: Map = 40 + 20 * x / width + 10 * y / height
    block = ((x // (width / 6)).astype(int) + (y // (height / 5)).astype(int)) % 3 == 0
    truth[block] += 35
    truth[(x % (width / 30) < 6) & (y > height / 2)] += 20
    estimate = truth + rng.normal(0, 0.3, shape).astype(np.float32)
    estimate[rng.random(shape) < 0.05] = np.nan
    camera = Camera((float(width), float(width)), (width / 2, height / 2), (width, height))
    image = rng.integers(0, 255, (height, width, 3)).astype(np.uint8)
    return {
        "truth": truth,
        "estimate": estimate,
        "left_image": image,
        "disparity_range": (0, 128),
        "rig": Rig({"left": camera}, 0.2),
    }


if __name__ == "__main__":
    main()
