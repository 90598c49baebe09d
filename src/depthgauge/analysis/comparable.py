"""Whether a protocol's estimates and truths can be compared pixel by pixel."""

from __future__ import annotations

from depthgauge.benchmarks import Protocol
from depthgauge.quantities import QUANTITIES


def has_pixel_errors(protocol: Protocol) -> bool:
    """Whether a pixel by itself has an error: how far an estimate is from the truth.

    Lines are matched with lines near by and planes with planes, so a pixel of them has none. Depth
    has none where no score takes its metres as they are: it is then known up to a scale only.
    """
    quantity = QUANTITIES[protocol.quantity]
    if not quantity.has_pixel_errors:
        return False
    if not quantity.scale_free or protocol.twin is not None:
        return True
    return any(spec.metric.recipe(**spec.params) is not None for spec in protocol.specs)
