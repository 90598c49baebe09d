"""What people hand over as maps: arrays, files, parts by name; checked and as float32."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from depthgauge.errors import BadScoreId, WrongShape
from depthgauge.io import guess_quantity, read_map
from depthgauge.quantities import Part, Quantity, guess
from depthgauge.types import Map, Mask

Maps = ArrayLike | str | Path | Mapping[str, Any]
"""An array or a file; or the parts of a quantity by name, such as `flow` and `disparity`."""


def guessed_quantity(shown: Maps) -> str:
    """The quantity that a map is taken for by default."""
    if isinstance(shown, Mapping):
        known = ", ".join(shown)
        raise BadScoreId(f"say of which quantity the parts {known} are: quantity=...")
    if isinstance(shown, (str, Path)):
        return guess_quantity(shown)
    values = as_map(shown, None)
    return guess(values.shape[2] if values.ndim == 3 else 1)


def parts_of(given: Maps, declared: Quantity) -> dict[str, Any]:
    """The parts of a quantity by name; a bare map is the main one."""
    if not isinstance(given, Mapping):
        return {declared.main.name: as_map(given, declared.name)}
    if declared.main.name not in given:
        raise BadScoreId(f"there is no '{declared.main.name}' among the parts {', '.join(given)}.")
    return {name: _as_part(value, declared.part(name)) for name, value in given.items()}


def _as_part(value: Any, part: Part) -> Any:
    if not part.is_map:
        return float(value)
    if part.is_stack:
        return np.stack([as_map(each, None) for each in value])
    return as_map(value, part.like or None)


def as_map(values: ArrayLike | str | Path, quantity: str | None) -> Map:
    """An array or a file as a map; infinite values are missing."""
    if isinstance(values, (str, Path)):
        return read_map(Path(values), quantity=quantity)
    array = _as_float32(values)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim not in (2, 3) or not array.size:
        raise WrongShape(
            "a map is (height, width), (height, width, 2) for flow or (height, width, 3) for "
            f"normals; this one has shape {array.shape}."
        )
    if np.isinf(array).any():
        array = np.where(np.isinf(array), np.float32(np.nan), array)
    return array


def _as_float32(values: ArrayLike) -> Map:
    try:
        array = np.ma.asanyarray(values) if np.ma.isMaskedArray(values) else np.asarray(values)
        # Values beyond float32 become infinite, and so missing.
        with np.errstate(over="ignore", invalid="ignore"):
            array = array.astype(np.float32, copy=False)
    except (TypeError, ValueError) as error:
        raise WrongShape(f"a map is an array of numbers; this one is none ({error}).") from None
    return np.ma.filled(array, np.nan) if np.ma.isMaskedArray(array) else array


def as_mask(region: ArrayLike) -> Mask:
    """True where it is neither 0 nor NaN nor masked."""
    values = np.ma.filled(region, 0) if np.ma.isMaskedArray(region) else np.asarray(region)
    return np.asarray((values == values) & (values != 0))
