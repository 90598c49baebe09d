"""What fine-tuning our stereo network on rooms with glass gains, in a room of another kind.

Weights are kept in out/evidence and trained again when the code that trains them has changed. On
two cores, each of three trainings takes three quarters of an hour, on a GPU less than two minutes;
a folder of training that comes from another machine can be put there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

from depthgauge.cli.workshop import fine_tune_verb
from tools.evidence import DATA, Number, Table, figure, within
from tools.evidence._rooms import KEPT, offices
from tools.evidence._rooms import learned as learned_rooms
from tools.evidence._sources import FINE_TUNERS, digest
from tools.evidence._trials import conduct, table

STEPS = 700
SEEDS = (0, 1, 2)
BEFORE, AFTER, WHOLE, OTHER = "nets-stereo", "fine-tuned", "as-trained", "sgbm-filled"
REGIONS = ("all", "transparent", "reflective", "diffuse")
SHOWN = ("badpix:1", "badpix:3", "badpix:5", "mae")


@figure(
    "networks-fine-tune",
    data="`depthgauge make layers`: 48 pairs of four kinds of rooms to learn from, 16 of offices "
    "to try it on; 8 Middlebury pairs of 2001 and 2003",
    needs=("torch", "embreex", "mitsuba", "pyoidn", "middlebury-classic"),
)
def networks_fine_tune() -> Iterator[Number | Table]:
    """Errors of the first layer before and after, by material; and on real pairs without glass.

    `fine-tuned-0` to `-2` are three seeds with the default of `--learned`, `as-trained` is seed 0
    with 1.
    """
    kept = KEPT / f"networks-fine-tune-{digest(FINE_TUNERS)}"
    weights = {f"{AFTER}-{seed}": _fine_tuned(kept, seed, 0.75) for seed in SEEDS}
    weights[WHOLE] = _fine_tuned(kept, SEEDS[0], 1.0)
    tuned = (f"{row}=nets-stereo:weights={path}" for row, path in weights.items())
    methods = (BEFORE, *tuned, f"{OTHER}=sgbm:fill=background")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run = conduct("layers-disparity-first", offices(), methods, place / "rooms")
        rooms = _without_axes(table("networks-fine-tune", run))
        real = conduct(
            "trial-middlebury-2001", DATA / "middlebury-classic", methods, place / "real"
        )
        pairs = table("networks-fine-tune-real", real)
    yield rooms
    yield pairs
    # All bounds were set after seed 0 had been seen: they say that the gain is still there.
    for region, most in (("transparent", 0.9), ("reflective", 0.85), ("diffuse", 1.0)):
        yield from _shares(rooms, "rooms", f"badpix:3@{region}", most)
    yield from _shares(pairs, "real pairs", "badpix:2@all", 1.25)


def _fine_tuned(kept: Path, seed: int, learned: float) -> Path:
    """The weights; a training that was interrupted goes on, one that is done is not repeated."""
    out = kept / f"nets-{seed}"
    options = {
        "--dataset": ["layered"],
        "--data": [learned_rooms()],
        "--out": [out],
        "--steps": [STEPS],
        "--batch": [4],
        "--size": [256, 320],
        "--held-out": [0.1],
        "--learned": [learned],
        "--seed": [seed],
    }
    flat = [str(part) for name, values in options.items() for part in (name, *values)]
    fine_tune_verb.command.main(["stereo", *flat], standalone_mode=False)
    # Another call for the same seed writes its weights to the same place.
    return (out / "stereo.safetensors").replace(out / f"learned-{learned}.safetensors")


def _without_axes(found: Table) -> Table:
    """The scores by material alone."""
    chosen = [f"{metric}@{region}" for region in REGIONS for metric in SHOWN]
    return replace(
        found,
        pixels={region: found.pixels[region] for region in REGIONS},
        used={region: found.used[region] for region in REGIONS},
        scores={score: found.scores[score] for score in chosen},
        rows={row: {s: values[s] for s in chosen} for row, values in found.rows.items()},
    )


def _shares(found: Table, where: str, score: str, most: float) -> Iterator[Number]:
    """Errors after, as a share of those before: the mean of the seeds, and their spread."""
    before = found.rows[BEFORE][score] or 1
    shares = [(found.rows[f"{AFTER}-{seed}"][score] or 0) / before for seed in SEEDS]
    name = f"{where}: {score} as a share of that before"
    yield within(f"{name}, mean of {len(SEEDS)} seeds", mean(shares), 0, most)
    yield Number(f"{name}, standard deviation of the seeds", stdev(shares))
