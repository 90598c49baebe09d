"""`python -m perf.hci4d`: scoring a light-field scene as the official toolkit does, us and SciPy.

Reading is part of every time: the truth of 5120x5120, its masks, the estimate. Ours is the twin
`hci4d-toolkit`, in a process that has scored once before; beside it a direct version with SciPy and
scikit-image, which must give the same numbers, and the command line in a separate process.
Writes `perf/hci4d.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import depthgauge as dg
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets import DATASETS
from depthgauge.datasets._hci4d.scenes import category_of
from depthgauge.types import Sample
from perf.hci4d_plain import plain_scores
from perf.rows import best

HERE = Path(__file__).parent
GENERATOR = HERE.parent / "tests" / "golden" / "hci4d" / "make_inputs.py"
TOOLKIT_S = {"backgammon": 4.6, "cotton": 2.4}
"""The original (Python 2.7, NumPy 1.11) on a machine of this kind; it cannot be run here."""


def measure(folder: Path, quick: bool) -> dict[str, Any]:
    """All times, in seconds; ends where two versions disagree."""
    size = ["--small"] if quick else []
    subprocess.run([sys.executable, GENERATOR, folder, *size], check=True)
    data, submission = folder / "data", folder / "submission_mixed"
    rows: dict[str, Any] = {}
    for sample in DATASETS["hci4d"].samples(data):
        files = data / category_of(sample.id) / sample.id
        ours, plain = twin_scores(sample, submission), plain_scores(files, submission)
        require_agreement(sample.id, ours, plain)
        rows[sample.id] = times(sample, files, data, submission, 1 if quick else 30)
        rows[sample.id]["toolkit_s"] = None if quick else TOOLKIT_S.get(sample.id)
    first = next(iter(rows))
    rows[first]["cold_s"] = best(lambda: cold(data, submission, first), most=1 if quick else 3)
    return {"cores": os.cpu_count(), "side_px": 96 if quick else 512, "scenes": rows}


def times(sample: Sample, files: Path, data: Path, submission: Path, most: int) -> dict[str, Any]:
    return {
        "ours_s": best(lambda: twin_scores(sample, submission), most=most),
        "evaluate_s": best(lambda: evaluate(data, submission, sample.id), most=most),
        "plain_s": best(lambda: plain_scores(files, submission), most=min(most, 2)),
    }


def twin_scores(sample: Sample, submission: Path) -> dict[str, float]:
    """The twin itself: reads the files and scores."""
    twin = TWINS["hci4d"]
    path = submission / "disp_maps" / f"{sample.id}.pfm"
    found = twin.evaluate(sample.fresh(), path, twin.options({}))
    return {name: score.value for name, score in found.scores.items()}


def evaluate(data: Path, submission: Path, scene: str) -> None:
    """The public call: also finds the scenes, checks the protocol, sums up."""
    dg.evaluate("hci4d-toolkit", data, submission, only=[scene])


def cold(data: Path, submission: Path, scene: str) -> None:
    """The command line, with kernels that were compiled before."""
    where = ["--data", data, "--estimates", submission, "--sample", scene, "--json", "-"]
    command = [sys.executable, "-m", "depthgauge", "score", "hci4d-toolkit", *where]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def require_agreement(scene: str, ours: dict[str, float], plain: dict[str, float]) -> None:
    """The same ids with the same numbers; the plain version takes its means in float32."""
    same = ours.keys() == plain.keys() and all(
        np.isclose(ours[name], value, rtol=5e-6, atol=1e-6) for name, value in plain.items()
    )
    if not same:
        raise SystemExit(f"{scene}: the versions disagree:\n  {ours}\n  {plain}")


def table(found: dict[str, Any]) -> Table:
    made = Table("scene", title=f"seconds, {found['cores']} cores; x: times ours")
    for heading in ("ours", "SciPy", "toolkit", "dg.evaluate", "cold command line"):
        made.add_column(heading, justify="right")
    for name, row in found["scenes"].items():
        ours = row["ours_s"]
        toolkit = row["toolkit_s"]
        made.add_row(
            name,
            f"{ours:.3f}",
            f"{row['plain_s']:.2f} ({row['plain_s'] / ours:.0f}x)",
            "" if toolkit is None else f"{toolkit} ({toolkit / ours:.0f}x)",
            f"{row['evaluate_s']:.3f}",
            f"{row['cold_s']:.2f}" if "cold_s" in row else "",
        )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m perf.hci4d", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small maps: proves agreement only")
    parser.add_argument("--out", type=Path, default=HERE / "hci4d.json")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), options.quick)
    options.out.write_text(json.dumps(found, indent=1) + "\n")
    Console(width=110).print(table(found))


if __name__ == "__main__":
    main()
