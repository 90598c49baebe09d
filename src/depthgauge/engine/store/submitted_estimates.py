"""Estimates in submitted folders: where they are, and whether they have changed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from depthgauge.benchmarks import Protocol
from depthgauge.datasets import DATASETS, Dataset, read_clip, read_estimate
from depthgauge.engine.running.task import Context, Task
from depthgauge.engine.scoring.samples import locate
from depthgauge.engine.store.estimates import estimate_hash
from depthgauge.engine.store.item import Item
from depthgauge.errors import BadData, DepthgaugeError
from depthgauge.io.beside import read_costs
from depthgauge.io.reading import Reading
from depthgauge.methods import Usage
from depthgauge.types import ClipEstimate, Estimate, Frames, Inputs, Sample


@dataclass(frozen=True, slots=True)
class Finder:
    """Where a sample's estimate is in a submitted folder."""

    dataset: Dataset
    sample: str
    quantity: str
    length: int | None = None
    """How many frames a clip has."""
    reading: Reading | None = None
    """What the benchmark says about stored numbers."""

    def read(
        self, root: Path, name: str | None = None, pattern: str | None = None
    ) -> Estimate | ClipEstimate:
        """What the folder has for this sample, read as the dataset's submissions are.

        Args:
            root: The folder.
            name: The method's name where the layout has it in the file names.
            pattern: Where the file is, with `{id}` for the sample; instead of all layouts.

        Its `usage`, among the extras, is what an `estimate.json` beside it says. How long reading
        took is not a cost of the method.

        Raises:
            BadData: There is no estimate; the message names the places that were searched.
        """
        if self.length is not None:
            clip = read_clip(
                root, self.dataset, self.sample, self.quantity, self.length, name, self.reading
            )
            return replace(clip, extras={**clip.extras, "usage": _usage(root / self.sample)})
        if pattern is not None:
            path = root / pattern.replace("{id}", self.sample)
            if not path.is_file():
                raise BadData(f"{root}: no estimate for '{self.sample}'; expected {path.name}.")
            return read_estimate(path, self.dataset, self.quantity, self.reading)
        path = locate(self.dataset, root, self.sample, self.quantity, name)
        found = read_estimate(path, self.dataset, self.quantity, self.reading)
        return replace(found, extras={**found.extras, "usage": _usage(path.parent)})


def _usage(folder: Path) -> Usage:
    costs = read_costs(folder)
    time_s, cpu_s = (costs.get(name, math.nan) for name in ("time_s", "cpu_s"))
    return Usage(time_s, cpu_s, costs.get("peak_memory_mb"))


def finder_inputs(protocol: Protocol, sample: Sample) -> Inputs:
    """Everything that a method needs if it only reads files."""
    quantity, said = protocol.quantity, protocol.reading.estimate.reading
    finder = Finder(DATASETS[protocol.dataset], sample.id, quantity, sample.length, said)
    given = {"sample": sample.id, "quantity": quantity, "seed": 0, "finder": finder}
    clip = {n: v for n, v in sample.inputs.unread().items() if isinstance(v, Frames)}
    return Inputs({**clip, **given})


def is_stale(item: Item, task: Task, context: Context) -> bool:
    """Whether the file behind an item has changed, appeared or vanished since."""
    method = context.methods[task.method]
    if method.spec.keeps:
        return False
    quantity = context.protocol.quantity
    try:
        given = finder_inputs(context.protocol, task.sample)
        found = estimate_hash(method.estimate(given, quantity))
    except DepthgaugeError:
        found = ""
    return found != item.estimate_hash
