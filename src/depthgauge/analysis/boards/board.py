"""The leaderboard: every number in a table of methods, with its intervals, ranks and ties."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from depthgauge._canonical import finite_data
from depthgauge._registry import unknown


@dataclass(frozen=True, slots=True)
class Column:
    """One score of the board."""

    id: str
    """Its score id, e.g. `badpix:2@all`."""
    metric: str
    """`badpix:2`"""
    region: str
    """`all`; empty if there is none."""
    unit: str
    better: str
    """`lower`, `higher` or `zero`."""
    level: str = "sample"
    """`dataset`: only all samples together have a value."""
    name: str = ""
    """The metric's name in the registry, which may differ from the score's; empty for a twin's own
    ids."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One method's value of one score."""

    value: float
    """The mean over seeds if there are several; NaN if it is incomplete."""
    low: float = math.nan
    """Interval over samples; NaN if there is none."""
    high: float = math.nan
    deviation: float = math.nan
    """Standard deviation over seeds; NaN for a single seed."""
    used: int = 0
    """Samples that went into it."""
    all: int = 0
    """Samples that have pixels of its region."""
    density: float = math.nan
    rank: int | None = None
    """Rank by value; equal values share the better rank. None for oracles."""
    group: int | None = None
    """Tie group: methods of one group cannot be distinguished. None if that is unknown."""
    why_tied: str = ""
    """`interval`, `practical` or empty: why it is in the group of the group's first method."""
    mean_rank: float = math.nan
    """Its rank on each sample, averaged."""


@dataclass(frozen=True, slots=True)
class Row:
    """One method."""

    label: str
    cells: Mapping[str, Cell]
    """Cells by score id."""
    options: Mapping[str, Any] = field(default_factory=dict)
    oracle: bool = False
    seeds: int = 1
    failed: Mapping[str, str] = field(default_factory=dict)
    """Samples without a usable estimate, and why."""
    time_s: float = math.nan
    """Median over samples."""
    peak_memory_mb: float = math.nan
    """Largest over samples."""
    tier: str = ""
    """What it was given, in benchmarks with tiers; ranks are within the tier."""
    dominated_by: tuple[str, ...] = ()
    """Methods that are at least as good in every score and better in one."""


@dataclass(frozen=True, slots=True)
class BoardWarning:
    """Something that makes the numbers of some methods doubtful: a note of their results."""

    code: str
    """Its kind, for programs: `negative-scale`, `sign`, `factor` ..."""
    text: str
    """One sentence."""
    advice: str
    """What to do about it; may be empty."""
    methods: tuple[str, ...]
    samples: tuple[str, ...]
    """The samples of any of these methods; empty if it is not about single samples."""


@dataclass(frozen=True, slots=True)
class Board:
    """All methods and all scores of one benchmark."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    """Best first by the main score; oracles last."""
    main: str
    """The id of the score that sorts the rows."""
    level: float = 0.95
    """Level of the intervals."""
    notes: tuple[str, ...] = ()
    """Notes that a reader of the table must know: why there are no intervals ..."""
    too_few: tuple[str, ...] = ()
    """Scores with too few samples for an interval, where other scores have one."""
    warnings: tuple[BoardWarning, ...] = ()
    """What makes numbers doubtful, that of most samples first."""
    tiers: tuple[str, ...] = ()
    """Groups of rows that are ranked separately; empty: all are ranked together."""

    def column(self, score_id: str) -> Column:
        """The column of that id."""
        for column in self.columns:
            if column.id == score_id:
                return column
        raise unknown("score", score_id, [column.id for column in self.columns])

    def to_json(self) -> dict[str, Any]:
        """The board as plain data: no NaN, no infinity."""
        body: dict[str, Any] = finite_data(asdict(self))
        return body
