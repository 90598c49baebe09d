"""Whether an annotation is good enough: votes of people who look at the finished surface.

Votes are an append-only file of JSON lines, one vote per line:

    {"schema": 1, "annotation": "beach/anna", "who": "ben", "good": true, "at": "2026-05-04T10:00Z"}

Everyone has one vote per annotation; the last one in the file counts. Nothing is rewritten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from depthgauge._options import signature_from
from depthgauge.annotate.options import VoteOptions
from depthgauge.errors import BadFile, Misuse
from depthgauge.io._files import opened, read_whole
from depthgauge.io.json_lines import append_line, is_whole, without_mark

SCHEMA = 1
NEEDED = 2
"""The number of people who must agree: two of three."""
Status = Literal["accepted", "rejected", "pending"]
_MOST_BYTES = 2**26


@dataclass(frozen=True, slots=True)
class Vote:
    """What one person thinks of one annotation."""

    annotation: str
    who: str
    good: bool
    at: str = ""
    """ISO 8601 with time zone; empty if it is not known."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The votes on one annotation and what they decide."""

    annotation: str
    good: int
    bad: int
    status: Status


@dataclass(frozen=True, slots=True)
class VoteCount:
    """The votes of a file, counted."""

    needed: int
    """The number of people who must agree."""
    tallies: Mapping[str, Tally]
    """By annotation."""
    notes: tuple[str, ...]
    """Notes about what was left out."""

    def to_json(self) -> dict[str, Any]:
        """Plain data for strict JSON."""
        listed = {
            name: {"good": one.good, "bad": one.bad, "status": one.status}
            for name, one in self.tallies.items()
        }
        return {"needed": self.needed, "annotations": listed}


@signature_from(VoteOptions)
def count_votes(path: Path, *, options: VoteOptions) -> VoteCount:
    """Counts the votes of a file.

    Args:
        path: The file.
        options: The fields of `VoteOptions`, as keywords.

    Raises:
        BadFile: A line is not a vote.
    """
    votes, notes = read_votes(path)
    return VoteCount(options.needed, tally(votes, needed=options.needed), tuple(notes))


def tally(votes: Iterable[Vote], *, needed: int = NEEDED) -> dict[str, Tally]:
    """Counts the votes on every annotation.

    An annotation is accepted if at least `needed` people say it is good and fewer say the opposite,
    rejected the other way round, and pending otherwise, as in a tie.

    Args:
        votes: In the order in which they were given.
        needed: The number of people who must agree.

    Raises:
        Misuse: `needed` is below 1.

    >>> votes = [Vote("a", "anna", False), Vote("a", "ben", True), Vote("a", "anna", True)]
    >>> tally(votes)["a"]
    Tally(annotation='a', good=2, bad=0, status='accepted')
    """
    if needed < 1:
        raise Misuse(f"at least 1 vote must be needed, found {needed}.")
    last: dict[str, dict[str, bool]] = {}
    for vote in votes:
        last.setdefault(vote.annotation, {})[vote.who] = vote.good
    return {name: _tally(name, list(said.values()), needed) for name, said in last.items()}


def accepted(votes: Iterable[Vote], *, needed: int = NEEDED) -> frozenset[str]:
    """The annotations that were accepted.

    >>> sorted(accepted([Vote("a", "anna", True), Vote("b", "anna", True)], needed=1))
    ['a', 'b']
    """
    found = tally(votes, needed=needed).values()
    return frozenset(one.annotation for one in found if one.status == "accepted")


def _tally(name: str, said: list[bool], needed: int) -> Tally:
    good = sum(said)
    bad = len(said) - good
    status: Status = "pending"
    if good >= needed and good > bad:
        status = "accepted"
    elif bad >= needed and bad > good:
        status = "rejected"
    return Tally(name, good, bad, status)


def append_vote(path: Path, vote: Vote) -> None:
    """Appends a vote to a file, synced; creates the file if there is none.

    Raises:
        Misuse: A name is empty or too long, or the time is not valid.
        CannotWrite: The file cannot be written.
    """
    body = {"schema": SCHEMA, "annotation": vote.annotation, "who": vote.who, "good": vote.good}
    line = json.dumps({**body, "at": vote.at} if vote.at else body, allow_nan=False)
    try:
        _vote("this vote", line.encode())
    except BadFile as error:
        raise Misuse(str(error)) from None
    append_line(path, line)


def read_votes(path: Path) -> tuple[list[Vote], list[str]]:
    """The votes of a file, in its order, and notes on what was left out.

    A last line that a killed process left half written is left out with a note.

    Raises:
        BadFile: Another line is not a vote; the sentence names it.
    """
    with opened(path) as file:
        whole = read_whole(path, file, _MOST_BYTES)
    lines, notes = without_mark(whole).split(b"\n"), []
    if lines[-1].strip() and not is_whole(lines[-1]):
        notes.append(f"{path}: line {len(lines)} is incomplete and was left out.")
        lines.pop()
    votes = [
        _vote(f"{path}: line {number}", line)
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    return votes, notes


def _vote(where: str, line: bytes) -> Vote:
    from depthgauge.annotate.records._lines import VoteModel, parse_line

    found = parse_line(where, line, VoteModel)
    return Vote(found.annotation, found.who, found.good, found.at)
