"""`python -m perf.scale`: what a run costs beyond its methods, and what more workers gain.

Writes `perf/scale.json` and the tables of `docs/scale.md` that are made from it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.benchmarks import find_benchmark, make_protocol
from depthgauge.engine.running.run import run
from depthgauge.engine.store.load import load_run
from depthgauge.io import write_image, write_map
from depthgauge.synth.sets.stereo_scenes import write_scenes

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "scale.md"
METHODS = [f"sgbm:block_size={n}" for n in (3, 5, 7, 9, 11)]
MILLION = 1_000_000
SPIN = """import numpy as np


def estimate(inputs):
    sum(i * i for i in range(4_000_000))
    return np.full(inputs["left_image"].shape[:2], 20.0)
"""
_TIMED = """
import time
begin = time.perf_counter()
n = 0
while time.perf_counter() - begin < 5:
    work()
    n += 1
print(n / (time.perf_counter() - begin))
"""
PLAIN_SPIN = "def work(): sum(i * i for i in range(4_000_000))" + _TIMED
PLAIN_SGBM = (
    """
import cv2
import numpy as np
cv2.setNumThreads(1)
left = np.random.default_rng(0).integers(0, 255, (720, 960, 3), dtype=np.uint8)
right = np.roll(left, 9, axis=1)
matcher = cv2.StereoSGBM_create(0, 96, 5)
def work(): matcher.compute(left, right)
"""
    + _TIMED
)


def measure(quick: bool) -> dict[str, Any]:
    """All figures; `quick` only proves that it works."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        size = (160, 120) if quick else (960, 720)
        write_scenes(root / "scenes", size_px=size)
        found: dict[str, Any] = {
            "cores": os.cpu_count(),
            "machine": platform.machine(),
            "size_px": list(size),
            "overhead": _overhead(root, 20 if quick else 1500),
        }
        write_scenes(root / "small", size_px=(160, 120))
        found["throughput"] = _throughput(root, seeds=1 if quick else 3)
    return found


def _overhead(root: Path, n: int) -> dict[str, float]:
    """A method that costs nothing, on maps of 48x32: what is left is ours."""
    rng = np.random.default_rng(0)
    image = rng.integers(0, 255, (32, 48, 3), dtype=np.uint8)
    for kind in ("left", "truth"):
        (root / "tiny" / kind).mkdir(parents=True)
    for i in range(n):
        write_image(root / "tiny/left" / f"s{i:06}.png", image)
        write_map(root / "tiny/truth" / f"s{i:06}.npy", rng.uniform(1, 9, (32, 48)))
    scores = [{"metric": "badpix", "threshold": [1, 2, 4]}, {"metric": "mae"}, {"metric": "rms"}]
    body = {"id": "tiny", "version": 1, "dataset": "folder", "quantity": "disparity"}
    protocol = make_protocol({**body, "pool": "image", "scores": scores}, "tiny")
    moments: list[float] = []

    def tick(what: str, done: int, whole: int) -> None:
        moments.append(time.perf_counter())

    began = time.perf_counter()
    run(protocol, root / "tiny", ["constant"], root / "run", workers=1, progress=tick)
    ended = time.perf_counter()
    item_s = (moments[-1] - moments[1]) / (len(moments) - 2)
    began_load = time.perf_counter()
    load_run(root / "run")
    stored = [path.stat().st_size for path in (root / "run" / "items").iterdir()]
    return {
        "items": n,
        "start_s": moments[1] - began - item_s,
        "item_s": item_s,
        "tables_s": (ended - moments[-1]) / n,
        "load_s": (time.perf_counter() - began_load) / n,
        "item_bytes": sum(stored) / n,
        "table_bytes": (root / "run" / "scores.parquet").stat().st_size / n,
    }


_PLACES = {"1 worker": 1, "2 workers": 2, "dask, 2 workers": None}


def _throughput(root: Path, seeds: int) -> dict[str, dict[str, float]]:
    """Items a second of two kinds of methods: on one worker, on two, on a dask cluster of two."""
    spin = root / "spin.py"
    spin.write_text(SPIN)
    work = {"sgbm": (METHODS, "scenes"), "computing only": ([str(spin)], "small")}
    found: dict[str, dict[str, float]] = {}
    with _dask(root) as address:
        for name, (methods, data) in work.items():
            n = seeds if name == "sgbm" else 2 * seeds
            turns: dict[str, list[float]] = {}
            for _ in range(2):  # in turns: machines are faster and slower by the minute
                for where, how in _PLACES.items():
                    given = {"cluster": address} if how is None else {"workers": how}
                    turns.setdefault(where, []).append(_rate(root, data, methods, n, **given))
            found[name] = {where: max(rates) for where, rates in turns.items()}
    for name, code in {"sgbm": PLAIN_SGBM, "computing only": PLAIN_SPIN}.items():
        found[name] |= _machine(code)
    return found


