"""The focal length that a camera wrote into its JPEG, in pixels."""

from __future__ import annotations

import math
from collections.abc import Callable

from depthgauge.io._files import MAX_PIXELS, AnyPath, most_bytes, opened, read_whole
from depthgauge.io.jpeg import parse, segments
from depthgauge.io.photographs.exif import exif_fields, exif_of
from depthgauge.io.photographs.orientation import swaps_sides

_APP1 = 0xE1
_MARK = b"Exif\0\0"
_FOCAL_MM, _FOCAL_35MM = 0x920A, 0xA405
_RESOLUTION_X, _RESOLUTION_UNIT = 0xA20E, 0xA210
_PIXELS_X, _PIXELS_Y = 0xA002, 0xA003
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
        width_px: Width of the image that the focal length is for; by default that of the file as
            `read_image` gives it, upright.

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
            numbers = {k: v for k, v in exif_fields(body[8:])[1].items() if isinstance(v, float)}
            focal_px = _focal_px(numbers, math.hypot(width, height))
            if focal_px is not None:
                upright = height if swaps_sides(exif_of(body[8:]).orientation) else width
                return focal_px * (width_px or upright) / upright
    return None


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
