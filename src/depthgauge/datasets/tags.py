"""Tags beside a dataset: what is known about samples (weather, lighting, hazards) and pixels.

`tags.csv` has a row for each sample: the column `sample`, and one column for each kind of tag. A
cell may have several words, separated by `;`, or none. `tags.toml` has the same as
`[samples.<id>]` tables, and may name regions of pixels in `[regions]`.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from depthgauge._registry import nearest
from depthgauge._shorten import first_few
from depthgauge.errors import BadFile
from depthgauge.io.text import read_text, read_toml

NAMES = ("tags.toml", "tags.csv")
"""Where tags are looked for in a dataset's folder."""
UNTAGGED = "(none)"
"""The stratum of samples without a tag of some kind."""
HAZARDS: Mapping[str, str] = {
    "no texture": "textureless",
    "saturated": "saturation:1",
    "repetitive texture": "repetition:1",
    "edge without contrast": "low_contrast:1",
    "occluded": "occluded",
    "beside a jump": "discontinuities",
    "fine structure": "fine_structures",
}
"""Hazards of pixels that are found in pictures and truth without a person."""


@dataclass(frozen=True)
class Tags:
    """What was noted about a dataset."""

    source: str
    samples: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """By sample and kind, all words."""
    regions: Mapping[str, str] = field(default_factory=dict)
    """Expressions of regions by the name of the hazard."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Weather, lighting ... in the order of the file."""
        return tuple(dict.fromkeys(kind for found in self.samples.values() for kind in found))

    def strata(self, kind: str, samples: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The samples of each word of a kind, and those without one; a sample may be in several."""
        found: dict[str, list[str]] = {}
        for name in samples:
            for word in self.samples.get(name, {}).get(kind, ()) or (UNTAGGED,):
                found.setdefault(word, []).append(name)
        ordered = sorted(found, key=lambda word: (word == UNTAGGED, word))
        return {word: tuple(found[word]) for word in ordered}

    def check(self, samples: Collection[str]) -> tuple[str, ...]:
        """Sentences about tags of samples that are not there."""
        lost = [name for name in self.samples if name not in samples]
        if not lost:
            return ()
        hint = nearest(lost[0], list(samples))
        return (f"{self.source}: no sample is called {first_few(lost, 3)}. {hint}".strip(),)


def find_tags(folder: Path) -> Path | None:
    """The file of tags in a dataset's folder; None if there is none."""
    return next((folder / name for name in NAMES if (folder / name).is_file()), None)


def read_tags(path: str | Path) -> Tags:
    """The tags in a file; `hazards` stands for the hazards of pixels that need no file.

    Raises:
        BadFile: It cannot be read or is not such a file; says where.
    """
    if str(path) == "hazards":
        return Tags("hazards", regions=HAZARDS)
    place = Path(path)
    if place.is_dir():
        found = find_tags(place)
        if found is None:
            raise BadFile(f"{place}: has no {' or '.join(NAMES)}.")
        place = found
    if place.suffix == ".toml":
        return _from_toml(place)
    if place.suffix == ".csv":
        return _from_csv(place)
    raise BadFile(f"{place}: tags are in a .csv or a .toml file, or 'hazards' for those of pixels.")


def _from_csv(path: Path) -> Tags:
    rows = list(csv.reader(read_text(path).splitlines()))
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    head = [cell.strip() for cell in rows[0]] if rows else []
    if not head or head[0] != "sample" or len(head) < 2:
        raise BadFile(f"{path}: the first line must be 'sample,' and the kinds of tags.")
    if len(set(head)) != len(head) or not all(head):
        raise BadFile(f"{path}: the kinds of tags must have different names.")
    samples: dict[str, dict[str, tuple[str, ...]]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(head):
            raise BadFile(f"{path}: row {number} has {len(row)} cells, the first has {len(head)}.")
        name = row[0].strip()
        if not name or name in samples:
            raise BadFile(f"{path}: row {number}: '{name}' is empty or there twice.")
        words = (_words(cell) for cell in row[1:])
        samples[name] = dict(zip(head[1:], words, strict=True))
    return Tags(str(path), samples)


def _from_toml(path: Path) -> Tags:
    raw = read_toml(path)
    if unknown := raw.keys() - {"samples", "regions"}:
        raise BadFile(f"{path}: has [{min(unknown)}], but only [samples.<id>] and [regions].")
    samples = {
        str(name): {str(kind): _listed(path, name, words) for kind, words in _table(path, found)}
        for name, found in _table(path, raw.get("samples", {}))
    }
    regions = {str(name): text for name, text in _table(path, raw.get("regions", {}))}
    if wrong := [name for name, text in regions.items() if not isinstance(text, str)]:
        raise BadFile(f"{path}: region '{wrong[0]}' must be an expression in quotes.")
    return Tags(str(path), samples, regions)


def _table(path: Path, found: Any) -> Any:
    if not isinstance(found, dict):
        raise BadFile(f"{path}: expected a table, found {found!r}.")
    return found.items()


def _listed(path: Path, name: str, words: Any) -> tuple[str, ...]:
    if isinstance(words, str):
        return _words(words)
    if isinstance(words, list) and all(isinstance(word, str) for word in words):
        return tuple(word.strip() for word in words if word.strip())
    raise BadFile(f"{path}: the tags of '{name}' must be words or lists of words.")


def _words(cell: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in cell.split(";") if word.strip())
