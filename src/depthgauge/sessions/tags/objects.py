"""The photographs of tagged objects, found by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from depthgauge.errors import BadData
from depthgauge.sessions.session import PICTURES, Session

TIMES: Final = (0, 1, 2, 3)
"""Before: without tags, with tags; after the rearrangement: with tags, without tags."""
TAGGED_TIMES: Final = (1, 2)
CAMERAS: Final = ("L", "R")
"""Cameras 0 and 1 in the names of files."""
VIEWS: Final = tuple((time, camera) for time in TIMES for camera in (0, 1))
"""Time and camera of the eight photographs."""
_NAME = re.compile(r"([0-3])_([01])")
_FOLDER = "objects"
_ANNOTATIONS = "annotations.toml"


@dataclass(frozen=True, slots=True)
class TagObject:
    """An object of a session with tags; its photographs are listed here and read when used."""

    name: str
    folder: Path
    images: Mapping[tuple[int, int], Path]
    """By time and camera."""
    doubled: tuple[Path, ...] = ()
    """More photographs of views that another file shows already."""

    @property
    def annotations(self) -> Path:
        """Where materials and layers are written down; the file may not exist yet."""
        return self.folder / _ANNOTATIONS

    def missing(self) -> list[str]:
        """Names of the photographs that are not there, without their endings."""
        return [f"{time}_{camera}" for time, camera in VIEWS if (time, camera) not in self.images]


def has_tag_objects(session: Session) -> bool:
    """Whether a session has a folder of tagged objects."""
    return (session.folder / _FOLDER).is_dir()


def tag_objects(session: Session) -> list[TagObject]:
    """All objects of a session, by name.

    Raises:
        BadData: There is none.
    """
    place = session.folder / _FOLDER
    folders = sorted(place.iterdir()) if place.is_dir() else []
    folders = [folder for folder in folders if folder.is_dir() and folder.name[0] != "."]
    if not folders:
        raise BadData(
            f"{session.folder}: there are no tagged objects; each is a folder "
            f"{_FOLDER}/<object> with the photographs 0_0.png to 3_1.png (see "
            "docs/capture-tags.md)."
        )
    return [_object(folder) for folder in folders]


def _object(folder: Path) -> TagObject:
    found: dict[tuple[int, int], Path] = {}
    doubled = []
    for path in sorted(folder.iterdir()):
        name = _NAME.fullmatch(path.stem)
        if name is None or path.suffix.lower() not in PICTURES:
            continue
        view = (int(name[1]), int(name[2]))
        if found.setdefault(view, path) != path:
            doubled.append(path)
    return TagObject(folder.name, folder, found, tuple(doubled))
