"""Maps as pictures: colours, sizes, shared scales."""

import html
from dataclasses import replace

import cv2
import numpy as np
import pytest
from tests.report.conftest import NAN, pictures_of

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.errors import BadFile
from depthgauge.report.pictures.colour_bar import colour_bar
from depthgauge.report.pictures.colours import (
    ASIDE_COLOUR,
    MISSING_COLOURS,
    NO_TRUTH_COLOUR,
    colour_table,
    paint,
    paint_flow,
    rgb_of,
)
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.encode import (
    encode,
    error_bar,
    picture_of_image,
    picture_of_map,
    picture_size,
    reduced,
    signed_bar,
    value_bar,
)
from depthgauge.report.pictures.model import ColourBar, Picture
from depthgauge.report.pictures.shrink import any_of_block, middle_of_block, shrink_errors
from depthgauge.report.sections._figures import shared_bar


def decoded(picture):
    return cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]


def test_values_become_the_colours_of_the_table():
    values = np.array([[0.0, 5.0, 10.0, 99.0, NAN, 1.0]], np.float32)
    known = np.array([[1, 1, 1, 1, 1, 0]], bool)
    picture = paint(values, known, "magma", 0, 10)[0]
    table = colour_table("magma")[0]
    assert picture[0].tolist() == table[0].tolist()
    assert picture[2].tolist() == picture[3].tolist() == table[-1].tolist()
    assert tuple(picture[4]) == rgb_of(MISSING_COLOURS["magma"])
    assert tuple(picture[5]) == rgb_of(NO_TRUTH_COLOUR)


@pytest.mark.parametrize("name", ["viridis", "magma", "RdBu_r", "YlOrRd"])
def test_missing_and_no_truth_do_not_occur_in_the_table(name):
    table = colour_table(name)[0].astype(int)
    for text in (MISSING_COLOURS[name], NO_TRUTH_COLOUR, ASIDE_COLOUR):
        assert np.abs(table - rgb_of(text)).sum(axis=1).min() > 60


def test_flow_is_white_at_rest_and_opposite_ways_differ():
    flow = np.array([[[0, 0], [1, 0], [-1, 0], [NAN, 0]]], np.float32)
    picture = paint_flow(flow, np.ones((1, 4), bool), 1.0)[0].astype(int)
    assert picture[0].tolist() == [255, 255, 255]
    assert np.abs(picture[1] - picture[2]).sum() > 300
    assert picture[3].tolist() == [0, 0, 0]


def test_thin_errors_survive_any_shrinking():
    values = np.zeros((101, 997), np.float32)
    values[:, 500] = 5
    values[40] = -7
    values[:20, :20] = NAN
    known = np.ones(values.shape, bool)
    known[80:] = False
    small, where = shrink_errors(values, known, (37, 331))
    assert small.shape == where.shape == (37, 331)
    assert (small == 5).any(axis=1).sum() >= 36
    assert (small == -7).all(axis=1).sum() == 1
    assert np.isnan(small[0, 0])
    assert not where[-1].any()


def test_pictures_are_small_and_lossless_for_maps():
    values = np.tile(np.linspace(0, 1, 900, dtype=np.float32), (600, 1))
    known = np.ones(values.shape, bool)
    picture = picture_of_map(values, known, ColourBar(0, 1, "px"), "x")
    assert picture.size_px == (480, 320)
    shown = decoded(picture)
    assert shown.shape == (320, 480, 3)
    colours = {tuple(c) for c in shown[0].tolist()}
    assert colours <= {tuple(c) for c in colour_table("viridis")[0].tolist()}


@pytest.mark.parametrize("shape", [(4000, 10), (1, 1), (2000, 3000), (375, 1242)])
def test_every_shape_fits(shape):
    height, width = picture_size(shape)
    assert 1 <= width <= 480
    assert height >= 1
    assert height * width <= 480 * 360 * 1.02 or shape[0] > 100 * shape[1]


@pytest.mark.parametrize(
    "image",
    [
        np.full((30, 40), 200, np.uint8),
        np.full((30, 40, 3), 200, np.uint8),
        np.full((30, 40, 3), 200 / 255, np.float32),
    ],
)
def test_images_of_every_kind(image):
    picture = picture_of_image(image, "left")
    assert picture.size_px == (40, 30)
    assert np.abs(decoded(picture).astype(int) - 200).max() <= 4


def test_one_bad_method_does_not_set_the_scale_of_all():
    known = np.ones((10, 10), bool)
    good = np.linspace(0, 1, 100, dtype=np.float32).reshape(10, 10)
    bar = error_bar([good, good, 100 * good], known, "px")
    assert bar.high == pytest.approx(0.95, abs=0.01)
    assert (bar.low, bar.colours) == (0.0, "magma")
    both = signed_bar([good - 0.5], known, "px")
    assert both.low == -both.high
    assert both.colours == "RdBu_r"


@pytest.mark.parametrize("truth", [np.full((3, 3), NAN), np.full((3, 3), 2.0)])
def test_truth_without_spread_has_a_scale(truth):
    bar = value_bar(truth.astype(np.float32), "px")
    assert bar.low < bar.high


def scale_of(quantity, truth):
    return drawing_of(quantity).draw(SampleMaps("s", quantity, truth)).truth.bar


