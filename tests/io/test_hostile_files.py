"""Files that promise more than they hold, or hold more than they promise: one sentence each."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from depthgauge import io as files
from depthgauge.errors import BadFile, TooLarge
from depthgauge.io._files import FREE_BYTES, MOST_RATIO, most_unpacked
from depthgauge.io.beside import read_parts

END = b"\xff\xd9"
KINDS = {
    "baseline": [],
    "optimised": [cv2.IMWRITE_JPEG_OPTIMIZE, 1],
    "restarts": [cv2.IMWRITE_JPEG_RST_INTERVAL, 7],
    "progressive": [cv2.IMWRITE_JPEG_PROGRESSIVE, 1],
    "progressive-restarts": [cv2.IMWRITE_JPEG_PROGRESSIVE, 1, cv2.IMWRITE_JPEG_RST_INTERVAL, 3],
    "444": [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444],
    "422": [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_422],
    "440": [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_440],
    "411": [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_411],
}


def picture(height: int = 97, width: int = 131, channels: int = 3) -> np.ndarray:
    noise = np.random.default_rng(1).integers(0, 256, (height, width, channels)).astype(np.uint8)
    return cv2.GaussianBlur(noise, (0, 0), 2)


def jpeg(pixels: np.ndarray, kind: str, quality: int = 90) -> bytes:
    options = [cv2.IMWRITE_JPEG_QUALITY, quality, *KINDS[kind]]
    return cv2.imencode(".jpg", pixels, options)[1].tobytes()


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, packed: bytes, colour: int = 0) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"IDAT", packed), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


# --- JPEG -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(97, 131), (8, 8), (1, 1), (16, 300), (480, 640)])
@pytest.mark.parametrize("channels", [1, 3])
def test_whole_jpegs_are_read(tmp_path, kind, size, channels):
    data = jpeg(picture(*size, channels), kind)
    expected = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if channels == 3:
        expected = expected[..., ::-1]
    exif = b"\xff\xe1" + struct.pack(">H", 12) + b"Exif\0\0" + b"\xff\xd9\xff\xd8"
    tails = (b"", bytes(1000), b"\xff\xd8\xff\xe0 another picture")
    for number, tail in enumerate(tails):
        path = tmp_path / f"{number}.jpg"
        path.write_bytes(data[:2] + exif + data[2:] + tail)
        assert np.array_equal(files.read_image(path), expected)
    padded = tmp_path / "padded.jpg"
    padded.write_bytes(data[:-2] + b"\xff\xff\xff" + END)
    assert np.array_equal(files.read_image(padded), expected)


@pytest.mark.parametrize("value", [0, 128, 255])
def test_flat_jpegs_are_whole(tmp_path, value):
    for kind in KINDS:
        path = tmp_path / f"{kind}.jpg"
        path.write_bytes(jpeg(np.full((400, 300, 3), value, np.uint8), kind))
        assert (files.read_image(path) == value).all()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "progressive" not in kind])
@pytest.mark.parametrize("channels", [1, 3])
def test_truncated_jpegs_are_refused(tmp_path, kind, channels):
    data = jpeg(picture(480, 640, channels), kind)
    begin = data.rindex(b"\xff\xda") + 20
    path = tmp_path / "a.jpg"
    cuts = [int(begin + part * (len(data) - begin)) for part in np.linspace(0, 0.995, 20)]
    for cut in cuts:
        path.write_bytes(data[:cut].rstrip(b"\xff") + END)
        with pytest.raises(BadFile, match=r"a\.jpg: .*truncated[,;] get it again"):
            files.read_image(path)


def test_a_jpeg_cut_at_30_percent_is_refused(tmp_path):
    data = jpeg(picture(480, 640), "baseline")
    path = tmp_path / "a.jpg"
    path.write_bytes(data[: len(data) * 3 // 10] + END)
    with pytest.raises(BadFile, match=r"a\.jpg: the JPEG's pixels are damaged or truncated; get"):
        files.read_image(path)


def test_a_progressive_jpeg_without_its_last_scans_is_refused(tmp_path):
    data = jpeg(picture(480, 640), "progressive")
    path = tmp_path / "a.jpg"
    scans = [at for at in range(len(data)) if data[at : at + 2] == b"\xff\xda"]
    assert len(scans) > 5
    for scan in scans[1:]:
        path.write_bytes(data[:scan] + END)
        with pytest.raises(BadFile, match="ends before its last scan; it is truncated"):
            files.read_image(path)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "progressive" in kind])
@pytest.mark.parametrize("quality", [50, 95])
def test_a_progressive_jpeg_cut_inside_its_last_scan_is_refused(tmp_path, kind, quality, capfd):
    data = jpeg(picture(120, 160), kind, quality)
    begin = data.rindex(b"\xff\xda") + 10
    path = tmp_path / "a.jpg"
    for cut in np.linspace(begin, len(data) - 4, 15).astype(int):
        path.write_bytes(data[:cut].rstrip(b"\xff") + END)
        with pytest.raises(BadFile, match=r"a\.jpg: .*truncated[,;] get it again"):
            files.read_image(path)
    path.write_bytes(data)
    files.read_image(path)
    assert capfd.readouterr() == ("", ""), "the decoder prints nothing"


def test_a_scan_in_the_middle_that_was_cut_is_refused(tmp_path):
    data = jpeg(picture(120, 160), "progressive")
    scans = [at for at in range(len(data)) if data[at : at + 2] == b"\xff\xda"]
    tables = data.index(b"\xff\xc4", scans[3])
    path = tmp_path / "a.jpg"
    path.write_bytes(data[: (scans[3] + tables) // 2].rstrip(b"\xff") + data[tables:])
    with pytest.raises(BadFile, match=r"a\.jpg: a scan of the JPEG is damaged or truncated; get"):
        files.read_image(path)


@pytest.mark.parametrize("frame", [0xC3, 0xC9, 0xCA])
def test_lossless_and_arithmetic_jpegs_are_refused(tmp_path, frame):
    data = jpeg(picture(64, 64), "baseline")
    path = tmp_path / "a.jpg"
    path.write_bytes(data.replace(b"\xff\xc0\x00\x11", bytes([0xFF, frame, 0, 17]), 1))
    with pytest.raises(BadFile, match=rf"a\.jpg: .* \(frame FF {frame:02X}\).*; save it again as"):
        files.read_image(path)


def test_missing_restarts_are_seen(tmp_path):
    data = jpeg(picture(480, 640), "restarts")
    first, second = data.index(b"\xff\xd2"), data.index(b"\xff\xd3")
    path = tmp_path / "a.jpg"
    path.write_bytes(data[:first] + data[second:])
    with pytest.raises(BadFile, match=r"restart markers, 171 expected in turn"):
        files.read_image(path)


def test_many_scans_are_not_decoded(tmp_path):
    data = jpeg(picture(64, 64), "progressive")
    start = data.rindex(b"\xff\xda")
    path = tmp_path / "a.jpg"
    path.write_bytes(data[:start] + data[start:-2] * 200 + END)
    with pytest.raises(BadFile, match="more than 100 scans"):
        files.read_image(path)


@pytest.mark.parametrize("kind", ["baseline", "progressive"])
@pytest.mark.parametrize(
    ("side", "expected"), [(16000, "promise to unpack to 768000000"), (8000, "its size needs")]
)
def test_a_short_jpeg_cannot_claim_much(tmp_path, kind, side, expected):
    data = bytearray(jpeg(picture(16, 16), kind))
    frame = data.index(b"\xff\xc0" if kind == "baseline" else b"\xff\xc2")
    data[frame + 5 : frame + 9] = struct.pack(">HH", side, side)
    path = tmp_path / "a.jpg"
    path.write_bytes(data)
    with pytest.raises(BadFile, match=rf"a\.jpg: .*{expected}"):
        files.read_image(path)


# --- what is packed -------------------------------------------------------------------------------


def test_the_rule():
    assert most_unpacked(0) == FREE_BYTES == 2**28
    assert most_unpacked(10**9) == MOST_RATIO * 10**9


def test_constant_masks_of_12_megapixels_are_read(tmp_path):
    mask = np.ones((3000, 4000), bool)
    files.write_image(tmp_path / "a.png", mask)
    assert files.read_mask(tmp_path / "a.png").all()
    assert (tmp_path / "a.png").stat().st_size < 60_000
    for dtype in (bool, np.float64):
        np.savez_compressed(tmp_path / "a.npz", map=mask.astype(dtype))
        assert (files.read_map(tmp_path / "a.npz") == 1).all()


def test_pixels_beyond_the_promise_of_a_png_are_not_unpacked(tmp_path):
    machine = zlib.compressobj(9)
    packed = b"".join(machine.compress(bytes(2**24)) for _ in range(24)) + machine.flush()
    path = tmp_path / "a.png"
    path.write_bytes(png(10, 10, packed))
    with pytest.raises(BadFile, match=r"promises 110 bytes of pixels, it holds more; header and"):
        files.read_image(path)


def test_a_large_png_is_unpacked_to_what_it_promises(tmp_path):
    noise = np.random.default_rng(2).integers(0, 256, (700, 500, 3)).astype(np.uint8)
    path = tmp_path / "a.png"
    files.write_image(path, noise)
    assert path.stat().st_size > 2**19
    assert np.array_equal(files.read_image(path), noise)
    files.write_image(path, noise[..., 0].astype(np.uint16) * 257)
    assert np.allclose(files.read_image(path) * 255, noise[..., 0])
    rows = b"".join(b"\0" + row.tobytes() for row in noise[:-1])
    path.write_bytes(png(500, 700, zlib.compress(rows), colour=2))
    with pytest.raises(BadFile, match="promises 1050700 bytes of pixels, it holds 1049199;"):
        files.read_image(path)
    damaged = bytearray(zlib.compress(rows))
    damaged[0] ^= 6
    path.write_bytes(png(500, 700, bytes(damaged), colour=2))
    with pytest.raises(BadFile, match="compressed pixels are damaged"):
        files.read_image(path)


def test_a_png_that_promises_too_much(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(16000, 16000, zlib.compress(bytes(1000)), colour=2))
    with pytest.raises(TooLarge, match=r"bytes promise to unpack to 768016000, at most 268435456"):
        files.read_image(path)


def test_an_npz_that_promises_too_much(tmp_path):
    path = tmp_path / "a.npz"
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "<f4", "fortran_order": False, "shape": (16384, 16384)}
    )
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("map.npy", "w") as stream,
    ):
        stream.write(head.getvalue())
        stream.write(bytes(2**24))
    with pytest.raises(TooLarge, match=r"promise to unpack to 1073741952, at most 268435456"):
        files.read_map(path)


def test_a_tiff_that_promises_too_much(tmp_path, monkeypatch):
    import tifffile

    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.zeros((900, 900), np.float32), compression="zlib", rowsperstrip=900)
    assert not files.read_map(path).any()
    monkeypatch.setattr("depthgauge.io._files.FREE_BYTES", 2**16)
    with pytest.raises(TooLarge, match="promise to unpack to 3240000, at most"):
        files.read_map(path)


def test_an_exr_that_promises_too_much(tmp_path, monkeypatch):
    path = tmp_path / "a.exr"
    files.write_map(path, np.zeros((900, 900), np.float32))
    assert not files.read_map(path).any()
    monkeypatch.setattr("depthgauge.io._files.FREE_BYTES", 2**16)
    with pytest.raises(TooLarge, match="promise to unpack to 3240000, at most"):
        files.read_map(path)


# --- deep, long and giant -------------------------------------------------------------------------


def test_an_array_of_a_thousand_axes(tmp_path):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({'1, ' * 1000}), }}".encode()
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text + bytes(4))
    for read in (files.read_map, files.read_mask, files.read_labels, files.map_size):
        with pytest.raises(BadFile, match=r"a\.npy: its array has 1000 axes; at most 32 are read"):
            read(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"focal_px": 1' + "0" * 400 + "}", "it holds an integer beyond 64 bits"),
        ('{"focal_px": 1e400}', "it holds a number beyond 1e308"),
        ("[" * 100_000, "its values are more than 64 levels deep"),
        (json.dumps({"focal_px": "x" * 2**20}), "at most 1048576 are expected"),
    ],
    ids=["digits", "exponent", "deep", "long"],
)
def test_numbers_beside_an_estimate(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "estimate.json").write_text(text)
    with pytest.raises(BadFile, match=rf"estimate\.json: .*{expected}"):
        read_parts(tmp_path / "depth.npy", "depth")


def test_long_xml_is_not_read(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(b"<opencv_storage>" + b"<a>1</a>" * 2**19 + b"</opencv_storage>")
    with pytest.raises(TooLarge, match=r"a\.xml: has 4194337 bytes, at most 4194304 are expected"):
        files.read_opencv_calibration(path)
