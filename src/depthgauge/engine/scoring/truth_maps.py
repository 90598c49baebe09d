"""The truth that estimates of a quantity are compared with: stored, or computed from another.

Of a quantity with layers it is one layer at each pixel (`layered.py`).

Normals follow from depth, so they can be scored on any dataset that has depth and a camera. This
happens only if the protocol says `[truth] from_depth`; otherwise a dataset that lacks some normal
maps would be scored on two kinds of truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.layered import layered_truth, stack_part
from depthgauge.errors import Unavailable
from depthgauge.geometry.rigs import surface_normals
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map, Rig, Sample, overlaid


def has_map(sample: Sample, protocol: Protocol) -> bool:
    """Whether a sample's truth holds the quantity, or what it is computed from; nothing is read."""
    if sample.truth is None:
        return False
    if not protocol.truth.from_depth:
        part = stack_part(protocol) or QUANTITIES[protocol.quantity].main
        return part.name in sample.truth
    items = overlaid(sample.truth, sample.inputs)
    return _source(items) is not None


def truth_map(
    protocol: Protocol, truth: Mapping[str, Any], items: Mapping[str, Any], part: str = ""
) -> Map:
    """The map of the protocol's quantity, or of one of its other parts.

    Args:
        protocol: Says whether normals are computed from depth.
        truth: The sample's truth, for which `has_map` is true.
        items: The truth's items and the inputs.
        part: Which part; empty for the main map.

    Raises:
        Unavailable: The sample has no truth of that part.
    """
    source = _source(items) if protocol.truth.from_depth else None
    if source is None:
        quantity = QUANTITIES[protocol.quantity]
        if (picked := layered_truth(protocol, truth, part)) is not None:
            return picked
        name = quantity.part(part).name if part else quantity.main.name
        if name not in truth:
            raise Unavailable(f"there is no {name}", [name])
        return quantity.map_of(truth, part)
    rig = items["rig"] if "rig" in items else Rig({"left": items["camera"]})
    return surface_normals(items[source], source, rig)


def _source(items: Mapping[str, Any]) -> str | None:
    """What normals can be computed from: depth with a camera, or disparity with a rig."""
    if "depth" in items and ("camera" in items or "rig" in items):
        return "depth"
    return "disparity" if "disparity" in items and "rig" in items else None
