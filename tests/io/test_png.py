"""PNG maps, images, masks and labels."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from depthgauge.errors import BadFile, DoesNotFit, Misuse, TooLarge
from depthgauge.io import (
    map_size,
    read_image,
    read_labels,
    read_map,
    read_mask,
    write_image,
    write_map,
)

NAN = np.nan


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(
    size: tuple[int, int], depth: int, colour: int, rows: bytes, *extra: bytes, lace: int = 0
) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, colour, 0, 0, lace))
    data = chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(extra) + data + chunk(b"IEND", b"")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.png"


def test_kittis_codes(path: Path) -> None:
    path.write_bytes(png((3, 1), 16, 0, b"\0" + struct.pack(">3H", 0, 256, 1000)))
    np.testing.assert_array_equal(read_map(path), [[NAN, 1, 1000 / 256]])
    np.testing.assert_array_equal(read_map(path, raw=True), [[0, 1, 1000 / 256]])
    np.testing.assert_array_equal(read_map(path, scale=100), np.float32([[NAN, 2.56, 10]]))


def test_kittis_flow(path: Path) -> None:
    codes = struct.pack(">6H", 32768 + 64, 32768 - 32, 1, 5, 6, 0)
    path.write_bytes(png((2, 1), 16, 2, b"\0" + codes))
    np.testing.assert_array_equal(read_map(path, "flow"), [[[1, -0.5], [NAN, NAN]]])
    raw = read_map(path, "flow", raw=True)
    np.testing.assert_array_equal(raw[0, 1], np.float32([(5 - 32768) / 64, (6 - 32768) / 64]))
    assert map_size(path) == (1, 2, 3)
    with pytest.raises(Misuse, match="fixed scale"):
        read_map(path, "flow", scale=2)
    with pytest.raises(Misuse, match="fixed scale"):
        write_map(path, [[[1.0, 2.0]]], "flow", scale=2)
    with pytest.raises(BadFile, match="colour picture"):
        read_map(path, "disparity")


def test_kittis_flow_as_written(path: Path) -> None:
    write_map(path, [[[1.0, -0.5], [NAN, 3.0]]], "flow")
    stored = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED)[..., ::-1]
    np.testing.assert_array_equal(stored, [[[32832, 32736, 1], [0, 0, 0]]])
    with pytest.raises(DoesNotFit, match="from -512 to 511"):
        write_map(path, [[[600.0, 0.0]]], "flow")


def test_the_scale_travels_in_the_file(path: Path) -> None:
    write_map(path, [[1.5, NAN]], "depth", scale=1000)
    assert b"tEXtdepthgauge:scale\x001000.0" in path.read_bytes()
    stored = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(stored, [[1500, 0]])
    np.testing.assert_array_equal(read_map(path), np.float32([[1.5, NAN]]))
    np.testing.assert_array_equal(read_map(path, scale=500), np.float32([[3, NAN]]))


def test_the_usual_scale_of_a_dataset_is_for_files_that_say_none(path: Path) -> None:
    write_image(path, np.array([[64, 0, 96]], np.uint16))
    assert read_map(path)[0, 0] == 0.25
    np.testing.assert_array_equal(read_map(path, png_scale=64), np.float32([[1, NAN, 1.5]]))
    assert read_map(path, png_scale=64, scale=32)[0, 0] == 2
    write_image(path, np.array([[64]], np.uint8))
    assert read_map(path, png_scale=64)[0, 0] == 64
    write_map(path, np.array([[3.0]], np.float32), scale=100)
    assert read_map(path, png_scale=64)[0, 0] == 3
    with pytest.raises(Misuse, match="scale is 0"):
        read_map(path, png_scale=0)


@pytest.mark.parametrize("text", [b"0", b"-3", b"nan", b"inf", b"x", b""])
def test_a_scale_that_is_none(path: Path, text: bytes) -> None:
    extra = chunk(b"tEXt", b"depthgauge:scale\0" + text)
    path.write_bytes(png((1, 1), 16, 0, b"\0\0\1", extra))
    with pytest.raises(BadFile, match="not a positive number"):
        read_map(path)
    assert read_map(path, scale=1)[0, 0] == 1


def test_values_are_rounded_to_the_nearest_code(path: Path) -> None:
    write_map(path, [[1.0019, 1.0020]])
    np.testing.assert_array_equal(read_map(path, raw=True), [[1.0, 257 / 256]])


@pytest.mark.parametrize("value", [-1.0, 256.0, 0.001, 0.0])
def test_values_that_do_not_fit(path: Path, value: float) -> None:
    with pytest.raises(DoesNotFit, match="holds values from"):
        write_map(path, [[value]])
    assert not path.exists()
    with pytest.raises(DoesNotFit, match="one channel"):
        write_map(path, np.ones((2, 2, 3)), "other")


def test_eight_bits_and_equal_channels(path: Path) -> None:
    path.write_bytes(png((2, 1), 8, 0, b"\0\0\x10"))
    np.testing.assert_array_equal(read_map(path, "disparity", scale=4), [[NAN, 4]])
    path.write_bytes(png((2, 1), 8, 2, b"\0\0\0\0\x10\x10\x10"))
    np.testing.assert_array_equal(read_map(path, "disparity"), [[NAN, 16]])
    path.write_bytes(png((1, 1), 8, 2, b"\0\1\2\3"))
    np.testing.assert_array_equal(read_map(path), [[[1, 2, 3]]])
    with pytest.raises(BadFile, match="3 channels of 16 bits"):
        read_map(path, "flow")


def test_few_bits_palettes_and_alpha(path: Path) -> None:
    path.write_bytes(png((5, 1), 2, 0, b"\0" + bytes([0b00011011, 0b11000000])))
    np.testing.assert_array_equal(read_labels(path), [[0, 1, 2, 3, 3]])
    np.testing.assert_array_equal(read_image(path), [[0, 85, 170, 255, 255]])
    palette = chunk(b"PLTE", bytes([0, 0, 0, 9, 8, 7]))
    path.write_bytes(png((3, 1), 1, 3, b"\0" + bytes([0b01100000]), palette))
    np.testing.assert_array_equal(read_labels(path), [[0, 1, 1]])
    np.testing.assert_array_equal(read_image(path), [[[0, 0, 0], [9, 8, 7], [9, 8, 7]]])
    np.testing.assert_array_equal(read_mask(path), [[False, True, True]])
    with pytest.raises(BadFile, match="palette colours"):
        read_map(path)
    path.write_bytes(png((2, 1), 8, 3, b"\0\0\7", palette))
    with pytest.raises(BadFile, match="colour 7 of 2"):
        read_image(path)
    path.write_bytes(png((1, 1), 8, 6, b"\0\1\2\3\4"))
    np.testing.assert_array_equal(read_image(path), [[[1, 2, 3]]])
    path.write_bytes(png((1, 1), 16, 4, b"\0\1\0\0\7"))
    np.testing.assert_array_equal(read_map(path), [[1]])
    path.write_bytes(png((8, 1), 1, 0, b"\0\1", lace=1))
    with pytest.raises(BadFile, match="interlac"):
        read_labels(path)


def test_images_round_trip(path: Path) -> None:
    rng = np.random.default_rng(0)
    for shape in ((5, 4), (5, 4, 3)):
        picture = rng.integers(0, 256, shape, dtype=np.uint8)
        write_image(path, picture)
        np.testing.assert_array_equal(read_image(path), picture)
        linear = rng.random(shape, dtype=np.float32)
        write_image(path, linear)
        np.testing.assert_allclose(read_image(path), linear, atol=0.6 / 65535)
        assert read_image(path).dtype == np.float32
    mask = rng.random((5, 4)) > 0.5
    write_image(path, mask)
    np.testing.assert_array_equal(read_mask(path), mask)
    labels = rng.integers(0, 65536, (5, 4), dtype=np.uint16)
    write_image(path, labels)
    np.testing.assert_array_equal(read_labels(path), labels)


@pytest.mark.parametrize(
    "image",
    [np.ones((2, 2)) * 2, np.full((2, 2), NAN), np.ones((2, 2, 4), np.uint8), np.ones((2, 2), int)],
)
def test_images_that_do_not_fit(path: Path, image: np.ndarray) -> None:
    with pytest.raises(DoesNotFit):
        write_image(path, image)
    with pytest.raises(DoesNotFit, match="name it"):
        write_image(path.with_suffix(".jpg"), np.ones((2, 2), np.uint8))


def test_damage_is_said(path: Path) -> None:
    good = png((4, 4), 8, 0, b"".join(b"\0abcd" for _ in range(4)))
    for at in range(8, len(good)):
        bad = bytearray(good)
        bad[at] ^= 0x10
        path.write_bytes(bad)
        with pytest.raises(BadFile):
            read_map(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (png((4, 4), 8, 0, b"\0abcd"), "damaged or too few"),
        (png((1, 1), 8, 0, b"\x09a"), "damaged"),
        (png((1, 1), 3, 0, b"\0a"), "not a PNG of this world"),
        (png((0, 1), 8, 0, b"\0a"), "at least 1"),
        (png((1, 1), 8, 0, b"\0a", chunk(b"ABCD", b"")), "critical"),
        (png((1, 1), 8, 3, b"\0a"), "no palette"),
        (png((1, 1), 8, 3, b"\0a", chunk(b"PLTE", b"1")), "palette has 1 bytes"),
    ],
)
def test_files_that_are_whole_but_wrong(path: Path, data: bytes, message: str) -> None:
    path.write_bytes(data)
    with pytest.raises(BadFile, match=message):
        read_image(path)


def test_a_huge_claim_allocates_nothing(path: Path) -> None:
    path.write_bytes(png((2**30, 2**30), 16, 0, b"\0"))
    for call in (read_map, map_size, read_image, read_mask, read_labels):
        with pytest.raises(TooLarge):
            call(path)


def test_a_zlib_bomb_stays_within_the_header(path: Path) -> None:
    path.write_bytes(png((1, 1), 8, 0, b"\0a" + bytes(2**24)))
    assert read_map(path)[0, 0] == ord("a")


def test_a_decoder_never_sees_other_chunks(path: Path) -> None:
    turned = chunk(b"eXIf", b"MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\x06\0\0\0\0\0\0")
    path.write_bytes(png((3, 1), 8, 0, b"\0abc", turned, chunk(b"tRNS", b"\0a")))
    assert read_map(path).shape == (1, 3)
    assert read_image(path).shape == (3, 1)  # pictures are turned, by us


def sintel_codes(disparity: np.ndarray, bits: int) -> np.ndarray:
    """As the dataset's own writer stores it: red d / 4, green d * 64, blue d * 2^14, modulo 256."""
    codes = np.zeros((*disparity.shape, 3), np.uint8)
    codes[..., 0] = (disparity / 4).astype(np.uint8)
    codes[..., 1] = ((disparity * 64) % 256).astype(np.uint8)
    if bits > 16:
        codes[..., 2] = ((disparity * 2**14) % 256).astype(np.uint8)
    return codes


