"""What was measured: states that add, scores, and notes about how maps were read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import WrongShape


@dataclass(frozen=True, slots=True)
class State:
    """What a metric measured on one region: adds over disjoint regions and over samples."""

    count: int
    """Pixels (or pairs, edges ...) used."""
    missing: int
    """Those of the region that have a truth but no estimate."""
    sums: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """A small vector that adds."""
    values: NDArray[np.float32] | None = None
    """For order statistics: sorted values that merge."""
    rows: NDArray[np.float64] | None = None
    """For rankings: (n, k), one row a pair or instance (its score, its label ...); rows of two
    states come one after the other, in the order of their numbers."""

    def __add__(self, other: State) -> State:
        if not self._adds_to(other):
            raise WrongShape("these states are of different metrics and cannot be added.")
        values, rows = None, None
        if self.values is not None and other.values is not None:
            values = np.sort(np.concatenate([self.values, other.values]))
        if self.rows is not None and other.rows is not None:
            rows = sorted_rows(np.concatenate([self.rows, other.rows]))
        return State(
            self.count + other.count,
            self.missing + other.missing,
            self.sums + other.sums,
            values,
            rows,
        )

    def _adds_to(self, other: State) -> bool:
        return (
            self.sums.shape == other.sums.shape
            and (self.values is None) == (other.values is None)
            and _width(self.rows) == _width(other.rows)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return (
            (self.count, self.missing) == (other.count, other.missing)
            and np.array_equal(self.sums, other.sums, equal_nan=True)
            and (self.values is None) == (other.values is None)
            and (self.values is None or np.array_equal(self.values, other.values))  # type: ignore[arg-type]  # both are arrays here
            and _width(self.rows) == _width(other.rows)
            and (self.rows is None or np.array_equal(self.rows, other.rows, equal_nan=True))  # type: ignore[arg-type]  # both are arrays here
        )

    __hash__ = None  # type: ignore[assignment]  # holds arrays


def sorted_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows by their first number, then by the second and so on: one order for one set of rows.

    >>> sorted_rows(np.array([[2.0, 1.0], [1.0, 3.0], [1.0, 2.0]])).tolist()
    [[1.0, 2.0], [1.0, 3.0], [2.0, 1.0]]
    """
    return rows[np.lexsort(rows.T[::-1])] if rows.size else rows


def _width(rows: NDArray[np.float64] | None) -> int:
    """The number of values per row; -1 if there are no rows."""
    return -1 if rows is None else int(rows.shape[1])


def merge_states(states: Iterable[State]) -> State:
    """The sum of states, as `+` gives it; many lists of rows or values are sorted only once.

    Raises:
        WrongShape: They belong to different metrics, or there are none.
    """
    found = list(states)
    if not found:
        raise WrongShape("there is no state to merge.")
    values, rows = found[0].values, found[0].rows
    if len(found) == 1 or (values is None and rows is None):
        return reduce(add, found)
    light = [
        replace(
            state,
            values=None if state.values is None else state.values[:0],
            rows=None if state.rows is None else state.rows[:0],
        )
        for state in found
    ]
    merged = reduce(add, light)
    if values is not None:
        values = np.sort(np.concatenate([s.values for s in found if s.values is not None]))
    if rows is not None:
        rows = sorted_rows(np.concatenate([s.rows for s in found if s.rows is not None]))
    return replace(merged, values=values, rows=rows)


@dataclass(frozen=True, slots=True)
class Score:
    """One number with everything that is needed to know what it means."""

    value: float
    """In the metric's unit; NaN if there is none, and `why` says why."""
    count: int
    """Pixels used."""
    missing: int
    """Pixels of the region with truth but without an estimate."""
    total: float | None = None
    """The numerator where the value is a ratio, else None."""
    unit: str = ""
    state: State | None = None
    alignment: Mapping[str, Any] | None = None
    """What the alignment found (kind, space, scale, shift, reason), where the protocol has one."""
    level: Literal["sample", "dataset"] = "sample"
    """`dataset`: a part of a score that only all samples together have; it has no value itself."""
    device: str | None = None
    """`cuda` if it was summed on a GPU: its last digits may differ, and no run keeps it."""

    @property
    def why(self) -> str | None:
        """Why there is no finite value: `empty`, `missing`, `infinite`, or `dataset` where only all
        samples together have one; None if there is a value.
        """
        if math.isfinite(self.value):
            return None
        if self.level == "dataset":
            return "dataset"
        if math.isinf(self.value):
            return "infinite"
        return "empty" if self.count == 0 and self.missing == 0 else "missing"

    @property
    def density(self) -> float:
        """Share of the region's truth pixels that have an estimate."""
        n = self.count + self.missing
        return self.count / n if n else math.nan


@dataclass(frozen=True, slots=True)
class Note:
    """What speaks against the way in which maps were read, or what a name was read as.

    The scores stand.
    """

    code: str
    """Its kind, for programs: `sign`, `factor`, `flipped`, `inverse`, `holes`, `name` ..."""
    text: str
    """One sentence without measured numbers, so that equal notes have equal texts."""
    advice: str = ""
    """What to do about it, one sentence; empty where the arguments say it all."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Arguments of `score` that do it, as they are written; one is enough of several."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What was measured: `share` of pixels, `error` as it is and `error_otherwise` ..."""
    sample: str = ""
    """Which sample of a dataset; empty for two maps."""

    def sentences(self, *, command: bool = False) -> str:
        """The text and what to do: by arguments of Python, or by options of the command line.

        >>> note = Note("holes", "Is 0 a value?", arguments={"truth_invalid": "0"})
        >>> note.sentences(), note.sentences(command=True)
        ('Is 0 a value? Say truth_invalid=0.', 'Is 0 a value? Say --truth-invalid 0.')
        """
        if command:
            said = [f"--{name.replace('_', '-')} {value}" for name, value in self.arguments.items()]
        else:
            said = [f"{name}={_literal(value)}" for name, value in self.arguments.items()]
        parts = (self.text, self.advice, f"Say {' or '.join(said)}." if said else "")
        return " ".join(part for part in parts if part)

    def to_json(self) -> dict[str, Any]:
        """Plain data; `sample` only if there is one."""
        body: dict[str, Any] = {
            "code": self.code,
            "text": self.text,
            "advice": self.advice,
            "arguments": dict(self.arguments),
            "numbers": {n: v if math.isfinite(v) else None for n, v in self.numbers.items()},
        }
        return {**body, "sample": self.sample} if self.sample else body

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Note:
        """The note that `to_json` wrote."""
        numbers = {n: math.nan if v is None else float(v) for n, v in body["numbers"].items()}
        return cls(**{**body, "numbers": numbers})


def _literal(value: str) -> str:
    """A value as Python has it: numbers such as `1/256` as they are, words in quotes."""
    return value if set(value) <= set("0123456789.+-e/") else f"'{value}'"
