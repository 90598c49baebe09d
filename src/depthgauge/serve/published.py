"""Leaderboards of sites, for programs: `dg.leaderboard(URL)`; needs nothing but Python."""

from __future__ import annotations

import datetime
import math
import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from depthgauge._registry import unknown
from depthgauge._tables import html_table, show_number, text_table
from depthgauge.errors import BadData, Misuse
from depthgauge.serve.client import SiteClient

_PLACE = re.compile(r"/benchmarks/([^/]+)(?:/at/(\d+)|/leaderboard\.json)?/?")
_TAKEN = ("metric", "region", "scene", "by", "on", "state")


@dataclass(frozen=True, slots=True)
class PublishedScore:
    """A column of a leaderboard."""

    id: str
    """Its score id, `badpix:2@all`; where samples are columns, followed by the sample."""
    unit: str
    better: str
    """`lower`, `higher` or `zero`."""
    sample: str
    """What it is about; empty: all samples together."""


@dataclass(frozen=True, slots=True)
class PublishedCell:
    """One value; NaN where there is none."""

    value: float
    low: float
    """Interval over samples; NaN where the site has none."""
    high: float
    rank: int | None
    tie_group: int | None
    """Entries of one group cannot be told apart."""


@dataclass(frozen=True, slots=True)
class PublishedEntry:
    """One row of a leaderboard."""

    label: str
    """Its name in this table."""
    method: str
    version: str
    team: str
    baseline: bool
    tier: str
    rank: int | None
    submission: str
    """Empty for an entry that was withdrawn since."""
    scores: Mapping[str, PublishedCell]
    """By score id."""


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """A leaderboard of a site, as it stood at some time."""

    benchmark: str
    title: str
    protocol_hash: str
    state: int
    """Its number on the site."""
    taken_at: datetime.datetime
    sha256: str
    url: str
    """Where this state stays."""
    ranked_by: str
    """The id of the score that orders the rows."""
    scores: tuple[PublishedScore, ...]
    rows: tuple[PublishedEntry, ...]
    """Best first."""
    notes: tuple[str, ...]

    def values(self, score_id: str | None = None) -> dict[str, float]:
        """One score of all entries by their labels; by default the one that ranks.

        Raises:
            UnknownName: The table has no such score.
        """
        wanted = self.ranked_by if score_id is None else score_id
        if wanted not in {score.id for score in self.scores}:
            raise unknown("score", wanted, [score.id for score in self.scores])
        return {
            row.label: row.scores[wanted].value if wanted in row.scores else math.nan
            for row in self.rows
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """A plain dict for each entry, such as a data frame is made of."""
        names = ("rank", "label", "method", "version", "team", "baseline", "tier", "submission")
        return [
            {
                **{name: getattr(row, name) for name in names},
                **{score: cell.value for score, cell in row.scores.items()},
            }
            for row in self.rows
        ]

    def __str__(self) -> str:
        return f"{text_table(*self._table())}\n\n{self._source()}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(*self._table(), self._source())

    def _table(self) -> tuple[list[tuple[str, str]], list[list[str]]]:
        shown = self.scores[:_MOST_COLUMNS]
        heads = [("", "right"), ("method", "left"), ("team", "left")]
        heads += [(f"{s.id} [{s.unit}]" if s.unit else s.id, "right") for s in shown]
        rows = [
            [
                "" if row.rank is None else str(row.rank),
                f"{row.label} (baseline)" if row.baseline else row.label,
                row.team,
                *(
                    show_number(row.scores[s.id].value) if s.id in row.scores else "-"
                    for s in shown
                ),
            ]
            for row in self.rows
        ]
        return heads, rows

    def _source(self) -> str:
        rest = len(self.scores) - _MOST_COLUMNS
        more = f"; {rest} more scores" if rest > 0 else ""
        return (
            f"{self.title}, ranked by {self.ranked_by}{more}; {self.taken_at:%Y-%m-%d}, "
            f"protocol {self.protocol_hash[:12]}, {self.url}"
        )


_MOST_COLUMNS = 6
"""That a printed table has."""


def leaderboard(url: str) -> Leaderboard:
    """The leaderboard at an address of a site, as its page shows it.

    Args:
        url: The address of a benchmark's page, `https://depth.example.org/benchmarks/booster`, of
            a former state (`.../at/7`), or of a view (`?metric=badpix:2`, `?scene=boxes`,
            `?by=mae@all`, `?on=2027-01-05`).

    Raises:
        Misuse: It is no such address.
        Refused: The site has no such leaderboard, or nothing is published yet.
        BadData: The site does not answer, or not as a site does.
    """
    parts = urllib.parse.urlsplit(url)
    place = _PLACE.fullmatch(parts.path)
    if place is None or parts.scheme not in ("http", "https"):
        raise Misuse(
            f"'{url}' is no address of a leaderboard; write "
            "https://depth.example.org/benchmarks/NAME"
        )
    query = [(name, value) for name, value in urllib.parse.parse_qsl(parts.query) if name in _TAKEN]
    if place[2]:
        query.append(("state", place[2]))
    site = SiteClient(f"{parts.scheme}://{parts.netloc}")
    path = f"benchmarks/{place[1]}/leaderboard"
    body = site.ask("GET", f"{path}?{urllib.parse.urlencode(query)}" if query else path)
    try:
        return _read(body)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadData(f"{url}: answers in a form that is not known here ({error!r}).") from None


def _read(body: Mapping[str, Any]) -> Leaderboard:
    return Leaderboard(
        benchmark=str(body["benchmark"]),
        title=str(body["title"]),
        protocol_hash=str(body["protocol_hash"]),
        state=int(body["state"]),
        taken_at=datetime.datetime.fromtimestamp(int(body["taken_at"]), datetime.UTC),
        sha256=str(body["sha256"]),
        url=str(body["url"]),
        ranked_by=str(body["ranked_by"]),
        scores=tuple(
            PublishedScore(str(c["id"]), str(c["unit"]), str(c["better"]), str(c["sample"]))
            for c in body["columns"]
        ),
        rows=tuple(_entry(row) for row in body["rows"]),
        notes=tuple(str(note) for note in body["notes"]),
    )


def _entry(row: Mapping[str, Any]) -> PublishedEntry:
    return PublishedEntry(
        label=str(row["label"]),
        method=str(row["method"]),
        version=str(row["version"]),
        team=str(row["team"]),
        baseline=bool(row["baseline"]),
        tier=str(row["tier"]),
        rank=row["rank"],
        submission=str(row["submission"]),
        scores={
            str(name): PublishedCell(
                _number(cell["value"]),
                _number(cell["low"]),
                _number(cell["high"]),
                cell["rank"],
                cell["tie_group"],
            )
            for name, cell in row["scores"].items()
        },
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
