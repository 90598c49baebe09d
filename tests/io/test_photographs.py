"""Photographs as cameras write them: orientation, depth, TIFF, notes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps
from PIL.TiffImagePlugin import IFDRational

from depthgauge import io
from depthgauge.errors import BadFile
from depthgauge.io.calibrations.exif import focal_from_exif
from depthgauge.io.photographs.exif import Exif, exif_of, read_exif
from depthgauge.io.photographs.jpeg_quality import jpeg_quality
from depthgauge.io.photographs.orientation import upright

ORIENTATIONS = range(1, 9)


def smooth(height=24, width=40) -> np.ndarray:
    """A picture that is the same after none of the eight turns, and that JPEG keeps."""
    y, x = np.mgrid[:height, :width]
    planes = [4 * x + 20, 7 * y + 30, 2 * x + 3 * y]
    return np.stack(planes, axis=-1).astype(np.uint8)


def saved(path, pixels, orientation):
    image = Image.fromarray(pixels)
    notes = image.getexif()
    notes[0x0112] = orientation
    quality = {"quality": 100, "subsampling": 0} if path.suffix == ".jpg" else {}
    image.save(path, exif=notes, **quality)
    return path


@pytest.mark.parametrize("ending", ["jpg", "png", "tif"])
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_pictures_are_upright(tmp_path, ending, orientation):
    """Beside Pillow's own rule, and beside what was stored."""
    pixels = smooth()
    path = saved(tmp_path / f"a.{ending}", pixels, orientation)
    found = io.read_image(path)
    with Image.open(path) as opened:
        expected = np.asarray(ImageOps.exif_transpose(opened))
    assert found.shape == expected.shape
    assert np.abs(found.astype(int) - expected).max() <= (4 if ending == "jpg" else 0)
    assert read_exif(path).orientation == orientation


def test_turns_by_hand():
    """What the first stored row and column show, by the words of the standard."""
    seen = np.array([[1, 2, 3], [4, 5, 6]])
    stored = {
        2: seen[:, ::-1],  # row 0 is the top, column 0 the right side
        3: seen[::-1, ::-1],  # bottom, right
        4: seen[::-1],  # bottom, left
        5: seen.T,  # row 0 is the left side, column 0 the top
        6: np.rot90(seen, 1),  # right, top
        7: seen[::-1, ::-1].T,  # right, bottom
        8: np.rot90(seen, -1),  # left, bottom
    }
    for orientation, pixels in stored.items():
        assert np.array_equal(upright(pixels, orientation), seen), orientation


@pytest.mark.parametrize("pixel", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(20, 30), (20, 30, 3)])
@pytest.mark.parametrize("compression", [None, "zlib", "lzw"])
def test_tiff_pictures(tmp_path, pixel, shape, compression):
    codes = np.random.default_rng(1).integers(0, np.iinfo(pixel).max, shape).astype(pixel)
    path = tmp_path / "a.tif"
    if compression == "lzw":
        bgr = codes if codes.ndim == 2 else codes[..., ::-1]
        assert cv2.imwrite(str(path), bgr, [cv2.IMWRITE_TIFF_COMPRESSION, 5])
    else:
        kind = "rgb" if len(shape) == 3 else "minisblack"
        tifffile.imwrite(path, codes, photometric=kind, compression=compression)
    found = io.read_image(path)
    if pixel == np.uint8:
        assert found.dtype == np.uint8
        assert np.array_equal(found, codes)
    else:
        assert found.dtype == np.float32
        assert np.array_equal(np.rint(found * 65535.0), codes), "all 16 bits are there"
    assert io.is_deep(path) == (pixel == np.uint16)


def test_tiff_with_alpha_and_with_white_as_zero(tmp_path):
    rgba = np.random.default_rng(2).integers(0, 255, (9, 8, 4)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", rgba, photometric="rgb", extrasamples=["unassalpha"])
    assert np.array_equal(io.read_image(tmp_path / "a.tif"), rgba[..., :3])
    tifffile.imwrite(tmp_path / "b.tif", rgba[..., 0], photometric="miniswhite")
    assert np.array_equal(io.read_image(tmp_path / "b.tif"), 255 - rgba[..., 0])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"photometric": 32803, "extratags": [(33421, 3, 2, (2, 2), True)]}, "is a RAW photograph"),
        (
            {"photometric": "palette", "colormap": np.zeros((3, 256), np.uint16)},
            "colours of kind 3",
        ),
    ],
)
def test_tiffs_that_are_no_pictures(tmp_path, options, text):
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((8, 8), np.uint8), **options)
    with pytest.raises(BadFile, match=text):
        io.read_image(tmp_path / "a.tif")


