"""A finished task as one JSON file: `items/<id>.json`, written aside, synced and renamed."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.engine.scoring.judge import Outcome
from depthgauge.engine.store.record import Curve, Timing
from depthgauge.errors import BadFile
from depthgauge.io import write_text
from depthgauge.types import Score, State

SCHEMA = 1


@dataclass(frozen=True)
class Item:
    """What came of one task."""

    method: str
    """Label."""
    options_hash: str
    seed: int
    sample: str
    outcome: Outcome
    timing: Timing
    estimate_hash: str = ""
    """SHA-256 of the estimate's values; empty where there is none."""
    details: str = ""
    """What a failed method wrote."""
    extras: Mapping[str, Any] = field(default_factory=dict)


def write_item(path: Path, item: Item) -> None:
    """Writes the file; after a power cut it is there as a whole or not at all."""
    write_text(path, json.dumps(_to_json(item), allow_nan=False, separators=(",", ":")) + "\n")


def read_item(path: Path) -> Item:
    """Reads it back, equal to what was written."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        if body["schema"] != SCHEMA:
            raise BadFile(f"{path}: schema {body['schema']}, this version reads {SCHEMA}.")
        return _from_json(body)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}).") from error
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        if isinstance(error, BadFile):
            raise
        raise BadFile(f"{path}: is damaged ({error}); delete it and run again.") from error


def _to_json(item: Item) -> dict[str, Any]:
    outcome, timing = item.outcome, item.timing
    curve = outcome.curve
    return {
        "schema": SCHEMA,
        "method": item.method,
        "options_hash": item.options_hash,
        "seed": item.seed,
        "sample": item.sample,
        "failed": outcome.failed,
        "details": item.details,
        "skipped": outcome.skipped,
        "left_out": list(outcome.left_out),
        "truth_hash": outcome.truth_hash,
        "estimate_hash": item.estimate_hash,
        "extras": dict(item.extras),
        "scores": {name: _score_json(score) for name, score in outcome.scores.items()},
        "curve": None
        if curve is None
        else {"within": curve.within.tolist(), "count": curve.count, "missing": curve.missing},
        "timing": {
            "time_s": _number(timing.time_s),
            "cpu_s": _number(timing.cpu_s),
            "peak_memory_mb": _number(timing.peak_memory_mb),
            "score_s": _number(timing.score_s),
            "host": timing.host,
        },
    }


def _from_json(body: Mapping[str, Any]) -> Item:
    curve, timing = body["curve"], body["timing"]
    key = (body["method"], body["seed"], body["sample"])
    outcome = Outcome(
        scores={name: _score(score) for name, score in body["scores"].items()},
        failed=body["failed"],
        left_out=tuple(body["left_out"]),
        skipped=body["skipped"],
        curve=None
        if curve is None
        else Curve(np.array(curve["within"], np.int64), curve["count"], curve["missing"]),
        truth_hash=body["truth_hash"],
    )
    return Item(
        method=body["method"],
        options_hash=body["options_hash"],
        seed=body["seed"],
        sample=body["sample"],
        outcome=outcome,
        timing=Timing(
            *key,
            time_s=float(timing["time_s"]),
            cpu_s=float(timing["cpu_s"]),
            peak_memory_mb=float(timing["peak_memory_mb"]),
            score_s=float(timing["score_s"]),
            host=timing["host"],
        ),
        estimate_hash=body["estimate_hash"],
        details=body["details"],
        extras=body["extras"],
    )


def _score_json(score: Score) -> dict[str, Any]:
    body: dict[str, Any] = {
        "value": _number(score.value),
        "total": None if score.total is None else _number(score.total),
        "count": score.count,
        "missing": score.missing,
        "unit": score.unit,
    }
    if score.state is not None:
        body["sums"] = [_number(value) for value in score.state.sums]
        if score.state.values is not None:
            body["values"] = _pack(score.state.values)
        if (rows := score.state.rows) is not None:
            body["rows"] = [rows.shape[1], _pack(rows, "<f8")]
    if score.level != "sample":
        body["level"] = score.level
    if score.alignment is not None:
        body["alignment"] = alignment_json(score.alignment)
    return body


def alignment_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """What an alignment found, as strict JSON has it."""
    return {k: _number(v) if isinstance(v, float) else v for k, v in found.items()}


def _score(body: Mapping[str, Any]) -> Score:
    state = None
    if "sums" in body:
        sums = np.array([float(value) for value in body["sums"]], np.float64)
        values = _unpack(body["values"]) if "values" in body else None
        rows = None
        if "rows" in body:
            width, text = body["rows"]
            rows = _unpack(text, "<f8").reshape(-1, int(width)).astype(np.float64)
        state = State(body["count"], body["missing"], sums, values, rows)
    return Score(
        value=float(body["value"]),
        count=body["count"],
        missing=body["missing"],
        total=None if body["total"] is None else float(body["total"]),
        unit=body["unit"],
        state=state,
        alignment=read_alignment(body.get("alignment")),
        level="dataset" if body.get("level") == "dataset" else "sample",
    )


def read_alignment(body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The same, read back."""
    if body is None:
        return None
    numbers = {key: float(body[key]) for key in ("scale", "shift") if key in body}
    return {**body, **numbers}


def _number(value: float) -> float | str:
    """JSON has no NaN and no infinity; `float()` reads their names."""
    return float(value) if math.isfinite(value) else str(float(value))


def _pack(values: np.ndarray, kind: str = "<f4") -> str:
    return base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 1)).decode()


def _unpack(text: str, kind: str = "<f4") -> np.ndarray:
    found = np.frombuffer(zlib.decompress(base64.b64decode(text)), kind)
    return found.astype(found.dtype.newbyteorder("="))
