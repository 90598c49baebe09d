"""Every layer of a sample: its truth, and what each method made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.geometry.layers import MATERIALS
from depthgauge.metrics._layer_errors import LayerComparison
from depthgauge.types import Map, is_known

_LAYERS = "layers"


@dataclass(frozen=True)
class LayerMaps:
    """One layer; all maps have the truth's size."""

    number: int
    """From 1, the nearest first."""
    truth: Map
    """(H, W) or (H, W, C); NaN where there is no such layer."""
    estimates: Mapping[str, Map]
    """By label; methods without this layer are not in it."""
    errors: Mapping[str, Map]
    """By label, (H, W): NaN where there is no estimate."""
    materials: Mapping[str, int]
    """Pixels with a truth of each material; empty if materials are not known."""

    @property
    def pixels(self) -> int:
        """How many pixels have a truth."""
        return int(is_known(self.truth).sum())


def layer_maps(bare: PreparedSample, found: Mapping[str, PreparedSample]) -> tuple[LayerMaps, ...]:
    """The layers that have a truth somewhere; none for quantities without layers.

    Args:
        bare: The sample without an estimate.
        found: The estimates beside the truth, by label.
    """
    known = bare.items.get(_LAYERS)
    if not isinstance(known, LayerComparison):
        return ()
    truth = known.read_truth()
    stacks = {label: each.items[_LAYERS] for label, each in found.items()}
    estimates = {label: each.read_estimate() for label, each in stacks.items()}
    shape = truth.shape[1:3]
    made = []
    for index, layer in enumerate(truth):
        if not is_known(layer).any():
            continue
        there = {label: each for label, each in stacks.items() if index < len(estimates[label])}
        made.append(
            LayerMaps(
                number=index + 1,
                truth=layer,
                estimates={label: estimates[label][index] for label in there},
                errors={
                    label: _finite(each.errors[index].reshape(shape))
                    for label, each in stacks.items()
                },
                materials=_materials(known, index, layer),
            )
        )
    return tuple(made)


def _finite(errors: Map) -> Map:
    return np.where(np.isfinite(errors), errors, np.float32(np.nan))


def _materials(layers: LayerComparison, index: int, truth: Map) -> dict[str, int]:
    if layers.materials is None:
        return {}
    codes = layers.materials[index][is_known(truth)]
    return {name: int((codes == code).sum()) for code, name in enumerate(MATERIALS)}
