"""`python -m perf.spacetime`: space-time stereo of the classical engine, time and memory.

Random textures, moved by slanted planes: 1 Mpx (20 patterns, 115 disparities), 3 Mpx (8 patterns,
200 disparities: pictures of 12 Mpx at half their size) and 12 Mpx (20 and 100 patterns, 400
disparities). Both views; of the larger ones some rows in a process of its own, from which the time
of all is extrapolated, the rows that tiles share included. Beside it OpenCV's SGBM on one of the
pairs, one view: it does one T-th of the work for half of the views, so the ratio for equal work is
the one divided by 2 T. Processor time, since wall time depends on what else runs. Writes
`perf/spacetime.json`.
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

from depthgauge.capture.spacetime.engine import Pairs, match_both
from depthgauge.capture.spacetime.engines.classical import Classical
from depthgauge.capture.spacetime.step import Tiles

HERE = Path(__file__).parent
Size = tuple[int, int, tuple[int, int], int]
"""Width, height, the range of disparities, patterns."""
SIZES: dict[str, Size] = {
    "1 Mpx": (1168, 854, (27, 141), 20),
    "3 Mpx": (2056, 1504, (30, 229), 8),
    "12 Mpx": (4112, 3008, (60, 459), 20),
    "12 Mpx, 100 patterns": (4112, 3008, (60, 459), 100),
}
QUICK: dict[str, Size] = {"quick": (320, 240, (8, 40), 6)}
MOST_ROWS = 160
"""Rows that are measured; more of them take longer and tell the same."""
MEMORY_GIB = 2.0
ENGINE = Classical()


def pairs_of(width: int, rows: int, patterns: int, lowest: int, folder: Path) -> Pairs:
    """Rows of pictures, in files, as in the step."""
    import cv2

    rng = np.random.default_rng(0)
    shape = (patterns, rows, width, 3)
    stacks = [
        np.lib.format.open_memmap(folder / f"{side}.npy", "w+", np.uint8, shape)
        for side in ("left", "right")
    ]
    x = np.arange(width, dtype=np.float32) + np.zeros((rows, 1), np.float32)
    y = np.arange(rows, dtype=np.float32)[:, None] + np.zeros_like(x)
    moved = x + lowest + 10 + 0.02 * x
    for t in range(patterns):
        noise = rng.integers(0, 256, (rows, width, 3), dtype=np.uint8)
        texture = cv2.GaussianBlur(noise, (0, 0), 1.0)
        texture = cv2.normalize(texture, None, 0, 255, cv2.NORM_MINMAX)
        stacks[0][t] = texture
        stacks[1][t] = cv2.remap(texture, moved, y, cv2.INTER_LINEAR)
    known = np.ones((rows, width), bool)
    return Pairs(stacks[0], stacks[1], known, known)


def peak_gib() -> float | None:
    """The process's largest resident memory so far, mapped files included."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    line = next(li for li in status.read_text().splitlines() if li.startswith("VmHWM"))
    return int(line.split()[1]) / 2**20


def measure(width: int, height: int, limits: tuple[int, int], patterns: int) -> dict[str, Any]:
    """In this process: some rows of both views, after a few that compile everything."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tiles = Tiles(ENGINE, folder, limits, MEMORY_GIB)
        plan = list(tiles.plan((patterns, height, width)))
        matched = sum(wide.stop - wide.start for _, wide in plan)
        rows = min(plan[0][1].stop, MOST_ROWS)
        pairs = pairs_of(width, rows, patterns, limits[0], folder)
        match_both(ENGINE, pairs.rows(slice(0, 20)), limits)
        start = time.process_time()
        match_both(ENGINE, pairs, limits)
        seconds = time.process_time() - start
        peak = peak_gib()
        sgbm = sgbm_seconds(pairs, limits)
    return {
        "size_px": [width, height],
        "patterns": patterns,
        "disparities": limits[1] - limits[0] + 1,
        "tiles": len(plan),
        "rows": rows,
        "rows_cpu_s": seconds,
        "both_views_cpu_s": seconds * matched / rows,
        "peak_gib": peak,
        "sgbm_one_pair_cpu_s": sgbm * height / rows,
    }


def sgbm_seconds(pairs: Pairs, limits: tuple[int, int]) -> float:
    import cv2

    count = -(-(limits[1] - limits[0] + 1) // 16) * 16
    matcher = cv2.StereoSGBM.create(
        minDisparity=limits[0], numDisparities=count, blockSize=3, P1=216, P2=864
    )
    left, right = (np.ascontiguousarray(stack[0]) for stack in (pairs.left, pairs.right))
    start = time.process_time()
    matcher.compute(left, right)
    return time.process_time() - start


def in_child(size: Size) -> dict[str, Any]:
    command = [sys.executable, "-m", "perf.spacetime", "--child", json.dumps(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def table(found: dict[str, Any]) -> Table:
    made = Table("size", title=f"space-time stereo, CPU time, {found['cores']} cores")
    names = (
        "T",
        "disparities",
        "tiles",
        "both views, s",
        "peak of the rows, GiB",
        "SGBM, one pair, s",
        "x",
    )
    for heading in names:
        made.add_column(heading, justify="right")
    for name, row in found["sizes"].items():
        ratio = row["both_views_cpu_s"] / row["sgbm_one_pair_cpu_s"]
        made.add_row(
            name,
            str(row["patterns"]),
            str(row["disparities"]),
            str(row["tiles"]),
            f"{row['both_views_cpu_s']:.0f}",
            "" if row["peak_gib"] is None else f"{row['peak_gib']:.1f}",
            f"{row['sgbm_one_pair_cpu_s']:.2f}",
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
        width, height, limits, patterns = json.loads(options.child)
        print(json.dumps(measure(width, height, (limits[0], limits[1]), patterns)))
        return
    sizes = QUICK if options.quick else SIZES
    found = {"cores": os.cpu_count(), "sizes": {n: in_child(s) for n, s in sizes.items()}}
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    Console(width=110).print(table(found))


if __name__ == "__main__":
    main()
