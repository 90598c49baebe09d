"""What a camera wrote into its JPEG: the focal length in pixels, and how it was held."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from depthgauge.io._files import MAX_PIXELS, AnyPath, most_bytes, opened, read_whole
from depthgauge.io.jpeg import parse, segments

_APP1 = 0xE1
_MARK = b"Exif\0\0"
_EXIF_PART = 0x8769
_FOCAL_MM, _FOCAL_35MM = 0x920A, 0xA405
_RESOLUTION_X, _RESOLUTION_UNIT = 0xA20E, 0xA210
_PIXELS_X, _PIXELS_Y = 0xA002, 0xA003
_ORIENTATION = 0x0112
# Millimetres of the units of the sensor's resolution; inches if none is given.
_UNITS_MM = {2: 25.4, 3: 10.0, 4: 1.0, 5: 0.001}
# Equivalent focal lengths compare diagonals (CIPA DCG-001).
_DIAGONAL_35MM = math.hypot(36.0, 24.0)
# No lens sees wider or narrower, in multiples of the image's diagonal.
_SHORTEST, _LONGEST = 0.1, 100.0


def focal_from_exif(path: AnyPath, width_px: int | None = None) -> float | None:
    """The focal length in pixels from a JPEG's EXIF; None if it is missing or implausible.

    The equivalent for 35 mm film is used if there is one (by the diagonal), else the focal
    length with the sensor's resolution.

    Args:
        path: The photograph.
        width_px: Width of the image that the focal length is for; the file's own by default.

    Raises:
        BadFile: The file cannot be read or is a damaged JPEG. Damaged EXIF counts as none.
    """
    with opened(path) as file:
        if file.read(3) != b"\xff\xd8\xff":
            return None
        data = read_whole(path, file, most_bytes(MAX_PIXELS))
    height, width, _ = parse(path, data)
    if height < 1 or width < 1:
        return None
    for marker, body in segments(path, data):
        if marker == _APP1 and body[2:8] == _MARK:
            focal_px = _focal_px(_exif_values(body[8:]), math.hypot(width, height))
            if focal_px is not None:
                return focal_px * (width_px or width) / width
    return None


def orientation_from_exif(path: AnyPath) -> int:
    """How a JPEG must be turned to be upright: EXIF's number 1 to 8, 1 if there is none.

    Raises:
        BadFile: The file cannot be read or is a damaged JPEG. Damaged EXIF counts as none.
    """
    with opened(path) as file:
        if file.read(3) != b"\xff\xd8\xff":
            return 1
        data = read_whole(path, file, most_bytes(MAX_PIXELS))
    for marker, body in segments(path, data):
        if marker == _APP1 and body[2:8] == _MARK:
            found = _main_values(body[8:]).get(_ORIENTATION, 1.0)
            return int(found) if found in range(1, 9) else 1
    return 1


def _main_values(tiff: bytes) -> dict[int, float]:
    """First values of the numeric fields of the main part; nothing if it is damaged."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(tiff[:4])
    if order is None:
        return {}
    try:
        return _fields(tiff, order, struct.unpack_from(order + "I", tiff, 4)[0])
    except struct.error:
        return {}


def _focal_px(values: dict[int, float], diagonal_px: float) -> float | None:
    ways: tuple[Callable[[dict[int, float], float], float], ...] = (_from_35mm, _from_sensor)
    for way in ways:
        focal_px = way(values, diagonal_px)
        if _SHORTEST * diagonal_px <= focal_px <= _LONGEST * diagonal_px:
            return focal_px
    return None


def _from_35mm(values: dict[int, float], diagonal_px: float) -> float:
    return values.get(_FOCAL_35MM, 0.0) / _DIAGONAL_35MM * diagonal_px


def _from_sensor(values: dict[int, float], diagonal_px: float) -> float:
    unit_mm = _UNITS_MM.get(int(values.get(_RESOLUTION_UNIT, 2)), 25.4)
    focal_px = values.get(_FOCAL_MM, 0.0) * values.get(_RESOLUTION_X, 0.0) / unit_mm
    # The resolution is that of the image as it was taken; it may have been made smaller since.
    taken_px = math.hypot(values.get(_PIXELS_X, 0.0), values.get(_PIXELS_Y, 0.0))
    return focal_px * diagonal_px / taken_px if taken_px > 0 else focal_px


def _exif_values(tiff: bytes) -> dict[int, float]:
    """First values of the numeric fields of the EXIF part; nothing if it is damaged."""
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(tiff[:4])
    if order is None:
        return {}
    try:
        main = _fields(tiff, order, struct.unpack_from(order + "I", tiff, 4)[0])
        return _fields(tiff, order, int(main[_EXIF_PART])) if _EXIF_PART in main else {}
    except struct.error:
        return {}


def _fields(tiff: bytes, order: str, at: int) -> dict[int, float]:
    (count,) = struct.unpack_from(order + "H", tiff, at)
    values: dict[int, float] = {}
    for i in range(count):
        entry = at + 2 + 12 * i
        tag, kind = struct.unpack_from(order + "HH", tiff, entry)
        value = _value(tiff, order, kind, entry + 8)
        if value is not None:
            values.setdefault(tag, value)
    return values


def _value(tiff: bytes, order: str, kind: int, at: int) -> float | None:
    """The first number of a field: short, long, or a ratio that is kept elsewhere."""
    if kind in (3, 4):
        return float(struct.unpack_from(order + ("H" if kind == 3 else "I"), tiff, at)[0])
    if kind != 5:
        return None
    (place,) = struct.unpack_from(order + "I", tiff, at)
    if place + 8 > len(tiff):
        return None
    above, below = struct.unpack_from(order + "II", tiff, place)
    return above / below if below else None
