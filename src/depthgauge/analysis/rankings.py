"""Rankings of methods: computed from scores or given by people, and their files.

A file of rankings is a table with one row for each method of each ranking:
`grader, experiment, variant, method, rank`, and `repeat` if a grader did an experiment more than
once. As CSV it starts with a line of these names; as JSON it is a list of objects with these keys.

A file of scores has one row for each method of each experiment whose metric is compared with
people: `experiment, method, score`, and `better` (`lower`, `higher` or `zero`) if it is not lower.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from depthgauge.analysis.ranks import average_ranks, min_ranks, rank_keys
from depthgauge.errors import BadFile, Misuse
from depthgauge.io.text import parse_json

COLUMNS = ("grader", "experiment", "variant", "repeat", "method", "rank")
_NEEDED = ("grader", "experiment", "method", "rank")
SCORE_COLUMNS = ("experiment", "method", "score", "better")
_SCORES_NEEDED = ("experiment", "method", "score")
_DIRECTIONS = ("lower", "higher", "zero")


@dataclass(frozen=True, slots=True)
class Ranking:
    """One ranking of the methods by one person."""

    grader: str
    experiment: str
    """What was judged: `porosity`, `general appearance` ..."""
    ranks: Mapping[str, float]
    """method -> rank: 1 is best, ties have equal ranks; NaN if a method was not ranked."""
    variant: str = ""
    """How it was shown, if there is more than one way: `basic`, `detailed`."""
    repeat: int = 1
    """Which repeat this is, for this grader, experiment and variant."""


@dataclass(frozen=True, slots=True)
class MetricScores:
    """What a metric says about the methods of one experiment."""

    scores: Mapping[str, float]
    """NaN where a method has none."""
    better: str = "lower"


def ranks_from_scores(
    scores: Mapping[str, float],
    *,
    decimals: int | None = 1,
    better: str = "lower",
    ties: str = "average",
) -> dict[str, float]:
    """The ranks that scores give, as people would give them.

    Args:
        scores: Score of each method; NaN comes last.
        decimals: Scores that are equal when rounded to this are ties; None: no rounding.
        better: `lower`, `higher` or `zero`.
        ties: `average`: ties share the mean of their places (1, 2.5, 2.5, 4); `min`: they share
            the better place (1, 2, 2, 4).

    Raises:
        Misuse: There is no such rule for ties.

    >>> ranks_from_scores({"a": 2.81, "b": 3.7, "c": 2.79, "d": 2.1})
    {'a': 2.5, 'b': 4.0, 'c': 2.5, 'd': 1.0}
    """
    rules = {"average": average_ranks, "min": min_ranks}
    if ties not in rules:
        raise Misuse(f"ties are ranked by 'average' or 'min', not by '{ties}'.")
    values = np.array(list(scores.values()), np.float64)
    if decimals is not None:
        values = np.round(values, decimals)
    ranks = rules[ties](rank_keys(values, better))
    return dict(zip(scores, ranks.astype(np.float64).tolist(), strict=True))


def read_scores(path: str | Path) -> dict[str, MetricScores]:
    """The metrics' scores by experiment, from a CSV or JSON file.

    Raises:
        BadFile: It cannot be read, lacks a column, or a row is wrong; the message says which.
    """
    found: dict[str, dict[str, float]] = {}
    directions: dict[str, str] = {}
    for where, row in _rows(Path(path), SCORE_COLUMNS, _SCORES_NEEDED):
        words = _words(where, row, ("experiment", "method"))
        scores = found.setdefault(words["experiment"], {})
        if words["method"] in scores:
            raise BadFile(f"{where}: scores '{words['method']}' twice in '{words['experiment']}'.")
        scores[words["method"]] = _score(where, row.get("score"))
        better = str(row.get("better") or "lower").strip()
        if better not in _DIRECTIONS:
            raise BadFile(f"{where}: better is '{better}' but must be {', '.join(_DIRECTIONS)}.")
        if directions.setdefault(words["experiment"], better) != better:
            raise BadFile(
                f"{where}: better is '{better}', but '{directions[words['experiment']]}' before."
            )
    return {name: MetricScores(scores, directions[name]) for name, scores in found.items()}


def _score(where: str, value: Any) -> float:
    if value is None or str(value).strip() == "":
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise BadFile(f"{where}: score is '{value}' but must be a number, or empty.")
    return number


def read_rankings(path: str | Path) -> list[Ranking]:
    """The rankings of a CSV or JSON file, in its order.

    An empty rank (`null` in JSON) means that the method was not ranked.

    Raises:
        BadFile: It cannot be read, lacks a column, or a row is wrong; the message says which.
    """
    rows = _rows(Path(path), COLUMNS, _NEEDED)
    found: dict[tuple[str, str, str, int], dict[str, float]] = {}
    for where, row in rows:
        key, method, rank = _row(where, row)
        ranks = found.setdefault(key, {})
        if method in ranks:
            raise BadFile(
                f"{where}: {key[0]} ranks '{method}' twice in '{key[1]}'; if it is another "
                "attempt, count it in the column 'repeat'."
            )
        ranks[method] = rank
    return [
        Ranking(grader, experiment, ranks, variant, repeat)
        for (grader, experiment, variant, repeat), ranks in found.items()
    ]


def write_rankings(path: str | Path, rankings: Iterable[Ranking]) -> None:
    """Writes the file that `read_rankings` reads: JSON if its name ends in `.json`, else CSV."""
    path = Path(path)
    if path.suffix.lower() != ".json":
        path.write_text(rankings_csv(rankings), encoding="utf-8", newline="")
        return
    named = [
        dict(zip(COLUMNS, (*row, None if math.isnan(rank) else rank), strict=True))
        for *row, rank in _written_rows(rankings)
    ]
    path.write_text(json.dumps(named, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def rankings_csv(rankings: Iterable[Ranking]) -> str:
    """The text of a CSV file that `read_rankings` reads."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    rows = _written_rows(rankings)
    writer.writerows((*row, "" if math.isnan(rank) else rank) for *row, rank in rows)
    return text.getvalue()


