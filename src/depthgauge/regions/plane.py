"""All regions of a sample in one integer map, so that a metric reads the pixels once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse, WrongShape
from depthgauge.regions._checks import same_size
from depthgauge.types import Map, Mask, Plane, is_known

MOST = 64
"""The number of regions that one plane holds."""


def pack_all(masks: Mapping[str, Mask], truth: Map) -> tuple[Plane, ...]:
    """Planes for any number of regions, 64 in each; see `pack`."""
    names = list(masks)
    groups = [names[start : start + MOST] for start in range(0, len(names), MOST)] or [[]]
    return tuple(pack({name: masks[name] for name in group}, truth) for group in groups)


def pack(masks: Mapping[str, Mask], truth: Map) -> Plane:
    """One plane: bit i of a pixel is set where mask i is and all channels of the truth are finite.

    Codes have the smallest type: the patterns themselves for up to 8 regions (uint8) and 16
    (uint16); with more regions the indices of the atoms, in the smallest type that holds them. The
    result is the same for any number of threads.

    Args:
        masks: At most 64 (H, W) masks by region name; their order is the order of the bits.
        truth: (H, W) or (H, W, C), NaN where missing.

    Raises:
        Misuse: There are more than 64 masks; use `pack_all`.
        WrongShape: A mask does not have the truth's size.
    """
    if len(masks) > MOST:
        raise Misuse(f"a plane holds {MOST} regions, not {len(masks)}; use pack_all.")
    if truth.ndim not in (2, 3) or truth.shape[2:] == (0,):
        raise WrongShape(f"the truth has shape {truth.shape}; expected (H, W) or (H, W, C).")
    flat = [_flat(name, mask, truth) for name, mask in masks.items()]
    if len(flat) == 1:
        codes, atoms, lookup = _single(flat[0], truth)
    else:
        bits = _own(np.asarray(truth, np.float32)).reshape(-1).view(np.uint32)
        channels = truth.shape[2] if truth.ndim == 3 else 1
        packed = _relabelled if len(flat) > 16 else _patterns
        codes, atoms, lookup = packed(flat, bits, channels)
    return Plane(codes.reshape(truth.shape[:2]), tuple(masks), atoms, lookup)


_Packed = tuple[NDArray[Any], NDArray[np.uint64], NDArray[np.int32]]


def _single(mask: NDArray[np.uint8], truth: Map) -> _Packed:
    """The same for one region, which needs no kernel, so nobody waits for it to compile."""
    codes = np.logical_and(mask, is_known(truth).reshape(-1)).view(np.uint8)
    inside = int(np.count_nonzero(codes))
    atoms = [code for code, n in enumerate((codes.size - inside, inside)) if n]
    lookup = np.full(256, -1, np.int32)
    lookup[atoms] = range(len(atoms))
    return codes, np.array(atoms, np.uint64), lookup


def _patterns(
    flat: Sequence[NDArray[np.uint8]], bits: NDArray[np.uint32], channels: int
) -> _Packed:
    """Codes that are the patterns; the kernel marks in a table which ones occur."""
    from depthgauge.regions import _kernels

    codes = np.zeros(bits.size // channels, np.uint8 if len(flat) <= 8 else np.uint16)
    seen = np.zeros((_kernels.BANDS, 1 << (8 * codes.itemsize)), np.uint8)
    _fill(codes, seen, flat, bits, channels)
    atoms = np.flatnonzero(np.bitwise_or.reduce(seen, axis=0))
    lookup = np.full(seen.shape[1], -1, np.int32)
    lookup[atoms] = np.arange(atoms.size, dtype=np.int32)
    return codes, atoms.astype(np.uint64), lookup


def _relabelled(
    flat: Sequence[NDArray[np.uint8]], bits: NDArray[np.uint32], channels: int
) -> _Packed:
    """Codes that are indices of atoms: a table of all patterns would not fit into memory."""
    from depthgauge.regions import _kernels

    patterns = np.zeros(bits.size // channels, np.uint64)
    _fill(patterns, np.zeros((_kernels.BANDS, 0), np.uint8), flat, bits, channels)
    starts = np.ones(patterns.size, bool)
    # Regions are coherent, so the first pixels of runs are few and hold every pattern.
    np.not_equal(patterns[1:], patterns[:-1], out=starts[1:])
    atoms = np.unique(patterns[starts])
    labels = _kernels.relabel(patterns, atoms)
    codes = labels.astype(np.min_scalar_type(max(atoms.size - 1, 0)), copy=False)
    return codes, atoms, np.arange(atoms.size, dtype=np.int32)


def _fill(
    codes: NDArray[Any],
    seen: NDArray[np.uint8],
    flat: Sequence[NDArray[np.uint8]],
    bits: NDArray[np.uint32],
    channels: int,
) -> None:
    from depthgauge.regions import _kernels

    # The kernel is compiled for tuples of one length; the padding is never read.
    padding = [np.zeros(0, np.uint8)] * _kernels.PER_PASS
    for first in range(0, max(len(flat), 1), _kernels.PER_PASS):
        group = flat[first : first + _kernels.PER_PASS]
        masks = tuple([*group, *padding][: _kernels.PER_PASS])
        _kernels.pack_bits(codes, seen, masks, first, len(group), bits, channels)


def _flat(name: str, mask: Mask, truth: Map) -> NDArray[np.uint8]:
    mask = np.asarray(mask)
    same_size(f"mask '{name}'", mask, truth)
    if mask.ndim != 2:
        raise WrongShape(f"mask '{name}' has shape {mask.shape}; a mask is (H, W).")
    return _own(mask.astype(bool, copy=False)).reshape(-1).view(np.uint8)


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a contiguous copy if numba would see another type and compile again."""
    array = np.ascontiguousarray(array)
    return array if array.flags.writeable else array.copy()
