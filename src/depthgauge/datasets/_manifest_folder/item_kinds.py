"""What our own dataset folder can hold: each kind of item, and how it is stored and read."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.datasets._labels import write_labels
from depthgauge.errors import BadFile, DoesNotFit, Misuse
from depthgauge.geometry.camera_json import (
    camera_from_json,
    camera_to_json,
    rig_from_json,
    rig_to_json,
)
from depthgauge.types import Camera, Rig


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of item that has its own file."""

    suffix: str
    holds: Callable[[str, Any], bool]
    """Whether an item with this name and value is of this kind."""
    write: Callable[[Path, Any], None]
    read: Callable[[Path], Any]


@dataclass(frozen=True, slots=True)
class InlineKind:
    """A kind of item that is small enough to be stored in the manifest."""

    holds: Callable[[str, Any], bool]
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def _is_image(name: str, thing: Any) -> bool:
    return (
        isinstance(thing, np.ndarray)
        and thing.dtype == np.uint8
        and not name.endswith("_labels")
        and (thing.ndim == 2 or (thing.ndim == 3 and thing.shape[2] == 3))
    )


def _is_mask(_: str, thing: Any) -> bool:
    return isinstance(thing, np.ndarray) and thing.dtype == bool and thing.ndim == 2


def _is_labels(name: str, thing: Any) -> bool:
    whole = isinstance(thing, np.ndarray) and thing.dtype.kind in "iu" and thing.ndim == 2
    return whole and name.endswith("_labels")


def _is_map(name: str, thing: Any) -> bool:
    # A float image is stored as an array: a map may lose infinities, an image may not.
    real = isinstance(thing, np.ndarray) and thing.dtype.kind == "f" and thing.size > 0
    # A reader could mistake a first axis of length 1 for a batch of one.
    flat = real and (thing.ndim == 2 or (thing.ndim == 3 and 1 not in thing.shape[::2]))
    return flat and not name.endswith("image")


def _is_array(_: str, thing: Any) -> bool:
    return isinstance(thing, np.ndarray) and thing.dtype.kind in "biuf"


def _write_array(path: Path, array: NDArray[Any]) -> None:
    # Written to a temporary file and renamed: the array may be a view into the replaced file.
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as f:
            np.save(f, np.asarray(array, order="C"), allow_pickle=False)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _read_array(path: Path) -> NDArray[Any]:
    try:
        # A mapped file cannot claim more bytes than it has.
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False))
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file.") from None
    except (ValueError, EOFError, OSError) as e:
        raise BadFile(f"{path}: not a NumPy array: {e}.") from e


def _write_map(path: Path, values: NDArray[Any]) -> None:
    values = values.astype(np.float32)
    if np.isinf(values).any():
        raise DoesNotFit(f"{path.name}: a map has infinities; a missing value is NaN.")
    _write_array(path, values)


FILE_KINDS: dict[str, FileKind] = {
    "mask": FileKind(".png", _is_mask, io.write_image, io.read_mask),
    "image": FileKind(".png", _is_image, io.write_image, io.read_image),
    "labels": FileKind(".png", _is_labels, write_labels, io.read_labels),
    "map": FileKind(".npy", _is_map, _write_map, io.read_map),
    "array": FileKind(".npy", _is_array, _write_array, _read_array),
    "calib": FileKind(
        ".txt",
        lambda _, thing: isinstance(thing, io.MiddleburyCalib),
        io.write_middlebury_calib,
        io.read_middlebury_calib,
    ),
}
"""In the order in which they are tried."""


def _encode_value(thing: Any) -> Any:
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, float) and not math.isfinite(thing):
        raise Misuse("a value is not finite; leave it out or store a map")
    if isinstance(thing, (list, tuple)):
        return [_encode_value(part) for part in thing]
    if isinstance(thing, Mapping):
        return {str(key): _encode_value(part) for key, part in thing.items()}
    return thing


def _decode_value(value: Any) -> Any:
    # JSON has no tuples; ranges and sizes are tuples everywhere else.
    if isinstance(value, list):
        return tuple(_decode_value(part) for part in value)
    if isinstance(value, dict):
        return {key: _decode_value(part) for key, part in value.items()}
    return value


def _is_value(_: str, thing: Any) -> bool:
    if isinstance(thing, (list, tuple)):
        return all(_is_value("", part) for part in thing)
    if isinstance(thing, Mapping):
        return all(isinstance(k, str) and _is_value("", part) for k, part in thing.items())
    return thing is None or isinstance(thing, (str, bool, int, float, np.bool_, np.number))


INLINE_KINDS: dict[str, InlineKind] = {
    "rig": InlineKind(lambda _, thing: isinstance(thing, Rig), rig_to_json, rig_from_json),
    "camera": InlineKind(
        lambda _, thing: isinstance(thing, Camera), camera_to_json, camera_from_json
    ),
    "value": InlineKind(_is_value, _encode_value, _decode_value),
}
"""In the order in which they are tried."""


def file_kind(name: str, thing: Any) -> str | None:
    """The kind of file that holds an item; None if there is none."""
    return next((kind for kind, how in FILE_KINDS.items() if how.holds(name, thing)), None)


def inline_kind(name: str, thing: Any) -> str | None:
    """The kind under which an item is stored in the manifest; None if there is none."""
    return next((kind for kind, how in INLINE_KINDS.items() if how.holds(name, thing)), None)


def read_file(kind: str, path: Path) -> Any:
    """Reads a file of a kind; a module-level function, so that a loader can be pickled."""
    return FILE_KINDS[kind].read(path)
