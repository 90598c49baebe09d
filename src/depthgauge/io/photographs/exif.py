"""The notes that a camera writes into its files: orientation, time, exposure.

EXIF is a small TIFF file inside of a JPEG or PNG; in a TIFF, and in most RAW formats, the file
itself has the same fields. Damaged notes count as none: they are never a reason to lose a picture.
"""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

from depthgauge.io._files import AnyPath, opened

Fields = dict[int, float | str]
"""The first number, or the text, of each field."""
_MARK = b"Exif\0\0"
_EXIF_PART = 0x8769
_ORIENTATION, _MODEL, _TIME = 0x0112, 0x0110, 0x0132
_EXPOSURE_S, _TAKEN, _TAKEN_FRACTION = 0x829A, 0x9003, 0x9291
_APP1, _SCAN, _END = 0xE1, 0xDA, 0xD9
_MOST_FIELDS = 1000
_MOST_TEXT = 200
_CLOCK = re.compile(r"(\d{4})\D(\d\d)\D(\d\d)\D(\d\d)\D(\d\d)\D(\d\d)")
_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}


@dataclass(frozen=True, slots=True)
class Exif:
    """What a camera noted about a photograph."""

    orientation: int = 1
    """1 to 8: how the stored pixels must be turned to be upright; 1 is not at all."""
    taken_s: float | None = None
    """When it was taken, in seconds by the camera's own clock."""
    has_fraction: bool = False
    """Whether the time is finer than a second."""
    exposure_s: float | None = None
    model: str = ""


def read_exif(path: AnyPath) -> Exif:
    """The notes of a JPEG, PNG, TIFF or TIFF-like RAW file; the defaults if there are none.

    Raises:
        BadFile: The file cannot be opened.
    """
    with opened(path) as file:
        try:
            return exif_of(_block(file))
        except (struct.error, ValueError, IndexError, OverflowError):
            return Exif()


def exif_of(block: Any) -> Exif:
    """The notes in an EXIF block (a TIFF header and its fields), as bytes or a mapped file."""
    main, part = exif_fields(block)
    turn = main.get(_ORIENTATION, 1)
    whole = _clock(part.get(_TAKEN)) or _clock(main.get(_TIME))
    fraction = _fraction(part.get(_TAKEN_FRACTION)) if _TAKEN in part else None
    exposure = part.get(_EXPOSURE_S)
    return Exif(
        orientation=int(turn) if turn in range(1, 9) else 1,
        taken_s=None if whole is None else whole + (fraction or 0.0),
        has_fraction=whole is not None and fraction is not None,
        exposure_s=exposure if isinstance(exposure, float) and exposure > 0 else None,
        model=str(main.get(_MODEL, "")),
    )


def exif_fields(block: Any) -> tuple[Fields, Fields]:
    """The fields of the file and of its EXIF part; empty ones if the block is damaged."""
    order = _ORDERS.get(bytes(block[:4]))
    if order is None:
        return {}, {}
    main: Fields = {}
    try:
        main = _fields(block, order, struct.unpack_from(order + "I", block, 4)[0])
        place = main.get(_EXIF_PART)
        return main, _fields(block, order, int(place)) if isinstance(place, float) else {}
    except struct.error:
        return main, {}


def _block(file: BinaryIO) -> Any:
    """The EXIF block of an open file: bytes, or the whole file mapped; empty if there is none."""
    head = file.read(8)
    if head[:3] == b"\xff\xd8\xff":
        return _jpeg_block(file)
    if head[:4] == b"\x89PNG":
        return _png_block(file)
    if head[:4] in _ORDERS:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return b""


def _jpeg_block(file: BinaryIO) -> bytes:
    file.seek(2)
    while True:
        mark = file.read(4)
        if len(mark) < 4 or mark[0] != 0xFF or mark[1] in (_SCAN, _END):
            return b""
        body = file.read(int.from_bytes(mark[2:], "big") - 2)
        if mark[1] == _APP1 and body.startswith(_MARK):
            return body[len(_MARK) :]


def _png_block(file: BinaryIO) -> bytes:
    file.seek(8)
    while True:
        head = file.read(8)
        if len(head) < 8 or head[4:] == b"IEND":
            return b""
        length = int.from_bytes(head[:4], "big")
        if head[4:] == b"eXIf":
            return file.read(length)
        file.seek(length + 4, 1)


def _fields(block: Any, order: str, at: int) -> Fields:
    (count,) = struct.unpack_from(order + "H", block, at)
    values: Fields = {}
    for i in range(min(count, _MOST_FIELDS)):
        entry = at + 2 + 12 * i
        tag, kind = struct.unpack_from(order + "HH", block, entry)
        value = _text(block, order, entry) if kind == 2 else _number(block, order, kind, entry + 8)
        if value is not None:
            values.setdefault(tag, value)
    return values


def _number(block: Any, order: str, kind: int, at: int) -> float | None:
    """The first number of a field: short, long, or a ratio that is kept elsewhere."""
    if kind in (3, 4):
        return float(struct.unpack_from(order + ("H" if kind == 3 else "I"), block, at)[0])
    if kind != 5:
        return None
    (place,) = struct.unpack_from(order + "I", block, at)
    if place + 8 > len(block):
        return None
    above, below = struct.unpack_from(order + "II", block, place)
    return above / below if below else None


def _text(block: Any, order: str, entry: int) -> str | None:
    (count,) = struct.unpack_from(order + "I", block, entry + 4)
    place = entry + 8 if count <= 4 else struct.unpack_from(order + "I", block, entry + 8)[0]
    if count > _MOST_TEXT or place + count > len(block):
        return None
    return bytes(block[place : place + count]).split(b"\0")[0].decode("latin-1").strip()


def _clock(text: float | str | None) -> float | None:
    """`2026:03:01 12:30:05` in seconds; cameras without a set clock write zeros or blanks."""
    match = _CLOCK.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    try:
        # Cameras note local time without a zone; only differences matter.
        return datetime(*map(int, match.groups()), tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]
    except ValueError:
        return None


def _fraction(text: float | str | None) -> float | None:
    """`"5"` is half a second, `"050"` a twentieth."""
    if not isinstance(text, str) or not text.isdigit():
        return None
    return float(f"0.{text}")
