"""What can be downloaded: one TOML file for each public dataset, with its licence and its files.

A checksum is listed only where it is known. Where none is known, the first download records it, so
that a second one can be compared; the record says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from depthgauge._registry import unknown
from depthgauge.errors import BadFile
from depthgauge.io.text import read_toml

FOLDER = Path(__file__).parent / "manifests"
_HASH = r"^[0-9a-f]{64}$"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RemoteFile(_Strict):
    """One file of a dataset."""

    urls: Annotated[tuple[str, ...], Field(min_length=1)]
    """The same file in one or more places, tried in this order."""
    name: str = ""
    """Its name on disk; by default that of the first URL."""
    size: int | None = Field(default=None, ge=0)
    """In bytes, where it is known."""
    sha256: str | None = Field(default=None, pattern=_HASH)
    """Where the publisher, or somebody who checked, states it."""
    unpack: Literal["none", "zip", "tar"] = "none"
    into: str = ""
    """The folder, below the dataset's, into which it is unpacked or put."""

    @field_validator("urls")
    @classmethod
    def _plain(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError(f"'{url}' must begin with http:// or https://")
        return urls

    @field_validator("name", "into")
    @classmethod
    def _inside(cls, text: str) -> str:
        parts = Path(text).parts
        if text.startswith("/") or ".." in parts or "\\" in text:
            raise ValueError(f"'{text}' must stay inside the dataset's folder")
        return text

    @property
    def file_name(self) -> str:
        """The name on disk."""
        return self.name or unquote(Path(urlsplit(self.urls[0]).path).name)


class Manifest(_Strict):
    """A dataset that may be downloaded."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    title: str
    dataset: str = ""
    """The layout that reads it; empty: none yet."""
    folder: str = ""
    """The folder, below the one it is downloaded to, that `--data` takes."""
    licence: str
    terms: str
    """What a user must know and accept, in plain sentences."""
    homepage: str
    cite: str
    files: Annotated[tuple[RemoteFile, ...], Field(min_length=1)]

    @property
    def size(self) -> int | None:
        """All bytes; None where a size is not known."""
        sizes = [file.size for file in self.files]
        return None if None in sizes else sum(size or 0 for size in sizes)


def names() -> list[str]:
    """The ids of all manifests of this package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find_manifest(name: str) -> Manifest:
    """A manifest by its id, or by the path of its file.

    Raises:
        UnknownName: There is no such dataset; the message suggests the nearest.
        BadFile: The file is not a manifest; all mistakes are listed.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not name.endswith(".toml") and name not in names():
        raise unknown("dataset to download", name, names())
    try:
        found = Manifest.model_validate(read_toml(path))
    except ValidationError as error:
        said = "; ".join(
            f"{'.'.join(map(str, each['loc']))}: {each['msg'].removeprefix('Value error, ')}"
            for each in error.errors()
        )
        raise BadFile(f"{path}: {said}.") from None
    listed = [file.file_name for file in found.files]
    if len(set(listed)) != len(listed) or not all(listed):
        raise BadFile(f"{path}: files need different names.")
    return found
