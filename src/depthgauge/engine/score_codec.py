"""A score as plain data and back: the one place that knows what a score consists of.

Three forms are made of the same fields: the public JSON (no NaN, no state), the JSON of a stored
item (everything), and a row of a run's table.
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from depthgauge.types import Score, State


def fields_of(score: Score) -> dict[str, Any]:
    """Everything in a score, with the parts of its state."""
    state = score.state
    return {
        "value": score.value,
        "total": score.total,
        "count": score.count,
        "missing": score.missing,
        "unit": score.unit,
        "sums": None if state is None else state.sums,
        "values": None if state is None else state.values,
        "rows": None if state is None else state.rows,
        "level": score.level,
        "alignment": score.alignment,
        "device": score.device,
    }


def score_of(fields: Mapping[str, Any]) -> Score:
    """The score that has these fields."""
    count, missing, sums = fields["count"], fields["missing"], fields["sums"]
    state = None
    if sums is not None:
        sums = np.array(sums, np.float64)
        state = State(count, missing, sums, fields["values"], fields["rows"])
    return Score(
        value=fields["value"],
        count=count,
        missing=missing,
        total=fields["total"],
        unit=fields["unit"],
        state=state,
        alignment=fields["alignment"],
        level="dataset" if fields["level"] == "dataset" else "sample",
        device=fields.get("device"),
    )


def public_json(score: Score) -> dict[str, Any]:
    """A score in `score --json`: strict JSON, with `why` if there is no number."""
    fields = fields_of(score)
    total = fields["total"]
    body: dict[str, Any] = {
        "value": finite(fields["value"]),
        "total": None if total is None else finite(total),
        "count": fields["count"],
        "missing": fields["missing"],
        "why": score.why,
    }
    if (found := fields["alignment"]) is not None:
        body["alignment"] = {k: finite(v) if isinstance(v, float) else v for k, v in found.items()}
    if score.device is not None:
        body["device"] = score.device
    return body


def stored_json(score: Score) -> dict[str, Any]:
    """All of a score as strict JSON; what is not there is left out."""
    fields = fields_of(score)
    total, rows = fields["total"], fields["rows"]
    body: dict[str, Any] = {
        "value": number(fields["value"]),
        "total": None if total is None else number(total),
        "count": fields["count"],
        "missing": fields["missing"],
        "unit": fields["unit"],
    }
    if fields["sums"] is not None:
        body["sums"] = [number(value) for value in fields["sums"]]
    if fields["values"] is not None:
        body["values"] = _pack(fields["values"])
    if rows is not None:
        body["rows"] = [rows.shape[1], _pack(rows, "<f8")]
    if fields["level"] != "sample":
        body["level"] = fields["level"]
    if fields["alignment"] is not None:
        body["alignment"] = alignment_json(fields["alignment"])
    if score.device is not None:
        body["device"] = score.device
    return body


def read_stored(body: Mapping[str, Any]) -> Score:
    """The score that `stored_json` wrote.

    Raises:
        ValueError: A count is none.
    """
    if not all(isinstance(body[name], int) for name in ("count", "missing")):
        raise ValueError("a count that is no whole number")
    rows = None
    if "rows" in body:
        width, text = body["rows"]
        rows = _unpack(text, "<f8").reshape(-1, int(width)).astype(np.float64)
    return score_of(
        {
            "value": float(body["value"]),
            "total": None if body["total"] is None else float(body["total"]),
            "count": body["count"],
            "missing": body["missing"],
            "unit": body["unit"],
            "sums": [float(value) for value in body["sums"]] if "sums" in body else None,
            "values": _unpack(body["values"]) if "values" in body else None,
            "rows": rows,
            "level": body.get("level"),
            "alignment": read_alignment(body.get("alignment")),
            "device": body.get("device"),
        }
    )


def row_of(score: Score) -> dict[str, Any]:
    """The columns of a run's table that describe a score."""
    fields = fields_of(score)
    rows = fields["rows"]
    return {
        "value": None if math.isnan(fields["value"]) else fields["value"],
        "total": fields["total"],
        "count": fields["count"],
        "missing": fields["missing"],
        "unit": fields["unit"],
        "state": fields["sums"],
        "values": fields["values"],
        "rows": None if rows is None else rows.ravel(),
        "row_width": -1 if rows is None else rows.shape[1],
        "level": fields["level"],
    }


def read_row(row: Mapping[str, Any], alignment: Mapping[str, Any] | None) -> Score:
    """The score of a row; the alignment is in another table, once per sample."""
    rows = None if row["rows"] is None else row["rows"].reshape(-1, row["row_width"])
    value = math.nan if row["value"] is None else row["value"]
    fields = {"value": value, "sums": row["state"], "rows": rows, "alignment": alignment}
    return score_of({**row, **fields})


def alignment_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """What an alignment found, as strict JSON has it."""
    return {k: number(v) if isinstance(v, float) else v for k, v in found.items()}


def read_alignment(body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The same, read back."""
    if body is None:
        return None
    numbers = {key: float(body[key]) for key in ("scale", "shift") if key in body}
    return {**body, **numbers}


def finite(value: float) -> float | None:
    """The number, None where JSON has none for it."""
    return float(value) if math.isfinite(value) else None


def number(value: float) -> float | str:
    """JSON has no NaN and no infinity; `float()` reads their names."""
    return float(value) if math.isfinite(value) else str(float(value))


def _pack(values: np.ndarray, kind: str = "<f4") -> str:
    return base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 1)).decode()


def _unpack(text: str, kind: str = "<f4") -> np.ndarray:
    found = np.frombuffer(zlib.decompress(base64.b64decode(text)), kind)
    return found.astype(found.dtype.newbyteorder("="))
