"""Whether the estimates and truths of a protocol can be compared pixel by pixel."""

from __future__ import annotations

from depthgauge.benchmarks import Protocol
from depthgauge.quantities import QUANTITIES


def has_pixel_errors(protocol: Protocol) -> bool:
    """Whether a single pixel has an error: how far an estimate is from the truth.

    Lines are matched with nearby lines and planes with planes, so single pixels have none. Depth
    has none if no score uses its metres directly: then it is known only up to a scale.
    """
    return QUANTITIES[protocol.quantity].has_pixel_errors and not is_up_to_scale(protocol)


def is_up_to_scale(protocol: Protocol) -> bool:
    """Whether values are known only up to a scale: no score compares them directly."""
    if not QUANTITIES[protocol.quantity].scale_free or protocol.twin is not None:
        return False
    return all(spec.metric.recipe(**spec.params) is None for spec in protocol.specs)


def has_value_errors(protocol: Protocol) -> bool:
    """Whether the error of a pixel is a difference of values, not an angle."""
    return has_pixel_errors(protocol) and QUANTITIES[protocol.quantity].error != "angle"
