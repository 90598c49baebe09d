"""Checks what a method returned, and converts it to the form of all estimates."""

from __future__ import annotations

import math
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadEstimate
from depthgauge.io.shown import shown
from depthgauge.quantities import CONFIDENCE, QUANTITIES, Part, Quantity
from depthgauge.types import ClipEstimate, Estimate, Frames, Map, frame_name


def as_clip_estimate(who: str, returned: object, quantity: str, length: int) -> ClipEstimate:
    """The estimates of a clip's frames, checked one by one.

    Frames from a generator are written to a temporary folder as they come, so that only one is in
    memory.

    Args:
        who: The method, for errors.
        returned: An iterable of what `as_estimate` accepts, or a `ClipEstimate`.
        quantity: The requested quantity.
        length: How many frames the clip has.

    Raises:
        BadEstimate: It is something else, or has more frames than the clip.
    """
    extras = returned.extras if isinstance(returned, ClipEstimate) else {}
    frames = returned.frames if isinstance(returned, ClipEstimate) else returned
    if isinstance(frames, (Estimate, Mapping, np.ndarray, str)) or not isinstance(frames, Iterable):
        raise BadEstimate(
            f"{who} returned a {type(frames).__name__} for a clip of {length} frames, expected one "
            "estimate per frame; return a list or yield them."
        )
    if isinstance(frames, Frames):  # read when they are used, and checked then
        first = range(min(len(frames), length))
        lazy = [partial(_frame, who, frames, index, quantity) for index in first]
        return ClipEstimate(Frames(lazy, frames.source), quantity, extras)
    folder = SpoolFolder()
    spooled: list[Callable[[], Estimate] | None] = []
    for index, frame in enumerate(frames):
        if index == length:
            raise BadEstimate(f"{who} returned more frames than the {length} of the clip.")
        checked = as_estimate(f"{who}, frame {index}", frame, quantity)
        spooled.append(folder.keep(index, checked))
    return ClipEstimate(Frames(spooled, folder), quantity, extras)


