"""Which neighbours belong together, on drawings small enough to count by hand."""

from __future__ import annotations

import numpy as np
from tests.annotate.drawn import ball_before_wall, segmentation

from depthgauge.annotate.reconstruct._links import depth_links, normal_links
from depthgauge.annotate.reconstruct.segmentation import segment

RIGHT = (1.0, 0.0)


def column_line(kind):
    """Five columns; the middle one is a line that belongs to the right."""
    smooth = np.tile([1, 1, 2, 2, 2], (3, 1))
    line = np.tile([0, 0, 1, 0, 0], (3, 1))
    toward = np.zeros((3, 5, 2))
    toward[:, 2] = RIGHT
    return segmentation(
        smooth,
        kind=line * kind,
        stroke=np.where(line, 0, -1),
        toward=toward,
        continuous=np.ones_like(smooth) if kind == 1 else smooth,
    )


def test_weights_are_those_of_the_double_sums():
    right, down = normal_links(column_line(1))
    np.testing.assert_array_equal(right, np.tile([2, 0, 1, 2, 0], (3, 1)))
    np.testing.assert_array_equal(down[:2], np.tile([2, 2, 0, 2, 2], (2, 1)))
    assert not down[2].any()


def test_depth_goes_on_across_a_fold_and_stops_at_an_occlusion():
    fold = depth_links(column_line(1))
    assert fold.right[:, :4].all()
    # The line is the first pixel of the right surface: the way to it lies on the left one.
    nan = np.nan
    np.testing.assert_array_equal(fold.right_fold, np.tile([nan, 1, nan, nan, nan], (3, 1)))
    assert np.isnan(fold.down_fold).all()
    for kind in (2, 3):
        occlusion = depth_links(column_line(kind))
        np.testing.assert_array_equal(occlusion.right, np.tile([1, 0, 1, 1, 0], (3, 1)) > 0)
        assert occlusion.down[:2].all()


def test_an_occlusion_inside_one_surface_cuts_it_too():
    """Both sides have one number because the line ends; the line itself still parts them."""
    inside = column_line(2)
    one = segmentation(
        np.ones((3, 5)), kind=inside.kind, stroke=inside.stroke, toward=inside.toward
    )
    links = depth_links(one)
    np.testing.assert_array_equal(links.right, np.tile([1, 0, 1, 1, 0], (3, 1)) > 0)
    right, _ = normal_links(one)
    np.testing.assert_array_equal(right, np.tile([2, 0, 1, 2, 0], (3, 1)))


def test_a_line_pixel_with_only_lines_on_its_side_is_linked_to_those():
    smooth, kind = np.array([[1, 1, 1, 1]]), np.array([[2, 2, 2, 0]])
    toward = np.zeros((1, 4, 2))
    toward[0, :2] = RIGHT
    toward[0, 2] = (-1.0, 0.0)  # looks away from the only ordinary pixel
    right, _ = normal_links(segmentation(smooth, kind=kind, toward=toward))
    np.testing.assert_array_equal(right, [[1, 1, 0, 0]])


def test_no_pixel_of_a_drawn_region_is_left_alone_and_none_is_linked_across():
    made = segment(ball_before_wall())
    right, down = normal_links(made)
    degree = right + down
    degree[:, 1:] += right[:, :-1]
    degree[1:] += down[:-1]
    assert (degree[made.region] > 0).all()
    across = made.smooth[:, :-1] != made.smooth[:, 1:]
    assert across.any()
    assert not right[:, :-1][across].any()
    assert not depth_links(made).right[:, :-1][across].any()
