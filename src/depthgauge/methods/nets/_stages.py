"""The stages of training our networks on a GPU, each one command that is repeated until done.

S are pairs made on the fly, L pairs of a rendered set (packs), S+L both in turns, as in section 6.1
of the paper on layered flow (Wen et al. 2024). Needs NumPy only, so that `depthgauge train plan`
answers without PyTorch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STEREO_SEEDS = (0, 1, 2)
"""Trainings of the stereo network; their spread is reported."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One training: a network, its data, and how long it learns."""

    name: str
    task: str
    data: str
    """S, L or S+L; `small` is S with motion of a few px."""
    steps: int
    seed: int = 0
    start: str = ""
    """The stage whose weights it starts from."""
    rate: float | None = None
    """The largest learning rate; None: the task's."""

    @property
    def packed_share(self) -> float:
        """The share of the steps that learn from packs."""
        return {"L": 1.0, "S+L": 0.5}.get(self.data, 0.0)

    def settings(self, root: Path, packs: Path | None) -> dict[str, Any]:
        """Arguments of the plan of its training; `root` has a folder for each stage.

        Raises:
            ValueError: It needs packs and has none, or the stage before it has no weights.
        """
        if self.packed_share and packs is None:
            raise ValueError(f"{self.name} learns from packs; give --packs FOLDER.")
        start = None
        if self.start:
            before = STAGES[self.start]
            start = root / before.name / f"{before.task}.safetensors"
            if not start.is_file():
                raise ValueError(f"{start}: is not there; train {before.name} first.")
        return {
            "seed": self.seed,
            "steps": self.steps,
            "start": start,
            "rate": self.rate,
            "packs": packs / self.task if self.packed_share and packs else None,
            "packed_share": self.packed_share,
            "small_motion": self.data == "small",
        }

    def done(self, root: Path) -> int:
        """Steps that are behind it."""
        place = root / self.name / "checkpoint.json"
        return int(json.loads(place.read_text())["step"]) if place.is_file() else 0


def _stages() -> dict[str, Stage]:
    stages = [Stage(f"stereo-s-{seed}", "stereo", "S", 20_000, seed) for seed in STEREO_SEEDS]
    stages.append(Stage("flow-s-0", "flow", "S", 16_000))
    stages.append(Stage("flow-small-0", "flow", "small", 4_000, start="flow-s-0", rate=1e-4))
    stages.append(Stage("layers-s-0", "layers", "S", 8_000, start="flow-s-0"))
    for task in ("stereo", "flow", "layers"):
        for data, word in (("L", "l"), ("S+L", "sl")):
            stages.append(
                Stage(f"{task}-{word}-0", task, data, 3_000, start=f"{task}-s-0", rate=1e-4)
            )
    return {stage.name: stage for stage in stages}


STAGES = _stages()
"""All stages by name, in an order in which they can be trained."""
