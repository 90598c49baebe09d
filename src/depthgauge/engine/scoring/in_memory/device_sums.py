"""Scores of batches that are on a GPU, summed where they are.

Only sums of terms are, on `all` and on given masks, of maps that are compared as they come: no
alignment, no resizing. Everything else is scored by way of the host.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from depthgauge._once import cached_property
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.in_memory.batches import Batch
from depthgauge.engine.scoring.in_memory.kept_samples import KeptSample
from depthgauge.engine.scoring.in_memory.maps_protocol import MASK
from depthgauge.engine.scoring.measure import finished
from depthgauge.engine.scoring.prepare import estimate_range
from depthgauge.errors import WrongShape
from depthgauge.metrics.fused.torch_terms import Limits, Tensor, compare_tensors, sum_tensors
from depthgauge.metrics.terms import LARGEST, SMALLEST, ErrorKind, Recipe, Term
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Score, State

WHOLE = "all"
_UNDERSTOOD = {
    *("id", "version", "title", "about", "dataset", "split", "quantity", "missing", "pool"),
    *("truth_accuracy", "scores", "given_regions", "regions", "may_have", "derived", "axes"),
    *("resize_values", "perturb", "truth", "estimate"),
}
"""Keys of a protocol that change nothing here, or are followed; any other is the host's affair."""


@dataclass(frozen=True)
class DevicePlan:
    """What is summed for a protocol, and how sums become scores."""

    protocol: Protocol

    @classmethod
    def of(cls, protocol: Protocol) -> DevicePlan | None:
        """The plan; None if a score is not a sum of terms, or maps are not compared directly.

        A method's range of values (`[estimate] range = "inputs"`) does not come with a batch.
        """
        allowed = {WHOLE, *protocol.given_regions}
        sums = all(spec.region in allowed and _is_sum(spec) for spec in protocol.specs)
        return cls(protocol) if sums and _as_they_come(protocol) else None

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """The regions that are scored, in the order of the sums."""
        return tuple(dict.fromkeys(spec.region for spec in self.protocol.specs))

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """What is summed, each once however many metrics use it."""
        found = (term for spec in self.protocol.specs for term in _recipe(spec).terms)
        return tuple(dict.fromkeys(found))

    @cached_property
    def _limits(self) -> Limits:
        low, high = estimate_range(self.protocol, {})
        if not QUANTITIES[self.protocol.quantity].positive:
            return Limits(low, high)
        limits = self.protocol.truth
        most = LARGEST if limits.max_depth_m is None else limits.max_depth_m
        return Limits(low, high, max(limits.min_depth_m or 0.0, SMALLEST), most)

    @cached_property
    def _kind(self) -> ErrorKind:
        return ErrorKind[QUANTITIES[self.protocol.quantity].error.upper()]

    def measure(self, estimate: Tensor, truth: Tensor, masks: Mapping[str, Tensor]) -> Tensor:
        """The sums of a batch, (B, regions, 2 + terms), on its device; waits for nothing.

        Args:
            estimate: (B, H, W) or (B, H, W, C), float32.
            truth: The same.
            masks: (B, H, W) or (1, H, W), true in the region.
        """
        pixels = compare_tensors(estimate, truth, self._kind, self._limits)
        chosen = [None if name == WHOLE else masks[name] for name in self.regions]
        return sum_tensors(pixels, chosen, self.terms)

    def scores(self, sums: NDArray[np.float64], device: str) -> dict[str, Score]:
        """All scores of one sample.

        Args:
            sums: Its (regions, 2 + terms), on the host.
            device: Where they were summed.
        """
        found = {}
        for spec in self.protocol.specs:
            row = sums[self.regions.index(spec.region)]
            places = [2 + self.terms.index(term) for term in _recipe(spec).terms]
            state = State(int(row[0]), int(row[1]), row[places])
            score = finished(spec, state, self.protocol.quantity, self.protocol.missing)
            found[spec.id] = replace(score, device=device)
        return found


@dataclass(frozen=True)
class _Sums:
    """The sums of a batch, still on its device."""

    sums: Tensor
    batch: Batch
    new: Sequence[int]
    """Which samples of the batch count."""


class DeviceBatches:
    """Batches that were summed on their devices and not requested yet."""

    def __init__(self, plan: DevicePlan) -> None:
        self._plan = plan
        self._pending: list[_Sums] = []

    def __len__(self) -> int:
        """How many samples they have."""
        return sum(len(each.new) for each in self._pending)

    def update(self, batch: Batch, new: Sequence[int]) -> None:
        """Sums some samples of a batch; returns before the device has done so.

        Raises:
            WrongShape: Estimate and truth have two sizes.
        """
        estimate, truth, masks = batch.estimate, batch.truth, dict(batch.masks)
        if estimate.shape != truth.shape:
            raise WrongShape(
                f"the estimate is {tuple(estimate.shape)} but the truth is {tuple(truth.shape)}; "
                "bring both to one size, or say estimate_resize=..."
            )
        if (limit := masks.pop(MASK, None)) is not None:
            outside = limit.logical_not()
            truth = truth.masked_fill(outside if truth.ndim == 3 else outside[..., None], math.nan)
        sums = self._plan.measure(estimate, truth, masks)
        # The maps themselves are let go.
        self._pending.append(_Sums(sums, replace(batch, estimate=None, truth=None, masks={}), new))

    def collect(self) -> list[KeptSample]:
        """The samples, brought to the host; this waits for the devices."""
        pending, self._pending = self._pending, []
        found = []
        for each in pending:
            batch, device, sums = each.batch, each.sums.device.type, each.sums.cpu().numpy()
            found += [
                KeptSample(batch.ids[n], batch.scenes[n], self._plan.scores(sums[n], device))
                for n in each.new
            ]
        return found


def _as_they_come(protocol: Protocol) -> bool:
    """Whether the maps are compared as they are, apart from ranges of depth."""
    quantity = QUANTITIES[protocol.quantity]
    if quantity.error == "matched" or protocol.views != (("", ""),):
        return False
    followed = {"min_depth_m", "max_depth_m"} if quantity.positive else set()
    return (
        _is_default(protocol, _UNDERSTOOD)
        and _is_default(protocol.truth, followed)
        and _is_default(protocol.estimate, {"range"})
    )


def _is_default(table: BaseModel, apart: Collection[str]) -> bool:
    """Whether only some of the keys are set."""
    return all(
        getattr(table, name) == field.get_default(call_default_factory=True)
        for name, field in type(table).model_fields.items()
        if name not in apart
    )


def _recipe(spec: ScoreSpec) -> Recipe:
    recipe = spec.metric.recipe(**spec.params)
    if not isinstance(recipe, Recipe):
        raise TypeError(f"{spec.metric.name} is not a sum of terms")
    return recipe


def _is_sum(spec: ScoreSpec) -> bool:
    """Whether it is a sum of terms that need only the two maps."""
    recipe = spec.metric.recipe(**spec.params)
    return (
        isinstance(recipe, Recipe)
        and recipe.weight is None
        and not spec.metric.needs
        and spec.metric.level == "sample"
        and all(term.function is None for term in recipe.terms)
    )
