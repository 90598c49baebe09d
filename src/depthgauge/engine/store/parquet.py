"""The tables of a run: written once, sorted, one row group, the same bytes on every machine.

`scores` has one row per score, `samples` and `curves` one per item; `timings` differs from
run to run and is kept apart.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.engine.score_codec import alignment_json, read_alignment, read_row, row_of
from depthgauge.engine.scoring.rules import Outcome
from depthgauge.engine.store.item import Item
from depthgauge.engine.store.record import THRESHOLDS, Curve, Key, Timing
from depthgauge.errors import BadFile
from depthgauge.io import write_bytes
from depthgauge.types import Score

_PACK = 20_000
_PACK_VALUES = 4_000_000
_SCHEMAS: dict[str, dict[str, str]] = {
    "scores": {
        "benchmark": "string",
        "method": "string",
        "options_hash": "string",
        "seed": "int64",
        "sample": "string",
        "score": "string",
        "region": "string",
        "metric": "string",
        "params": "string",
        "value": "double",
        "total": "double",
        "count": "int64",
        "missing": "int64",
        "unit": "string",
        "state": "list",
        "values": "floats",
        "rows": "doubles",
        "row_width": "int64",
        "level": "string",
    },
    "samples": {
        "method": "string",
        "seed": "int64",
        "sample": "string",
        "failed": "string",
        "skipped": "bool",
        "left_out": "string",
        "truth_hash": "string",
        "estimate_hash": "string",
        "alignment": "string",
    },
    "curves": {
        "method": "string",
        "seed": "int64",
        "sample": "string",
        "within": "list",
        "count": "int64",
        "missing": "int64",
    },
    "timings": {
        "method": "string",
        "seed": "int64",
        "sample": "string",
        "time_s": "double",
        "cpu_s": "double",
        "peak_memory_mb": "double",
        "score_s": "double",
        "host": "string",
    },
}


def has_tables(folder: Path) -> bool:
    """Whether all tables exist, so that none must be rebuilt from the items."""
    return all((folder / f"{name}.parquet").is_file() for name in _SCHEMAS)


def write_tables(folder: Path, protocol: Protocol, items: Iterable[Item]) -> None:
    """Writes all tables in one pass over the items; `scores` last: it says that all is finished.

    Items come in the order of method, seed and sample.
    """
    tables = {name: _Table(name) for name in _SCHEMAS}
    for item in items:
        tables["timings"].add(_timing_row(item.timing))
        tables["samples"].add(_sample_row(item))
        for row in _curve_rows(item):
            tables["curves"].add(row)
        for row in _score_rows(protocol, item):
            tables["scores"].add(row)
    for name in ("timings", "curves", "samples", "scores"):
        tables[name].write(folder / f"{name}.parquet")


def read_failures(folder: Path) -> dict[tuple[str, int, str], str]:
    """Why methods failed, by label, seed and sample."""
    return {_item_key(row): row["failed"] for row in _read(folder, "samples") if row["failed"]}


def read_outcomes(
    folder: Path, protocol: Protocol
) -> tuple[dict[Key, dict[str, Outcome]], list[Timing], dict[Key, dict[str, str]]]:
    """The outcome of every item, by method and seed and then by sample; its cost; the hashes of
    the estimates.
    """
    scores: dict[tuple[str, int, str], dict[str, Score]] = {}
    alignments: dict[tuple[str, int, str], Any] = {}
    samples = _read(folder, "samples")
    for row in samples:
        found = json.loads(row["alignment"]) if row["alignment"] else None
        alignments[_item_key(row)] = read_alignment(found)
    for row in _read(folder, "scores"):
        score = read_row(row, alignments.get(_item_key(row)))
        scores.setdefault(_item_key(row), {})[row["score"]] = score
    curves = {
        _item_key(row): Curve(np.array(row["within"], np.int64), row["count"], row["missing"])
        for row in _read(folder, "curves")
    }
    outcomes: dict[Key, dict[str, Outcome]] = {}
    hashes: dict[Key, dict[str, str]] = {}
    for row in samples:
        key = _item_key(row)
        hashes.setdefault(key[:2], {})[key[2]] = row["estimate_hash"]
        outcomes.setdefault(key[:2], {})[key[2]] = Outcome(
            scores=scores.get(key, {}),
            failed=row["failed"],
            left_out=tuple(json.loads(row["left_out"])),
            skipped=row["skipped"],
            curve=curves.get(key),
            truth_hash=row["truth_hash"],
        )
    return outcomes, [Timing(**row) for row in _read(folder, "timings")], hashes


def _item_key(row: Mapping[str, Any]) -> tuple[str, int, str]:
    return row["method"], row["seed"], row["sample"]


def _score_rows(protocol: Protocol, item: Item) -> Iterator[dict[str, Any]]:
    specs = {spec.id: spec for spec in protocol.specs}
    for name, score in item.outcome.scores.items():
        spec = specs.get(name)
        before, _, place = name.partition("@")
        metric, _, params = before.partition(":")
        yield {
            "benchmark": protocol.id,
            "method": item.method,
            "options_hash": item.options_hash,
            "seed": item.seed,
            "sample": item.sample,
            "score": name,
            "region": place if spec is None else spec.region,
            "metric": metric if spec is None else spec.metric.name,
            "params": params if spec is None else json.dumps(dict(spec.params), sort_keys=True),
            **row_of(score),
        }


def _sample_row(item: Item) -> dict[str, Any]:
    outcome = item.outcome
    found = next((s.alignment for s in outcome.scores.values() if s.alignment is not None), None)
    return {
        "method": item.method,
        "seed": item.seed,
        "sample": item.sample,
        "failed": outcome.failed,
        "skipped": outcome.skipped,
        "left_out": json.dumps(list(outcome.left_out)),
        "truth_hash": outcome.truth_hash,
        "estimate_hash": item.estimate_hash,
        "alignment": "" if found is None else _to_text(alignment_json(found)),
    }


def _to_text(body: Mapping[str, Any]) -> str:
    return json.dumps(body, sort_keys=True, allow_nan=False)


def _curve_rows(item: Item) -> Iterator[dict[str, Any]]:
    curve = item.outcome.curve
    if curve is not None:
        yield {
            "method": item.method,
            "seed": item.seed,
            "sample": item.sample,
            "within": curve.within.astype(float).tolist(),
            "count": curve.count,
            "missing": curve.missing,
        }


def _timing_row(timing: Timing) -> dict[str, Any]:
    return {name: getattr(timing, name) for name in _SCHEMAS["timings"]}


class _Table:
    """A table that grows; its rows are packed a few thousand at a time, to keep memory small."""

    def __init__(self, name: str) -> None:
        import pyarrow as pa

        kinds = {
            "string": pa.string(),
            "int64": pa.int64(),
            "double": pa.float64(),
            "bool": pa.bool_(),
            "list": pa.list_(pa.float64()),
            "floats": pa.large_list(pa.float32()),
            "doubles": pa.large_list(pa.float64()),
        }
        about = {"depthgauge": f"{name} 1"}
        if name == "curves":
            about["thresholds"] = json.dumps(THRESHOLDS)
        fields = [(key, kinds[kind]) for key, kind in _SCHEMAS[name].items()]
        self._schema = pa.schema(fields, metadata=about)
        self._rows: list[dict[str, Any]] = []
        self._packed: list[Any] = []
        self._held = 0

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        held = [row.get("values"), row.get("rows")]
        self._held += sum(len(each) for each in held if each is not None)
        if len(self._rows) >= _PACK or self._held >= _PACK_VALUES:
            self._pack()

    def _pack(self) -> None:
        import pyarrow as pa

        self._packed.append(pa.RecordBatch.from_pylist(self._rows, schema=self._schema))
        self._rows, self._held = [], 0

    def write(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._pack()
        table = pa.Table.from_batches(self._packed, schema=self._schema)
        buffer = pa.BufferOutputStream()
        pq.write_table(table, buffer, row_group_size=max(1, len(table)), compression="zstd")
        write_bytes(path, buffer.getvalue())


def _read(folder: Path, name: str) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"{name}.parquet"
    try:
        # By bytes: pyarrow would take some names for addresses, and not every name is text. Not a
        # Python file either: its buffers, freed by Arrow's threads, may end a process that ends.
        with pa.OSFile(os.fsencode(path)) as file:
            table = pq.read_table(file, columns=list(_SCHEMAS[name]), use_threads=False)
        arrays = _float_lists(table)
        rows: list[dict[str, Any]] = table.drop_columns(list(arrays)).to_pylist()
        for column, values in arrays.items():
            for row, array in zip(rows, values, strict=True):
                row[column] = array
    except FileNotFoundError:
        raise BadFile(f"{path}: is not there; run the command that began it again.") from None
    except (pa.ArrowException, OSError) as error:
        said = " ".join(str(error).split())[:100]
        raise BadFile(f"{path}: cannot be read ({said}); delete it and run again.") from error
    return rows


def _float_lists(table: Any) -> dict[str, list[Any]]:
    """Columns of long lists as arrays; as Python numbers they would take ten times the memory."""
    kinds = {"values": np.float32, "rows": np.float64}
    return {
        name: [
            np.array(cell.values.to_numpy(zero_copy_only=False), kind) if cell.is_valid else None
            for chunk in table.column(name).chunks
            for cell in chunk
        ]
        for name, kind in kinds.items()
        if name in table.column_names
    }