def test_near_is_bright_in_disparity_and_in_depth():
    truth = np.linspace(1, 5, 9, dtype=np.float32).reshape(3, 3)
    assert scale_of("disparity", truth).colours == "viridis"
    assert scale_of("depth", truth).colours == "viridis_r"


def test_a_group_shares_its_scales_and_is_the_same_every_time():
    group = pictures_of(["a", "b"])
    scales = {(m.error.bar.low, m.error.bar.high) for m in group.methods}
    assert len(scales) == 1
    assert {(m.estimate.bar.low, m.estimate.bar.high) for m in group.methods} == {
        (group.truth.bar.low, group.truth.bar.high)
    }
    assert group.methods[0].estimate.bar.missing
    again = pictures_of(["a", "b"])
    assert replace(group, scatter={}) == replace(again, scatter={})
    for label in ("a", "b"):
        assert (group.scatter[label].counts == again.scatter[label].counts).all()


def test_reducing_keeps_the_shape():
    picture = picture_of_image(np.zeros((30, 40, 3), np.uint8), "left")
    small = reduced(picture, 0.5)
    assert small.size_px == (20, 15)
    assert decoded(small).shape == (15, 20, 3)
    with pytest.raises(BadFile, match="'x' is neither PNG"):
        reduced(Picture(b"nonsense", (4, 4), "x"), 0.5)


def test_encoding_is_deterministic():
    noise = np.random.default_rng(0).integers(0, 256, (50, 60, 3), np.uint8)
    assert encode(noise, lossless=True) == encode(noise, lossless=True)
    assert encode(noise, lossless=False)[:4] == b"RIFF"


def test_what_a_picture_is_not_about_is_grey_and_is_not_missing():
    values = np.full((6, 8), 5.0, np.float32)
    values[:, :4] = NAN
    known = np.ones(values.shape, bool)
    known[0] = False
    aside = np.zeros(values.shape, bool)
    aside[:, 2:6] = True
    bar = ColourBar(0, 10, "px", "magma", aside="not measured")
    made = picture_of_map(values, known, bar, "x", aside=aside)
    picture = decoded(made)[3]
    assert tuple(picture[0]) == rgb_of(MISSING_COLOURS["magma"])
    assert tuple(picture[2]) == tuple(picture[5]) == rgb_of(ASIDE_COLOUR)
    assert tuple(picture[7]) == tuple(colour_table("magma")[0][32])
    assert tuple(decoded(made)[0][3]) == rgb_of(NO_TRUTH_COLOUR)
    assert (made.bar.missing, made.bar.aside) == (True, "not measured")
    plain = picture_of_map(values, known, bar, "x")
    assert plain.bar.aside == ""


def test_thin_measured_parts_survive_shrinking():
    values = np.full((90, 990), NAN, np.float32)
    values[:, 500] = 7
    known = np.ones(values.shape, bool)
    bar = ColourBar(0, 7, "px", "magma", aside="not measured")
    made = picture_of_map(
        values, known, bar, "x", aside=np.isnan(values), worst_of_block=True, wide=99
    )
    assert made.size_px == (99, 9)
    colours = {tuple(colour) for colour in decoded(made)[4]}
    assert colours == {rgb_of(ASIDE_COLOUR), tuple(colour_table("magma")[0][-1])}
    assert not made.bar.missing


def test_blocks():
    mask = np.zeros((4, 6), bool)
    mask[3, 5] = True
    assert any_of_block(mask, (2, 3)).tolist() == [[False] * 3, [False, False, True]]
    assert any_of_block(mask, (4, 6)) is mask
    numbers = np.arange(24).reshape(4, 6)
    assert middle_of_block(numbers, (2, 2)).tolist() == [[7, 10], [19, 22]]


def test_a_perfect_method_does_not_stretch_the_scale():
    known = np.ones((10, 10), bool)
    perfect, other = np.zeros((10, 10), np.float32), np.full((10, 10), 0.02, np.float32)
    assert error_bar([perfect, perfect, other], known, "px").high == pytest.approx(0.02)
    assert error_bar([perfect], known, "px").high == 1.0


def test_a_few_colours_are_named_one_below_the_other():
    entries = (("hit & run", "#112233"), ("missed", "#445566"))
    shown = str(colour_bar(ColourBar(0, 1, "", "entries", entries=entries), "key"))
    assert shown.count("<rect") == 2
    assert 'fill="#112233"' in shown
    assert "hit &amp; run" in shown
    assert "hit & run: #112233, missed: #445566" in html.unescape(shown)


def test_two_sets_of_colours_share_no_bar():
    bars = [ColourBar(0, 1, "", "entries", entries=((name, "#112233"),)) for name in "ab"]
    pictures = [Picture(b"", (1, 1), "", bar) for bar in bars]
    assert shared_bar(pictures) is None
    assert shared_bar(pictures[:1] * 2) == bars[0]


def test_normals_have_the_ball_and_flow_the_wheel():
    normals = np.zeros((2, 2, 3), np.float32)
    normals[..., 2] = -1
    assert scale_of("normals", normals).colours == "ball"
    flow = scale_of("flow", np.full((2, 2, 2), 3.0, np.float32))
    assert flow.colours == "wheel"
    assert flow.high == pytest.approx(np.sqrt(18))
