"""The truth that estimates of a quantity are compared with: as it is stored, or made of another.

Normals follow from depth, so they can be scored on any dataset that has depth and a camera.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from depthgauge.geometry.rigs import normals_from_map
from depthgauge.types import Map, Rig, Sample

_SOURCES = ("depth", "disparity")


def has_map(sample: Sample, quantity: str) -> bool:
    """Whether a sample's truth holds the quantity, or what it can be made of; nothing is read."""
    truth = sample.truth
    if truth is None:
        return False
    if quantity in truth:
        return True
    items: Mapping[str, Any] = ChainMap(truth, sample.inputs)  # type: ignore[arg-type]  # only read
    return quantity == "normals" and _source(items) is not None


def truth_map(truth: Mapping[str, Any], items: Mapping[str, Any], quantity: str) -> Map:
    """The map of the quantity.

    Args:
        truth: The sample's truth.
        items: That and its inputs.
        quantity: One that `has_map`.
    """
    source = _source(items)
    if quantity in truth or quantity != "normals" or source is None:
        found: Map = truth[quantity]
        return found
    rig = items["rig"] if "rig" in items else Rig({"left": items["camera"]})
    return normals_from_map(items[source], source, rig)


def _source(items: Mapping[str, Any]) -> str | None:
    """What normals can be made of here: depth with a camera, or disparity with a rig."""
    if "depth" in items and ("camera" in items or "rig" in items):
        return "depth"
    return "disparity" if "disparity" in items and "rig" in items else None
