"""Views in picture files: colours, of which 0 is one."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.io import read_map, write_image


def test_codes_are_colours_and_none_is_missing(tmp_path):
    codes = np.zeros((3, 4, 3), np.uint8)
    codes[1, 2] = (255, 51, 0)
    write_image(tmp_path / "view.png", codes)
    found = read_map(tmp_path / "view.png", "view")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, codes / np.float32(255))
    assert np.isnan(read_map(tmp_path / "view.png", "normals")[0, 0, 0])


def test_grey_and_wide_pictures(tmp_path):
    grey = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
    write_image(tmp_path / "grey.png", grey)
    expected = np.repeat(grey[..., None], 3, axis=2) / np.float32(255)
    np.testing.assert_array_equal(read_map(tmp_path / "grey.png", "view"), expected)
    write_image(tmp_path / "wide.png", expected)
    wide = read_map(tmp_path / "wide.png", "view")
    np.testing.assert_allclose(wide, expected, atol=1 / 65535)


def test_two_pictures_are_scored(tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 255, (20, 20, 3), dtype=np.uint8)
    write_image(tmp_path / "a.png", codes)
    write_image(tmp_path / "b.png", codes ^ 1)
    scores = dg.score(tmp_path / "a.png", tmp_path / "b.png", quantity="view")
    assert scores["psnr@all"].value == pytest.approx(20 * np.log10(255))
    assert scores["psnr@all"].missing == 0
