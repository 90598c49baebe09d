"""Files of other programs from records, and records from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from depthgauge.annotate.exchange import coco, label_studio
from depthgauge.annotate.exchange.fields import Document, Taken, is_name
from depthgauge.annotate.exchange.label_studio_reading import from_label_studio
from depthgauge.annotate.records import lines_from_annotation, write_records
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.annotate.records.folders import RECORDS, SUFFIX, read_all
from depthgauge.errors import BadFile, CannotWrite, DepthgaugeError, Misuse
from depthgauge.io import write_text
from depthgauge.io.text import read_json

Format = Literal["coco", "label-studio"]
FORMATS: tuple[Format, ...] = ("coco", "label-studio")
_MOST_BYTES = 1 << 28
_WRITERS: dict[str, Callable[..., Document]] = {
    "coco": coco.to_coco,
    "label-studio": label_studio.to_label_studio,
}
_READERS: dict[str, Callable[[Any, str], Taken]] = {
    "coco": coco.from_coco,
    "label-studio": from_label_studio,
}


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was written."""

    files: tuple[Path, ...]
    annotations: int
    left_out: Mapping[str, int]
    """What the other side cannot hold, and how much of it there was."""

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        return {
            "schema": 1,
            "files": [str(path) for path in self.files],
            "annotations": self.annotations,
            "left_out": dict(self.left_out),
        }


def write_document(
    records: Iterable[Path],
    to: Format,
    out: Path,
    *,
    prefix: str = "",
    images: Path | None = None,
    overwrite: bool = False,
    notes: Callable[[str], None],
) -> Exchange:
    """Writes records as one file of another format; for Label Studio, its interface beside it.

    Args:
        records: Files, and folders of them.
        to: The format.
        out: The file; the interface has its name with the ending `.xml`.
        prefix: Before the names of photographs, where the other program finds them.
        images: The photographs: names of files are found there; without it, they are ids.
        overwrite: Replaces files that are there.
        notes: Called with a sentence about each file that was left out.

    Raises:
        BadData: There are no records.
        CannotWrite: The file exists, or cannot be written.
    """
    from depthgauge.annotate.reconstruct.export import find_photograph

    beside = out.with_suffix(".xml")
    written = (out, beside) if to == "label-studio" else (out,)
    for path in written:
        if path.exists() and not overwrite:
            raise CannotWrite(f"{path}: exists already; say --overwrite (overwrite=True).")

    def file_of(picture: str) -> str:
        return prefix + (picture if images is None else find_photograph(images, picture).name)

    found = [
        replace(one.annotation, origin=replace(one.annotation.origin, who=one.who))
        for one in read_all(records, notes=notes)
    ]
    made = _WRITERS[to](found, file_of)
    text = json.dumps(made.body, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(out, text + "\n")
    if to == "label-studio":
        write_text(beside, label_studio.CONFIG)
    return Exchange(written, len(found), made.left_out)


def read_document(file: Path, of: Format, out: Path, who: str = "imported") -> Exchange:
    """Writes the annotations of a file as records: `OUT/records/PERSON/PICTURE.jsonl`.

    Everything is checked before anything is written; records that are there are never replaced.

    Args:
        file: JSON of another program.
        of: Its format.
        out: The folder of a study.
        who: Who drew what has no name in the file.

    Raises:
        Misuse: `who` cannot be the name of a folder.
        BadFile: Something in the file is wrong; the sentence says where.
        CannotWrite: There are other records of one of these photographs.
    """
    if not is_name(who):
        raise Misuse(f"--who is '{who}'; it names a folder.")
    try:
        taken = _READERS[of](read_json(file, _MOST_BYTES), who)
    except BadFile as error:
        text = str(error)
        raise BadFile(text if text.startswith(str(file)) else f"{file}: {text}") from None
    places: dict[Path, Annotation] = {}
    for one in taken.annotations:
        path = out / RECORDS / one.origin.who / f"{one.picture.id}{SUFFIX}"
        if path in places:
            about = f"{one.origin.who} has two annotations of {one.picture.id}"
            raise BadFile(f"{file}: {about}; keep one.")
        places[path] = one
        _require_recordable(file, one, path)
    for path, one in places.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_records(path, one)
    return Exchange(tuple(places), len(places), taken.left_out)


def _require_recordable(file: Path, one: Annotation, path: Path) -> None:
    try:
        lines = lines_from_annotation(one)
    except DepthgaugeError as error:
        raise BadFile(f"{file}: the annotation of {one.picture.id}: {error}") from None
    same = "".join(f"{line}\n" for line in lines).encode()
    if path.exists() and path.read_bytes() not in (b"", same):
        raise CannotWrite(f"{path}: has other records already, which are never replaced.")
