"""Focal lengths from EXIF, told or not, and hostile files."""

from __future__ import annotations

import math
import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from depthgauge.errors import BadFile
from depthgauge.io.calibrations.exif import focal_from_exif

WIDTH, HEIGHT = 64, 48
DIAGONAL = 80.0


def jpeg_bytes() -> bytes:
    import cv2

    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    return cv2.imencode(".jpg", pixels)[1].tobytes()


PLAIN = jpeg_bytes()


def exif(fields: dict[int, tuple[int, tuple[int, ...]]], order: str = "<") -> bytes:
    """An EXIF segment: tag -> (kind, values); kind 3 short, 4 long, 5 ratio."""

    def part(entries, at):
        body, beyond = struct.pack(order + "H", len(entries)), b""
        after = at + 2 + 12 * len(entries) + 4
        for tag, (kind, values) in entries.items():
            if kind == 5:
                field = struct.pack(order + "I", after + len(beyond))
                beyond += struct.pack(order + "II", *values)
            else:
                field = struct.pack(
                    order + ("HH" if kind == 3 else "I"), *values, *[0] * (kind == 3)
                )
            body += struct.pack(order + "HHI", tag, kind, 1) + field
        return body + bytes(4) + beyond

    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8)
    inner_at = 8 + 2 + 12 + 4
    tiff = head + part({0x8769: (4, (inner_at,))}, 8) + part(fields, inner_at)
    body = b"Exif\0\0" + tiff
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def photograph(tmp_path, *segments: bytes):
    path = tmp_path / "photo.jpg"
    path.write_bytes(PLAIN[:2] + b"".join(segments) + PLAIN[2:])
    return path


F35, FOCAL, RESOLUTION, UNIT, PIXELS_X, PIXELS_Y = 0xA405, 0x920A, 0xA20E, 0xA210, 0xA002, 0xA003


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_equivalent_focal_length_goes_by_the_diagonal(tmp_path, order):
    path = photograph(tmp_path, exif({F35: (3, (28,))}, order))
    expected = 28 / math.hypot(36, 24) * DIAGONAL
    assert focal_from_exif(path) == pytest.approx(expected)
    assert focal_from_exif(path, 640) == pytest.approx(10 * expected)


@pytest.mark.parametrize(("unit", "mm"), [(2, 25.4), (3, 10.0), (4, 1.0), (None, 25.4)])
def test_the_sensor_tells_it_too(tmp_path, unit, mm):
    """5 mm and 100 px a mm: 500 px of a picture that was 640 wide, so 50 of this one."""
    fields = {
        FOCAL: (5, (5, 1)),
        RESOLUTION: (5, (round(100 * mm * 1000), 1000)),
        PIXELS_X: (4, (640,)),
        PIXELS_Y: (3, (480,)),
    }
    if unit is not None:
        fields[UNIT] = (3, (unit,))
    assert focal_from_exif(photograph(tmp_path, exif(fields))) == pytest.approx(50.0)


def test_without_the_sensors_size_it_is_this_picture(tmp_path):
    fields = {FOCAL: (5, (50, 10)), RESOLUTION: (5, (254, 1))}
    assert focal_from_exif(photograph(tmp_path, exif(fields))) == pytest.approx(50.0)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {F35: (3, (0,))},
        {F35: (3, (65535,))},
        {FOCAL: (5, (5, 1))},
        {FOCAL: (5, (5, 0)), RESOLUTION: (5, (254, 1))},
        {FOCAL: (5, (5, 1)), RESOLUTION: (5, (1, 1000))},
        {F35: (7, (1,))},
    ],
    ids=["nothing", "zero", "absurd", "no sensor", "by zero", "too short", "another type"],
)
def test_what_is_not_told_is_none(tmp_path, fields):
    assert focal_from_exif(photograph(tmp_path, exif(fields))) is None


def test_the_second_way_is_taken_where_the_first_is_absurd(tmp_path):
    fields = {F35: (3, (65535,)), FOCAL: (5, (5, 1)), RESOLUTION: (5, (254, 1))}
    assert focal_from_exif(photograph(tmp_path, exif(fields))) == pytest.approx(50.0)


def test_other_segments_and_files_without_exif(tmp_path):
    xmp = b"\xff\xe1" + struct.pack(">H", 12) + b"http://ns\0"
    assert focal_from_exif(photograph(tmp_path)) is None
    assert focal_from_exif(photograph(tmp_path, xmp)) is None
    both = photograph(tmp_path, xmp, exif({F35: (3, (35,))}))
    assert focal_from_exif(both) == pytest.approx(35 / math.hypot(36, 24) * DIAGONAL)
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert focal_from_exif(tmp_path / "a.png") is None
    with pytest.raises(BadFile, match="no such file"):
        focal_from_exif(tmp_path / "none.jpg")


def test_a_truncated_photograph_is_one_sentence(tmp_path):
    path = photograph(tmp_path, exif({F35: (3, (35,))}))
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(BadFile, match="truncated"):
        focal_from_exif(path)


@settings(max_examples=150)
@given(st.data())
def test_damaged_exif_never_crashes(tmp_path_factory, data):
    fields = {F35: (3, (28,)), FOCAL: (5, (5, 1)), RESOLUTION: (5, (254, 1)), UNIT: (3, (2,))}
    segment = bytearray(exif(fields, data.draw(st.sampled_from("<>"))))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(10, len(segment) - 1))
        segment[at] = data.draw(st.integers(0, 255))
    path = photograph(tmp_path_factory.mktemp("exif"), bytes(segment))
    focal = None
    with suppress(BadFile):  # a changed length damages the JPEG itself
        focal = focal_from_exif(path, 640)
    assert focal is None or 0.1 * 800 <= focal <= 100 * 800


@given(st.binary(max_size=200))
def test_any_bytes_as_exif_are_none_or_a_number(tmp_path_factory, body):
    head = b"\xff\xe1" + struct.pack(">H", len(body) + 8) + b"Exif\0\0"
    path = photograph(tmp_path_factory.mktemp("exif"), head + body)
    focal = focal_from_exif(path)
    assert focal is None or focal > 0
