"""The estimates of a run on disk: `estimates/<method>/<sample id>/<quantity>.npy`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import __version__
from depthgauge._canonical import hash_json
from depthgauge.datasets import things_hash
from depthgauge.engine.store.sanitize import cut
from depthgauge.errors import BadData, CannotWrite, DepthgaugeError
from depthgauge.io import npy, write_map, write_text
from depthgauge.io.beside import read_main, read_parts
from depthgauge.io.text import parse_json
from depthgauge.methods import Method, Usage
from depthgauge.quantities import CONFIDENCE, QUANTITIES
from depthgauge.types import ClipEstimate, Estimate, Frames, frame_name

SCHEMA = 1
_LARGEST = 2**63


@dataclass(frozen=True)
class StoredEstimate:
    """An estimate with what it cost."""

    estimate: Estimate | ClipEstimate
    usage: Usage
    sha256: str
    """SHA-256 of all its parts."""


@dataclass(frozen=True, slots=True)
class Place:
    """Identifies an estimate: method, seed, sample and folder."""

    root: Path
    label: str
    seed: int
    sample: str

    @property
    def folder(self) -> Path:
        """A seed other than 0 is part of the name."""
        name = self.label if self.seed == 0 else f"{self.label}@{self.seed}"
        return self.root / name / self.sample


def estimate_hash(estimate: Estimate | ClipEstimate) -> str:
    """The same for the same parts, independent of how they are stored."""
    if isinstance(estimate, ClipEstimate):
        return hash_json([None if f is None else estimate_hash(f) for f in estimate.frames])
    parts = {n: p if isinstance(p, np.ndarray) else float(p) for n, p in estimate.parts.items()}
    return things_hash({**parts, "values": estimate.values})


def keep(place: Place, method: Method, stored: StoredEstimate) -> None:
    """Writes the maps, then what they are: maps without an `estimate.json` are not finished."""
    folder, estimate = place.folder, stored.estimate
    if isinstance(estimate, ClipEstimate):
        for index, frame in enumerate(estimate.frames):
            if frame is not None:
                write_parts(folder / frame_name(index), frame)
    else:
        write_parts(folder, estimate)
    body = json.dumps(_describe(place, method, stored), indent=1, allow_nan=False)
    write_text(folder / "estimate.json", body + "\n")


def write_parts(folder: Path, estimate: Estimate) -> None:
    """Writes the maps of an estimate: `<quantity>.npy`, and one file for each other part."""
    declared = QUANTITIES[estimate.quantity]
    others = [part for part in (*declared.parts[1:], CONFIDENCE) if part.is_map]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part in others:  # an estimate that was here before may have had more parts
            (folder / f"{part.name}.npy").unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(f"{folder}: cannot be made ({error.strerror}).") from error
    main = folder / f"{declared.main.name}.npy"
    if declared.main.is_stack:
        npy.write(main, estimate.values)
    else:
        write_map(main, estimate.values, quantity=estimate.quantity)
    for part in others:
        if part.name in estimate.parts:
            npy.write(folder / f"{part.name}.npy", estimate.parts[part.name])


def _describe(place: Place, method: Method, stored: StoredEstimate) -> dict[str, Any]:
    usage, estimate = stored.usage, stored.estimate
    return {
        "schema": SCHEMA,
        "method": method.spec.id,
        "label": place.label,
        "options": method.described(),
        "options_hash": method.options_hash,
        "seed": place.seed,
        "sample": place.sample,
        "quantity": stored.estimate.quantity,
        "sha256": stored.sha256,
        "time_s": _plain(usage.time_s),
        "cpu_s": _plain(usage.cpu_s),
        "peak_memory_mb": _plain(usage.peak_memory_mb),
        **_parts_or_frames(estimate),
        "extras": plain_extras(stored.estimate.extras),
        "versions": {"depthgauge": __version__, "numpy": np.__version__},
    }


def _parts_or_frames(estimate: Estimate | ClipEstimate) -> dict[str, Any]:
    """The parts that are single numbers; of a clip, those of each frame."""
    if isinstance(estimate, ClipEstimate):
        frames = [None if f is None else _parts_or_frames(f)["parts"] for f in estimate.frames]
        return {"frames": frames}
    return {"parts": {n: p for n, p in estimate.parts.items() if isinstance(p, float)}}


def plain_extras(extras: Mapping[str, Any]) -> dict[str, Any]:
    """What else a method reported, if JSON can store it."""
    found: dict[str, Any] = {}
    for key, value in extras.items():
        if isinstance(value, str):
            found[cut(str(key))] = cut(value)
        elif isinstance(value, (int, float)) and abs(value) < _LARGEST:
            found[cut(str(key))] = value
    return found


def _plain(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def find_stored(place: Place, quantity: str, *hashes: str) -> StoredEstimate | None:
    """The stored estimate, if it is complete and has options of one of these hashes."""
    with suppress(DepthgaugeError):
        return read_stored(place, quantity, *hashes)
    return None


def read_stored(place: Place, quantity: str, *hashes: str) -> StoredEstimate:
    """Reads an estimate and checks that it is the one that was written.

    Raises:
        BadData: There is none, or it is a different one.
    """
    path = place.folder / f"{QUANTITIES[quantity].main.name}.npy"
    try:
        about = parse_json((place.folder / "estimate.json").read_text(encoding="utf-8"))
        is_ours = (about["label"], about["seed"], about["sample"]) == (
            place.label,
            place.seed,
            place.sample,
        )
        if not is_ours or about["options_hash"] not in hashes:
            raise BadData(f"{path}: is the estimate of another sample, seed or method.")
        estimate = _read_parts(place.folder, quantity, about)
        if about["sha256"] != estimate_hash(estimate):
            raise BadData(f"{path}: is not the estimate that was written there.")
        usage = Usage(_number(about["time_s"]), _number(about["cpu_s"]), about["peak_memory_mb"])
        return StoredEstimate(estimate, usage, about["sha256"])
    except DepthgaugeError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadData(f"{place.folder}: has no estimate that can be read ({error}).") from error


def _read_parts(folder: Path, quantity: str, about: Mapping[str, Any]) -> Estimate | ClipEstimate:
    if "frames" not in about:
        return _read_map_parts(folder, quantity, about.get("parts", {}), about["extras"])
    loaders = [
        n if n is None else partial(_read_map_parts, folder / frame_name(i), quantity, n, {})
        for i, n in enumerate(about["frames"])
    ]
    return ClipEstimate(Frames(loaders), quantity, about["extras"])


def _read_map_parts(
    folder: Path, quantity: str, numbers: Mapping[str, float], extras: Mapping[str, Any]
) -> Estimate:
    path = folder / f"{QUANTITIES[quantity].main.name}.npy"
    parts = {**read_parts(path, quantity), **numbers}
    return Estimate(read_main(path, quantity), quantity, parts, extras)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
