"""Annotation records on disk: one file per image, one line per event, nothing is ever rewritten.

A file has JSON lines: a header (picture, focal length, the points that the region must contain),
then what the person did, in that order. A later line of the same kind and id replaces an earlier
one, and `remove` removes it; both stay in the file. Replaying all lines gives the `Annotation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge.annotate.records.annotation import Annotation, Header, Record
from depthgauge.annotate.records.replay import replayed
from depthgauge.errors import BadFile, CannotWrite
from depthgauge.io import write_text
from depthgauge.io._files import opened, read_whole
from depthgauge.io.json_lines import append_line, is_whole, without_mark

__all__ = [
    "Header",
    "History",
    "Record",
    "Repair",
    "annotation_from_lines",
    "append_line",
    "append_record",
    "history",
    "line_from_record",
    "lines_from_annotation",
    "read_records",
    "record_from_line",
    "repair_records",
    "replayed",
    "start_records",
    "write_records",
]

_MOST_BYTES = 2**28


@dataclass(frozen=True)
class History:
    """Everything in a file of records."""

    header: Header
    records: tuple[Record, ...]
    notes: tuple[str, ...] = ()
    """Sentences about what was skipped."""

    @property
    def annotation(self) -> Annotation:
        """The annotation after the last record."""
        return replayed(self.header, self.records)


def read_records(path: Path) -> Annotation:
    """The annotation that a file's records give.

    A last line that a killed process left half written is skipped; `history` reports it.

    Raises:
        BadFile: The file is damaged elsewhere, or has another schema; the message names the line.
    """
    return history(path).annotation


def history(path: Path) -> History:
    """Every record of a file, in the order in which they were written."""
    with opened(path) as file:
        whole = read_whole(path, file, _MOST_BYTES)
    return _history(str(path), whole)


def annotation_from_lines(lines: Iterable[str]) -> Annotation:
    """The annotation that lines of JSON give, header first; inverts `lines_from_annotation`."""
    try:
        whole = "".join(f"{line.rstrip()}\n" for line in lines).encode()
    except UnicodeEncodeError:
        raise BadFile("these records hold half a character (a lone surrogate).") from None
    return _history("these records", whole).annotation


def lines_from_annotation(annotation: Annotation, *, points_seed: int | None = None) -> list[str]:
    """An annotation as lines of JSON, without line ends; reading them gives an equal annotation.

    Raises:
        Misuse: It contains something that cannot be recorded: NaN, an empty id, half a character
        ...
    """
    from depthgauge.annotate.records._lines import header_line, record_line

    header = Header(
        picture=annotation.picture,
        focal=annotation.focal,
        must_contain_px=annotation.must_contain_px,
        points_seed=points_seed,
        origin=annotation.origin,
    )
    return [header_line(header), *(record_line(record) for record in _records(annotation))]


def record_from_line(line: str) -> Record:
    """One event from a line of JSON, as files of records and the annotation page write it.

    Raises:
        BadFile: It is not an event; the message says what is wrong.
    """
    from depthgauge.annotate.records._lines import parse_record

    return parse_record("this event", line.encode("utf-8", "replace"))


def line_from_record(record: Record) -> str:
    """The line of JSON of one event, without its end; inverts `record_from_line`.

    Raises:
        Misuse: It contains something that cannot be recorded.
    """
    from depthgauge.annotate.records._lines import record_line

    return record_line(record)


def write_records(path: Path, annotation: Annotation, *, points_seed: int | None = None) -> None:
    """Writes an annotation as a new file of records; writing it again changes nothing.

    Raises:
        CannotWrite: Other records exist already: they are never replaced.
        Misuse: It contains something that cannot be recorded.
    """
    text = "".join(
        f"{line}\n" for line in lines_from_annotation(annotation, points_seed=points_seed)
    )
    _write_new(Path(path), text)


def start_records(path: Path, header: Header) -> None:
    """Starts a file of records with its header.

    Raises:
        CannotWrite: Other records exist already: they are never replaced.
        Misuse: The header contains something that cannot be recorded.
    """
    from depthgauge.annotate.records._lines import header_line

    _write_new(Path(path), f"{header_line(header)}\n")


@dataclass(frozen=True)
class Repair:
    """What `repair_records` did with a file."""

    kept: int
    """Lines that could be read, the header among them."""
    damaged: tuple[tuple[int, str], ...]
    """Number of each line that was set aside, and what is wrong with it."""

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        lines = [{"line": number, "problem": problem} for number, problem in self.damaged]
        return {"kept": self.kept, "damaged": lines}


def repair_records(path: Path) -> Repair:
    """Sets lines that cannot be read aside, in `<name>.damaged`, so that all others count.

    Nobody can write meanwhile, and no line is lost. A file without damage is left as it is.

    Raises:
        BadFile: There is no such file, or its header is damaged: without it no line has a meaning.
        CannotWrite: No space, no permission; the file is unchanged.
    """
    from depthgauge.annotate.records._lines import parse_header, parse_record
    from depthgauge.io.json_lines import alone, set_aside

    path = Path(path)
    with opened(path):
        pass
    with alone(path):
        with opened(path) as file:
            whole = read_whole(path, file, _MOST_BYTES)
        lines = [line for line in enumerate(without_mark(whole).split(b"\n"), 1) if line[1].strip()]
        if not lines:
            raise BadFile(f"{path}: holds no annotation records; a header is expected first.")
        parse_header(f"{path}: line {lines[0][0]}", lines[0][1])
        good, bad = [lines[0][1]], []
        for number, line in lines[1:]:
            try:
                parse_record("", line)
                good.append(line)
            except BadFile as error:
                bad.append((number, line, str(error).removeprefix(": ")))
        if bad:
            set_aside(path, [line for _, line, _ in bad])
            write_text(path, b"".join(line + b"\n" for line in good).decode("utf-8"))
    return Repair(len(good), tuple((number, problem) for number, _, problem in bad))


def append_record(path: Path, record: Record) -> None:
    """Appends one event to a file that has a header; when this returns, it is on the disk.

    Raises:
        BadFile: There is no such file.
        Misuse: The record could not be read again.
        CannotWrite: No space, no permission; the file is unchanged.
    """
    from depthgauge.annotate.records._lines import record_line

    line = record_line(record)
    with opened(path) as file:
        if not file.read(1):
            raise BadFile(f"{path}: is empty; begin it with a header (start_records).")
    append_line(path, line)


def _records(annotation: Annotation) -> Iterator[Record]:
    if annotation.region_px:
        yield Record("region", value=annotation.region_px)
    for name, stroke in annotation.strokes.items():
        yield Record("stroke", name, stroke)
    for name, surface in annotation.surfaces.items():
        yield Record("surface", name, surface)
    for name, normal in annotation.normals.items():
        yield Record("normal", name, normal)
    for name, relation in annotation.relations.items():
        yield Record("relation", name, relation)
    if annotation.finished:
        yield Record("finish")


def _history(where: str, whole: bytes) -> History:
    from depthgauge.annotate.records._lines import parse_header, parse_record

    *lines, rest = without_mark(whole).split(b"\n")
    notes = []
    if rest:
        if is_whole(rest):
            lines.append(rest)
        else:
            notes.append(
                f"{where}: the last line ({len(rest)} bytes) is incomplete and was "
                "skipped; draw again what it said."
            )
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise BadFile(f"{where}: holds no annotation records; a header is expected first.")
    number, first = numbered[0]
    header = parse_header(f"{where}: line {number}", first)
    records = []
    for n, line in numbered[1:]:
        try:
            records.append(parse_record(f"{where}: line {n}", line))
        except BadFile as error:
            raise BadFile(
                f"{error} To set damaged lines aside and keep all others: depthgauge annotate "
                "repair."
            ) from None
    return _checked_history(where, header, tuple(records), notes)


def _checked_history(
    where: str, header: Header, records: tuple[Record, ...], notes: list[str]
) -> History:
    return History(header, records, (*notes, *_lost_removals(where, records)))


def _lost_removals(where: str, records: tuple[Record, ...]) -> list[str]:
    there: set[tuple[str, str]] = set()
    notes = []
    for record in records:
        key = (str(record.value) if record.event == "remove" else record.event, record.id)
        if record.event != "remove":
            there.add(key)
        elif key in there:
            there.discard(key)
        else:
            notes.append(f"{where}: {key[0]} '{key[1]}' was removed but did not exist.")
    return notes


def _write_new(path: Path, text: str) -> None:
    if path.exists():
        with opened(path) as file:
            before = read_whole(path, file, _MOST_BYTES)
        if before == text.encode():
            return
        if before:
            raise CannotWrite(
                f"{path}: has other records already, which are never replaced; append to "
                "them or choose another name."
            )
    write_text(path, text)
