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
from depthgauge.engine.task import Context, Task
from depthgauge.errors import BadData, CannotWrite, DepthgaugeError
from depthgauge.io import read_map, write_map, write_text
from depthgauge.methods import Method, Usage
from depthgauge.types import Estimate

SCHEMA = 1


@dataclass(frozen=True)
class Stored:
    """An estimate with what it cost."""

    estimate: Estimate
    usage: Usage
    path: Path | None = None


def estimate_folder(root: Path, label: str, seed: int, sample: str) -> Path:
    """Where one estimate and its `estimate.json` lie; a seed other than 0 is part of the name."""
    return root / (label if seed == 0 else f"{label}@{seed}") / sample


def keep(context: Context, method: Method, task: Task, stored: Stored) -> Path:
    """Writes the map, then what it is: a map without an `estimate.json` is not finished."""
    folder = estimate_folder(context.folder / "estimates", method.label, task.seed, task.sample.id)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"{folder}: cannot be made ({error.strerror}).") from error
    estimate = stored.estimate
    path = folder / f"{estimate.quantity}.npy"
    write_map(path, estimate.values, quantity=estimate.quantity)
    if estimate.confidence is not None:
        write_map(folder / "confidence.npy", estimate.confidence)
    write_text(folder / "estimate.json", json.dumps(_describe(method, task, stored), indent=1))
    return path


def _describe(method: Method, task: Task, stored: Stored) -> dict[str, Any]:
    usage = stored.usage
    return {
        "schema": SCHEMA,
        "method": method.spec.id,
        "label": method.label,
        "options": method.described(),
        "options_hash": method.options_hash,
        "seed": task.seed,
        "sample": task.sample.id,
        "quantity": stored.estimate.quantity,
        "sha256": things_hash({"values": stored.estimate.values}),
        "time_s": _plain(usage.time_s),
        "cpu_s": _plain(usage.cpu_s),
        "peak_memory_mb": _plain(usage.peak_memory_mb),
        "extras": plain_extras(stored.estimate.extras),
        "versions": {"depthgauge": __version__, "numpy": np.__version__},
    }


def plain_extras(extras: Mapping[str, Any]) -> dict[str, Any]:
    """What a method told besides, as far as JSON can hold it."""
    return {
        key: value
        for key, value in extras.items()
        if isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
    }


def _plain(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def find_stored(context: Context, method: Method, task: Task) -> Stored | None:
    """The estimate that is there already, where it is whole and of these options."""
    root = context.reuse_from or context.folder / "estimates"
    folder = estimate_folder(root, method.label, task.seed, task.sample.id)
    with suppress(OSError, ValueError, KeyError, TypeError, DepthgaugeError):
        return read_stored(folder, context.protocol.quantity, method.options_hash)
    return None


def read_stored(folder: Path, quantity: str, options_hash: str | None = None) -> Stored:
    """Reads an estimate and checks that it is the one that was written."""
    about = json.loads((folder / "estimate.json").read_text(encoding="utf-8"))
    path = folder / f"{quantity}.npy"
    values = read_map(path, quantity=quantity)
    if options_hash is not None and about["options_hash"] != options_hash:
        raise BadData(f"{folder}: is of other options of the method.")
    if about["sha256"] != things_hash({"values": values}):
        raise BadData(f"{path}: is not the estimate that was written there.")
    usage = Usage(_number(about["time_s"]), _number(about["cpu_s"]), about["peak_memory_mb"])
    return Stored(Estimate(values, quantity, extras=about["extras"]), usage, path)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
