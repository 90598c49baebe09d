"""Turns what a file stores into a map: shape, scale, float32, NaN where a value is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile, DoesNotFit, Misuse, WrongShape
from depthgauge.io._files import MAX_PIXELS, AnyPath
from depthgauge.io.reading import check_unit, require_unit, without_marks
from depthgauge.quantities import QUANTITIES, inner_axes, map_axes
from depthgauge.types import Map

_BLOCK = 2**16


@dataclass(frozen=True, slots=True)
class Request:
    """What the caller of `read_map` wants."""

    quantity: str | None = None
    raw: bool = False
    scale: float | None = None
    limit: int = MAX_PIXELS
    png_scale: float | None = None
    invalid: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_scale(self.scale)
        check_scale(self.png_scale)
        if self.limit < 1:
            raise Misuse(f"limit is {self.limit}; it must be at least 1 pixel")


def check_scale(scale: float | None) -> None:
    """A scale divides, so it must be a positive number that float32 has room for."""
    if scale is not None and not 1e-30 <= scale <= 1e30:
        raise Misuse(f"scale is {scale}; it must be a positive number (stored = value * scale)")


def channels_of(quantity: str | None) -> int | None:
    """How many channels a map of that quantity has; None: any number, or unknown."""
    return QUANTITIES[str(quantity)].channels if quantity in QUANTITIES else None


def map_axes_of(shape: tuple[int, ...], quantity: str | None) -> tuple[int, ...]:
    """The axes of a stored array that are (H, W) or (H, W, C); the others have length 1.

    Frameworks add axes, (1, 1, H, W) or (H, W, 1), and put channels first: (2, H, W) is flow where
    flow is requested. In files, channels are the last axis if possible.

    >>> map_axes_of((1, 1, 4, 5), "depth"), map_axes_of((4, 5, 1), None)
    ((2, 3), (0, 1))
    """
    channels = channels_of(quantity)
    if channels is not None:
        with suppress(WrongShape):  # the reader of the file has its own message
            return map_axes(shape, channels, quantity, channels_last=True)
    axes = inner_axes(shape)
    # (1, H, W) is a batch of one, (1, W, 3) a map of one row.
    batch = len(axes) == 3 and shape[axes[0]] == 1 and (channels == 1 or shape[axes[2]] > 4)
    return axes[1:] if batch else axes


def with_map_axes(values: NDArray[Any], quantity: str | None) -> NDArray[Any]:
    """The same values as (H, W) or (H, W, C), not copied."""
    axes = map_axes_of(values.shape, quantity)
    rest = tuple(axis for axis in range(values.ndim) if axis not in axes)
    shape = tuple(values.shape[axis] for axis in axes)
    return values.transpose(*axes, *rest).reshape(shape)


def check_channels(path: AnyPath, shape: tuple[int, ...], quantity: str | None) -> None:
    """A map is (H, W) or (H, W, C), with the channels that its quantity has."""
    if len(shape) not in (2, 3):
        raise BadFile(f"{path}: expected an array (H, W) or (H, W, C), found {shape}")
    want = channels_of(quantity)
    found = shape[2] if len(shape) == 3 else 1
    if want is not None and found != want:
        form = "(H, W)" if want == 1 else f"(H, W, {want})"
        raise BadFile(
            f"{path}: {quantity} is a map {form}, this file holds {shape}; is it another quantity?"
        )


def as_map(path: AnyPath, values: NDArray[Any], request: Request) -> Map:
    """Floats (or plain numbers) of a file as the requested map; `values` may be reused."""
    values = with_map_axes(values, request.quantity)
    check_channels(path, values.shape, request.quantity)
    if request.scale is None and not request.raw:
        check_unit(str(path), values, request.quantity)
    result = without_marks(to_float32(path, values), request.invalid)
    if request.scale is not None and request.scale != 1:
        result = scaled(path, result, np.divide, request.scale)
    return result if request.raw else without_infinities(result)


def to_float32(path: AnyPath, values: NDArray[Any]) -> Map:
    """C-contiguous native float32; finite values that float32 cannot hold are a `BadFile`."""
    # Signalling NaN and overflow would otherwise be warnings of numpy.
    with np.errstate(all="ignore"):
        result = np.ascontiguousarray(values, dtype=np.float32)
    if values.dtype.itemsize > 4 and values.dtype.kind == "f":
        lost = np.isinf(result)
        if lost.any() and np.isfinite(values[lost]).any():
            raise BadFile(
                f"{path}: holds values beyond float32 (3.4e38), such as "
                f"{values[lost & np.isfinite(values)].flat[0]:.3g}; mark missing values with NaN"
            )
    return result


def scaled(path: AnyPath, values: Map, operation: np.ufunc, factor: float) -> Map:
    """Values multiplied or divided, in place; a finite one that overflows is a `BadFile`."""
    if not values.flags.writeable:
        values = values.copy()
    before = np.count_nonzero(np.isinf(values))
    with np.errstate(all="ignore"):
        operation(values, np.float32(factor), out=values)
    if np.count_nonzero(np.isinf(values)) != before:
        raise BadFile(f"{path}: with scale {factor:.3g} its values are beyond float32 (3.4e38)")
    return values


def without_infinities(values: Map) -> Map:
    """Infinities become NaN, in place where possible; nothing is copied if there are none."""
    for rows in _row_blocks(values):
        infinite = np.isinf(values[rows])
        if infinite.any():
            if not values.flags.writeable:
                values = values.copy()
            np.copyto(values[rows], np.float32(np.nan), where=infinite)
    return values


def ask_for_scale(path: AnyPath, request: Request) -> None:
    """Refuses codes of a quantity that files store in several units, if nobody says which.

    Raises:
        UnknownScale: The caller has to say it.
    """
    if request.scale is None and not request.raw:
        require_unit(str(path), request.quantity)


def from_codes(codes: NDArray[Any], scale: float, raw: bool, invalid: Sequence[float] = ()) -> Map:
    """Integer codes as values, code / scale; code 0 is missing unless `raw`."""
    values = np.zeros(codes.shape, dtype=np.float32)
    for rows in _row_blocks(codes):
        np.divide(codes[rows], np.float32(scale), out=values[rows], dtype=np.float32)
        if not raw:
            np.copyto(values[rows], np.float32(np.nan), where=codes[rows] == 0)
    for mark in invalid:
        values[codes == mark] = np.nan
    return values


def _row_blocks(array: NDArray[Any]) -> Iterator[slice]:
    """Slices of rows that stay in the processor's cache while they are worked on."""
    step = max(1, _BLOCK * len(array) // max(array.size, 1))
    return (slice(start, start + step) for start in range(0, len(array), step))


def to_codes(
    path: AnyPath, values: Map, scale: float, *, offset: int = 0, least: int = 1
) -> NDArray[np.uint16]:
    """Values as 16-bit codes, rounded to nearest; missing (NaN) becomes code 0.

    Args:
        path: Named in the error.
        values: Map with NaN where there is no value.
        scale: Codes per unit.
        offset: Code of the value 0.
        least: The smallest code of a valid value; 1 where code 0 means missing.
    """
    missing = np.isnan(values)
    codes = np.rint(values * np.float64(scale) + offset)
    with np.errstate(invalid="ignore"):
        wrong = (codes < least) | (codes > 65535)
    if wrong.any():
        low, high = (least - offset) / scale, (65535 - offset) / scale
        raise DoesNotFit(
            f"{path}: a 16-bit PNG with scale {scale:g} holds values from {low:g} to {high:g}, "
            f"the map has {values[wrong].flat[0]:g}; choose another scale or a float format (.pfm)"
        )
    codes[missing] = 0
    return codes.astype(np.uint16)


def checked_map(path: AnyPath, values: object, quantity: str) -> Map:
    """What a caller wants written, as a float32 map; infinities count as missing, as in reading."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise DoesNotFit(f"{path}: a map holds numbers, not {array.dtype}")
    array = with_map_axes(array, quantity)
    want = channels_of(quantity)
    found = array.shape[2] if array.ndim == 3 else 1
    if array.ndim not in (2, 3) or array.size == 0 or want not in (None, found):
        form = {1: "(H, W)", None: "(H, W) or (H, W, C)"}.get(want, f"(H, W, {want})")
        raise WrongShape(f"{path}: {quantity} is a map {form}, this one is {array.shape}")
    with np.errstate(all="ignore"):
        result = np.ascontiguousarray(array, dtype=np.float32)
    lost = np.isinf(result)
    if lost.any():
        beyond = lost & np.isfinite(array)
        if beyond.any():
            raise DoesNotFit(
                f"{path}: {array[beyond].flat[0]:.3g} is beyond float32 (3.4e38); "
                "mark missing values with NaN"
            )
        result = np.where(lost, np.float32(np.nan), result)
    return result
