"""What a person says about each tag: the material that it sticks to, and its layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from depthgauge.errors import BadData
from depthgauge.io import write_text
from depthgauge.io.text import read_toml

MATERIALS: Final = ("diffuse", "transparent", "reflective")
"""Of the surface that a tag sticks to."""
SCHEMA: Final = 1
_KEYS = ("material", "layer", "valid", "bad_corners")
_HEAD = """\
# What each tag sticks to.
# material: "diffuse", "transparent" or "reflective"
# layer: 1 for the first surface that the camera sees at this place, 2 for the one behind it ...
#   A tag on a window is on layer 1; a tag on the wall that is seen through the window, on layer 2.
# valid = false leaves a tag out; bad_corners = [0, 2] leaves out some of its corners.
"""


@dataclass(frozen=True, slots=True)
class TagNote:
    """What is known about a tag."""

    material: str = ""
    """One of `MATERIALS`; empty where nobody has said it yet."""
    layer: int = 0
    """From 1; 0 where nobody has said it yet."""
    valid: bool = True
    """False for a tag that must not be used: it slipped, or is bent."""
    bad_corners: tuple[int, ...] = ()
    """Corners 0 to 3 that must not be used."""

    @property
    def filled_in(self) -> bool:
        """Whether somebody has said what it is."""
        return bool(self.material) and self.layer > 0


def write_annotations(path: Path, notes: Mapping[int, TagNote]) -> None:
    """Writes the file, a table for each tag by identity; empty notes are there to be filled in."""
    parts = [f"{_HEAD}\nschema = {SCHEMA}\n"]
    for identity, note in sorted(notes.items()):
        lines = [f"[tags.{identity}]", f'material = "{note.material}"', f"layer = {note.layer}"]
        if not note.valid:
            lines.append("valid = false")
        if note.bad_corners:
            lines.append(f"bad_corners = {list(note.bad_corners)}")
        parts.append("\n".join(lines) + "\n")
    write_text(path, "\n".join(parts))


def read_annotations(path: Path) -> dict[int, TagNote]:
    """The notes of all tags by identity.

    Raises:
        BadFile: It cannot be read, or is not TOML.
        BadData: It says something that cannot be; every mistake is listed.
    """
    table = read_toml(path)
    if table.get("schema") != SCHEMA:
        raise BadData(f"{path}: expected schema = {SCHEMA}, found {table.get('schema')!r}.")
    tags = table.get("tags", {})
    problems = [f"'{key}' is not known" for key in table if key not in ("schema", "tags")]
    if not isinstance(tags, dict):
        raise BadData(f"{path}: expected a table [tags.<identity>] for each tag, found {tags!r}.")
    notes: dict[int, TagNote] = {}
    for name, said in tags.items():
        found = list(_problems(name, said))
        problems += [f"tag {name}: {problem}" for problem in found]
        if not found:
            values = {**said, "bad_corners": tuple(said.get("bad_corners", ()))}
            notes[int(name)] = TagNote(**values)
    if problems:
        raise BadData(f"{path}: {'; '.join(problems)}.")
    return notes


def _problems(name: str, said: Any) -> Iterator[str]:
    if not (name.isascii() and name.isdigit() and str(int(name)) == name):
        yield "an identity is a whole number"
    if not isinstance(said, dict):
        yield f"expected material and layer, found {said!r}"
        return
    for key in said:
        if key not in _KEYS:
            yield f"'{key}' is not one of {', '.join(_KEYS)}"
    material, layer = said.get("material", ""), said.get("layer", 0)
    if material not in ("", *MATERIALS):
        yield f"material must be one of {', '.join(MATERIALS)}, found {material!r}"
    if type(layer) is not int or not 0 <= layer <= 99:
        yield f"layer must be a whole number from 1 to 99, found {layer!r}"
    if bool(material) != bool(layer):
        yield "material and layer must both be filled in, or neither"
    if type(said.get("valid", True)) is not bool:
        yield f"valid must be true or false, found {said['valid']!r}"
    corners = said.get("bad_corners", [])
    if not isinstance(corners, list) or not all(type(c) is int and 0 <= c < 4 for c in corners):
        yield f"bad_corners must be a list of numbers from 0 to 3, found {corners!r}"
