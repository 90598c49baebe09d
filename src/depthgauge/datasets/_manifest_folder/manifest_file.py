"""`dataset.json`: the content of our own dataset folder, with the hash of every file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    model_serializer,
    model_validator,
)

from depthgauge._registry import unknown
from depthgauge.datasets._manifest_folder.item_kinds import FILE_KINDS, INLINE_KINDS
from depthgauge.datasets._paths import unsafe
from depthgauge.errors import BadData, Problem
from depthgauge.io import write_text
from depthgauge.io.text import parse_json, read_text

FILE_NAME = "dataset.json"
SCHEMA = 1
_MOST_BYTES = 2**26
"""Of a manifest: about 100,000 files."""
FRAMES = "frames"
"""The kind of an item that is a sequence."""
ALL = "all"
"""The split of all samples; it always exists and is never listed."""


def _relative(text: str) -> str:
    if why := unsafe(text):
        raise ValueError(f"'{text}' is refused: {why}")
    return text


RelativePath = Annotated[str, AfterValidator(_relative)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Item(_Strict):
    """One item of a sample: a file with size and hash, or a small value."""

    kind: str
    path: RelativePath | None = None
    bytes: Annotated[int, Field(ge=0)] | None = None
    sha256: Sha256 | None = None
    value: Any = None
    frames: tuple[Item, ...] | None = Field(default=None, strict=False)
    """For a clip: one item per frame, in order."""

    @model_validator(mode="after")
    def _complete(self) -> Item:
        if self.kind == FRAMES:
            if not self.frames or any(frame.kind == FRAMES for frame in self.frames):
                raise ValueError("a clip has frames, and its frames are not clips")
            return self
        if self.frames is not None:
            raise ValueError(f"kind '{self.kind}' has no frames")
        if self.kind not in FILE_KINDS and self.kind not in INLINE_KINDS:
            raise ValueError(str(unknown("kind", self.kind, [*FILE_KINDS, *INLINE_KINDS, FRAMES])))
        of_file = (self.path, self.bytes, self.sha256)
        if self.kind in FILE_KINDS and None in of_file:
            raise ValueError(f"kind '{self.kind}' needs path, bytes and sha256")
        if self.kind in INLINE_KINDS:
            if of_file != (None, None, None):
                raise ValueError(f"kind '{self.kind}' has a value, not a file")
            self.decoded()
        return self

    @model_serializer(mode="wrap")
    def _without_frames(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Items of single images are written as they were before clips existed."""
        content: dict[str, Any] = handler(self)
        if self.frames is None:
            content.pop("frames", None)
            return content
        return {"kind": self.kind, "frames": content["frames"]}

    def decoded(self) -> Any:
        """The value of an inline item."""
        try:
            return INLINE_KINDS[self.kind].decode(self.value)
        except (KeyError, TypeError, AttributeError) as e:
            raise ValueError(f"the {self.kind} is incomplete: {e!r}") from e


class Entry(_Strict):
    """One sample."""

    scene: str = ""
    inputs: dict[str, Item]
    truth: dict[str, Item] | None

    def files(self) -> Iterator[Item]:
        """Its items that are files."""
        for item in (*self.inputs.values(), *(self.truth or {}).values()):
            yield from (each for each in item.frames or (item,) if each.path is not None)


class Manifest(_Strict):
    """The whole of `dataset.json`."""

    schema_version: Literal[1] = Field(alias="schema")
    id: str
    title: str
    licence: str
    quantities: list[str]
    splits: dict[str, list[str]]
    samples: dict[RelativePath, Entry]
    made_by: dict[str, Any] = {}

    @model_validator(mode="after")
    def _splits_exist(self) -> Manifest:
        if ALL in self.splits:
            raise ValueError(f"the split '{ALL}' always exists; do not list it")
        for split, ids in self.splits.items():
            for sample_id in ids:
                if sample_id not in self.samples:
                    raise ValueError(f"split '{split}' lists '{sample_id}', which is not a sample")
        return self

    def ids(self, split: str) -> list[str]:
        """The samples of a split, sorted."""
        if split == ALL:
            return sorted(self.samples)
        if split not in self.splits:
            raise unknown("split", split, [ALL, *self.splits])
        return sorted(self.splits[split])


def problems(root: Path) -> tuple[Manifest | None, list[Problem]]:
    """The manifest if it is valid, else everything that is wrong with it."""
    if not (root / FILE_NAME).exists():
        return None, [Problem(FILE_NAME, f"there is no such file in {root}")]
    try:
        content = parse_json(read_text(root / FILE_NAME, _MOST_BYTES), finite=True)
    except (OSError, ValueError) as e:
        return None, [Problem(FILE_NAME, f"cannot be read as JSON: {e}")]
    version = content.get("schema") if isinstance(content, dict) else None
    if type(version) is int and version != SCHEMA:
        hint = f"this depthgauge reads {SCHEMA}; use the version that wrote it"
        return None, [Problem(FILE_NAME, f"schema version {version} is not known", hint)]
    try:
        return Manifest.model_validate(content), []
    except ValidationError as e:
        return None, [_problem(error) for error in e.errors()]


def read(root: Path) -> Manifest:
    """The manifest of a folder.

    Raises:
        BadData: It is missing or has mistakes; the message lists all of them.
    """
    manifest, wrong = problems(root)
    if manifest is None:
        listed = "; ".join(str(p) for p in wrong[:20])
        raise BadData(f"{root}: not a usable dataset folder: {listed}.")
    return manifest


def write(root: Path, manifest: Manifest) -> None:
    """Writes the manifest to a temporary file, syncs it and moves it into place.

    Raises:
        BadData: It holds a value that could not be read back.
    """
    content = manifest.model_dump(by_alias=True, exclude_none=False)
    for entry in content["samples"].values():
        for items in (entry["inputs"], entry["truth"] or {}):
            for name, item in items.items():
                items[name] = _without_blanks(item)
    text = json.dumps(content, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
    try:
        parse_json(text)
    except ValueError as error:
        raise BadData(f"{root}: the dataset cannot be written: {error}.") from None
    write_text(root / FILE_NAME, text + "\n")


def manifest_hash(root: Path) -> str:
    """SHA-256 of the manifest's content, independent of its indentation.

    It covers the hash of every file, so two folders with the same hash hold the same data.
    """
    content = read(root).model_dump(by_alias=True)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def _without_blanks(item: Mapping[str, Any]) -> dict[str, Any]:
    if item["kind"] == FRAMES:
        return {"kind": FRAMES, "frames": [_without_blanks(frame) for frame in item["frames"]]}
    # A file has no value, and a value has no file; a value itself may be null.
    inline = item["kind"] in INLINE_KINDS
    names = ("kind", "value") if inline else ("kind", "path", "bytes", "sha256")
    return {name: item[name] for name in names}


def _problem(error: Any) -> Problem:
    where = ".".join(str(part) for part in error["loc"]) or FILE_NAME
    return Problem(where, str(error["msg"]).removeprefix("Value error, "))
