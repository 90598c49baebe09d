"""The estimates of a run on disk: `estimates/<method>/<sample id>/<quantity>.npy`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge import __version__
from depthgauge.datasets import things_hash
from depthgauge.engine.store.sanitize import cut
from depthgauge.errors import BadData, CannotWrite, DepthgaugeError
from depthgauge.io import read_map, write_map, write_text
from depthgauge.methods import Method, Usage
from depthgauge.types import Estimate

SCHEMA = 1
_LARGEST = 2**63


@dataclass(frozen=True)
class Stored:
    """An estimate with what it cost."""

    estimate: Estimate
    usage: Usage
    sha256: str
    """Of its values."""


@dataclass(frozen=True, slots=True)
class Place:
    """Which estimate: of which method, seed and sample, below which folder."""

    root: Path
    label: str
    seed: int
    sample: str

    @property
    def folder(self) -> Path:
        """A seed other than 0 is part of the name."""
        name = self.label if self.seed == 0 else f"{self.label}@{self.seed}"
        return self.root / name / self.sample


def estimate_hash(estimate: Estimate) -> str:
    """The same for the same values and focal length, however they are stored."""
    focal = estimate.extras.get("focal_px")
    told = {} if focal is None else {"focal_px": float(focal)}
    return things_hash({"values": estimate.values, **told})


def keep(place: Place, method: Method, stored: Stored) -> None:
    """Writes the map, then what it is: a map without an `estimate.json` is not finished."""
    folder = place.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "confidence.npy").unlink(missing_ok=True)
    except OSError as error:
        raise CannotWrite(f"{folder}: cannot be made ({error.strerror}).") from error
    estimate = stored.estimate
    path = folder / f"{estimate.quantity}.npy"
    write_map(path, estimate.values, quantity=estimate.quantity)
    if estimate.confidence is not None:
        write_map(folder / "confidence.npy", estimate.confidence)
    body = json.dumps(_describe(place, method, stored), indent=1, allow_nan=False)
    write_text(folder / "estimate.json", body + "\n")


def _describe(place: Place, method: Method, stored: Stored) -> dict[str, Any]:
    usage = stored.usage
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
        "extras": plain_extras(stored.estimate.extras),
        "versions": {"depthgauge": __version__, "numpy": np.__version__},
    }


def plain_extras(extras: Mapping[str, Any]) -> dict[str, Any]:
    """What a method told besides, as far as JSON can hold it."""
    found: dict[str, Any] = {}
    for key, value in extras.items():
        if isinstance(value, str):
            found[cut(str(key))] = cut(value)
        elif isinstance(value, (int, float)) and abs(value) < _LARGEST:
            found[cut(str(key))] = value
    return found


def _plain(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def find_stored(place: Place, quantity: str, options_hash: str) -> Stored | None:
    """The estimate that is there already, where it is whole and of these options."""
    with suppress(DepthgaugeError):
        return read_stored(place, quantity, options_hash)
    return None


def read_stored(place: Place, quantity: str, options_hash: str) -> Stored:
    """Reads an estimate and checks that it is the one that was written.

    Raises:
        BadData: There is none, or it is another one.
    """
    path = place.folder / f"{quantity}.npy"
    try:
        about = json.loads((place.folder / "estimate.json").read_text(encoding="utf-8"))
        is_ours = (about["label"], about["seed"], about["sample"], about["options_hash"]) == (
            place.label,
            place.seed,
            place.sample,
            options_hash,
        )
        if not is_ours:
            raise BadData(f"{path}: is the estimate of another sample, seed or method.")
        values = read_map(path, quantity=quantity)
        estimate = Estimate(values, quantity, extras=about["extras"])
        if about["sha256"] != estimate_hash(estimate):
            raise BadData(f"{path}: is not the estimate that was written there.")
        usage = Usage(_number(about["time_s"]), _number(about["cpu_s"]), about["peak_memory_mb"])
        return Stored(estimate, usage, about["sha256"])
    except DepthgaugeError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadData(f"{place.folder}: has no estimate that can be read ({error}).") from error


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
