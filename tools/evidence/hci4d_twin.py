"""How far `hci4d-toolkit` is from the numbers of the light-field benchmark's own toolkit."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import depthgauge as dg
from tools.evidence import REPOSITORY, Number, figure

GOLDEN = "tests/golden/hci4d"
# What a number may differ by, and whether that is relative to it.
KINDS = {
    "percentages of counts": (1e-9, False),
    "q_25 and bumpiness": (1e-6, False),
    "mae_planes and mae_contin_surfaces, deg": (1e-6, False),
    "mse, relative": (2e-6, True),
    "runtimes": (1e-12, False),
}


@figure("hci4d-twin", data="synthetic scenes in the benchmark's layout, 512x512")
def hci4d_twin() -> Iterator[Number]:
    """Largest deviation from evaluation-toolkit f070f23 over all ids of six scenes at full size.

    Estimates of 512x512, truth and masks of 5120x5120; once finite, once with NaN and infinities.
    The toolkit takes its mean squared errors in float32.
    """
    expected = json.loads((REPOSITORY / GOLDEN / "expected.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder)
        subprocess.run([sys.executable, REPOSITORY / GOLDEN / "make_inputs.py", inputs], check=True)
        lines = [line.split() for line in (inputs / "DIGEST.txt").read_text().splitlines()]
        same = {s: digest for _, s, digest in lines} == expected["inputs_digest"]["full_512"]
        worst = dict.fromkeys(KINDS, 0.0)
        compared = 0
        for kind, scenes in expected["results"]["full_512"].items():
            result = dg.evaluate("hci4d-toolkit", inputs / "data", inputs / f"submission_{kind}")
            for scene, numbers in scenes.items():
                found = {name: score.value for name, score in result.samples[scene].items()}
                compared += len(found.keys() & numbers.keys())
                _compare(found, numbers, worst)
    yield Number("numbers compared", compared, 130, 0)
    yield Number("inputs equal those that the toolkit saw", int(same), 1, 0)
    for name, (budget, _) in KINDS.items():
        yield Number(f"largest deviation of {name}", worst[name], 0, budget)


def _compare(
    found: Mapping[str, float], expected: Mapping[str, float], worst: dict[str, float]
) -> None:
    """Raises the largest deviations; an id that one of the two lacks is as far off as can be."""
    for name in found.keys() | expected.keys():
        kind = _kind(name)
        if name in found and name in expected:
            apart = abs(found[name] - expected[name])
            apart /= abs(expected[name]) if KINDS[kind][1] else 1.0
        else:
            apart = sys.float_info.max
        worst[kind] = max(worst[kind], apart)


def _kind(name: str) -> str:
    counts, order, angles, squares, runtimes = KINDS
    if name.startswith(("q_25", "bumpiness")):
        return order
    if name.startswith("mae"):
        return angles
    if "mse" in name:
        return squares
    return runtimes if name.startswith("runtime") else counts
