"""How far `middlebury-toolkit` is from the numbers of Middlebury's own program."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import depthgauge as dg
from depthgauge.types import Score
from tools.evidence import REPOSITORY, Number, figure

GOLDEN = "tests/golden/middlebury"


@figure("middlebury-twin", data="synthetic scenes in Middlebury's layout")
def middlebury_twin() -> Iterator[Number]:
    """Largest deviation from stereo v3 SDK 1.6 evaldisp over all of its recorded calls.

    Percentages are compared with what the program prints, its mean error with the same mean summed
    in float64, since the program adds in float32. Rounding is set in a calib.txt beside the
    estimates, as each call had it.
    """
    expected = json.loads((REPOSITORY / GOLDEN / "expected.json").read_text())
    calls = expected["calls"]
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder, "inputs")
        script = REPOSITORY / GOLDEN / "make_inputs.py"
        subprocess.run([sys.executable, script, inputs], check=True)
        same = (inputs / "DIGEST.txt").read_text().strip() == expected["inputs_digest"]
        done: _Evaluated = {}
        deviations = [_deviations(c, _sample(c, inputs, Path(folder), done)) for c in calls]
    yield Number("calls compared", len(deviations), 169, 0)
    yield Number("inputs equal those that the program saw", int(same), 1, 0)
    for column in ("coverage", "bad", "invalid", "totbad"):
        worst = max(found[column] for found in deviations)
        yield Number(f"largest deviation of {column}, %", worst, 0, 1e-5)
    means = [found["avgErr"] for found in deviations]
    yield Number("largest relative deviation of avgErr", max(means), 0, 1e-6)


_Evaluated = dict[tuple[str, str, int], Mapping[str, Mapping[str, Score]]]


def _sample(
    call: Mapping[str, Any], inputs: Path, folder: Path, done: _Evaluated
) -> Mapping[str, Score]:
    """The twin's scores of the scene that a call is about."""
    level, scene, file = call["disp"].split("/")
    name, rounding = file.removeprefix("disp0").removesuffix(".pfm"), call["rounddisp"]
    if (level, name, rounding) not in done:
        estimates = folder / f"{level}-{rounding}"
        if not estimates.exists():
            shutil.copytree(inputs / level, estimates)
            for calib in estimates.glob("*/calib.txt"):
                kept = [s for s in calib.read_text().splitlines() if not s.startswith("isint")]
                calib.write_text("\n".join([*kept, f"isint={rounding}", ""]))
        result = dg.evaluate("middlebury-toolkit", inputs / "trainingF", estimates, name=name)
        done[level, name, rounding] = result.samples
    return done[level, name, rounding][scene]


def _deviations(call: Mapping[str, Any], scores: Mapping[str, Score]) -> dict[str, float]:
    region = "nonocc" if call["mask"] else "all"
    at = f"{call['badthresh']:g}@{region}"
    found = {"coverage": _apart(scores[f"coverage@{region}"].value, call["full"]["coverage"])}
    for column in ("bad", "invalid", "totbad"):
        found[column] = _apart(scores[f"{column}:{at}"].value, call["full"][column])
    expected = float(call["avgErr_float64"])
    found["avgErr"] = _apart(scores[f"avgErr:{at}"].value, expected, expected)
    return found


def _apart(value: float, expected: float, unit: float = 1.0) -> float:
    """The distance; two NaN agree, and one NaN is as far off as can be."""
    if math.isnan(value) or math.isnan(expected):
        return 0.0 if math.isnan(value) and math.isnan(expected) else sys.float_info.max
    return abs(value - expected) / unit