class SpoolFolder:
    """A temporary folder that is removed together with the last frame that needs it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="depthgauge-clip-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def keep(self, index: int, estimate: Estimate) -> Callable[[], Estimate]:
        """Writes the estimate of a frame and returns a function that reads it."""
        return _spooled(self.path / frame_name(index), estimate)


def _frame(who: str, frames: Frames, index: int, quantity: str) -> Estimate | None:
    found = frames[index]
    return None if found is None else as_estimate(f"{who}, frame {index}", found, quantity)


def _spooled(path: Path, estimate: Estimate) -> Callable[[], Estimate]:
    """Writes an estimate to disk and returns a function that reads it."""
    maps = {n: part for n, part in estimate.parts.items() if isinstance(part, np.ndarray)}
    numbers = {n: part for n, part in estimate.parts.items() if n not in maps}
    arrays: dict[str, Any] = {"values": estimate.values, **maps}
    np.savez(path.with_suffix(".npz"), **arrays)
    empty = Estimate(np.zeros((0, 0), np.float32), estimate.quantity, numbers, estimate.extras)
    return partial(_unspooled, path.with_suffix(".npz"), empty)


def _unspooled(path: Path, empty: Estimate) -> Estimate:
    with np.load(path, allow_pickle=False) as stored:
        maps = {name: stored[name] for name in stored.files}
    return replace(empty, values=maps.pop("values"), parts={**empty.parts, **maps})


def as_estimate(who: str, returned: object, quantity: str, *, copy: bool = True) -> Estimate:
    """An estimate of the quantity: float32, C-contiguous, NaN where it is missing or infinite.

    Args:
        who: The method, for errors.
        returned: An array of the quantity, a dict of its parts by name, or an `Estimate`.
        quantity: The requested quantity.
        copy: Whether its maps must not share memory with what was returned.

    Raises:
        BadEstimate: It is something else, or lacks a part that the quantity requires.
    """
    declared = QUANTITIES[quantity]
    if not isinstance(returned, Estimate):
        parts = dict(returned) if isinstance(returned, Mapping) else {declared.main.name: returned}
        extras: Mapping[str, Any] = {}
    else:
        if returned.quantity != quantity:
            raise BadEstimate(
                f"{who} returned {returned.quantity!r}, but {quantity!r} is wanted; "
                "use a benchmark of its own quantity."
            )
        parts = {declared.main.name: returned.values, **returned.parts}
        extras = returned.extras
    checked = _checked_parts(who, parts, declared, copy)
    return Estimate(checked.pop(declared.main.name), quantity, checked, extras)


def _checked_parts(
    who: str, parts: Mapping[str, Any], declared: Quantity, copy: bool
) -> dict[str, Any]:
    known = {part.name: part for part in (*declared.parts, CONFIDENCE)}
    if unknown := [name for name in parts if name not in known]:
        raise BadEstimate(
            f"{who} returned the part '{unknown[0]}', which {declared.name} does not have; "
            f"its parts are {', '.join(known)}."
        )
    if lacking := [p.name for p in declared.parts if p.required and p.name not in parts]:
        raise BadEstimate(f"{who} returned {declared.name} without its part '{lacking[0]}'.")
    checked = {name: _part(who, value, known[name], copy) for name, value in parts.items()}
    size = _size(checked[declared.main.name], declared.main)
    for name, value in checked.items():
        if known[name].is_map and _size(value, known[name]) != size:
            raise BadEstimate(
                f"{who} returned {name} {value.shape} for {declared.name} "
                f"{checked[declared.main.name].shape}; they must have the same height and width."
            )
    return checked


def _size(values: Map, part: Part) -> tuple[int, ...]:
    if part.is_stack and values.ndim == 2:  # rows of layers have no size
        return ()
    rows = part.axes.index("y")
    return values.shape[rows], values.shape[rows + 1]


def _part(who: str, value: object, part: Part, copy: bool) -> Any:
    if not part.is_map:
        return _number(who, value, part)
    if part.axes[0] != "y":
        return _stack(who, value, part)
    return _map(who, value, part, copy)


def _number(who: str, value: object, part: Part) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]  # what is none raises
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or (part.positive and number <= 0):
        kind = "a positive number" if part.positive else "a number"
        raise BadEstimate(f"{who} returned {value!r} for {part.name}, expected {kind}.")
    return number


def _stack(who: str, values: object, part: Part) -> Map:
    """A map for each layer: (L, H, W) or (L, H, W, C); one map is one layer, rows stay rows."""
    shape = values.shape if isinstance(values, np.ndarray) else ()
    if isinstance(values, np.ndarray) and shape[1:] == (3 + (part.channels or 1),):
        return _float32(who, values, part.name, True)
    if isinstance(values, np.ndarray) and len(shape) == len(part.axes) - 1:
        values, shape = values[None], (1, *shape)
    if not isinstance(values, np.ndarray) or len(shape) != len(part.axes) or not values.size:
        raise BadEstimate(
            f"{who} returned {part.name} of shape {shape}, expected an array with the axes "
            f"({', '.join(part.axes)})."
        )
    return np.stack([_map(who, each, part, False) for each in values])


def _map(who: str, values: object, part: Part, copy: bool) -> Map:
    channels = part.channels
    form = {1: "(H, W)", None: "(H, W) or (H, W, C)"}.get(channels, f"(H, W, {channels})")
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        found = type(values).__name__
        if isinstance(values, np.ndarray):
            found = f"array of {values.dtype}"
        raise BadEstimate(
            f"{who} returned a {found} for {part.name}, expected an array {form} of numbers; "
            "return a NumPy array."
        )
    shape = values.shape[:2] if values.ndim == 3 and values.shape[2] == 1 else values.shape
    if len(shape) not in (2, 3) or values.size == 0 or channels not in (None, *_third(shape)):
        raise BadEstimate(
            f"{who} returned {part.name} of shape {values.shape}, expected {form}; "
            "is it another quantity, or are the axes in another order?"
        )
    if part.picture and values.dtype.kind == "u":
        values = shown(values)
    return _float32(who, values.reshape(shape), part.name, copy)


def _third(shape: tuple[int, ...]) -> tuple[int]:
    return (shape[2] if len(shape) == 3 else 1,)


def _float32(who: str, values: NDArray[Any], name: str, copy: bool) -> Map:
    if isinstance(values, np.ma.MaskedArray):
        values = np.where(np.ma.getmaskarray(values), np.nan, values.data)
    # NumPy would otherwise warn about overflow and signalling NaN.
    with np.errstate(all="ignore"):
        narrow = np.array(values, np.float32, order="C", copy=True if copy else None)
    infinite = np.isinf(narrow)
    if not infinite.any():
        return narrow
    if (beyond := infinite & np.isfinite(values)).any():
        raise BadEstimate(
            f"{who} returned {name} beyond float32 (3.4e38), such as "
            f"{values[beyond].flat[0]:.3g}; mark missing values with NaN."
        )
    return np.where(infinite, np.float32(np.nan), narrow)
