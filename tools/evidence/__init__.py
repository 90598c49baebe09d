"""Accuracy figures: each is one function in a module here, recorded as JSON beside it.

A record says what was measured, with which version, from which sources (SHA-256), and how far each
number may be from what is expected. `tests/test_evidence.py` fails when a number misses its budget
or when a source has changed since; `make evidence` records anew what is no longer fresh.
"""

from __future__ import annotations

import hashlib
import json
import math
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from depthgauge import __version__

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY / "docs" / "evidence"


class Absent(Exception):
    """What a figure is made from is not on this machine; the message says what."""


@dataclass(frozen=True)
class Number:
    """One measured number; it must not be further from `expected` than `budget`."""

    name: str
    value: float
    expected: float
    budget: float

    @property
    def met(self) -> bool:
        """Whether it keeps its budget; NaN never does."""
        return math.isfinite(self.value) and abs(self.value - self.expected) <= self.budget


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
    """By method, then by score; None where it is incomplete."""
    opencv: str = ""
    """The version of OpenCV whose methods were run; empty where none were."""
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
    """Files in the repository that can move the numbers, the figure's own among them."""
    measure: Callable[[], Iterable[Number | Table]]
    """Yields its numbers; of a table, also those that it has known values of."""
    about: str

    def hashes(self) -> dict[str, str]:
        """The sources as they are now."""
        return {s: hashlib.sha256((REPOSITORY / s).read_bytes()).hexdigest() for s in self.sources}

    def is_fresh(self, folder: Path) -> bool:
        """Whether the record was made from the sources as they are now, and is good."""
        path = folder / f"{self.name}.json"
        if not path.is_file():
            return False
        kept = json.loads(path.read_text())
        good = all(Number(**number).met for number in kept["numbers"])
        return good and kept["sources"] == self.hashes()

    def record(self, folder: Path) -> list[Number]:
        """Measures and writes the record."""
        found = list(self.measure())
        tables = [thing for thing in found if isinstance(thing, Table)]
        numbers = [thing for thing in found if isinstance(thing, Number)]
        numbers += [number for table in tables for number in table.numbers()]
        body: dict[str, Any] = {
            "figure": self.name,
            "about": self.about,
            "data": self.data,
            "command": f"python -m tools.evidence --force {self.name}",
            "version": __version__,
            "date": datetime.now(UTC).date().isoformat(),
            "numbers": [asdict(number) for number in numbers],
            **({"tables": [asdict(table) for table in tables]} if tables else {}),
            "sources": self.hashes(),
        }
        beside = folder / f".{self.name}.part"
        beside.write_text(json.dumps(body, indent=1, allow_nan=False) + "\n")
        beside.replace(folder / f"{self.name}.json")
        return numbers


FIGURES: dict[str, Figure] = {}


def figure(name: str, *, data: str, sources: Iterable[str]) -> Callable[[Any], Any]:
    """Declares the decorated function as a figure; it yields its numbers and tables."""

    def register(
        measure: Callable[[], Iterable[Number | Table]],
    ) -> Callable[[], Iterable[Number | Table]]:
        own = f"tools/evidence/{measure.__module__.rpartition('.')[2]}.py"
        about = " ".join((measure.__doc__ or "").split())
        FIGURES[name] = Figure(name, data, (own, *sources), measure, about)
        return measure

    return register


def all_figures() -> dict[str, Figure]:
    """Every figure of this folder."""
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            import_module(f"tools.evidence.{module.name}")
    return dict(sorted(FIGURES.items()))
