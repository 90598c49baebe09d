"""Batches as training loops have them: which axis is which, and where the values are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from depthgauge.engine.scoring.in_memory.given_maps import as_array
from depthgauge.errors import WrongShape
from depthgauge.quantities import QUANTITIES, guess
from depthgauge.types import Map, Mask

_ON_DEVICE = ("cuda", "xpu")
"""Kinds of devices that sum in float64; values on others are scored by way of the host."""
_FEW = (2, 3)
"""Numbers of channels of a map of unknown quantity."""


@dataclass(frozen=True)
class Axes:
    """Which axes of a batch are what."""

    batch: int | None
    """None: it is a single map."""
    channels: int | None
    """None: a pixel has one number, and there is no axis for it."""

    def arrange(self, values: Any) -> Any:
        """The same values as (B, H, W) or (B, H, W, C), not copied; of NumPy or PyTorch."""
        if self.channels is not None:
            values = _moved_last(values, self.channels)
            if values.shape[-1] == 1:
                values = values[..., 0]
        return values[None] if self.batch is None else values


def _moved_last(values: Any, axis: int) -> Any:
    order = [*(n for n in range(values.ndim) if n != axis), axis]
    return values.permute(*order) if hasattr(values, "permute") else values.transpose(order)


def batch_axes(shape: tuple[int, ...], quantity: str | None, what: str) -> Axes:
    """How a batch of that shape is read.

    Args:
        shape: (B, H, W), (B, 1, H, W), (B, C, H, W) or (B, H, W, C); or that of a single map.
        quantity: Its quantity; None if unknown.
        what: `the estimate`, `the truth` or `the mask 'glass'`, for the message.

    Raises:
        WrongShape: It is not a batch, or there are two ways to read it; both are named.

    >>> batch_axes((8, 2, 48, 64), "flow", "the estimate")
    Axes(batch=0, channels=1)
    """
    wanted = _FEW if quantity is None else (QUANTITIES[quantity].channels,)
    if 0 in shape or len(shape) not in (2, 3, 4):
        raise _refused(shape, quantity, what)
    if len(shape) == 2 and (quantity is None or wanted in ((1,), (None,))):
        return Axes(None, None)
    if wanted == (1,) or (len(shape) == 4 and 1 in (shape[1], shape[3]) and quantity is None):
        return _plain_axes(shape, quantity, what)
    if wanted == (None,):  # as many channels as it likes: only the last axis can be theirs
        return Axes(0, 3 if len(shape) == 4 else None)
    return _channel_axes(shape, quantity, what, wanted)


def mask_axes(shape: tuple[int, ...], what: str) -> Axes:
    """How the masks of a batch are read; (H, W) is one for all of its maps."""
    if 0 in shape or len(shape) not in (2, 3, 4):
        raise _refused(shape, None, what)
    return Axes(None, None) if len(shape) == 2 else _plain_axes(shape, None, what)


def _plain_axes(shape: tuple[int, ...], quantity: str | None, what: str) -> Axes:
    """Of maps with one number per pixel."""
    if len(shape) == 3:
        if shape[2] == 1 < min(shape[:2]):
            raise _ambiguous(shape, what, "one map (H, W, 1)", f"a batch of {shape[0]} (B, H, 1)")
        return Axes(0, None)
    first, last = shape[1] == 1, shape[3] == 1
    if first and last and shape[2] != 1:
        raise _ambiguous(shape, what, "a batch (B, 1, H, W)", "a batch (B, H, W, 1)")
    if not (first or last):
        raise _refused(shape, quantity, what)
    return Axes(0, 1 if first else 3)


def _channel_axes(
    shape: tuple[int, ...], quantity: str | None, what: str, wanted: tuple[int | None, ...]
) -> Axes:
    """Of maps whose pixels have several numbers."""
    several = len(shape) == 4
    first, last = shape[1 if several else 0] in wanted, shape[-1] in wanted
    name = quantity or guess(next((n for n in (shape[-1], shape[-3]) if n in wanted), 1))
    start = "B, " if several else ""
    readings = (f"{name} ({start}C, H, W)", f"{name} ({start}H, W, C)")
    if not several and quantity is None:
        if not (first or last):
            return Axes(0, None)
        plain = f"a batch of {shape[0]} maps (B, H, W)"
        raise _ambiguous(shape, what, readings[0 if first else 1], plain)
    if first and last:
        raise _ambiguous(shape, what, *readings)
    if not (first or last):
        raise _refused(shape, quantity, what)
    channels = len(shape) - 3 if first else len(shape) - 1
    return Axes(0 if several else None, channels)


def _ambiguous(shape: tuple[int, ...], what: str, one: str, other: str) -> WrongShape:
    return WrongShape(
        f"{what} has shape {shape}, which is either {one} or {other}; say quantity=..., or give a "
        "shape that can be read in one way only."
    )


def _refused(shape: tuple[int, ...], quantity: str | None, what: str) -> WrongShape:
    channels = 1 if quantity is None else QUANTITIES[quantity].channels
    allowed = "(B, H, W) or (B, 1, H, W)"
    if channels is not None and channels > 1:
        allowed = f"(B, {channels}, H, W) or (B, H, W, {channels})"
    of = f" of {quantity}" if quantity else ""
    return WrongShape(f"{what} has shape {shape}; a batch{of} is {allowed}.")


def guessed_batch(shape: tuple[int, ...], what: str) -> str:
    """The default quantity of a batch of that shape."""
    axes = batch_axes(shape, None, what)
    return guess(1 if axes.channels is None else shape[axes.channels])


def device_of(values: Any) -> Any:
    """The device of a tensor on which it can be scored; None where the host does it."""
    device = getattr(values, "device", None)
    is_tensor = hasattr(values, "detach") and device is not None
    return device if is_tensor and getattr(device, "type", "") in _ON_DEVICE else None


def shape_of(values: Any) -> tuple[int, ...]:
    """The shape of an array, a tensor, or a list of maps."""
    shape = getattr(values, "shape", None)
    return tuple(np.shape(values)) if shape is None else tuple(int(n) for n in shape)


@dataclass(frozen=True)
class Batch:
    """The arguments of one update, checked against each other."""

    estimate: Any
    """(B, H, W) or (B, H, W, C): float32 on the host, or tensors on a device."""
    truth: Any
    masks: Mapping[str, Any]
    """(B, H, W), or (1, H, W) for all."""
    ids: Sequence[str | None]
    scenes: Sequence[str]
    items: Sequence[Mapping[str, Any]]

    def masks_of(self, n: int) -> dict[str, Any]:
        """The masks of one sample."""
        return {name: mask[n if len(mask) > 1 else 0] for name, mask in self.masks.items()}


def make_batch(
    estimate: Any,
    truth: Any,
    masks: Mapping[str, Any],
    quantity: str,
    device: Any,
    *,
    ids: Iterable[Any] | None,
    scenes: Iterable[str] | None,
    items: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None,
) -> Batch:
    """A batch of that quantity, on that device; None: on the host.

    Raises:
        WrongShape: Something has a shape that does not go with the others.
    """
    place = _Host() if device is None else _Device(device)
    one, other = [
        batch_axes(shape_of(values), quantity, what).arrange(place.map(values))
        for values, what in ((estimate, "the estimate"), (truth, "the truth"))
    ]
    n, size = len(other), tuple(other.shape[1:3])
    if len(one) != n:
        raise WrongShape(f"the estimate has {len(one)} maps but the truth has {n}.")
    flags = {name: _mask(place, name, mask, n, size) for name, mask in masks.items()}
    if items is None or isinstance(items, Mapping):
        items = [items or {}] * n
    return Batch(
        one,
        other,
        flags,
        [None] * n if ids is None else [str(name) for name in _listed(ids, n, "ids")],
        [""] * n if scenes is None else [str(name) for name in _listed(scenes, n, "scenes")],
        _listed(items, n, "items"),
    )


def _mask(place: _Host | _Device, name: str, mask: Any, n: int, size: tuple[int, ...]) -> Any:
    what = f"the mask '{name}'"
    flags = mask_axes(shape_of(mask), what).arrange(place.mask(mask))
    if len(flags) not in (1, n) or tuple(flags.shape[1:]) != size:
        found = tuple(flags.shape)
        raise WrongShape(f"{what} is {found} but the truth is {(n, *size)}; make it so.")
    return flags


def _listed(values: Iterable[Any], n: int, what: str) -> list[Any]:
    """As a list of one entry per sample."""
    found = values.tolist() if hasattr(values, "tolist") else list(values)
    found = found if isinstance(found, list) else [found]
    if isinstance(values, str) or len(found) != n:
        given = "a text" if isinstance(values, str) else f"{len(found)} entries"
        raise WrongShape(f"{what} is {given} but the batch has {n} samples; give one for each.")
    return found


class _Host:
    """Values are brought to the host."""

    def map(self, values: Any) -> Map:
        return as_array(values)

    def mask(self, values: Any) -> Mask:
        found = as_array(values)
        return np.asarray((found == found) & (found != 0))


@dataclass(frozen=True)
class _Device:
    """Values are brought to the device of the estimate, where they mostly are already."""

    device: Any

    def map(self, values: Any) -> Any:
        return self._tensor(values).float()

    def mask(self, values: Any) -> Any:
        flags = self._tensor(values)
        return (flags == flags).logical_and_(flags != 0)

    def _tensor(self, values: Any) -> Any:
        if hasattr(values, "detach"):
            return values.detach().to(self.device, non_blocking=True)
        import torch

        return torch.as_tensor(np.ascontiguousarray(as_array(values)), device=self.device)
