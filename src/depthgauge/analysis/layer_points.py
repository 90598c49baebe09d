"""How many points of each material and layer a run was scored on (table 6 of LayeredFlow)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from depthgauge.benchmarks import Protocol
from depthgauge.engine.store.record import Run
from depthgauge.geometry.layers import MATERIALS
from depthgauge.metrics._layer_errors import ANY

Place = tuple[int, str]
"""A layer (from 1) and a material."""


@dataclass(frozen=True, slots=True)
class LayerPoints:
    """Points with a truth; a pixel has one for each of its layers."""

    counts: Mapping[Place, int]

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers, the nearest first."""
        return tuple(sorted({layer for layer, _ in self.counts}))

    @property
    def materials(self) -> tuple[str, ...]:
        """The materials, in the order of their codes."""
        found = {material for _, material in self.counts}
        return tuple(name for name in MATERIALS if name in found)

    def count(self, layer: int | None = None, material: str | None = None) -> int:
        """Points of one layer, one material, both, or all."""
        return sum(
            number
            for (k, name), number in self.counts.items()
            if layer in (None, k) and material in (None, name)
        )


def layer_points(run: Run) -> LayerPoints | None:
    """The points that the scores of a run were made from; None if no score tells them apart.

    Every method was scored on the same points, with or without an estimate, so that any of them
    gives the numbers.
    """
    places = _places(run.protocol)
    if not places or not run.results:
        return None
    samples = next(iter(run.results.values())).samples
    counts = dict.fromkeys(places.values(), 0)
    for scores in samples.values():
        for score_id, place in places.items():
            if score_id in scores:
                counts[place] += scores[score_id].count + scores[score_id].missing
    return LayerPoints(counts)


def _places(protocol: Protocol) -> dict[str, Place]:
    """Scores of one layer and one material on all pixels, by id.

    Of a benchmark of the first layer they are those of the regions that are named as materials.
    """
    found = {
        spec.id: (spec.params["layer"], spec.params["material"])
        for spec in protocol.specs
        if spec.region == "all"
        if spec.params.get("layer") and spec.params.get("material", ANY) != ANY
    }
    if found or protocol.truth.layer != "first":
        return found
    regions = {spec.region: spec.id for spec in protocol.specs if spec.region in MATERIALS}
    return {score_id: (1, material) for material, score_id in regions.items()}
