"""By how much the 8-bit disparities of the Middlebury 2001-2006 scenes are multiplied."""

from __future__ import annotations

import tomllib
from pathlib import Path

from depthgauge import io
from depthgauge.errors import BadData

# 2001: one size. https://vision.middlebury.edu/stereo/data/scenes2001/
_OF_2001 = dict.fromkeys(("barn1", "barn2", "bull", "poster", "sawtooth", "venus"), 8.0)
_OF_2001["tsukuba"] = 16.0
# 2003: 1800, 900 and 450 columns; the zip files of the three sizes are called conesF, H and Q.
_OF_2003 = frozenset(name + size for name in ("cones", "teddy") for size in ("", "f", "h", "q"))
_WIDTHS_2003 = {1800: 1.0, 900: 2.0, 450: 4.0}
_OF_2005 = frozenset(
    ("art", "books", "computer", "dolls", "drumsticks", "dwarves", "laundry", "moebius", "reindeer")
)
_ONCE_2006 = ("aloe", "flowerpots", "monopoly", "plastic")
_SEVERAL_2006 = {
    "baby": 3,
    "bowling": 2,
    "cloth": 4,
    "lampshade": 2,
    "midd": 2,
    "rocks": 2,
    "wood": 2,
}
_OF_2006 = frozenset(_ONCE_2006) | {
    f"{name}{i}" for name, count in _SEVERAL_2006.items() for i in range(1, count + 1)
}
_FULL_WIDTHS = (1230, 1400)
"""Between these are the widths of all full-size images of 2005 and 2006; the ranges of half and
third size are far from it and from each other."""
_SIZES_2005_2006 = (1, 2, 3)


def disparity_scale(folder: Path, truth: Path) -> float:
    """Stored value divided by disparity, for the truth file of a scene.

    What is written beside the data (`scale.txt` or `depthgauge.toml`, in the scene's folder or in
    the one above) goes before what is known of the scene.

    Raises:
        BadData: The scene is not known, or not at that size, and nothing is written.
    """
    written = _written(folder) or _written(folder.parent)
    return written if written is not None else _known(folder, truth)


def _written(folder: Path) -> float | None:
    text, toml = folder / "scale.txt", folder / "depthgauge.toml"
    if text.is_file():
        return _positive(text, text.read_text(encoding="utf-8", errors="replace").strip())
    if not toml.is_file():
        return None
    try:
        section = tomllib.loads(toml.read_text(encoding="utf-8")).get("disparity", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise BadData(f"{toml}: not a TOML file: {e}.") from e
    if not isinstance(section, dict) or "scale" not in section:
        return None
    return _positive(toml, section["scale"])


def _positive(path: Path, value: object) -> float:
    try:
        scale = float(value) if isinstance(value, (str, int, float)) else 0.0
    except ValueError:
        scale = 0.0
    if not 0.0 < scale < float("inf"):
        raise BadData(f"{path}: the disparity scale must be a positive number, found '{value}'.")
    return scale


def _known(folder: Path, truth: Path) -> float:
    name = folder.resolve().name.lower()
    if name in _OF_2001:
        return _OF_2001[name]
    if name in _OF_2003 or name in _OF_2005 or name in _OF_2006:
        width = io.map_size(truth)[1]
        scale = _of_2003(width) if name in _OF_2003 else _of_2005_2006(width)
        if scale is not None:
            return scale
        raise _unsure(folder, f"it is {width} px wide, which is none of the scene's sizes")
    raise _unsure(folder, "the scene is not one of Middlebury's 2001-2006")


def _of_2003(width: int) -> float | None:
    return _WIDTHS_2003.get(width)


def _of_2005_2006(width: int) -> float | None:
    low, high = _FULL_WIDTHS
    return next((float(n) for n in _SIZES_2005_2006 if low <= width * n <= high), None)


def _unsure(folder: Path, why: str) -> BadData:
    return BadData(
        f"{folder}: by how much its disparities are multiplied is not known: {why}. "
        f"Write the factor (stored value / disparity, e.g. 4) to {folder / 'scale.txt'}."
    )
