"""`python -m perf.run_items`: items a second and memory of a run, with and without isolation.

Many small samples, four method files that return at once, two workers: what is left is the cost of
running methods in processes of their own. Writes `perf/run_items.json` and the table of
`docs/performance.md` that is made from it. `--before FOLDER` measures the same command with the
source folder of an older version, from before methods had processes of their own; without it, the
row of the last record is kept.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import depthgauge
from depthgauge.io import write_image, write_map
from perf.scale import fill_page

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "performance.md"
SIZE = (32, 48)
METHODS = 4
METHOD = """import numpy as np


def estimate(inputs):
    return np.full(inputs["left_image"].shape[:2], {value}.0)
"""
BENCHMARK = """id = "tiny"
version = 1
dataset = "folder"
quantity = "disparity"
pool = "image"

[[scores]]
metric = "badpix"
threshold = [1, 2, 4]

[[scores]]
metric = "mae"

[[scores]]
metric = "rms"
"""
WAYS = {
    "in one process (`--workers 0`)": ["--workers", "0"],
    "2 workers, methods in processes of their own (`--no-isolate`)": ["--no-isolate"],
    "2 workers, and the data hidden from them (the default)": [],
}
BEFORE = "2 workers, methods in the workers (the version before isolation)"


def measure(items: int, before: Path | None) -> dict[str, Any]:
    """All figures, of runs with so many items."""
    ours, load = Path(depthgauge.__file__).parents[1], os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root, items // METHODS)
        found = {way: _run(root, options, ours) for way, options in WAYS.items()}
        if before is not None:
            found[BEFORE] = _run(root, [], before)
    return {
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "items": items,
        "load": round(load, 1),
        "ways": found,
    }


def _write(root: Path, samples: int) -> None:
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (*SIZE, 3), dtype=np.uint8)
    for kind in ("left", "truth"):
        (root / "data" / kind).mkdir(parents=True)
    for i in range(samples):
        write_image(root / "data/left" / f"s{i:06}.png", image)
        write_map(root / "data/truth" / f"s{i:06}.npy", rng.uniform(1, 9, SIZE))
    for k in range(METHODS):
        (root / f"method{k}.py").write_text(METHOD.format(value=k + 3))
    (root / "tiny.toml").write_text(BENCHMARK)


def _run(root: Path, options: list[str], source: Path) -> dict[str, float]:
    """Items a second from the first item to the last, peak memory, CPU time of an item."""
    with tempfile.TemporaryDirectory(dir=root) as out:
        command = [sys.executable, "-m", "depthgauge", "run", str(root / "tiny.toml")]
        command += ["--data", str(root / "data"), "--out", f"{out}/run", "--quiet"]
        for k in range(METHODS):
            command += ["--method", str(root / f"method{k}.py")]
        command += options if "--workers" in options else ["--workers", "2", *options]
        run = subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": str(source)}, stdout=subprocess.DEVNULL
        )
        meter = Meter(run.pid)
        if run.wait():
            raise SystemExit(f"{' '.join(command)} failed")
        meter.stop()
        written = sorted(path.stat().st_mtime for path in Path(out, "run", "items").iterdir())
    return {
        "items_per_s": round((len(written) - 1) / (written[-1] - written[0]), 1),
        "peak_mb": round(meter.peak_bytes / 1e6),
        "processes": meter.most_processes,
        "cpu_ms_per_item": round(1e3 * meter.cpu_s / len(written), 2),
    }


class Meter(threading.Thread):
    """Proportional memory and CPU time of a process and of all that it started.

    It looks ten times a second, since nobody waits for the processes of some namespaces.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak_bytes = self.most_processes = 0
        self._ticks: dict[int, int] = {}
        self._pid, self._done = pid, threading.Event()
        self.start()

    @property
    def cpu_s(self) -> float:
        """CPU time of all processes that were seen, up to the last look at each."""
        return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """Stops looking."""
        self._done.set()
        self.join()

    def run(self) -> None:
        """Looks until it is stopped."""
        while not self._done.wait(0.1):
            tree = _tree(self._pid)
            self._ticks |= tree
            self.peak_bytes = max(self.peak_bytes, sum(_proportional_bytes(pid) for pid in tree))
            self.most_processes = max(self.most_processes, len(tree))


def _tree(root: int) -> dict[int, int]:
    """A process and all below it, with their ticks of CPU time."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                pid = int(entry.name)
                parents[pid], ticks[pid] = int(fields[1]), int(fields[11]) + int(fields[12])
    tree, grown = {root} & set(parents), True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in tree} - tree
        tree, grown = tree | more, bool(more)
    return {pid: ticks[pid] for pid in tree}


def _proportional_bytes(pid: int) -> int:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    return 0


def table(found: dict[str, Any]) -> str:
    """The table of the page."""
    lines = [
        "| a run | items a second | peak memory | processes | CPU time of an item |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {way} | {row['items_per_s']:.0f} | {row['peak_mb']} MB | {row['processes']} "
        f"| {row['cpu_ms_per_item']:.1f} ms |"
        for way, row in found["ways"].items()
    ]
    where = f"{found['items']} items on {found['cores']} cores"
    return "\n".join([*lines, "", f"{where}; the load was {found['load']:g} before."])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.run_items", description=__doc__)
    parser.add_argument("--items", type=int, default=6000)
    parser.add_argument("--before", type=Path, help="the src folder of an older version")
    parser.add_argument("--quick", action="store_true", help="few items: proves that it works")
    parser.add_argument("--out", type=Path, default=HERE / "run_items.json")
    options = parser.parse_args()
    began = time.perf_counter()
    found = measure(40 if options.quick else options.items, options.before)
    if options.before is None and not options.quick and options.out.exists():
        known = json.loads(options.out.read_text())["ways"]
        found["ways"] |= {way: row for way, row in known.items() if way == BEFORE}
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(table(found), f"\n{time.perf_counter() - began:.0f} s")
    if not options.quick:
        PAGE.write_text(fill_page(PAGE.read_text(), {"run items": table(found)}))


if __name__ == "__main__":
    main()
