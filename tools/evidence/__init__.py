"""Accuracy figures: each is one function in a module here, recorded as JSON in docs/evidence.

A record says what was measured, with which version and from which code, and how far each number may
be from what is expected; a number without an expectation is only reported. The tests fail when a
number misses its budget, or when code that can change a number has changed since (`_code`);
`make evidence` records such figures again.
"""

from __future__ import annotations

import json
import math
import os
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from depthgauge import __version__
from tools.evidence._code import REPOSITORY, Code, changes, total
from tools.evidence._sources import SOURCES, SourceMissing, all_code, code_by_file, homes, left_out

FOLDER = REPOSITORY / "docs" / "evidence"
DATA = Path(os.environ.get("DEPTHGAUGE_DATA", REPOSITORY.parent / "shared" / "data"))
"""Real data, which is not part of the repository."""


class MissingData(Exception):
    """What a figure is made from is not on this machine; the message says what."""


@dataclass(frozen=True)
class Number:
    """One measured number."""

    name: str
    value: float
    expected: float | None = None
    """None where the number is only reported."""
    budget: float | None = None
    """How far from `expected` the value may be."""

    @property
    def met(self) -> bool:
        """Whether it is finite and keeps its budget, where it has one."""
        if self.expected is None or self.budget is None:
            return math.isfinite(self.value)
        return math.isfinite(self.value) and abs(self.value - self.expected) <= self.budget

    def to_json(self) -> dict[str, Any]:
        """Its fields, without the expectation if there is none."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def within(name: str, value: float, least: float, most: float) -> Number:
    """A number that may be anything from the least to the most."""
    return Number(name, value, (least + most) / 2, (most - least) / 2)


@dataclass(frozen=True)
class Table:
    """Scores of some methods under one protocol, for a page."""

    name: str
    protocol: str
    protocol_hash: str
    samples: tuple[str, ...]
    pixels: Mapping[str, int]
    """Pixels with truth of each region."""
    used: Mapping[str, int]
    """Samples of each region."""
    scores: Mapping[str, Mapping[str, str]]
    """Unit and better direction of each score."""
    rows: Mapping[str, Mapping[str, float | None]]
    """By method, then by score; None if it is incomplete."""
    opencv: str = ""
    """The version of OpenCV whose methods were run; empty if none were."""
    known: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Values that were known before, with the digits that were known."""

    def numbers(self) -> Iterable[Number]:
        """The scores that have a known value; they must agree to its last digit."""
        for row, known in self.known.items():
            for score, digits in known.items():
                value = self.rows[row][score]
                half_digit = 0.5 * 10.0 ** -len(digits.partition(".")[2])
                yield Number(
                    f"{self.name}: {row} {score}",
                    math.nan if value is None else value,
                    float(digits),
                    half_digit,
                )


@dataclass(frozen=True)
class Figure:
    """A function that measures, and what its numbers depend on."""

    name: str
    data: str
    """What it was measured on, in words."""
    sources: tuple[str, ...]
    """Modules, packages and files that can change the numbers, the figure's own among them."""
    needs: tuple[str, ...]
    """Folders of real data, and modules of optional packages, that measuring needs."""
    measure: Callable[[], Iterable[Number | Table]]
    """Yields its numbers; of a table, also those that it has known values of."""
    about: str

    def absent(self) -> str:
        """Why it cannot be measured on this machine; empty where it can."""
        for need in self.needs:
            if need.isidentifier():
                if find_spec(need) is None:
                    return f"it needs the package {need}"
            elif not (DATA / need).is_dir():
                return f"it needs {need}, real data that is not part of the repository"
        return ""

    def changes(self, folder: Path = FOLDER) -> list[str]:
        """The names of the definitions that have changed since it was recorded.

        Modules that the sources leave out do not count, even if the record is older than that.

        Raises:
            SourceMissing: A source of the figure does not exist.
        """
        record = json.loads((folder / f"{self.name}.json").read_text(encoding="utf-8"))
        recorded = {name: Code(tokens.split()) for name, tokens in record["code"].items()}
        try:
            listed = total(code_by_file(self.sources).values())
            without = left_out(self.sources)
            recorded = {name: c for name, c in recorded.items() if name not in without}
        except SourceMissing as missing:
            within = f"{missing.name}."
            lost = [c for n, c in recorded.items() if f"{n}.".startswith(within)]
            raise SourceMissing(missing.name, homes(total(lost))) from None
        return changes(total(recorded.values()), listed, all_code)

    def is_fresh(self, folder: Path) -> bool:
        """Whether there is a record of the code as it is now that keeps its budgets."""
        path = folder / f"{self.name}.json"
        if not path.is_file():
            return False
        numbers = json.loads(path.read_text(encoding="utf-8"))["numbers"]
        return all(Number(**number).met for number in numbers) and not self.changes(folder)

    def record(self, folder: Path) -> list[Number]:
        """Measures and writes the record.

        Raises:
            Absent: It cannot be measured on this machine.
        """
        if reason := self.absent():
            raise MissingData(reason)
        measured = list(self.measure())
        tables = [thing for thing in measured if isinstance(thing, Table)]
        numbers = [thing for thing in measured if isinstance(thing, Number)]
        numbers += [number for table in tables for number in table.numbers()]
        body: dict[str, Any] = {
            "figure": self.name,
            "about": self.about,
            "data": self.data,
            "command": f"python -m tools.evidence --force {self.name}",
            "version": __version__,
            "date": datetime.now(UTC).date().isoformat(),
            "numbers": [number.to_json() for number in numbers],
            **({"tables": [asdict(table) for table in tables]} if tables else {}),
            "code": self.code(),
        }
        write_record(folder, body)
        return numbers

    def code(self) -> dict[str, str]:
        """The definitions that can change the numbers, by the module that has them now."""
        found = code_by_file(self.sources)
        return {name: " ".join(sorted(c.elements())) for name, c in sorted(found.items()) if c}


def write_record(folder: Path, body: Mapping[str, Any]) -> None:
    """Writes a record as a whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f".{body['figure']}.part"
    beside.write_text(json.dumps(body, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    beside.replace(folder / f"{body['figure']}.json")


def recorded_values(name: str) -> dict[str, float]:
    """The recorded numbers of a figure by their names; empty if there is no record."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        return {}
    numbers = json.loads(path.read_text(encoding="utf-8"))["numbers"]
    return {number["name"]: number["value"] for number in numbers}


FIGURES: dict[str, Figure] = {}


def figure(name: str, *, data: str, needs: Iterable[str] = ()) -> Callable[[Any], Any]:
    """Declares the decorated function as a figure; it yields its numbers and tables."""

    def register(
        measure: Callable[[], Iterable[Number | Table]],
    ) -> Callable[[], Iterable[Number | Table]]:
        about = " ".join((measure.__doc__ or "").split())
        sources = (measure.__module__, *SOURCES[name])
        FIGURES[name] = Figure(name, data, sources, tuple(needs), measure, about)
        return measure

    return register


def all_figures() -> dict[str, Figure]:
    """Every figure of this folder."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            import_module(f"tools.evidence.{module.name}")
    return dict(sorted(FIGURES.items()))
