"""What a method returned, checked and brought into the form that all estimates have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadEstimate
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Estimate, Map


def as_estimate(who: str, returned: object, quantity: str) -> Estimate:
    """An estimate of the quantity: float32, C-contiguous, NaN where it is missing or infinite.

    Args:
        who: The method, for errors.
        returned: An array of the quantity, or an `Estimate`.
        quantity: What was asked for.

    Raises:
        BadEstimate: It is something else.
    """
    if not isinstance(returned, Estimate):
        return Estimate(_map(who, returned, quantity), quantity)
    if returned.quantity != quantity:
        raise BadEstimate(
            f"{who} returned {returned.quantity!r}, {quantity!r} was asked for; "
            "use a benchmark of its own quantity."
        )
    values = _map(who, returned.values, quantity)
    confidence = returned.confidence
    if confidence is not None:
        confidence = _map(who, confidence, "confidence")
        if confidence.shape != values.shape[:2]:
            raise BadEstimate(
                f"{who} returned confidence {confidence.shape} for {quantity} {values.shape}; "
                "they must have the same height and width."
            )
    return Estimate(values, quantity, confidence, returned.extras)


def _map(who: str, values: object, quantity: str) -> Map:
    channels = QUANTITIES[quantity].channels if quantity in QUANTITIES else 1
    form = {1: "(H, W)", None: "(H, W) or (H, W, C)"}.get(channels, f"(H, W, {channels})")
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        found = type(values).__name__
        if isinstance(values, np.ndarray):
            found = f"array of {values.dtype}"
        raise BadEstimate(
            f"{who} returned a {found} for {quantity}, expected an array {form} of numbers; "
            "return a NumPy array."
        )
    shape = values.shape[:2] if values.ndim == 3 and values.shape[2] == 1 else values.shape
    if len(shape) not in (2, 3) or values.size == 0 or channels not in (None, *_third(shape)):
        raise BadEstimate(
            f"{who} returned {quantity} of shape {values.shape}, expected {form}; "
            "is it another quantity, or are the axes in another order?"
        )
    return _float32(who, values.reshape(shape), quantity)


def _third(shape: tuple[int, ...]) -> tuple[int]:
    return (shape[2] if len(shape) == 3 else 1,)


def _float32(who: str, values: NDArray[Any], quantity: str) -> Map:
    if isinstance(values, np.ma.MaskedArray):
        values = np.where(np.ma.getmaskarray(values), np.nan, values.data)
    # Overflow and signalling NaN would otherwise be warnings of numpy.
    with np.errstate(all="ignore"):
        narrow = np.array(values, dtype=np.float32, order="C")
    infinite = np.isinf(narrow)
    if (beyond := infinite & np.isfinite(values)).any():
        raise BadEstimate(
            f"{who} returned {quantity} beyond float32 (3.4e38), such as "
            f"{values[beyond].flat[0]:.3g}; mark missing values with NaN."
        )
    narrow[infinite] = np.nan
    return narrow
