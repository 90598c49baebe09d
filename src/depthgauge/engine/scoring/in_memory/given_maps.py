"""What people hand over as maps: arrays, files, parts by name; checked and as float32."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from depthgauge.errors import BadScoreId, UnknownScale, WrongShape
from depthgauge.geometry.layers import are_rows
from depthgauge.io import guess_quantity, read_map, read_mask, stored_dtype
from depthgauge.io.beside import read_part
from depthgauge.io.reading import Reading, check_unit, without_marks
from depthgauge.io.stacks import read_layers
from depthgauge.quantities import QUANTITIES, Part, Quantity, guess, map_axes
from depthgauge.types import Map, Mask

Maps = ArrayLike | str | Path | Mapping[str, Any]
"""An array or a file; or the parts of a quantity by name, such as `flow` and `disparity`."""


def guessed_quantity(shown: Maps) -> str:
    """The default quantity of a map."""
    if isinstance(shown, Mapping):
        known = ", ".join(shown)
        raise BadScoreId(f"give the quantity of the parts {known}: quantity=...")
    if isinstance(shown, (str, Path)):
        return guess_quantity(shown)
    values = with_map_axes(as_array(shown), None)
    return guess(values.shape[2] if values.ndim == 3 else 1)


def parts_of(
    given: Maps, declared: Quantity, reading: Reading | None = None, side: str = ""
) -> dict[str, Any]:
    """The parts of a quantity by name; a bare map is the main one.

    Args:
        given: What came with the call.
        declared: The quantity.
        reading: What the call says about stored numbers of the main map.
        side: `estimate` or `truth`, for errors.
    """
    if not isinstance(given, Mapping):
        if declared.main.is_stack:
            return {declared.main.name: _main_stack(given, declared.main, side)}
        return {declared.main.name: as_map(given, declared.name, reading, side=side)}
    if declared.main.name not in given:
        raise BadScoreId(f"there is no '{declared.main.name}' among the parts {', '.join(given)}.")
    return {
        name: _as_part(value, declared, name, reading if name == declared.main.name else None)
        for name, value in given.items()
    }


def _as_part(value: Any, declared: Quantity, name: str, reading: Reading | None) -> Any:
    part = declared.part(name)
    if not part.is_map:
        return float(value)
    if part.is_stack:
        return _as_stack(value, part)
    like = part.like or (declared.name if part == declared.main else None)
    return as_map(value, like, reading, channels_last=True)


def _main_stack(given: Any, part: Part, side: str) -> Map:
    """The layers of an estimate or a truth; one map is one layer, only estimates may be rows."""
    stack = read_layers(Path(given), part) if isinstance(given, (str, Path)) else None
    stack = _as_stack(given, part) if stack is None else stack
    if side != "truth" or stack.ndim == len(part.axes):
        return stack
    if stack.ndim == len(part.axes) - 1 and not are_rows(stack, part.channels or 1):
        return stack[None]
    raise WrongShape(
        f"the truth has the axes ({', '.join(part.axes)}), or is one map; this one has shape "
        f"{stack.shape}."
    )


def _as_stack(value: Any, part: Part) -> Map:
    """A stack of maps; one map, or the rows of a sparse estimate, as they are."""
    if isinstance(value, (str, Path)):
        return read_part(Path(value), part)
    array = as_array(value)
    if array.ndim != len(part.axes):
        return array
    return np.stack([as_map(each, None, channels_last=True) for each in array])


def stored_scale(given: Maps, reading: Reading, *, layers: bool = False) -> float | None:
    """What the stored numbers of a map are multiplied by; None where that cannot be said.

    A 16-bit PNG has a scale of its own, which this does not look up. Files with layers have none.
    """
    if reading.scale is not None:
        return reading.scale
    if isinstance(given, (str, Path)) and not layers:
        return 1.0 if stored_dtype(given).kind == "f" or stored_dtype(given).itemsize == 1 else None
    return 1.0


def as_map(
    values: ArrayLike | str | Path,
    quantity: str | None,
    reading: Reading | None = None,
    *,
    side: str = "",
    channels_last: bool = False,
) -> Map:
    """An array or a file as a map (H, W) or (H, W, C); infinite values are missing.

    Args:
        values: Also a tensor on any device, with or without gradients; axes of length 1 around the
            map, and channels before it, are understood.
        quantity: Its quantity; None if unknown.
        reading: What the call says about stored numbers.
        side: `estimate` or `truth`, for errors.
        channels_last: Whether (H, W, C) is known to be the order, where another could be meant.

    Raises:
        UnknownScale: They are whole numbers of depth, and nobody says their unit.
    """
    said = reading or Reading()
    try:
        if isinstance(values, (str, Path)):
            path = Path(values)
            return read_map(path, quantity, scale=said.per_unit, invalid=said.invalid)
        _ask_for_scale(values, quantity, said, f"the {side}" if side else "the map")
    except UnknownScale as error:
        raise error.said_as(f"{side}_scale={{factor}}" if side else "scale={per_unit}") from None
    array = with_map_axes(as_array(values), quantity, channels_last=channels_last)
    if np.isinf(array).any():
        array = np.where(np.isinf(array), np.float32(np.nan), array)
    array = without_marks(array, said.invalid)
    return array if said.scale in (None, 1) else array / np.float32(said.per_unit)


def _ask_for_scale(values: Any, quantity: str | None, said: Reading, what: str) -> None:
    """Refuses whole numbers of a quantity that people store in several units."""
    if said.scale is None and getattr(getattr(values, "dtype", None), "kind", "") in ("i", "u"):
        check_unit(what, values, quantity)


def with_map_axes(array: Map, quantity: str | None, *, channels_last: bool = False) -> Map:
    """The same values as (H, W) or (H, W, C), not copied.

    Raises:
        WrongShape: It is not a map, or there are two ways to read its shape.
    """
    if array.ndim == 2 and array.size:
        return array
    channels = None if quantity is None else QUANTITIES[quantity].channels
    if array.ndim < 2 or not array.size:
        raise WrongShape(
            "a map is (height, width), (height, width, 2) for flow or (height, width, 3) for "
            f"normals; this one has shape {array.shape}."
        )
    axes = map_axes(array.shape, channels, quantity, channels_last=channels_last)
    rest = tuple(axis for axis in range(array.ndim) if axis not in axes)
    shape = tuple(array.shape[axis] for axis in axes)
    return np.ascontiguousarray(array.transpose(*axes, *rest).reshape(shape))


def as_array(values: ArrayLike) -> Map:
    """Any container of numbers as a float32 array on the host; masked ones are NaN.

    Tensors are told by what they can do, so no framework is imported: gradients are detached, and
    values on a device are copied.
    """
    try:
        array = _on_host(values)
        # Values beyond float32 become infinite, and so missing.
        with np.errstate(over="ignore", invalid="ignore"):
            array = array.astype(np.float32, copy=False)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise WrongShape(f"a map is an array of numbers; this is not one ({error}).") from None
    return np.ma.filled(array, np.nan) if np.ma.isMaskedArray(array) else array


def _on_host(values: Any) -> np.ndarray[Any, Any]:
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach") and hasattr(values, "cpu"):  # of PyTorch
        return np.asarray(_without_bfloat(values.detach().cpu()))
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        return np.from_dlpack(values)
    get = getattr(values, "get", None)  # of CuPy, whose arrays do not convert by themselves
    if hasattr(values, "__cuda_array_interface__") and callable(get):
        return np.asarray(get())
    return np.asarray(values)


def _without_bfloat(tensor: Any) -> Any:
    """NumPy knows neither bfloat16 nor the floats of 8 bits."""
    return tensor.float() if getattr(tensor, "is_floating_point", bool)() else tensor


def as_mask(region: ArrayLike | str | Path) -> Mask:
    """(H, W), true where it is neither 0 nor NaN nor masked."""
    if isinstance(region, (str, Path)):
        return read_mask(Path(region))
    values = np.ma.filled(region, 0) if np.ma.isMaskedArray(region) else _on_host(region)
    if values.ndim > 2:
        axes = map_axes(values.shape, 1, "mask")
        values = values.reshape(tuple(values.shape[axis] for axis in axes))
    return np.asarray((values == values) & (values != 0))
