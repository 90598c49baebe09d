"""How far `bsds500` is from the numbers of the original evaluators of boundaries."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import depthgauge as dg
from depthgauge import io
from depthgauge.benchmarks import find_benchmark
from depthgauge.datasets.bsds500 import read_boundaries
from depthgauge.io.mat import read_mat
from depthgauge.metrics._matching import count_curve
from depthgauge.metrics.edges._boundary_curves import average_precision, best_point, rates
from depthgauge.metrics.edges.boundaries import boundary_counts
from tools.evidence import DATA, REPOSITORY, Number, figure

GOLDEN = "tests/golden/bsds"
REAL = DATA / "bsds500-bench" / "data"
RADIUS = 0.0075
LEAST_ODS = {"edges_all_fold": 0.70, "edges_all_fold:crests=true": 0.72}
"""What our edge detector must reach on the five photographs."""
Counts = NDArray[np.int64]


@figure(
    "bsds500",
    data="five photographs of BSDS500 with what its own benchmark said of them, and synthetic sets",
    needs=("bsds500-bench",),
)
def bsds500() -> Iterator[Number]:
    """Deviations from the original evaluators.

    The MATLAB benchmark of BSDS500 recorded its numbers on five of its photographs with 5
    thresholds: contours as PNG (test_2), the same as a tree of regions (test_1) and as
    segmentations (test_3, test_4). The Berkeley matcher (C++, through py-edge-eval) was run on
    synthetic sets; its matching is approximate and random, so it may find fewer pairs than ours
    but never more. Then the ODS on the five photographs of our edge detector, whose settings were
    chosen on them, and of the contours that come with them, with 99 thresholds.
    """
    yield from _contours()
    yield from _others()
    yield from _golden()
    yield from _baselines()


def _images() -> list[str]:
    return sorted(path.stem for path in (REAL / "groundTruth").glob("*.mat"))


def _theirs(test: str, file: str) -> NDArray[np.float64]:
    return np.atleast_2d(np.loadtxt(REAL / test / f"{file}.txt"))


def _contours() -> Iterator[Number]:
    protocol = find_benchmark("bsds500").with_settings(thresholds=5)
    summary = dg.evaluate(protocol, REAL, REAL / "png").summary
    (theirs,) = _theirs("test_2", "eval_bdry")
    for name, column in (("ods", 3), ("ois", 6), ("ap", 7)):
        yield Number(f"test_2: {name}", summary[name].value, float(theirs[column]), 0.002)
    counts = [boundary_counts(_png(name), _truth(name), thresholds=5) for name in _images()]
    found = np.stack(rates(sum(counts)), axis=1)
    worst = np.abs(found - _theirs("test_2", "eval_bdry_thr")[:, 1:]).max()
    yield Number("test_2: largest deviation of P, R, F of a threshold", float(worst), 0, 0.002)
    best = np.array([best_point(of_one).f for of_one in counts])
    worst = np.abs(best - _theirs("test_2", "eval_bdry_img")[:, 4]).max()
    yield Number("test_2: largest deviation of an image's best F", float(worst), 0, 0.002)


def _png(name: str) -> NDArray[np.float32]:
    return np.asarray(io.read_image(REAL / "png" / f"{name}.png"), np.float32) / np.float32(255)


def _others() -> Iterator[Number]:
    """The same contours from other files; each evaluator's own way of making them an image."""
    for test, count in (("test_1", _of_tree), ("test_3", _of_regions), ("test_4", _of_regions)):
        counts = sum(count(name) for name in _images())
        (theirs,) = _theirs(test, "eval_bdry")
        yield Number(f"{test}: ods", best_point(counts).f, float(theirs[3]), 0.002)
        yield Number(f"{test}: ap", average_precision(counts), float(theirs[7]), 0.002)


def _truth(name: str) -> NDArray[np.float32]:
    return read_boundaries(REAL / "groundTruth" / f"{name}.mat")


def _of_tree(name: str) -> Counts:
    """Contours between pixels, in an image of twice the size: every second pixel."""
    tree = np.asarray(read_mat(REAL / "ucm2" / f"{name}.mat")["ucm2"], np.float64)
    small = tree[2::2, 2::2]
    return boundary_counts(small.astype(np.float32), _truth(name), thresholds=5)


def _of_regions(name: str) -> Counts:
    """Five segmentations: a pixel is on a boundary where regions differ around its lower right."""
    rows = []
    truths = list(np.moveaxis(_truth(name) > 0, 2, 0))
    for regions in read_mat(REAL / "segs" / f"{name}.mat")["segs"]:
        padded = np.pad(np.asarray(regions, np.int64), ((0, 1), (0, 1)), mode="edge")
        right, below = padded[:-1, 1:], padded[1:, :-1]
        here, across = padded[:-1, :-1], padded[1:, 1:]
        edge = (here != right) | (here != below) | (below != across) | (right != across)
        codes = np.where(edge, np.uint8(255), np.uint8(0))
        rows.append(count_curve(codes, truths, thresholds=1, radius=RADIUS)[0])
    return np.array(rows)


def _golden() -> Iterator[Number]:
    expected = json.loads((REPOSITORY / GOLDEN / "expected.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        script = REPOSITORY / GOLDEN / "make_inputs.py"
        subprocess.run([sys.executable, script, folder], check=True)
        same = Path(folder, "DIGEST.txt").read_text().strip() == expected["inputs_digest"]
        yield Number("synthetic inputs equal those that were evaluated", int(same), 1, 0)
        apart = [
            deviations
            for group, found in expected["sets"].items()
            for name, rows in found["images"].items()
            for deviations in _deviations(Path(folder, group), name, rows, found["K"])
        ]
    sizes, exact, fewer, share = (list(column) for column in zip(*apart, strict=True))
    yield Number("synthetic: rows compared", len(apart), 516, 0)
    yield Number("synthetic: largest deviation of the number of thinned pixels", max(sizes), 0, 0)
    yield Number("synthetic: rows that differ from a largest matching", sum(exact), 0, 0)
    yield Number("synthetic: pairs that the original found beyond ours", max(fewer), 0, 0)
    yield Number("synthetic: most pairs that the original lost, %", max(share), 0, 0.5)


def _deviations(
    folder: Path, name: str, rows: list[list[Any]], thresholds: int
) -> Iterator[tuple[float, float, float, float]]:
    codes = np.asarray(io.read_image(folder / "results" / f"{name}.png"), np.float32)
    truth = read_boundaries(folder / "groundTruth" / f"{name}.mat")
    counts = boundary_counts(codes / np.float32(255), truth, thresholds=thresholds)
    for (hit, _, _, estimated), row in zip(counts.tolist(), rows, strict=True):
        wrong = row[9] is not None and hit != row[9]
        lost = 100 * (hit - row[1]) / hit if hit else 0.0
        yield abs(estimated - row[4]), float(wrong), max(row[6] - hit, 0), lost


def _baselines() -> Iterator[Number]:
    """The detector must not fall below what it had, rounded down; nothing is above 1.

    Its settings were chosen on these photographs, so the numbers say nothing of others.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = dg.run("bsds500", REAL, tuple(LEAST_ODS), Path(folder, "run"), workers=0)
    values = {
        entrant.label: found.results[entrant.label, 0].summary["ods"].value
        for entrant in found.entrants
    }
    for label, least in LEAST_ODS.items():
        yield Number(f"{label}: ods on the five photographs", values[label], 1, 1 - least)
    contours = dg.evaluate("bsds500", REAL, REAL / "png").summary["ods"].value
    yield Number("contours of test_2: ods with 99 thresholds", contours, 0.76, 0.005)
