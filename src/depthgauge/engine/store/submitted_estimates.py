"""Estimates in folders that somebody else made: where they lie, and whether they have changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from depthgauge.datasets import DATASETS, Dataset, read_estimate
from depthgauge.engine.running.task import Context, Task
from depthgauge.engine.scoring.evaluate import locate
from depthgauge.engine.store.estimates import estimate_hash
from depthgauge.engine.store.item import Item
from depthgauge.errors import DepthgaugeError
from depthgauge.types import Estimate, Inputs


@dataclass(frozen=True, slots=True)
class Finder:
    """Where a sample's estimate lies in a folder that somebody else made."""

    dataset: Dataset
    sample: str
    quantity: str

    def find(self, root: Path, name: str | None = None) -> Path:
        """The one file of this sample; an error that says where it was looked for."""
        return locate(self.dataset, root, self.sample, self.quantity, name)

    def read(self, path: Path, quantity: str) -> Estimate:
        """What the file holds, read as the dataset's submissions are."""
        return read_estimate(path, self.dataset, quantity)


def finder_inputs(dataset: str, sample: str, quantity: str) -> Inputs:
    """All that a method needs that only reads files."""
    finder = Finder(DATASETS[dataset], sample, quantity)
    return Inputs({"sample": sample, "quantity": quantity, "seed": 0, "finder": finder})


def is_stale(item: Item, task: Task, context: Context) -> bool:
    """Whether an item was made of a file that has changed since, came or went."""
    method = context.methods[task.method]
    if method.spec.keeps:
        return False
    quantity = context.protocol.quantity
    try:
        given = finder_inputs(context.dataset, task.sample.id, quantity)
        found = estimate_hash(method.estimate(given, quantity))
    except DepthgaugeError:
        found = ""
    return found != item.estimate_hash
