"""What scoring returns: the scores of two maps, or of a method on a benchmark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from depthgauge._registry import unknown
from depthgauge._shorten import first_few
from depthgauge._tables import (
    Columns,
    html_table,
    markdown_table,
    show_number,
    show_share,
    text_table,
)
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.aliases import meaning_of
from depthgauge.engine.score_codec import finite, public_json
from depthgauge.engine.scoring.pool import Summary, summarise
from depthgauge.errors import DepthgaugeError, MissingExtra
from depthgauge.types import Note, Score

if TYPE_CHECKING:
    import pandas

SCHEMA = 1
SCORE_COLUMNS: Columns = (
    ("score", "left"),
    ("value", "right"),
    ("unit", "left"),
    ("pixels", "right"),
    ("missing", "right"),
    ("density", "right"),
)
SUMMARY_COLUMNS: Columns = (
    ("score", "left"),
    ("value", "right"),
    ("unit", "left"),
    ("samples", "right"),
    ("density", "right"),
)
_MOST_NAMES = 5


@dataclass(frozen=True)
class Result:
    """All scores of one method on one benchmark, with the protocol that produced them."""

    protocol: Protocol
    samples: Mapping[str, Mapping[str, Score]]
    """By sample, then by score id."""
    summary: Mapping[str, Summary]
    failed: Mapping[str, str] = field(default_factory=dict)
    """Samples without a usable estimate, and why."""
    left_out: tuple[str, ...] = ()
    """Samples without truth, and `sample@region` where a sample lacks what a region needs."""
    notes: tuple[Note, ...] = ()
    """What speaks against the way in which estimates or truths were read, by sample."""

    def to_json(self) -> dict[str, Any]:
        """The result as plain data: no NaN, no infinity, nothing that another run would change."""
        return {
            "schema": SCHEMA,
            "benchmark": self.protocol.id,
            "version": self.protocol.version,
            "protocol_hash": self.protocol.hash,
            "protocol": self.protocol.resolved(),
            **({"reading": said} if (said := self.reading) else {}),
            "samples": {
                # Scores of the whole dataset are not scores of a sample.
                sample: {n: public_json(s) for n, s in scores.items() if s.why != "dataset"}
                for sample, scores in self.samples.items()
            },
            "summary": {name: finite(found.value) for name, found in self.summary.items()},
            "summary_counts": {
                name: [found.used, found.all] for name, found in self.summary.items()
            },
            "failed": dict(self.failed),
            "left_out": list(self.left_out),
            "notes": [note.to_json() for note in self.notes],
        }

    @property
    def reading(self) -> dict[str, Any]:
        """What the call or the benchmark said about stored numbers; empty where it said nothing."""
        said = self.protocol.reading.model_dump(mode="json", exclude_defaults=True)
        return {side: keys for side, keys in said.items() if keys}

    def to_dict(self) -> dict[str, float]:
        """The pooled values by score id, for a logger; NaN where there is none."""
        return {name: found.value for name, found in self.summary.items()}

    def to_pandas(self, *, samples: bool = False) -> pandas.DataFrame:
        """The summary as a data frame; with `samples`, a row for each sample and score instead.

        Raises:
            MissingExtra: pandas is not installed.
        """
        if samples:
            rows = [
                {"sample": sample, "score": name, **_cells(score)}
                for sample, scores in self.samples.items()
                for name, score in scores.items()
                if score.why != "dataset"
            ]
            return _data_frame(rows, ["sample", "score", *_CELLS]).set_index(["sample", "score"])
        names = ("value", "unit", "used", "all", "density")
        rows = [
            {"score": score_id, **{name: getattr(found, name) for name in names}}
            for score_id, found in self.summary.items()
        ]
        return _data_frame(rows, ["score", *names]).set_index("score")

    def to_markdown(self) -> str:
        """The summary as a Markdown table."""
        return markdown_table(SUMMARY_COLUMNS, summary_rows(self))

    def __str__(self) -> str:
        lines = [text_table(SUMMARY_COLUMNS, summary_rows(self)), "", self._source]
        if self.failed:
            lines.append(f"failed: {first_few(list(self.failed), _MOST_NAMES)}")
        if self.left_out:
            lines.append(f"left out: {first_few(self.left_out, _MOST_NAMES)}")
        lines += note_lines(self.notes)
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(SUMMARY_COLUMNS, summary_rows(self), self._source)

    @property
    def _source(self) -> str:
        scores = (score for found in self.samples.values() for score in found.values())
        n = len(self.samples)
        where = f"{self.protocol.id} v{self.protocol.version}, {n} sample{'s' * (n != 1)}"
        return f"{where}: {protocol_line(self.protocol, scores)}"


@dataclass(frozen=True)
class Scores(Mapping[str, Score]):
    """Scores by id, with the protocol that says what they mean."""

    protocol: Protocol
    scores: Mapping[str, Score]
    notes: tuple[Note, ...] = ()
    """What speaks against the way in which the maps were read; the scores stand."""

    @property
    def protocol_hash(self) -> str:
        """Two scores can be compared only if this is equal."""
        return self.protocol.hash

    def as_result(self, sample: str) -> Result:
        """The same as the result of a benchmark with this one sample."""
        summary = {name: summarise(s.value, [s], 1) for name, s in self.scores.items()}
        return Result(self.protocol, {sample: self.scores}, summary, notes=self.notes)

    def to_dict(self) -> dict[str, float]:
        """The values by score id, for a logger; NaN where there is none."""
        return {name: score.value for name, score in self.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row for each score.

        Raises:
            MissingExtra: pandas is not installed.
        """
        rows = [{"score": name, **_cells(score)} for name, score in self.items()]
        return _data_frame(rows, ["score", *_CELLS]).set_index("score")

    def to_markdown(self) -> str:
        """A Markdown table."""
        return markdown_table(SCORE_COLUMNS, score_rows(self))

    def __str__(self) -> str:
        table = text_table(SCORE_COLUMNS, score_rows(self))
        return "\n".join([table, "", self._source, *note_lines(self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(SCORE_COLUMNS, score_rows(self), self._source)

    @property
    def _source(self) -> str:
        return protocol_line(self.protocol, self.values())

    def __getitem__(self, score_id: str) -> Score:
        if score_id not in self.scores:
            return self.scores[self._own_id(score_id)]
        return self.scores[score_id]

    def _own_id(self, typed: str) -> str:
        """Our id for a name that papers use; `@all` if no region is named."""
        with suppress(DepthgaugeError):
            meant = meaning_of(typed, self.protocol.quantity).score_id
            for known in (meant, f"{meant}@all"):
                if known in self.scores:
                    return known
        raise unknown("score", typed, self.scores)

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)


def note_lines(notes: Iterable[Note], *, command: bool = False) -> list[str]:
    """One line for each kind of note, with the samples that have it.

    Args:
        notes: Of one or many samples.
        command: Whether the advice names options of the command line.
    """
    kinds: dict[str, list[Note]] = {}
    for note in notes:
        kinds.setdefault(note.sentences(command=command), []).append(note)
    lines = []
    for text, alike in kinds.items():
        samples = [note.sample for note in alike if note.sample]
        where = f"{first_few(samples, _MOST_NAMES)}: " if samples else ""
        lines.append(f"note: {where}{text}")
    return lines


def score_rows(scores: Mapping[str, Score]) -> list[list[str]]:
    """One row per score, with its counts."""
    return [
        [
            name,
            show_number(score.value) if score.why is None else str(score.why),
            score.unit,
            f"{score.count:,}",
            f"{score.missing:,}",
            show_share(score.density),
        ]
        for name, score in scores.items()
    ]


def summary_rows(result: Result) -> list[list[str]]:
    """One row per score: the pooled value, and how many samples went into it."""
    return [
        [
            name,
            show_summary(found),
            found.unit,
            f"{found.used}/{found.all}",
            show_share(found.density),
        ]
        for name, found in result.summary.items()
    ]


def show_summary(found: Summary) -> str:
    """The pooled value, or why there is none."""
    if found.incomplete:
        return f"incomplete {found.used}/{found.all}"
    return "empty" if math.isnan(found.value) else show_number(found.value)


def protocol_line(protocol: Protocol, scores: Iterable[Score] = ()) -> str:
    """What decides the numbers of a table, in one line."""
    devices = sorted({score.device for score in scores if score.device is not None})
    line = (
        f"{protocol.quantity}, missing estimates: {protocol.missing}, pooled by {protocol.pool}, "
        f"protocol {protocol.hash[:12]}"
    )
    return f"{line}, computed on {', '.join(devices)}" if devices else line


_CELLS = ("value", "unit", "count", "missing", "density", "why")


def _cells(score: Score) -> dict[str, Any]:
    return {name: getattr(score, name) for name in _CELLS}


def _data_frame(rows: list[dict[str, Any]], columns: Sequence[str]) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError:
        raise MissingExtra(
            "to_pandas() needs pandas, which is not installed here; say: pip install pandas (or "
            "use to_dict())."
        ) from None
    return pandas.DataFrame(rows, columns=list(columns))