def _written_rows(rankings: Iterable[Ranking]) -> list[tuple[str, str, str, int, str, float]]:
    return [
        (each.grader, each.experiment, each.variant, each.repeat, method, rank)
        for each in rankings
        for method, rank in each.ranks.items()
    ]


_Names = Sequence[str]
_Rows = list[tuple[str, dict[str, Any]]]


def _rows(path: Path, columns: _Names, needed: _Names) -> _Rows:
    """The rows of a CSV or JSON file, each with its place for messages."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: cannot be read as text: {error}") from None
    read = _json_rows if path.suffix.lower() == ".json" else _csv_rows
    return read(path, text, columns, needed)


def _csv_rows(path: Path, text: str, columns: _Names, needed: _Names) -> _Rows:
    reader = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True)
    _check_columns(str(path), reader.fieldnames or (), columns, needed)
    rows = []
    for row in reader:
        where = f"{path}, line {reader.line_num}"
        if reader.restkey in row:
            raise BadFile(f"{where}: has more fields than the first line names.")
        rows.append((where, dict(row)))
    return rows


def _json_rows(path: Path, text: str, columns: _Names, needed: _Names) -> _Rows:
    try:
        rows = parse_json(text)
    except ValueError as error:
        raise BadFile(f"{path}: is not JSON: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadFile(f"{path}: must be a list of objects with the keys {', '.join(columns)}.")
    named = [(f"{path}, row {number}", row) for number, row in enumerate(rows, 1)]
    for where, row in named:
        _check_columns(where, row, columns, needed)
    return named


def _check_columns(
    where: str, names: Iterable[str], columns: Sequence[str], needed: Sequence[str]
) -> None:
    names = list(names)
    lacking = [name for name in needed if name not in names]
    strange = [str(name) for name in names if name not in columns]
    if lacking or strange:
        wrong = [f"lacks {', '.join(lacking)}"] if lacking else []
        wrong += [f"has unknown {', '.join(strange)}"] if strange else []
        raise BadFile(f"{where}: {' and '.join(wrong)}; the columns are {', '.join(columns)}.")


def _row(where: str, row: Mapping[str, Any]) -> tuple[tuple[str, str, str, int], str, float]:
    words = _words(where, row, ("grader", "experiment", "method"))
    repeat = _number(where, "repeat", row.get("repeat"), 1.0)
    rank = _number(where, "rank", row.get("rank"), math.nan)
    if repeat < 1 or not repeat.is_integer():
        raise BadFile(f"{where}: repeat is {repeat:g} but counts from 1.")
    variant = str(row.get("variant") or "").strip()
    return (words["grader"], words["experiment"], variant, int(repeat)), words["method"], rank


def _words(where: str, row: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    words = {name: str(row.get(name) or "").strip() for name in names}
    if empty := [name for name, word in words.items() if not word]:
        raise BadFile(f"{where}: {', '.join(empty)} must not be empty.")
    return words


def _number(where: str, name: str, value: Any, empty: float) -> float:
    if value is None or str(value).strip() == "":
        return empty
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 1 or isinstance(value, bool):
        raise BadFile(f"{where}: {name} is '{value}' but must be a number from 1, or empty.")
    return number
