"""One table of several benchmarks: values, ranks of every column, and the average rank."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge._shorten import first_few
from depthgauge.analysis.ranks import average_ranks, rank_keys
from depthgauge.benchmarks.suites import Suite
from depthgauge.engine.scoring.result import Result
from depthgauge.engine.store.load import load_run
from depthgauge.errors import BadFile, CannotCompare, Misuse
from depthgauge.io.text import parse_json, read_text

Column = tuple[str, str]
"""A member of the suite and the id of a score."""


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """The scores of one method on one member."""

    method: str
    member: str
    variant: str
    values: Mapping[str, float]
    """By score id; NaN where there is none."""
    samples: frozenset[str]
    source: str
    """Where it was read from, for messages."""


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One method in the table."""

    method: str
    variants: tuple[str, ...]
    """How its members were scored, where a suite has several ways."""
    values: Mapping[Column, float]
    ranks: Mapping[Column, float]
    average_rank: float
    complete: int
    """Number of columns with a value."""


@dataclass(frozen=True, slots=True)
class SuiteBoard:
    """The table: the best average rank first."""

    suite: Suite
    columns: tuple[Column, ...]
    """Of the members that at least one method was scored on."""
    rows: tuple[SuiteRow, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Members that no method was scored on."""
        there = {member for member, _ in self.columns}
        return tuple(member for member in self.suite.members if member not in there)

    def to_json(self) -> dict[str, Any]:
        """The table as plain data."""
        return {
            "schema": 1,
            "suite": self.suite.id,
            "version": self.suite.version,
            "members": {
                member: {v: p.hash for (m, v), p in self.suite.protocols.items() if m == member}
                for member in self.suite.members
            },
            "left_out": list(self.left_out),
            "methods": [
                {
                    "method": row.method,
                    "variants": list(row.variants),
                    "average_rank": row.average_rank,
                    "complete": [row.complete, len(self.columns)],
                    "values": {_key(c): _finite(row.values[c]) for c in self.columns},
                    "ranks": {_key(c): row.ranks[c] for c in self.columns},
                }
                for row in self.rows
            ],
        }


def _key(column: Column) -> str:
    return f"{column[0]}/{column[1]}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def read_entries(suite: Suite, paths: Iterable[tuple[str, Path]]) -> Iterator[SuiteEntry]:
    """The entries of run folders and of files that `score --json` wrote.

    Args:
        suite: Says which protocols belong to it.
        paths: Names and paths; an empty name means that of the method in a run, or of the file. In
            a run with one method, the name replaces the method's.

    Raises:
        CannotCompare: Something was scored under a protocol that is not in the suite.
    """
    for name, path in paths:
        if path.is_dir():
            run = load_run(path)
            key = _place(suite, run.protocol.hash, run.protocol.id, str(path))
            if name and len(run.entrants) > 1:
                raise Misuse(f"{path}: has {len(run.entrants)} methods; leave '{name}=' out.")
            for entrant in run.entrants:
                results = [run.results[entrant.label, seed] for seed in entrant.seeds]
                label = name or entrant.label
                yield SuiteEntry(label, *key, *_of_results(suite, results), source=str(path))
        else:
            yield _of_file(suite, name or path.stem, path)


def entry_of(suite: Suite, method: str, result: Result) -> SuiteEntry:
    """The entry of a result in memory."""
    protocol = result.protocol
    key = _place(suite, protocol.hash, protocol.id, method)
    return SuiteEntry(method, *key, *_of_results(suite, [result]), source=method)


def _of_results(suite: Suite, results: list[Result]) -> tuple[dict[str, float], frozenset[str]]:
    """Means over seeds, and the samples."""
    summaries = [{name: found.value for name, found in r.summary.items()} for r in results]
    values = {
        score: float(np.mean([summary.get(score, math.nan) for summary in summaries]))
        for score in suite.scores
    }
    samples = {name for r in results for name in (*r.samples, *r.failed)}
    return values, frozenset(samples)


def _of_file(suite: Suite, method: str, path: Path) -> SuiteEntry:
    try:
        body = parse_json(read_text(path))
        key = _place(suite, body["protocol_hash"], body["benchmark"], str(path))
        values = {s: _number(body["summary"].get(s)) for s in suite.scores}
        samples = frozenset((*body["samples"], *body["failed"]))
    except (json.JSONDecodeError, ValueError, KeyError, TypeError, AttributeError):
        raise BadFile(
            f"{path}: expected a run folder, or a file that 'score --json' wrote"
        ) from None
    return SuiteEntry(method, *key, values, samples, str(path))


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def _place(suite: Suite, protocol_hash: str, benchmark: str, source: str) -> tuple[str, str]:
    if protocol_hash in suite.by_hash:
        return suite.by_hash[protocol_hash]
    if benchmark in suite.members.values():
        why = f"{benchmark} was changed (split, rules or version)"
    else:
        why = f"{benchmark} is not a member; members are {', '.join(suite.members.values())}"
    raise CannotCompare(f"{source}: its scores do not belong to suite '{suite.id}': {why}.")


def make_suite_board(suite: Suite, entries: Iterable[SuiteEntry]) -> SuiteBoard:
    """Ranks of every column and their plain mean; equal values share the mean of their places.

    Raises:
        CannotCompare: Two methods were scored on different samples of one member.
        Misuse: A method has two entries for one member, or there is none at all.
    """
    found: dict[tuple[str, str], SuiteEntry] = {}
    for entry in entries:
        known = found.setdefault((entry.method, entry.member), entry)
        if known is not entry:
            raise Misuse(
                f"'{entry.method}' has two results for {entry.member}, {known.source} and "
                f"{entry.source}; name the methods: NAME=PATH."
            )
    if not found:
        raise Misuse(f"suite '{suite.id}' has no results to put into a table.")
    _require_same_samples(suite, found.values())
    methods = list(dict.fromkeys(method for method, _ in found))
    scored = {member for _, member in found}
    members = [member for member in suite.members if member in scored]
    columns = tuple((member, score) for member in members for score in suite.scores)
    values = {
        method: {
            (member, score): found[method, member].values[score]
            if (method, member) in found
            else math.nan
            for member, score in columns
        }
        for method in methods
    }
    ranks = _ranks(suite, methods, columns, values)
    rows = []
    for method in methods:
        variants = (e.variant for (name, _), e in found.items() if name == method and e.variant)
        rows.append(
            SuiteRow(
                method,
                tuple(dict.fromkeys(variants)),
                values[method],
                ranks[method],
                math.fsum(ranks[method].values()) / len(columns),
                sum(not math.isnan(v) for v in values[method].values()),
            )
        )
    rows.sort(key=lambda row: (row.average_rank, row.method))
    return SuiteBoard(suite, columns, tuple(rows))


def _ranks(
    suite: Suite,
    methods: list[str],
    columns: tuple[Column, ...],
    values: Mapping[str, Mapping[Column, float]],
) -> dict[str, dict[Column, float]]:
    ranks: dict[str, dict[Column, float]] = {method: {} for method in methods}
    for column in columns:
        listed = [values[method][column] for method in methods]
        found = average_ranks(rank_keys(listed, suite.better(column[1])))
        for method, rank in zip(methods, found.tolist(), strict=True):
            ranks[method][column] = rank
    return ranks


def _require_same_samples(suite: Suite, entries: Iterable[SuiteEntry]) -> None:
    first: dict[str, SuiteEntry] = {}
    for entry in entries:
        other = first.setdefault(entry.member, entry)
        if other.samples != entry.samples:
            differing = first_few(sorted(other.samples ^ entry.samples), 3)
            raise CannotCompare(
                f"{other.source} and {entry.source}: were scored on different samples of "
                f"{suite.members[entry.member]}: only one has {differing}."
            )
