"""Scenes of `make rig`: geometry audit, rejections, realised distributions, and what they cost.

The sets are kept in out/evidence and made again when their generator has changed. Seeds 1700 to
1703 are for this record only; everything was tuned on others.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.datasets.stereogenbench import read_manifest
from depthgauge.engine.auditing.audit import audit_dataset
from depthgauge.engine.generating.rig_statistics import Realised, proposals, realised, summary
from depthgauge.synth.generators import generate
from depthgauge.synth.sets.rig import REASONS, SceneOptions, Shoot, draw_gaps, pairs_of
from tools.evidence import REPOSITORY, Number, figure, within
from tools.evidence._sources import RIG_MAKERS, digest

SMALL: dict[str, Any] = {"width": 480, "height": 480, "frames": 9, "seed": 1700}
SETS: Mapping[str, dict[str, Any]] = {
    "Uniform": {"family": "Uniform", "scenes": 40, **SMALL},
    "IPD_Gaussian": {"family": "IPD_Gaussian", "scenes": 12, **SMALL},
}
FULL: dict[str, Any] = {"family": "Uniform", "scenes": 1, "unseen": 0.0, "seed": 1701}
PROPOSALS = {"Uniform": 2000, "IPD_Gaussian": 1000, "Pairwise_Uniform": 1000}
"""Proposals without rendering, of training, over nine frames."""
PROPOSAL_SEED, GAP_SEED, GAP_DRAWS = 1702, 1703, 4000
CAMERAS = 6


@figure(
    "rig",
    data=f"`depthgauge make rig --width 480 --height 480 --frames 9 --seed {SMALL['seed']}` with "
    f"`--scenes 40` and `--family IPD_Gaussian --scenes 12`; one scene of 1280x1280, 81 frames",
    needs=("embreex", "av"),
)
def rig() -> Iterator[Number]:
    """Audit, rejections, distributions and cost of scenes of six cameras."""
    data = made(SETS, "rig")
    yield from _audit(data, "480x480")
    yield from _set(realised(data, read_manifest(data)))
    yield from _cost(data, SETS["Uniform"]["frames"], "480x480")
    full = made({"full": FULL}, "rig-full")
    yield from _audit(full, "1280x1280")
    yield from _cost(full, 81, "1280x1280")
    yield from _gaps()
    drawn: dict[str, Realised] = {}
    for family, count in PROPOSALS.items():
        shoot = Shoot(family, frames=9)
        drawn[family] = proposals(SceneOptions("train", shoot, PROPOSAL_SEED), range(count))
        yield from _proposed(drawn[family], family)
    from tools.evidence._rig_page import draw_baselines

    draw_baselines(drawn)


def made(sets: Mapping[str, dict[str, Any]], name: str) -> Path:
    """Sets in one folder that is named by all that decides its bytes; a stopped call goes on."""
    folder = REPOSITORY / "out" / "evidence" / f"{name}-{digest(RIG_MAKERS)}"
    for options in sets.values():
        there = len(list(folder.rglob("_scene_complete.json")))
        began, before = time.monotonic(), _children_s()
        generate("rig", folder, **options)
        if new := len(list(folder.rglob("_scene_complete.json"))) - there:
            spent = {
                "scenes": new,
                "core_s": round(_children_s() - before, 1),
                "wall_s": round(time.monotonic() - began, 1),
            }
            with folder.with_suffix(".jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(spent) + "\n")
    return folder


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _audit(data: Path, size: str) -> Iterator[Number]:
    audit = audit_dataset(data)
    yield Number(f"{size}: scenes", len(audit.scenes))
    yield Number(f"{size}: scenes with findings", sum(not s.ok for s in audit.scenes), 0, 0)
    for name, median, worst in audit.summary():
        if name.startswith("pose"):
            yield within(f"{size}: {name}: worst", worst, 0, 1e-9)
        elif "reprojection" in name:
            yield within(f"{size}: {name}: median of scenes", median, 0, 0.05)
            yield within(f"{size}: {name}: worst scene", worst, 0, 0.05)
        else:
            yield Number(f"{size}: {name}: median", median)
            yield Number(f"{size}: {name}: worst", worst)


def _set(found: Realised) -> Iterator[Number]:
    for (split, family), kept in found.realised.items():
        label = f"{split} {family}"
        asked = found.proposed[split, family]
        yield Number(f"{label}: proposals", len(asked.focal_mm))
        yield Number(f"{label}: scenes", len(kept.focal_mm))
        yield Number(f"{label}: scenes in unseen maps", found.unseen[split, family])
        yield Number(f"{label}: maps", len(kept.maps))
        for why in REASONS:
            count = found.rejected[split, family].get(why, 0)
            yield Number(f"{label}: rejected, {why}", count)
        yield from _spread(f"{label}: adjacent gaps, cm", kept.gaps_cm)
        yield from _spread(f"{label}: focal lengths, mm", kept.focal_mm)


def _spread(label: str, values: list[float]) -> Iterator[Number]:
    for key, value in summary(values).items():
        yield Number(f"{label}: {key}", value)


def _cost(data: Path, frames: int, size: str) -> Iterator[Number]:
    """What rendering took when the set was made."""
    lines = data.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    spent = [json.loads(line) for line in lines]
    scenes = sum(part["scenes"] for part in spent)
    core, wall = (sum(part[key] for part in spent) for key in ("core_s", "wall_s"))
    yield Number(f"{size}: core seconds a view, with encoding", core / (scenes * CAMERAS * frames))
    yield Number(f"{size}: core seconds a scene of {frames} frames", core / scenes)
    yield Number(f"{size}: scenes an hour and core", 3600 * scenes / core)
    yield Number(f"{size}: scenes an hour, as it was run", 3600 * scenes / wall)


def _gaps() -> Iterator[Number]:
    """The sampler of Pairwise_Uniform alone, beside what the document realises."""
    rng = np.random.default_rng(GAP_SEED)
    pairs = [p for _ in range(GAP_DRAWS) for p in pairs_of(draw_gaps("Pairwise_Uniform", rng))]
    found = summary(pairs)
    yield within("Pairwise_Uniform drawn: least baseline, cm", found["min"], 10, 20)
    yield within("Pairwise_Uniform drawn: greatest baseline, cm", found["max"], 190, 200)
    yield Number("Pairwise_Uniform drawn: mean of all pairs, cm", found["mean"], 97.7615, 5)
    yield Number("Pairwise_Uniform drawn: deviation of all pairs, cm", found["std"], 56.7814, 5)
    yield Number("Pairwise_Uniform drawn: median of all pairs, cm", found["median"], 93.3603, 5)


def _proposed(found: Realised, family: str) -> Iterator[Number]:
    part = ("train", family)
    asked, kept = found.proposed[part], found.realised[part]
    label = f"proposals without rendering, {family}"
    yield Number(f"{label}: count", len(asked.focal_mm))
    yield Number(f"{label}: accepted, %", 100 * len(kept.focal_mm) / len(asked.focal_mm))
    for why, count in found.rejected[part].items():
        yield Number(f"{label}: rejected, {why}", count)
    yield from _spread(f"{label}: accepted focal lengths, mm", kept.focal_mm)
    if family == "Pairwise_Uniform":
        yield from _spread(f"{label}: accepted pairs, cm", kept.pairs_cm)
    yield from _spread(f"{label}: proposed gaps, cm", asked.gaps_cm)
    for name, value in summary(kept.gaps_cm).items():
        title = f"{label}: accepted gaps, cm: {name}"
        falls = family == "Uniform" and name == "median"
        yield within(title, value, 0, 75.5) if falls else Number(title, value)
