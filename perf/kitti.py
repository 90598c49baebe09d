"""`python -m perf.kitti`: KITTI 2015's 200 images from Python, beside the C++ development kit.

Makes 200 frames of 1242 x 375 in the true layout (truth at a quarter of the pixels, estimates with
holes) and scores them with the twin `kitti-2015-toolkit`: D1 alone, and D1, D2, Fl and SF together,
reading included. Times are of the processor (`os.times`, with children), so a busy machine does not
change them much. The development kit cannot be run here; its times are those of a machine of this
kind. Writes `perf/kitti.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import depthgauge as dg
from depthgauge.io import write_image

HERE = Path(__file__).parent
KIT_S = {"D1": 7.0, "all": 41.0}
"""evaluate_scene_flow on 200 images: D1 alone, and all four."""
SIZE = (375, 1242)


def make(root: Path, count: int, size: tuple[int, int]) -> None:
    """Frames as KITTI has them; a few differ and the others are copies."""
    distinct = min(count, 5)
    for number in range(distinct):
        _frame(root, number, size)
    for number in range(distinct, count):
        for path in sorted(root.rglob(f"{number % distinct:06d}_10.png")):
            shutil.copyfile(path, path.with_name(f"{number:06d}_10.png"))


def _frame(root: Path, number: int, size: tuple[int, int]) -> None:
    random = np.random.default_rng(number)
    y, x = np.mgrid[: size[0], : size[1]]
    disparity = 8 + 60 * (y / size[0]) ** 2 + 3 * np.sin(x / 40)
    objects = ((x // 150 + y // 90) % 5 == 0).astype(np.uint8)
    disparity = np.where(objects > 0, disparity + 12, disparity)
    known = (random.random(size) < 0.25) & (y > 0.3 * size[0])
    visible = known & (x > disparity)
    holes = random.random(size) < 0.1
    holes[:20] = True
    for time_, add in (("0", 0.0), ("1", 1.0)):
        codes = np.rint((disparity + add) * 256)
        noisy = np.clip(codes + random.normal(0, 500, size), 1, 65535)
        _put(root / f"training/disp_occ_{time_}", number, np.where(known, codes, 0))
        _put(root / f"training/disp_noc_{time_}", number, np.where(visible, codes, 0))
        _put(root / f"results/disp_{time_}", number, np.where(holes, 0, noisy))
    u, v = 32768 + np.rint((x - 600) / 10 * 64), 32768 + np.rint((y - 180) / 10 * 64)
    for name, valid in (("occ", known), ("noc", visible)):
        _put(root / f"training/flow_{name}", number, _flow(u, v, valid))
    moved = (u + random.normal(0, 150, size), v + random.normal(0, 150, size))
    _put(root / "results/flow", number, _flow(*moved, ~holes))
    (root / "training/obj_map").mkdir(parents=True, exist_ok=True)
    write_image(root / f"training/obj_map/{number:06d}_10.png", objects)


def _flow(u: np.ndarray, v: np.ndarray, valid: np.ndarray) -> np.ndarray:
    return np.dstack([np.where(valid, np.rint(u), 0), np.where(valid, np.rint(v), 0), valid])


def _put(folder: Path, number: int, codes: np.ndarray) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_image(folder / f"{number:06d}_10.png", codes.astype(np.uint16))


def measure(count: int, size: tuple[int, int]) -> dict[str, Any]:
    """CPU seconds of both evaluations, and what they found."""
    with tempfile.TemporaryDirectory(prefix="kitti-") as name:
        root = Path(name)
        make(root, count, size)
        data, results = root / "training", root / "results"
        first = ["000000_10"]  # compiles the filling once, as any process that scored before has
        dg.evaluate("kitti-2015-toolkit", data, results, only=first, check=False)
        found = {}
        for key, benchmark in (("D1", "kitti-2015-stereo-toolkit"), ("all", "kitti-2015-toolkit")):
            began, clock = _cpu(), time.perf_counter()
            result = dg.evaluate(benchmark, data, results, check=False)
            found[key] = {
                "cpu_s": _cpu() - began,
                "wall_s": time.perf_counter() - clock,
                "D1_all@occ": result.summary["D1_all@occ"].value,
                "kit_s": KIT_S[key] * count / 200,
            }
    return {"cores": os.cpu_count(), "images": count, "size_px": list(size[::-1]), "rows": found}


def _cpu() -> float:
    # Finer than os.times, whose steps are longer than four small images take.
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main() -> None:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="four small images")
    parser.add_argument("--out", type=Path, default=HERE / "kitti.json")
    given = parser.parse_args()
    found = measure(4, (75, 248)) if given.quick else measure(200, SIZE)
    console = Console()
    for name, row in found["rows"].items():
        ratio = row["kit_s"] / row["cpu_s"]
        console.print(
            f"{name}: {row['cpu_s']:.2f} s of the processor for {found['images']} images; the "
            f"development kit {row['kit_s']:.2f} s ({ratio:.1f} times ours)"
        )
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
