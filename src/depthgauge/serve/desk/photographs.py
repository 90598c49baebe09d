"""The photographs of a folder, as a browser may have them: upright, and without what cameras add.

A picture is decoded and written anew, so nothing of the file but its pixels leaves: no place, no
time, no name, no thumbnail, no serial number.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.annotate.reconstruct.export import find_photograph
from depthgauge.annotate.records.annotation import Focal, Picture
from depthgauge.annotate.records.folders import SUFFIX
from depthgauge.annotate.shown_bytes import shown_bytes
from depthgauge.errors import BadData, DepthgaugeError, Refused, TooLarge, Unavailable
from depthgauge.serve.desk.pictures import jpeg, reduced

IMAGES = "images"
_KINDS = (".png", ".jpg", ".jpeg", ".ppm")
_MOST_PIXELS = 2**26
"""What records allow."""
_SHOWN_PX, _SMALL_PX = 4096, 360
"""Longer side of what a browser gets, and of what stands in the list."""
_KEPT = 4
_ASSUMED_FOCAL = 1.2
"""Times the longer side, where a file says nothing."""


@dataclass(frozen=True, slots=True)
class Photograph:
    """A photograph of the folder."""

    id: str
    """As in records: the name without its ending, unless another file has that name, too."""
    path: Path


@dataclass(frozen=True, slots=True)
class Shown:
    """A photograph as a page needs it."""

    picture: Picture
    focal: Focal
    shown: bytes
    """JPEG without metadata, at most 4096 px."""
    small: bytes
    colours: NDArray[np.uint8]
    """(h, w, 3) of at most 360 px."""


def photographs(folder: Path) -> dict[str, Photograph]:
    """The photographs in `folder/images`, or else in the folder, by id.

    Raises:
        BadData: There is no such folder, or no photograph in it.
    """
    images = folder / IMAGES if (folder / IMAGES).is_dir() else folder
    if not images.is_dir():
        raise BadData(f"{folder}: there is no such folder of photographs.")
    paths = sorted(p for p in images.iterdir() if p.suffix.lower() in _KINDS and p.is_file())
    if not paths:
        raise BadData(f"{images}: has no photograph (png, jpg, ppm).")
    return {name: Photograph(name, path) for path in paths for name in [_id(images, path)]}


def _id(images: Path, path: Path) -> str:
    try:
        first = find_photograph(images, path.stem) == path
    except Unavailable:
        first = False
    return path.stem if first else path.name


def records_path(folder: Path, who: str, picture: str) -> Path:
    """Where a person's records of a photograph are, as in every study."""
    return folder / "records" / who / f"{picture}{SUFFIX}"


class Prints:
    """Photographs as browsers get them; the last few are kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, int], Shown] = OrderedDict()
        self._small: dict[tuple[Path, int], bytes] = {}
        self._alone = threading.Lock()

    def shown(self, photograph: Photograph) -> Shown:
        """The photograph, decoded once.

        Raises:
            Refused: It cannot be read; the sentence says why.
        """
        key = _key(photograph.path)
        # One at a time: a picture of 50 million pixels needs most of a gigabyte.
        with self._alone:
            if key not in self._kept:
                self._kept[key] = _shown(photograph)
                self._small[key] = self._kept[key].small
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]

    def small(self, photograph: Photograph) -> bytes:
        """The photograph for a list of many."""
        found = self._small.get(_key(photograph.path))
        return self.shown(photograph).small if found is None else found


def _key(path: Path) -> tuple[Path, int]:
    try:
        return path, path.stat().st_mtime_ns
    except OSError:
        raise Refused("not-found", f"{path.name} is not there any more") from None


def _shown(photograph: Photograph) -> Shown:
    path = photograph.path
    try:
        pixels = shown_bytes(io.read_image(path, _MOST_PIXELS))
        focal_px = io.focal_from_exif(path)
    except TooLarge:
        text = f"{path.name} has more than {_MOST_PIXELS // 10**6} million pixels; make it smaller"
        raise Refused("invalid", text) from None
    except DepthgaugeError as error:
        raise Refused("invalid", str(error).replace(str(path), path.name).rstrip(".")) from None
    height, width = pixels.shape[:2]
    picture = Picture(photograph.id, width, height, _sha256(path))
    if focal_px is None:
        focal = Focal(_ASSUMED_FOCAL * max(width, height), "assumed")
    else:
        focal = Focal(focal_px, "exif")
    small = reduced(pixels, _SMALL_PX)
    return Shown(picture, focal, jpeg(reduced(pixels, _SHOWN_PX)), jpeg(small), small)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for piece in iter(functools.partial(file.read, 1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()
