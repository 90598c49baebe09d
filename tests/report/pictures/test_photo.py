import numpy as np
import pytest

from depthgauge.report.pictures.photo import (
    dimmed,
    draw_masks,
    image_of,
    picture_of,
    shade_outside,
    thick,
)

WHITE = np.full((4, 6, 3), 255, np.uint8)


@pytest.mark.parametrize(
    "image", [WHITE, WHITE[..., 0], (WHITE / 255).astype(np.float32)], ids=["rgb", "grey", "float"]
)
def test_a_photograph_becomes_dark_grey_whatever_it_was(image):
    found = dimmed(image, (4, 6))
    assert found.shape == (4, 6, 3)
    assert (found == 120).all()


def test_it_has_the_size_of_the_maps_picture_and_may_be_absent():
    assert dimmed(WHITE, (720, 960)).shape == (360, 480, 3)
    assert not dimmed(None, (4, 6)).any()


def test_lines_are_widened_only_where_a_page_shrinks_them():
    lines = np.zeros((9, 300), bool)
    lines[4, 100] = True
    assert thick(lines).sum() == 9
    assert thick(lines)[3:6, 99:102].all()
    assert thick(lines[:, :200]).sum() == 1


def test_masks_lie_over_each_other_in_their_order_and_thin_ones_stay():
    picture = np.zeros((2, 2, 3), np.uint8)
    fine = np.zeros((8, 8), bool)
    fine[0, 0] = True
    draw_masks(picture, {"#0000ff": np.ones((8, 8), bool), "#ff0000": fine})
    assert picture[0, 0].tolist() == [255, 0, 0]
    assert picture[1, 1].tolist() == [0, 0, 255]
    shade_outside(picture, ~np.ones((8, 8), bool))
    assert (picture == picture[0, 0]).all()
    assert picture_of(picture, "a").size_px == (2, 2)


def test_the_left_image_is_the_photograph():
    images = {"centre_image": WHITE, "left_image": WHITE[:1]}
    assert image_of(images) is images["left_image"]
    assert image_of({"centre_image": WHITE}) is WHITE
    assert image_of({}) is None
