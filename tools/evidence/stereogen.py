"""Right-view generation on scenes of `make rig`: methods, controls, baselines, and what it takes.

Frames of a scene are alike, so the costly metrics are taken from each fifth frame of all scenes;
those of whole clips from all frames.
"""

from __future__ import annotations

import math
import os
import resource
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from depthgauge.analysis.baselines import baseline_strata, implicit_baselines
from depthgauge.analysis.strata import Strata, StratumRow, by_branch, stratum_rows
from depthgauge.benchmarks import find_benchmark
from depthgauge.engine.running.run import run
from depthgauge.engine.store.record import Run
from tools.evidence import DATA, Number, figure, within
from tools.evidence.rig import SETS, made

METHODS = ("warp_inpaint", "warp_estimated", "copy_left", "shift")
FRAMES = ("psnr", "ssim", "lpips", "e_match", "p_psnr", "sd", "fid", "sd_bias", "sd_valid")
CLIPS = ("fvd", "temporal_error", "flicker")
EVERY = 5
WEIGHTS = "net-lpips"


@figure(
    "stereogen",
    data="the scenes of the figure rig: 40 of Uniform and 12 of IPD_Gaussian, 480x480; each "
    f"{EVERY}th frame, FVD, temporal error and flicker on all nine",
    needs=("embreex", "av", WEIGHTS),
)
def stereogen() -> Iterator[Number]:
    """Scores of methods and controls by branch and baseline."""
    yield from measured(made(SETS, "rig"), EVERY)


def measured(data: Path, every: int) -> Iterator[Number]:
    """All numbers of a folder of scenes."""
    os.environ.setdefault("DEPTHGAUGE_WEIGHTS", str(DATA / WEIGHTS))
    before = _children_s()
    with tempfile.TemporaryDirectory(prefix="depthgauge-") as folder:
        out = Path(folder)
        seen = _run("stereogenbench", data, FRAMES, out / "seen", every=every, controls=True)
        yield from _scores(seen, by_branch(seen), FRAMES)
        yield from _scores(seen, {"control": seen.samples}, FRAMES, controls=True)
        yield from _bins(seen)
        yield from _implied(seen)
        yield from _order(seen)
        clips = _run("stereogenbench", data, CLIPS, out / "clips")
        for row in stratum_rows(clips, by_branch(clips)):
            for metric in CLIPS:
                yield from _number(row, metric)
        if any(data.rglob("MapUnseenInTrain")):
            unseen = _run("stereogenbench-unseen", data, FRAMES, out / "unseen", every=every)
            yield from _scores(unseen, by_branch(unseen), FRAMES)
        yield from _cost(seen)
    yield Number("core minutes of all runs", (_children_s() - before) / 60)


def _run(
    benchmark: str,
    data: Path,
    metrics: Sequence[str],
    out: Path,
    *,
    every: int = 1,
    controls: bool = False,
) -> Run:
    scores = [{"metric": name} for name in metrics]
    options: dict[str, Any] = {"every": every}
    protocol = find_benchmark(benchmark).model_copy(
        update={"scores": scores, "dataset_options": options}
    )
    return run(protocol, data, METHODS, out, keep_estimates=False, controls=controls)


def _scores(
    found: Run, strata: Strata, metrics: Iterable[str], *, controls: bool = False
) -> Iterator[Number]:
    rows = stratum_rows(found, strata, controls=controls)
    for row in rows:
        for metric in metrics:
            yield from _number(row, metric)
    for row in {row.stratum: row for row in rows}.values():
        yield Number(f"{row.stratum}: scenes", row.scenes)
        yield Number(f"{row.stratum}: frames", row.frames)


def _number(row: StratumRow, metric: str) -> Iterator[Number]:
    """The value, and half its interval; a dash is no number."""
    value = row.values.get(f"{metric}@all")
    if value is None or value.dash:
        return
    yield Number(f"{row.stratum}, {row.label}: {metric}", value.value)
    if math.isfinite(value.half):
        yield Number(f"{row.stratum}, {row.label}: {metric} half", value.half)


def _bins(found: Run) -> Iterator[Number]:
    uniform = by_branch(found).get("Uniform", ())
    for row in stratum_rows(found, baseline_strata(found, uniform), whole=False):
        yield Number(f"{row.stratum}, {row.label}: scenes", row.scenes)
        for metric in FRAMES:
            yield from _number(row, metric)


def _implied(found: Run) -> Iterator[Number]:
    for each in implicit_baselines(found, by_branch(found)):
        name = f"{each.stratum}, {each.label}: implied baseline"
        values = {
            "cm": each.implied_cm,
            "low, cm": each.low_cm,
            "high, cm": each.high_cm,
            "follows": each.follows,
            "asked, cm": each.asked_cm,
        }
        for key, value in values.items():
            if math.isfinite(value):
                yield Number(f"{name}, {key}", value)


def _order(found: Run) -> Iterator[Number]:
    """What appendix H says about the controls."""
    rows = {
        row.label: {name.partition("@")[0]: v.value for name, v in row.values.items()}
        for row in stratum_rows(found, {"all": found.samples}, controls=True)
    }
    target, wrong, random = (
        rows[name] for name in ("rendered target", "wrong baseline", "random right")
    )
    yield within("controls: SSIM of the rendered target", target["ssim"], 0.999, 1.001)
    yield within("controls: E_Match of the rendered target", target["e_match"], -1e-9, 1e-9)
    yield within("controls: E_Match of the random view", random["e_match"], 90, 100)
    gap = wrong["sd"] - target["sd"]
    yield within("controls: SD that the wrong baseline adds", gap, 0.05, 1e3)
    worse = min(row["psnr"] for name, row in rows.items() if name != "random right")
    yield within("controls: PSNR that the random view lacks", worse - random["psnr"], 0, 100)


def _cost(found: Run) -> Iterator[Number]:
    frames = sum(row.frames for row in stratum_rows(found, {"all": found.samples}))
    seconds = sum(timing.score_s for timing in found.timings)
    scored = frames + sum(
        row.frames for row in stratum_rows(found, {"all": found.samples}, controls=True)
    )
    yield Number("seconds to score a frame at 832x480", seconds / max(1, scored))


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