@pytest.mark.parametrize("compression", [1, 5])
def test_a_truncated_tiff_is_one_sentence(tmp_path, compression):
    path = tmp_path / "a.tif"
    cv2.imwrite(str(path), smooth(), [cv2.IMWRITE_TIFF_COMPRESSION, compression])
    whole = path.read_bytes()
    for share in (0.2, 0.5, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(BadFile, match=r"a\.tif"):
            io.read_image(path)


def test_depth_of_other_formats(tmp_path):
    io.write_image(tmp_path / "8.png", smooth())
    io.write_image(tmp_path / "16.png", smooth().astype(np.uint16))
    (tmp_path / "8.pgm").write_bytes(b"P5 2 1 255 ab")
    (tmp_path / "16.pgm").write_bytes(b"P5 2 1 4095 abcd")
    saved(tmp_path / "8.jpg", smooth(), 1)
    deep = {p.name: io.is_deep(p) for p in tmp_path.iterdir()}
    assert deep == {name: name.startswith("16") for name in deep}
    (tmp_path / "x.txt").write_text("no")
    with pytest.raises(BadFile, match="expected a picture"):
        io.is_deep(tmp_path / "x.txt")


def noted(path, **fields):
    image = Image.fromarray(smooth())
    notes = image.getexif()
    notes[0x0110] = "Camera 1"
    part = notes.get_ifd(0x8769)
    for tag, value in fields.items():
        part[int(tag, 16)] = value
    image.save(path, exif=notes)
    return read_exif(path)


def test_times_with_and_without_fractions(tmp_path):
    taken = "2026:03:01 12:30:05"
    plain = noted(tmp_path / "a.jpg", **{"0x9003": taken})
    fine = noted(tmp_path / "b.png", **{"0x9003": taken, "0x9291": "050"})
    late = noted(
        tmp_path / "c.jpg", **{"0x9003": "2026:03:02 12:30:05", "0x829A": IFDRational(1, 4)}
    )
    assert plain.model == "Camera 1"
    assert (plain.has_fraction, fine.has_fraction) == (False, True)
    assert fine.taken_s - plain.taken_s == pytest.approx(0.05)
    assert late.taken_s - plain.taken_s == 86400
    assert late.exposure_s == pytest.approx(0.25)
    assert noted(tmp_path / "d.jpg", **{"0x9003": "0000:00:00 00:00:00"}).taken_s is None
    assert noted(tmp_path / "e.jpg", **{"0x9003": "    :  :     :  :  "}).taken_s is None


def test_files_without_notes(tmp_path):
    io.write_image(tmp_path / "a.png", smooth())
    (tmp_path / "b.txt").write_text("no")
    assert read_exif(tmp_path / "a.png") == read_exif(tmp_path / "b.txt") == Exif()
    with pytest.raises(BadFile, match="no such file"):
        read_exif(tmp_path / "c.jpg")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=120), st.sampled_from([b"II*\0", b"MM\0*"]))
def test_damaged_notes_never_raise(tmp_path_factory, garbage, head):
    path = tmp_path_factory.getbasetemp() / "hostile.tif"
    path.write_bytes(head + garbage)
    assert 1 <= read_exif(path).orientation <= 8


@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_focal_lengths_are_for_the_upright_width(tmp_path, orientation):
    """A 35 mm equivalent of the film's diagonal is a focal length of the picture's diagonal."""
    image = Image.fromarray(smooth())
    notes = image.getexif()
    notes[0x0112] = orientation
    notes.get_ifd(0x8769)[0xA405] = 43
    image.save(tmp_path / "a.jpg", exif=notes)
    width = io.read_image(tmp_path / "a.jpg").shape[1]
    expected = 43 / np.hypot(36, 24) * np.hypot(24, 40)
    assert focal_from_exif(tmp_path / "a.jpg") == pytest.approx(expected)
    assert focal_from_exif(tmp_path / "a.jpg", 10 * width) == pytest.approx(10 * expected)


def test_an_empty_block():
    assert exif_of(b"") == Exif()


@pytest.mark.parametrize("quality", [20, 50, 80, 95])
def test_the_quality_of_a_jpeg(tmp_path, quality):
    path = tmp_path / "a.jpg"
    cv2.imwrite(str(path), smooth(), [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert jpeg_quality(path) == pytest.approx(quality, abs=1.0)
    io.write_image(tmp_path / "a.png", smooth())
    assert jpeg_quality(tmp_path / "a.png") is None