def _rate(root: Path, data: str, methods: list[str], seeds: int, **where: Any) -> float:
    """Items a second from the first finished item to the last: without start and tables."""
    shutil.rmtree(root / "run", ignore_errors=True)
    moments: list[float] = []
    run(
        find_benchmark("stereo-scenes"),
        root / data,
        methods,
        root / "run",
        seeds=seeds,
        progress=lambda *step: moments.append(time.perf_counter()),
        **where,
    )
    return (len(moments) - 2) / (moments[-1] - moments[1])


def _machine(code: str) -> dict[str, float]:
    """The same work without us, in turns."""
    turns = [(_plain(code, 1), _plain(code, 2)) for _ in range(3)]
    one, two = zip(*turns, strict=True)
    return {"plain, 1 process": max(one), "plain, 2 processes": max(two)}


def _plain(code: str, processes: int) -> float:
    """How often the same work is done in a second without us: what the machine can do."""
    begun = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    return sum(float(process.communicate()[0]) for process in begun)


@contextmanager
def _dask(root: Path) -> Iterator[str]:
    contact = root / "scheduler.json"
    begin = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    join = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": root}
    told = ["--scheduler-file", str(contact), "--no-dashboard"]
    processes = [subprocess.Popen([*begin, "--port", "0", *told], **quiet)]  # type: ignore[call-overload]
    processes += [
        subprocess.Popen([*join, "--host", "127.0.0.1", *told], **quiet)  # type: ignore[call-overload]
        for _ in range(2)
    ]
    try:
        while not contact.exists():
            time.sleep(0.1)
        time.sleep(3)  # until both have joined
        yield json.loads(contact.read_text())["address"]
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait()


def tables(found: dict[str, Any]) -> dict[str, str]:
    """The parts of the page that are made of numbers, by name."""
    over = found["overhead"]
    ms = {key: 1e3 * over[key] for key in ("item_s", "tables_s", "load_s")}
    overhead = [
        "| what | cost |",
        "|---|---:|",
        f"| start: processes, imports, kernels from the cache | {over['start_s']:.1f} s |",
        f"| each item on its worker, beyond the method | {ms['item_s']:.1f} ms |",
        f"| each item at the end: reading it, writing the tables | {ms['tables_s']:.2f} ms |",
        f"| each item when the run is loaded for a report | {ms['load_s']:.2f} ms |",
        f"| disk, an item's file | {over['item_bytes'] / 1e3:.1f} kB |",
        f"| disk, an item's rows in `scores.parquet` | {over['table_bytes']:.0f} bytes |",
    ]
    speed = [
        "| method | 1 worker | 2 workers | dask, 2 workers | the machine itself |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, row in found["throughput"].items():
        one = row["1 worker"]
        cells = [
            f"{row[key]:.2f} ({row[key] / one:.2f}x)" for key in ("2 workers", "dask, 2 workers")
        ]
        limit = row["plain, 2 processes"] / row["plain, 1 process"]
        speed.append(f"| {name} | {one:.2f} | {' | '.join(cells)} | {limit:.2f}x |")
    return {
        "overhead": "\n".join(overhead),
        "throughput": "\n".join(speed),
        "million": _million(over),
    }


def _million(over: dict[str, float]) -> str:
    """Hours for a million items, for methods of a given cost, on machines of 16 cores."""
    lines = [
        "| an estimate takes | 1 machine | 10 machines | 100 machines |",
        "|---|---:|---:|---:|",
    ]
    fixed = MILLION * over["tables_s"] / 3600
    for seconds in (0.1, 1.0, 10.0):
        work = MILLION * (seconds + over["item_s"]) / 3600
        hours = [work / (16 * machines) + fixed for machines in (1, 10, 100)]
        lines.append(f"| {seconds:g} s | " + " | ".join(f"{h:.1f} h" for h in hours) + " |")
    return "\n".join(lines)


def fill_page(text: str, parts: dict[str, str]) -> str:
    """The page with its measured parts replaced."""
    for name, body in parts.items():
        mark = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = mark.sub(lambda found, body=body: f"{found[1]}\n{body}\n\n{found[2]}", text)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.scale", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small: proves that it works")
    parser.add_argument("--out", type=Path, default=HERE / "scale.json")
    options = parser.parse_args()
    found = measure(options.quick)
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))
    if not options.quick:
        PAGE.write_text(fill_page(PAGE.read_text(), tables(found)))


if __name__ == "__main__":
    main()
