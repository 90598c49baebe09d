"""Crops: the boxes that papers name, and boxes in pixels and fractions."""

from __future__ import annotations

import numpy as np
import pytest

from depthgauge.errors import Misuse, WrongShape
from depthgauge.geometry.crops import NAMED_CROPS, kb_window, parse_crop


def kept(text, height, width):
    rows, columns = parse_crop(text).within(height, width)
    return rows.start, rows.stop, columns.start, columns.stop


@pytest.mark.parametrize(("height", "width"), [(375, 1242), (370, 1226), (376, 1241), (352, 1216)])
def test_the_crops_of_kitti_are_those_of_the_public_evaluators(height, width):
    garg = np.array(
        [0.40810811 * height, 0.99189189 * height, 0.03594771 * width, 0.96405229 * width]
    )
    eigen = np.array(
        [0.3324324 * height, 0.91351351 * height, 0.0359477 * width, 0.96405229 * width]
    )
    assert kept("garg", height, width) == tuple(garg.astype(np.int32))
    assert kept("eigen", height, width) == tuple(eigen.astype(np.int32))


def test_the_crop_of_nyu_is_in_pixels_of_its_size():
    assert kept("nyu", 480, 640) == (45, 471, 41, 601)
    with pytest.raises(WrongShape, match="larger than the truth of 320x240"):
        kept("nyu", 240, 320)


def test_sides_that_are_left_out_are_the_border():
    assert kept(":,:", 7, 9) == (0, 7, 0, 9)
    assert kept("2:,:5", 7, 9) == (2, 7, 0, 5)
    assert kept("0.5:,0:1.0", 7, 9) == (3, 7, 0, 9)


def test_a_name_and_its_numbers_are_the_same_box():
    for name, text in NAMED_CROPS.items():
        assert parse_crop(name) == parse_crop(text) == parse_crop(name.upper())
        assert parse_crop(parse_crop(name).text) == parse_crop(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a crop; write ROWS,COLUMNS"),
        ("3", "is not a crop"),
        ("gerg", "did you mean 'garg'"),
        ("5:2,0:1", "ends before it begins"),
        ("0.5:2.0,0:1", "has a fraction above 1"),
        ("-1:2,0:1", "is not a crop"),
    ],
)
def test_what_is_no_crop_is_one_sentence(text, message):
    with pytest.raises(Misuse, match=message):
        parse_crop(text)


def test_a_crop_that_leaves_nothing_is_an_error():
    with pytest.raises(WrongShape, match="leaves nothing of a truth of 4x4"):
        kept("0.1:0.2,:", 4, 4)


def test_kittis_crop_is_at_the_bottom_in_the_middle():
    assert kb_window(375, 1242) == (slice(23, 375), slice(13, 1229))
    assert kb_window(370, 1226) == (slice(18, 370), slice(5, 1221))
    assert parse_crop("kb").within(376, 1241) == kb_window(376, 1241)
    with pytest.raises(WrongShape, match="1216x352 is larger than the truth of 640x480"):
        parse_crop("kb").within(480, 640)


def test_a_box_inside_kittis_crop_is_a_fraction_of_it():
    """Marigold takes fractions of 352x1216, BTS those of the whole picture: other pixels."""
    rows, columns = parse_crop("kb/eigen").within(375, 1242)
    inner = parse_crop("eigen").within(352, 1216)
    assert (rows.start, rows.stop) == (inner[0].start + 23, inner[0].stop + 23)
    assert (columns.start, columns.stop) == (inner[1].start + 13, inner[1].stop + 13)
    assert (rows, columns) != parse_crop("eigen").within(375, 1242)
    assert parse_crop("kb/eigen").text != parse_crop("eigen").text
    assert parse_crop(parse_crop("kb/eigen").text) == parse_crop("kb/eigen")
