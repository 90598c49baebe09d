"""`python -m perf.spacetime`: space-time stereo of the classical engine, time and memory.

Random textures, moved by slanted planes, at 1 Mpx (20 patterns, 115 disparities, both views, all
rows) and at 12 Mpx (20 patterns, 400 disparities: one tile of rows in a process of its own, from
which the time of all is extrapolated). Beside it OpenCV's SGBM on one of the pairs, one view: it
does a twentieth of the work for half of the views, so the ratio for equal work is the one divided
by 40. Writes `perf/spacetime.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from depthgauge.capture.spacetime.engine import Pairs
from depthgauge.capture.spacetime.engines.classical import Classical
from depthgauge.capture.spacetime.step import Tiles

HERE = Path(__file__).parent
PATTERNS = 20
SIZES = {"1 Mpx": (1168, 854, (27, 141)), "12 Mpx": (4112, 3008, (60, 459))}
QUICK = {"quick": (320, 240, (8, 40))}
MEMORY_GIB = 2.0
ENGINE = Classical()


def pairs_of(width: int, height: int, rows: int, lowest: int, folder: Path) -> Pairs:
    """Pictures of that size of which only the first rows are filled; in files, as in the step."""
    import cv2

    rng = np.random.default_rng(0)
    shape = (PATTERNS, height, width, 3)
    stacks = [
        np.lib.format.open_memmap(folder / f"{side}.npy", "w+", np.uint8, shape)
        for side in ("left", "right")
    ]
    x = np.arange(width, dtype=np.float32) + np.zeros((rows, 1), np.float32)
    y = np.arange(rows, dtype=np.float32)[:, None] + np.zeros_like(x)
    moved = x + lowest + 10 + 0.02 * x
    for t in range(PATTERNS):
        noise = rng.integers(0, 256, (rows, width, 3), dtype=np.uint8)
        texture = cv2.GaussianBlur(noise, (0, 0), 1.0)
        texture = cv2.normalize(texture, None, 0, 255, cv2.NORM_MINMAX)
        stacks[0][t, :rows] = texture
        stacks[1][t, :rows] = cv2.remap(texture, moved, y, cv2.INTER_LINEAR)
    known = np.ones((height, width), bool)
    return Pairs(stacks[0], stacks[1], known, known)


def peak_gib() -> float | None:
    """The process's largest resident memory so far, mapped files included."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    line = next(li for li in status.read_text().splitlines() if li.startswith("VmHWM"))
    return int(line.split()[1]) / 2**20


def measure(width: int, height: int, limits: tuple[int, int]) -> dict[str, Any]:
    """In this process: one tile of both views, after a tiny one that compiles everything."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tiles = Tiles(ENGINE, folder, limits, MEMORY_GIB)
        plan = list(tiles.plan((PATTERNS, height, width)))
        rows = plan[0][1].stop
        pairs = pairs_of(width, height, rows, limits[0], folder)
        ENGINE.match(pairs.rows(slice(0, 20)), limits)
        start = time.perf_counter()
        part = pairs.rows(slice(0, rows))
        ENGINE.match(part, limits)
        ENGINE.match(part.mirrored(), limits)
        seconds = time.perf_counter() - start
        peak = peak_gib()
        sgbm = sgbm_seconds(part, limits)
    return {
        "size_px": [width, height],
        "patterns": PATTERNS,
        "disparities": limits[1] - limits[0] + 1,
        "tiles": len(plan),
        "tile_rows": rows,
        "tile_s": seconds,
        "both_views_s": seconds * len(plan),
        "peak_gib": peak,
        "sgbm_one_pair_s": sgbm * height / rows,
    }


def sgbm_seconds(pairs: Pairs, limits: tuple[int, int]) -> float:
    import cv2

    count = -(-(limits[1] - limits[0] + 1) // 16) * 16
    matcher = cv2.StereoSGBM.create(
        minDisparity=limits[0], numDisparities=count, blockSize=3, P1=216, P2=864
    )
    left, right = (np.ascontiguousarray(stack[0]) for stack in (pairs.left, pairs.right))
    start = time.perf_counter()
    matcher.compute(left, right)
    return time.perf_counter() - start


def in_child(size: tuple[int, int, tuple[int, int]]) -> dict[str, Any]:
    command = [sys.executable, "-m", "perf.spacetime", "--child", json.dumps(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def table(found: dict[str, Any]) -> Table:
    made = Table("size", title=f"space-time stereo, {PATTERNS} patterns, {found['cores']} cores")
    for heading in ("disparities", "tiles", "both views, s", "peak, GiB", "SGBM, one pair, s", "x"):
        made.add_column(heading, justify="right")
    for name, row in found["sizes"].items():
        ratio = row["both_views_s"] / row["sgbm_one_pair_s"]
        made.add_row(
            name,
            str(row["disparities"]),
            str(row["tiles"]),
            f"{row['both_views_s']:.0f}",
            "" if row["peak_gib"] is None else f"{row['peak_gib']:.1f}",
            f"{row['sgbm_one_pair_s']:.2f}",
            f"{ratio:.0f}",
        )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.spacetime", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small pictures: does it run?")
    parser.add_argument("--out", type=Path, default=HERE / "spacetime.json")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        width, height, limits = json.loads(options.child)
        print(json.dumps(measure(width, height, (limits[0], limits[1]))))
        return
    sizes = QUICK if options.quick else SIZES
    found = {"cores": os.cpu_count(), "sizes": {n: in_child(s) for n, s in sizes.items()}}
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    Console(width=110).print(table(found))


if __name__ == "__main__":
    main()
