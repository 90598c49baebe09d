"""Estimates that are known up to scale, or inverted: as they are compared."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.geometry.alignment import Alignment, apply_alignment, fit_alignment
from depthgauge.quantities import Quantity
from depthgauge.types import Map, Mask


def aligned_map(
    protocol: Protocol,
    quantity: Quantity,
    estimate: Map,
    truth: Map,
    masks: Mapping[str, Mask],
) -> tuple[Map, Alignment | None]:
    """The estimate as the protocol aligns it, and the alignment, if there is one.

    Inverse depths are aligned to the inverse of the truth and then inverted. What is not positive
    then is infinitely far: a protocol may clip it, else it is missing.
    """
    align, name, alignment = protocol.align, quantity.name, None
    inverse = protocol.estimate.inverse and quantity.positive
    if inverse:
        truth, name = np.reciprocal(truth), "disparity"
    if align.kind != "none":
        alignment = fit_alignment(
            estimate,
            truth,
            masks[align.fit_on],
            kind=align.kind,
            space="disparity" if inverse else align.space or quantity.own_space,
            quantity=name,
        )
        estimate = apply_alignment(estimate, alignment, name)
    if inverse:
        with np.errstate(divide="ignore"):
            far = np.where(estimate <= 0, np.float32(np.inf), np.reciprocal(estimate))
        estimate = np.where(np.isnan(estimate), estimate, far)
    return estimate, alignment
