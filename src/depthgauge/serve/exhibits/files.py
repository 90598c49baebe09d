"""Files of an exhibit, written within a share of its bytes: pictures, tiles, maps, point clouds."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._canonical import finite_data
from depthgauge.analysis.maps.point_cloud import Cloud, encode_cloud, layered_cloud
from depthgauge.report.pictures.encode import painted
from depthgauge.report.pictures.model import ColourBar, Picture
from depthgauge.report.pictures.shrink import middle_of_block
from depthgauge.report.pictures.tiles import write_picture_tiles, write_value_tiles
from depthgauge.types import Map, is_known

WIDE = 640
"""Pictures are at most so wide; larger ones have tiles."""
SMALL_PIXELS = 200_000
"""Of the maps from which methods are compared pixel by pixel."""
MOST_POINTS = 150_000
SUBMISSION_BYTES = 512 << 20
"""Of everything that is drawn of one submission."""
_TILE_BYTES = 2.5
"""Of a pixel in tiles of values, all levels together: 16 bits do not compress well."""
_POINT_BYTES = 12 + 9
_TILED = ("viridis", "viridis_r", "magma", "RdBu_r", "YlOrRd", "YlOrRd_r")
"""Colours that the browser can paint from values."""


@dataclass(frozen=True, slots=True)
class Folder:
    """Where the files of one sample go, and how many bytes they may have."""

    root: Path
    name: str
    most_bytes: float

    def write(self, file: str, content: bytes) -> str:
        """Writes a file; returns its name in the pack."""
        path = self.root / self.name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return f"{self.name}/{file}"


def keep_picture(folder: Folder, name: str, picture: Picture) -> dict[str, Any]:
    """A picture and what it shows."""
    kind = "webp" if picture.data[8:12] == b"WEBP" else "png"
    return {
        "file": folder.write(f"{name}.{kind}", picture.data),
        "width": picture.size_px[0],
        "height": picture.size_px[1],
        "caption": picture.caption,
        "bar": None if picture.bar is None else finite_data(asdict(picture.bar)),
    }


def bar_of(record: Mapping[str, Any] | None) -> ColourBar | None:
    """The meaning of a kept picture's colours."""
    if record is None:
        return None
    given = {**record, "entries": tuple((str(a), str(b)) for a, b in record.get("entries", ()))}
    return ColourBar(**given)


def keep_tiles(folder: Folder, name: str, values: Map, bar: ColourBar, unit: str) -> str:
    """Tiles of a map, smaller if they would need more than a fifth of the bytes."""
    small = fitted(values, folder.most_bytes / 5 / _TILE_BYTES)
    place = folder.root / folder.name / name
    if values.ndim == 2 and bar.colours in _TILED:
        write_value_tiles(place, small, unit, bar=bar)
    else:
        write_picture_tiles(place, painted(small, np.ones(small.shape[:2], bool), bar))
    return f"{folder.name}/{name}/tiles.json"


def keep_image_tiles(folder: Folder, name: str, image: NDArray[np.uint8]) -> str:
    """Tiles of a photograph."""
    write_picture_tiles(folder.root / folder.name / name, image)
    return f"{folder.name}/{name}/tiles.json"


def fitted(values: Map, most_pixels: float) -> Map:
    """A map of at most so many pixels: one pixel of each block, so that every value is one of it.

    >>> fitted(np.zeros((100, 200)), 5000).shape
    (50, 100)
    """
    height, width = values.shape[:2]
    share = math.sqrt(most_pixels / (height * width))
    if share >= 1:
        return values
    return middle_of_block(values, (max(1, int(height * share)), max(1, int(width * share))))


def keep_small(folder: Folder, name: str, values: Map) -> str:
    """A small map for comparing methods pixel by pixel."""
    file = io.BytesIO()
    np.savez_compressed(file, values=fitted(values, SMALL_PIXELS).astype(np.float32))
    return folder.write(f"{name}.npz", file.getvalue())


def keep_maps(folder: Folder, parts: Mapping[str, NDArray[Any]]) -> str:
    """The maps themselves, for downloads; empty if they need more than half of the bytes."""
    if sum(each.nbytes for each in parts.values()) > 4 * folder.most_bytes:
        return ""  # compressing it would be in vain
    file = io.BytesIO()
    given: dict[str, Any] = dict(parts)
    np.savez_compressed(file, **given)
    content = file.getvalue()
    return folder.write("maps.npz", content) if len(content) <= folder.most_bytes / 2 else ""


def keep_cloud(folder: Folder, clouds: Sequence[Cloud]) -> str:
    """A point cloud; several are layers of one."""
    made = layered_cloud(clouds) if len(clouds) > 1 else clouds[0]
    return folder.write("points.dgpc", encode_cloud(made)) if len(made.points) else ""


def points_of(folder: Folder, clouds: int = 1) -> int:
    """How many points each cloud of a sample may have."""
    return max(1000, int(min(MOST_POINTS, folder.most_bytes / 5 / _POINT_BYTES / clouds)))


def coloured(values: Map, bar: ColourBar) -> NDArray[np.uint8]:
    """A map in colours for points, where what is missing does not occur."""
    return painted(values, is_known(values), replace(bar, missing=False))
