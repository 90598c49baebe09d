"""Large pictures and maps as tiles: a browser loads what it shows, at the size it shows it.

docs/web.md describes the folder to the byte.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge._progress import Progress, no_progress
from depthgauge.errors import BadFile
from depthgauge.io import write_text
from depthgauge.report.pictures.colours import MISSING_COLOURS, colour_table, hex_of
from depthgauge.report.pictures.encode import encode, value_bar
from depthgauge.report.pictures.model import ColourBar
from depthgauge.report.pictures.shrink import middle_of_block
from depthgauge.types import Map, is_known

TILE_PX = 256
_CODES = 65_534
"""Steps between the smallest and the largest value; code 0 is a missing value."""


def write_picture_tiles(
    folder: Path, picture: NDArray[np.uint8], *, progress: Progress = no_progress
) -> None:
    """Tiles of an RGB picture (H, W, 3), halved until one tile is enough."""
    import cv2

    levels = [picture]
    for size in _sizes(picture.shape):
        levels.append(
            np.asarray(cv2.resize(levels[-1], size[::-1], interpolation=cv2.INTER_AREA), np.uint8)
        )
    _write(folder, levels, {"kind": "picture", "format": "webp"}, progress)


def write_value_tiles(
    folder: Path,
    values: Map,
    unit: str,
    *,
    bar: ColourBar | None = None,
    progress: Progress = no_progress,
) -> None:
    """Tiles of a map, from which the browser can read and subtract values.

    Values have 65,534 steps between the smallest and the largest. Smaller levels take the middle
    pixel of each block: every number that is shown is one of the map.

    Args:
        folder: What was there is replaced file by file.
        values: (H, W), NaN where there is none.
        unit: Unit of the values.
        bar: Range and colours; by default from the 1st to the 99th percentile.
        progress: Called after every row of tiles.
    """
    bar = bar if bar is not None else value_bar(values, unit)
    known = is_known(values)
    low, high = (float(values[known].min()), float(values[known].max())) if known.any() else (0, 0)
    span = high - low if high > low else 1.0
    record = {
        "kind": "values",
        "format": "png",
        "unit": unit,
        "low": low,
        "high": low + span,
        "shown": [bar.low, bar.high],
        "colours": _hex(bar.colours),
        "signed": _hex("RdBu_r"),
        "missing": MISSING_COLOURS[bar.colours],
        "missing_signed": MISSING_COLOURS["RdBu_r"],
    }
    levels = [_coded(values, known, low, span)]
    for size in _sizes(values.shape):
        levels.append(middle_of_block(levels[0], size))
    _write(folder, levels, record, progress)


def _coded(values: Map, known: NDArray[np.bool_], low: float, span: float) -> NDArray[np.uint8]:
    """High byte in red, low byte in green."""
    share = np.where(known, (values.astype(np.float64) - low) / span, 0.0)
    code = np.where(known, 1 + np.rint(share * _CODES), 0).astype(np.uint16)
    return np.stack([code >> 8, code & 255, np.zeros_like(code)], axis=-1).astype(np.uint8)


def _png(tile: NDArray[np.uint8]) -> bytes:
    """PNG, which is written ten times faster than lossless WebP."""
    import cv2

    done, data = cv2.imencode(".png", tile[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 2])
    if not done:
        raise BadFile("a tile could not be encoded; is OpenCV built without PNG?")
    return bytes(data)


def _sizes(shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Height and width of each smaller level."""
    height, width = shape[:2]
    while max(height, width) > TILE_PX:
        height, width = math.ceil(height / 2), math.ceil(width / 2)
        yield height, width


def _hex(colours: str) -> list[str]:
    return [hex_of(colour) for colour in colour_table(colours)[0]]


def _write(
    folder: Path,
    levels: list[NDArray[np.uint8]],
    record: dict[str, Any],
    progress: Progress,
) -> None:
    height, width = levels[0].shape[:2]
    rows = [(level, y) for level, each in enumerate(levels) for y in range(0, len(each), TILE_PX)]
    for done, (level, y) in enumerate(rows, 1):
        place = folder / str(level)
        place.mkdir(parents=True, exist_ok=True)
        strip = levels[level][y : y + TILE_PX]
        for x in range(0, strip.shape[1], TILE_PX):
            tile = strip[:, x : x + TILE_PX]
            name = f"{x // TILE_PX}_{y // TILE_PX}.{record['format']}"
            content = encode(tile, lossless=False) if record["format"] == "webp" else _png(tile)
            (place / name).write_bytes(content)
        progress("tiles", done, len(rows))
    size = {"version": 1, "width": width, "height": height, "tile": TILE_PX, "levels": len(levels)}
    # Last: a folder with this file has all its tiles.
    write_text(folder / "tiles.json", json.dumps({**size, **record}) + "\n")
