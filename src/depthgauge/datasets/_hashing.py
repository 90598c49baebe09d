"""The hash of a sample's truth: equal on every machine for the same decoded values."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.types import Frames, Sample


def truth_hash(sample: Sample) -> str | None:
    """SHA-256 of the truth's arrays by name (shape, type, bytes); None without truth.

    The storage format does not matter: a PFM and a NumPy file of the same map have the same hash.
    Paths and other things specific to one machine are left out.
    """
    return None if sample.truth is None else things_hash(sample.truth)


def things_hash(things: Mapping[str, Any]) -> str:
    """SHA-256 of named arrays and plain values, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(things):
        for part in _parts(things[name]):
            # Lengths are hashed too, or neighbouring parts could exchange bytes unnoticed.
            digest.update(f"{name}\0{len(part)}\0".encode())
            digest.update(part)
    return digest.hexdigest()


def frames_hash(hashes: Iterable[str]) -> str:
    """The `things_hash` of a clip under no name, from those of its frames."""
    digest = hashlib.sha256()
    for part in hashes:
        digest.update(f"\0{len(part)}\0{part}".encode())
    return digest.hexdigest()


def _parts(thing: Any) -> tuple[bytes | memoryview, ...]:
    if isinstance(thing, np.ndarray):
        array = canonical(thing)
        values = array.reshape(-1).view(np.uint8)
        return f"{array.dtype.str}{array.shape}".encode(), memoryview(values)  # type: ignore[arg-type]  # arrays are buffers
    if isinstance(thing, Path):
        return ()
    if isinstance(thing, Frames):
        # One frame at a time, because a clip does not fit into memory.
        return tuple(things_hash({"": frame}).encode() for frame in thing)
    return (json.dumps(thing, sort_keys=True, default=_plain).encode(),)


def _plain(thing: object) -> Any:
    if isinstance(thing, (np.generic, np.ndarray)):
        return thing.tolist()
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return {f.name: getattr(thing, f.name) for f in dataclasses.fields(thing)}
    if isinstance(thing, Mapping):
        return dict(thing)
    # Leaving it out would give the same hash to two different truths.
    raise Misuse(f"a truth that contains a {type(thing).__name__} cannot be hashed.")


def canonical(array: NDArray[Any]) -> NDArray[Any]:
    """The same values, little-endian, contiguous, with one bit pattern for every NaN and zero."""
    kind = array.dtype.newbyteorder("<")
    array = np.asarray(array, dtype=kind, order="C")
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.asarray(np.nan, kind), array + np.asarray(0, kind))
    return array
