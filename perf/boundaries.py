"""`python -m perf.boundaries`: matching boundaries at 99 thresholds, us and SciPy.

Images of the size of BSDS500 with five annotators; thinning is part of every time. Beside ours a
direct version: scikit-image's thinning and SciPy's exact matching from scratch at each threshold,
which must find the same number of pairs. The original is C++; its time was recorded on a machine of
this kind. `ours_cpu_s` is the time of all cores together. Writes `perf/boundaries.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial import KDTree

from depthgauge import io
from depthgauge.datasets.bsds500 import read_boundaries
from depthgauge.metrics._matching import count_curve, radius_in_px, threshold_values
from perf.rows import best

HERE = Path(__file__).parent
GENERATOR = HERE.parent / "tests" / "golden" / "bsds" / "make_inputs.py"
RADIUS = 0.0075
PEOPLE = 5
ORIGINAL_S = (55.0, 85.0)
"""Berkeley's matcher on one 321 x 481 image with 99 thresholds and 5 annotators; not run here."""


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    """All times, in seconds; ends where two versions disagree."""
    subprocess.run([sys.executable, GENERATOR, folder], check=True)
    group, thresholds = ("tiny", 9) if quick else ("real", 99)
    rows: dict[str, Any] = {}
    for path in sorted((folder / group / "results").glob("*.png"))[:2]:
        codes = np.asarray(io.read_image(path))
        truths = five_people(read_boundaries(folder / group / "groundTruth" / f"{path.stem}.mat"))
        start = time.perf_counter()
        plain = plain_counts(codes, truths, thresholds)
        plain_s = time.perf_counter() - start
        ours = count_curve(codes, truths, thresholds=thresholds, radius=RADIUS)
        require_agreement(path.stem, ours, plain)
        call = partial(count_curve, codes, truths, thresholds=thresholds, radius=RADIUS)
        start = time.process_time()
        call()
        rows[path.stem] = {
            "size_px": list(codes.shape[::-1]),
            "ours_cpu_s": time.process_time() - start,
            "ours_s": best(call, seconds=10, most=1 if quick else 20),
            "plain_s": plain_s,
            "original_s": None if quick else list(ORIGINAL_S),
        }
    return {"cores": os.cpu_count(), "thresholds": thresholds, "people": PEOPLE, "images": rows}


def five_people(truth: np.ndarray) -> list[np.ndarray]:
    """The annotators that there are, and more who are off by a pixel."""
    known = list(np.moveaxis(truth > 0, 2, 0))
    more = [np.roll(known[k % len(known)], 1 + k // 2, axis=k % 2) for k in range(PEOPLE)]
    return [*known, *more][:PEOPLE]


def plain_counts(codes: np.ndarray, truths: list[np.ndarray], thresholds: int) -> np.ndarray:
    """Matched pairs and estimated pixels at each threshold, from scratch."""
    from skimage.morphology import thin

    radius = radius_in_px(codes.shape, RADIUS)
    trees = [KDTree(np.argwhere(truth)) for truth in truths]
    rows = []
    for t in threshold_values(thresholds):
        places = np.argwhere(thin(codes / 255 >= t))
        rows.append((sum(pairs(places, tree, radius) for tree in trees), len(places)))
    return np.array(rows)


def pairs(places: np.ndarray, tree: KDTree, radius: float) -> int:
    if not len(places):
        return 0
    near = KDTree(places).query_ball_tree(tree, radius + 1e-9)
    lengths = [len(found) for found in near]
    columns = np.concatenate([np.asarray(found, int) for found in near])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    shape = (len(places), tree.n)
    graph = sparse.csr_matrix((np.ones(len(columns), bool), columns, starts), shape=shape)
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def require_agreement(name: str, ours: np.ndarray, plain: np.ndarray) -> None:
    if not np.array_equal(ours[:, [0, 3]], plain):
        raise SystemExit(f"{name}: the versions disagree:\n{ours[:, [0, 3]]}\n{plain}")


def table(found: dict[str, Any]) -> Table:
    title = (
        f"seconds an image, {found['thresholds']} thresholds, {found['people']} annotators, "
        f"{found['cores']} cores; x: times ours"
    )
    made = Table("image", "size", title=title)
    for heading in ("ours", "SciPy", "original (recorded)"):
        made.add_column(heading, justify="right")
    for name, row in found["images"].items():
        ours, original = row["ours_s"], row["original_s"]
        made.add_row(
            name,
            "{} x {}".format(*row["size_px"]),
            f"{ours:.3f}",
            f"{row['plain_s']:.1f} ({row['plain_s'] / ours:.0f}x)",
            ""
            if original is None
            else f"{original[0]:g} to {original[1]:g} ({original[0] / ours:.0f}x)",
        )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.boundaries", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small images: proves agreement only")
    parser.add_argument("--out", type=Path, default=HERE / "boundaries.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options.quick)
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    Console(width=110).print(table(found))


if __name__ == "__main__":
    main()
