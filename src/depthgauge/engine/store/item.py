"""A finished task as one JSON file: `items/<id>.json`, written aside, synced and renamed."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.engine.score_codec import number, read_stored, stored_json
from depthgauge.engine.scoring.rules import Outcome
from depthgauge.engine.store.record import Curve, Timing
from depthgauge.errors import BadFile, Misuse
from depthgauge.io import write_text
from depthgauge.io.text import parse_json
from depthgauge.types import Note

SCHEMA = 1
_CHECKSUM = "sha256"
"""SHA-256 of the rest of the file, which begins after it."""


@dataclass(frozen=True)
class Item:
    """The outcome of one task."""

    method: str
    """Label."""
    options_hash: str
    seed: int
    sample: str
    outcome: Outcome
    timing: Timing
    estimate_hash: str = ""
    """SHA-256 of the estimate's values; empty if there is none."""
    details: str = ""
    """What a failed method wrote."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] | None = None
    """SHA-256 of every input that was read, by name; None in items of earlier versions."""


def write_item(path: Path, item: Item) -> None:
    """Writes the file; after a power cut it is complete or absent.

    Raises:
        Misuse: A score was summed on a GPU; a run has the same bits on every machine.
    """
    for name, score in item.outcome.scores.items():
        if score.device is not None:
            raise Misuse(
                f"{item.sample}: {name} was summed on {score.device}, and a run keeps only what "
                "was scored on the CPU; score the estimate with dg.score or dg.run."
            )
    body = json.dumps(_to_json(item), allow_nan=False, separators=(",", ":"))
    write_text(path, f'{{"{_CHECKSUM}":"{_sha256(body)}",{body[1:]}\n')


def read_item(path: Path) -> Item:
    """Reads it back, equal to what was written.

    Raises:
        BadFile: It cannot be read, or is not as it was written.
    """
    try:
        text = path.read_text(encoding="utf-8")
        body = parse_json(text)
        if body["schema"] != SCHEMA:
            raise BadFile(f"{path}: schema {body['schema']}, this version reads {SCHEMA}.")
        if not _is_as_written(text, body):
            raise BadFile(f"{path}: was changed after it was written; run again.")
        return _from_json(body)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror}).") from error
    except BadFile:
        raise
    # Whatever else a damaged file leads to: too deep, too large, of another type.
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise BadFile(f"{path}: is damaged ({error}); run again.") from error
    except (RecursionError, zlib.error) as error:
        raise BadFile(f"{path}: is damaged ({type(error).__name__}); run again.") from error


def _is_as_written(text: str, body: Mapping[str, Any]) -> bool:
    """Whether the checksum holds; items of earlier versions have none."""
    if _CHECKSUM not in body:
        return True
    rest = text[len(f'{{"{_CHECKSUM}":"{_sha256("")}",') :].rstrip("\n")
    return bool(body[_CHECKSUM] == _sha256(f"{{{rest}"))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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
        **({"notes": [note.to_json() for note in outcome.notes]} if outcome.notes else {}),
        "truth_hash": outcome.truth_hash,
        "estimate_hash": item.estimate_hash,
        "extras": dict(item.extras),
        "inputs": None if item.inputs is None else dict(item.inputs),
        "scores": {name: stored_json(score) for name, score in outcome.scores.items()},
        "curve": None
        if curve is None
        else {"within": curve.within.tolist(), "count": curve.count, "missing": curve.missing},
        "timing": {
            "time_s": number(timing.time_s),
            "cpu_s": number(timing.cpu_s),
            "peak_memory_mb": number(timing.peak_memory_mb),
            "score_s": number(timing.score_s),
            "host": timing.host,
        },
    }


def _from_json(body: Mapping[str, Any]) -> Item:
    curve, timing = body["curve"], body["timing"]
    key = (body["method"], body["seed"], body["sample"])
    outcome = Outcome(
        scores={name: read_stored(score) for name, score in body["scores"].items()},
        failed=body["failed"],
        left_out=tuple(body["left_out"]),
        skipped=body["skipped"],
        curve=None
        if curve is None
        else Curve(np.array(curve["within"], np.int64), curve["count"], curve["missing"]),
        truth_hash=body["truth_hash"],
        notes=tuple(Note.from_json(note) for note in body.get("notes", ())),
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
        inputs=body.get("inputs"),
    )
