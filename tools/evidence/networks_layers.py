"""Our network of several layers beside single flows and `peel`, on a few rooms with glass.

The set is kept in out/evidence and made again when its generator has changed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from depthgauge.synth.generators import generate
from tools.evidence import REPOSITORY, Number, Table, figure, within
from tools.evidence._sources import LAYER_MAKERS, digest
from tools.evidence._trials import conduct, table

SET: dict[str, Any] = {"pairs": 4, "width": 320, "height": 240, "samples": 16, "seed": 7700}
METHODS = ("nets-layers", "nets-flow", "dis", "peel")
SCORES = (
    "multi_bad:1@all",
    "multi_bad:3@all",
    "multi_bad:3,transparent@all",
    "multi_bad:3,diffuse@all",
    "layered_flow:1/npx:3@all",
    "layered_flow:2/npx:3@all",
    "layered_flow:3/npx:3@all",
)
"""What the page shows of the benchmark's scores."""
FIRST = "layered_flow:1/npx:3@all"
"""Its pixels are those that are counted: all that have a first layer."""


@figure(
    "networks-layers",
    data=f"`depthgauge make layers --pairs {SET['pairs']} --seed {SET['seed']} --width 320 "
    "--height 240 --samples 16`",
    needs=("torch", "embreex", "mitsuba", "pyoidn"),
)
def networks_layers() -> Iterator[Number | Table]:
    """Scores of every layer; the network was trained on flat synthetic layers only.

    Four rooms are too few for a ranking; they show where it stands.
    """
    folder = REPOSITORY / "out" / "evidence" / f"networks-layers-{digest(LAYER_MAKERS)}"
    generate("layers", folder, **SET)
    with tempfile.TemporaryDirectory() as place:
        run = conduct("layers-flow", folder, METHODS, Path(place, "run"))
        found = table("networks-layers", run)
    first = [each[FIRST] for each in run.results[METHODS[0], 0].samples.values()]
    yield replace(
        found,
        pixels={"all": sum(score.count + score.missing for score in first)},
        used={"all": len(first)},
        scores={score: found.scores[score] for score in SCORES},
        rows={row: {s: values[s] for s in SCORES} for row, values in found.rows.items()},
    )
    missed = found.rows["nets-layers"]["layered_flow:2/npx:3@all"] or 0
    yield within("layer 2, nets-layers: found at all within 3 px, %", 100 - missed, 5, 100)
