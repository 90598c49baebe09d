"""What a method is given, and the conditions under which its estimates were made."""

from __future__ import annotations

from typing import Any

from depthgauge.benchmarks import Protocol
from depthgauge.engine.running.task import GIVEN
from depthgauge.methods import Method
from depthgauge.types import Inputs


def allowed(inputs: Inputs, method: Method, protocol: Protocol) -> Inputs:
    """The inputs that a method may see: all, or, in a benchmark with tiers, what it declares.

    One that declares nothing is given what the lowest tier has.
    """
    if not protocol.tiers:
        return inputs
    taken = _taken(method, protocol)
    return type(inputs)({name: each for name, each in inputs.unread().items() if name in taken})


def conditions_of(method: Method, protocol: Protocol) -> dict[str, Any]:
    """The conditions of a method, for `run.json`; empty in a benchmark without tiers."""
    if not protocol.tiers or method.recorded_conditions:
        return dict(method.recorded_conditions)
    known = method.spec.keeps  # how the estimates of a folder were made, only its owner knows
    tier = protocol.tier_of(_taken(method, protocol)) if known else ""
    return {
        "tier": getattr(method.options, "tier", None) or tier,
        "inputs": sorted(_taken(method, protocol)) if known else [],
        "type": "video" if known and method.whole_clips else "image" if known else "",
        "alignment": method.spec.alignment,
        "frames": method.most_frames,
    }


def _taken(method: Method, protocol: Protocol) -> tuple[str, ...]:
    declared = tuple(name for name in method.takes if name not in GIVEN)
    return declared or list(protocol.tiers.values())[-1]
