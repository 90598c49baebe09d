"""Which folder belongs to which camera, and the photographs in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from depthgauge.errors import BadData, BadFile, Misuse
from depthgauge.io.photographs.developed import HEIC, RAW, ending, notes_of
from depthgauge.io.photographs.exif import Exif
from depthgauge.sessions import CAMERAS
from depthgauge.sessions.session import PICTURES, natural

KINDS = ("calibration", "passive", "pattern")
_WORDS = {
    "L": ("l", "left", "cam_l", "caml"),
    "C": ("c", "centre", "center", "middle", "wide", "cam_c", "camc"),
    "R": ("r", "right", "cam_r", "camr"),
}


@dataclass(frozen=True, slots=True)
class Photograph:
    """A file of one camera, with what the camera noted in it."""

    camera: str
    path: Path
    exif: Exif = field(default_factory=Exif)


def camera_named(word: str) -> str | None:
    """The camera that a word of a path stands for: `left` is L.

    >>> camera_named("Left"), camera_named("R"), camera_named("DCIM")
    ('L', 'R', None)
    """
    known = (camera for camera, words in _WORDS.items() if word.lower() in words)
    return next(known, None)


def find_sources(given: Sequence[str], kind: str | None) -> dict[str, dict[str, Path]]:
    """Folders by kind of photograph and camera.

    Args:
        given: `L=folder`, a folder named after a camera (`left`), one that has such folders, or
            one that has folders `calibration`, `passive` and `pattern` with such folders. A folder
            with photographs of all cameras is the folder of `*`.
        kind: What the photographs show; needed unless the folders say it.

    Raises:
        Misuse: A folder's camera cannot be told, or is given twice; or the kind cannot.
        BadData: A folder does not exist.
    """
    found: dict[str, dict[str, Path]] = {}
    for text in given:
        for of_kind, camera, folder in _folders(text, kind):
            others = found.setdefault(of_kind, {})
            if others.setdefault(camera, folder) != folder:
                raise Misuse(f"camera {camera} has two folders, {others[camera]} and {folder}")
    if not found:
        raise Misuse("give folders of photographs, such as L=card1 R=card2")
    return found


def _folders(text: str, kind: str | None) -> list[tuple[str, str, Path]]:
    head, mark, rest = text.partition("=")
    named = head.upper() if mark and head.upper() in CAMERAS else None
    folder = Path(rest if named else text)
    if not folder.is_dir():
        raise BadData(f"{folder}: there is no such folder; give L=FOLDER R=FOLDER.")
    if named:
        return [(_need_kind(kind, folder), named, folder)]
    inside = {path.name: path for path in sorted(folder.iterdir()) if path.is_dir()}
    kinds = {name: inside[name] for name in KINDS if name in inside and kind in (None, name)}
    if kinds:
        return [
            (of, camera, place)
            for of, above in kinds.items()
            for camera, place in _camera_folders(above).items()
        ]
    if inner := _camera_folders(folder):
        return [(_need_kind(kind, folder), camera, place) for camera, place in inner.items()]
    return [(_need_kind(kind, folder), camera_named(folder.name) or "*", folder)]


def _camera_folders(folder: Path) -> dict[str, Path]:
    found = [(camera_named(p.name), p) for p in sorted(folder.iterdir()) if p.is_dir()]
    return {camera: path for camera, path in found if camera is not None}


def _need_kind(kind: str | None, folder: Path) -> str:
    if kind is None:
        raise Misuse(
            f"{folder}: say what the photographs show: --kind calibration (the board), passive "
            "(the scene as it is) or pattern (painted, under projected patterns)"
        )
    return kind


def list_photographs(camera: str, folder: Path) -> tuple[list[Photograph], dict[str, str]]:
    """The photographs of a folder, by name (im2 before im10), and why others cannot be used.

    Raises:
        BadData: There are none.
    """
    found, bad = [], {}
    names = sorted(folder.iterdir(), key=lambda path: natural(path.name))
    for path in names:
        if path.name.startswith(".") or ending(path) not in (*PICTURES, *RAW, *HEIC):
            continue
        try:
            found.append(Photograph(camera, path, notes_of(path)))
        except BadFile as error:
            bad[path.name] = str(error)
    if not found:
        endings = ", ".join(e.removeprefix(".") for e in (*PICTURES, "RAW", "HEIC"))
        raise BadData(f"{folder}: there are no photographs ({endings}).")
    return found, bad


def by_camera(photographs: Mapping[str, Sequence[Photograph]]) -> str:
    """How many photographs each camera has, for messages.

    >>> by_camera({"L": [1, 2], "R": [1]})
    'L has 2, R has 1'
    """
    return ", ".join(f"{camera} has {len(found)}" for camera, found in photographs.items())