@pytest.mark.parametrize("bits", [16, 24])
def test_sintels_disparity_in_three_bytes(path: Path, bits: int) -> None:
    x, y = np.meshgrid(np.linspace(0, 1, 64), np.linspace(0, 1, 48))
    truth = 3 + 90 * x + 7 * y**2
    truth[20:30, 20:40] += 55.3
    write_image(path, sintel_codes(truth, bits))
    found = read_map(path, "disparity")
    assert found.dtype == np.float32
    # The writer cuts off, in float64; the reader's formula is R * 4 + G / 2^6 + B / 2^14.
    expected = sintel_codes(truth, bits).astype(np.float64) @ [4, 2.0**-6, 2.0**-14]
    np.testing.assert_array_equal(found, expected.astype(np.float32))
    assert np.abs(found - truth).max() <= {16: 2.0**-6, 24: 2.0**-14}[bits] + 1e-5
    with pytest.raises(Misuse, match="fixed scale"):
        read_map(path, "disparity", scale=4)
    with pytest.raises(BadFile, match="colour picture"):
        read_map(path, "depth")


@pytest.mark.parametrize("kind", ["jet", "turbo", "noise", "gradient", "flat"])
def test_pictures_are_not_taken_for_disparity_in_three_bytes(path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    x, y = np.meshgrid(np.linspace(0, 1, 200), np.linspace(0, 1, 150))
    value = 0.7 * x + 0.3 * np.sin(5 * y) ** 2
    grey = (255 * value / value.max()).astype(np.uint8)
    if kind in ("jet", "turbo"):
        colours = {"jet": cv2.COLORMAP_JET, "turbo": cv2.COLORMAP_TURBO}[kind]
        picture = cv2.applyColorMap(grey, colours)[..., ::-1]
    elif kind == "noise":
        picture = rng.integers(0, 256, (150, 200, 3)).astype(np.uint8)
    elif kind == "gradient":
        picture = np.stack([grey, 255 - grey, grey // 2], axis=-1)
    else:
        picture = np.full((150, 200, 3), (10, 20, 30), np.uint8)
    write_image(path, np.ascontiguousarray(picture))
    with pytest.raises(BadFile, match="colour picture"):
        read_map(path, "disparity")
