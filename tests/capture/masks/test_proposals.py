"""What tools propose from clicks, on pictures whose regions are known."""

import numpy as np
import pytest

from depthgauge.capture.masks.edges import snapped, without_specks
from depthgauge.capture.masks.proposals import Click, Window, flood, from_clicks
from depthgauge.errors import BadData


def disc(shape, x, y, radius):
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]]
    return (columns - x) ** 2 + (rows - y) ** 2 < radius**2


def painted(parts, shape=(120, 160), noise=4.0, ground=(90, 110, 130)):
    """A picture with regions of one colour each, soft edges and noise."""
    import cv2

    image = np.full((*shape, 3), ground, np.float32)
    for inside, colour in parts:
        image[inside] = colour
    image = cv2.GaussianBlur(image, (0, 0), 0.7)
    image += np.random.default_rng(1).normal(0, noise, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def overlap(region, truth):
    found = np.zeros(truth.shape, bool)
    found[region.box] = region.inside
    return np.count_nonzero(found & truth) / np.count_nonzero(found | truth)


SHAPE = (120, 160)
CUP = disc(SHAPE, 60, 60, 35)
BALL = disc(SHAPE, 130, 60, 18)


def test_a_flood_fills_what_has_the_colour_to_its_edges():
    image = painted([(CUP, (170, 120, 80)), (BALL, (170, 120, 80))])
    found = flood(image, Click(60, 60), 30)
    assert overlap(found, CUP) > 0.98, "the ball has the colour, and is not connected"
    assert found.pixels < np.count_nonzero(CUP | BALL)


def test_a_flood_stops_at_an_edge_behind_which_the_colour_comes_back():
    """A wire that is darker for two pixels parts two surfaces of one colour."""
    wire = np.zeros(SHAPE, bool)
    wire[:, 79:81] = True
    image = painted([(wire, (30, 40, 50))], noise=2.0)
    left = np.zeros(SHAPE, bool)
    left[:, :79] = True
    assert overlap(flood(image, Click(20, 60), 60), left) > 0.98


def test_a_wide_tolerance_takes_all_and_a_small_one_little():
    image = painted([(CUP, (110, 120, 125))])
    assert overlap(flood(image, Click(60, 60), 10), CUP) > 0.95
    assert flood(image, Click(60, 60), 200).pixels == image.shape[0] * image.shape[1]
    assert flood(image, Click(60, 60), 0).pixels < 500


def test_a_flood_stays_in_its_window():
    image = painted([])
    window = Window.of(image, [100, 90, 500, 500])
    assert (window.width, window.height) == (60, 30)
    found = flood(image, Click(110, 100), 40, window)
    assert (found.x, found.y, found.pixels) == (100, 90, 60 * 30)
    with pytest.raises(BadData, match="outside of what is seen"):
        flood(image, Click(3, 3), 40, window)
    with pytest.raises(BadData, match="no part of the picture"):
        Window.of(image, [200, 0, 10, 10])


def striped(inside):
    """A surface of two colours: one of them alone does not tell it from the ground."""
    rows = np.mgrid[0 : SHAPE[0], 0 : SHAPE[1]][0]
    return [(inside & (rows // 6 % 2 == 0), (200, 60, 60)), (inside, (220, 200, 60))][::-1]


def test_one_click_finds_a_surface_of_one_colour():
    image = painted([(CUP, (170, 120, 80)), (BALL, (60, 160, 90))])
    assert overlap(from_clicks(image, [Click(60, 60)]), CUP) > 0.97
    assert overlap(from_clicks(image, [Click(130, 60)]), BALL) > 0.95


def test_further_clicks_teach_what_is_meant():
    image = painted([*striped(CUP), (BALL, (60, 160, 90))])
    one = [Click(60, 57)]
    more = [*one, Click(60, 63), Click(10, 10, wanted=False)]
    assert overlap(from_clicks(image, more), CUP) > 0.95
    both = [*more, Click(130, 60)]
    assert overlap(from_clicks(image, both), CUP | BALL) > 0.95
    without = [*both, Click(126, 66, wanted=False), Click(134, 66, wanted=False)]
    found = from_clicks(image, without)
    inside = np.zeros(SHAPE, bool)
    inside[found.box] = found.inside
    assert not inside[66, 126]
    assert inside[60, 130], "clicks are always obeyed"


def test_clicks_are_found_coarsely_and_their_rim_at_full_size():
    large = (900, 1200)
    cup = disc(large, 500, 450, 300)
    image = painted([(cup, (170, 120, 80))], large)
    found = from_clicks(image, [Click(500, 450), Click(20, 20, wanted=False)])
    inside = np.zeros(large, bool)
    inside[found.box] = found.inside
    wrong = inside != cup
    rim = disc(large, 500, 450, 301.5) & ~disc(large, 500, 450, 298.5)
    assert not (wrong & ~rim).any(), "the rim is right to a pixel or so"


def test_the_same_clicks_give_the_same_region():
    image = painted([*striped(CUP)])
    clicks = [Click(60, 57), Click(60, 63)]
    one, other = (from_clicks(image, clicks) for _ in range(2))
    assert (one.x, one.y) == (other.x, other.y)
    assert np.array_equal(one.inside, other.inside)


def test_what_clicks_cannot_mean():
    image = painted([])
    with pytest.raises(BadData, match="no click says what is meant"):
        from_clicks(image, [Click(5, 5, wanted=False)])
    with pytest.raises(BadData, match="too many"):
        from_clicks(image, [Click(5, 5)] * 300)
    with pytest.raises(BadData, match=r"at 500, 5 is outside"):
        from_clicks(image, [Click(500, 5)])
    blank = np.full((9, 7, 3), 128, np.uint8)
    assert from_clicks(blank, [Click(3, 4)]).pixels >= 1


def test_a_rim_moves_to_the_edge_and_thin_parts_stay():
    image = painted([(CUP, (170, 120, 80))])
    rough = disc(SHAPE, 62, 58, 34)
    moved = snapped(image, rough, 5)
    assert np.count_nonzero(moved ^ CUP) < 0.1 * np.count_nonzero(rough ^ CUP)
    thin = np.zeros(SHAPE, bool)
    thin[100:102, 10:90] = True
    assert snapped(image, thin, 5)[100:102, 20:80].all()
    nothing, all_ = np.zeros(SHAPE, bool), np.ones(SHAPE, bool)
    assert not snapped(image, nothing, 5).any()
    assert snapped(image, all_, 5).all()


def test_only_small_holes_are_specks():
    region = disc(SHAPE, 60, 60, 40)
    hole, speck = disc(SHAPE, 60, 60, 12), disc(SHAPE, 80, 60, 1.5)
    kept = without_specks(region & ~hole & ~speck)
    assert kept[60, 80]
    assert not kept[60, 60]
