"""The truth that estimates of a quantity are compared with: as it is stored, or made of another.

Normals follow from depth, so they can be scored on any dataset that has depth and a camera. Only a
protocol that says `[truth] from_depth` does so: else a dataset that lacks some normal maps would be
scored on two kinds of truth.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from depthgauge.benchmarks import Protocol
from depthgauge.errors import Unavailable
from depthgauge.geometry.rigs import surface_normals
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map, Rig, Sample


def has_map(sample: Sample, protocol: Protocol) -> bool:
    """Whether a sample's truth holds the quantity, or what it is made of; nothing is read."""
    if sample.truth is None:
        return False
    if not protocol.truth.from_depth:
        return QUANTITIES[protocol.quantity].main.name in sample.truth
    items: Mapping[str, Any] = ChainMap(sample.truth, sample.inputs)  # type: ignore[arg-type]  # only read
    return _source(items) is not None


def truth_map(
    protocol: Protocol, truth: Mapping[str, Any], items: Mapping[str, Any], part: str = ""
) -> Map:
    """The map of the protocol's quantity, or of one of its other parts.

    Args:
        protocol: Says whether normals are made of depth.
        truth: The sample's truth; it `has_map`.
        items: That and its inputs.
        part: Which part; empty for the main map.

    Raises:
        Unavailable: The sample has no truth of that part.
    """
    source = _source(items) if protocol.truth.from_depth else None
    if source is None:
        quantity = QUANTITIES[protocol.quantity]
        name = quantity.part(part).name if part else quantity.main.name
        if name not in truth:
            raise Unavailable(f"there is no {name}", [name])
        return quantity.map_of(truth, part)
    rig = items["rig"] if "rig" in items else Rig({"left": items["camera"]})
    return surface_normals(items[source], source, rig)


def _source(items: Mapping[str, Any]) -> str | None:
    """What normals can be made of here: depth with a camera, or disparity with a rig."""
    if "depth" in items and ("camera" in items or "rig" in items):
        return "depth"
    return "disparity" if "disparity" in items and "rig" in items else None
