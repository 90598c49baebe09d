"""What the maps of a benchmark are like, and so how they are drawn."""

from __future__ import annotations

from typing import Literal

from depthgauge.analysis.comparable import has_pixel_errors
from depthgauge.benchmarks import Protocol

Kind = Literal["values", "shapes", "normals", "boundaries", "planes"]
"""`values`: numbers or flow, whose error is a difference; `shapes`: depth up to a scale."""

ABOUT: dict[Kind, str] = {
    "values": "",
    "shapes": (
        "Depth is known up to a scale of each surface, so every map has a colour scale of its own: "
        "compare shapes and orders, not metres."
    ),
    "normals": (
        "Normals are colours: light blue faces the viewer, the redder the more to the right, the "
        "greener the more upwards, as on the ball. The error of a pixel is the angle between the "
        "estimated and the true normal."
    ),
    "boundaries": (
        "True lines lie over the dimmed photograph. Below each estimate is what was matched with "
        "them at the one threshold that is best for the method on the whole dataset."
    ),
    "planes": (
        "Each plane has a colour of its own. An estimated plane has the colour of a true one where "
        "the two overlap by at least half (intersection over union), else one that no true plane "
        "has; the most confident lies on top."
    ),
}
"""A sentence or two above the pictures."""


def kind_of(protocol: Protocol) -> Kind:
    """How the maps of a protocol are drawn."""
    if protocol.quantity == "normals":
        return "normals"
    if protocol.quantity == "boundaries":
        return "boundaries"
    if protocol.quantity == "planes":
        return "planes"
    return "values" if has_pixel_errors(protocol) else "shapes"
