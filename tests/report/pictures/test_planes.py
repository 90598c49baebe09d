import cv2
import numpy as np
import pytest

from depthgauge.report.pictures.quantities.planes import (
    estimated_planes,
    number_planes,
    true_planes,
)

NAN = np.nan
TRUTH = np.array([[7, 7, 7, 7, 0, 3, 3, NAN]], np.float32)


def instances(*masks):
    """Each mask as a string of digits: tenths of confidence."""
    return np.stack([np.array([[int(c) / 10 for c in mask]]) for mask in masks], axis=-1)


def test_an_instance_that_overlaps_by_half_has_the_number_of_the_true_plane():
    # Ids 3 and 7 are numbers 1 and 2.
    numbers, same = number_planes(instances("99900000", "00000770"), TRUTH)
    assert numbers.tolist() == [[2, 2, 2, 0, 0, 1, 1, 0]]
    assert same == [True, True]


def test_below_half_it_has_a_number_that_no_true_plane_has():
    numbers, same = number_planes(instances("90000000"), TRUTH)
    assert numbers.tolist() == [[3, 0, 0, 0, 0, 0, 0, 0]]
    assert same == [False]


def test_the_more_confident_takes_the_plane_and_lies_on_top():
    numbers, same = number_planes(instances("55550000", "99900000"), TRUTH)
    assert same == [True, False]
    assert numbers.tolist() == [[2, 2, 2, 3, 0, 0, 0, 0]]


def test_what_lies_outside_the_region_does_not_count():
    assert number_planes(instances("00000779"), TRUTH)[1] == [True]


@pytest.mark.parametrize("shape", [(1, 8), (1, 8, 1)])
def test_no_plane_at_all(shape):
    numbers, same = number_planes(np.zeros(shape, np.float32), TRUTH)
    assert not numbers.any()
    assert same == []
    assert number_planes(np.full(shape, NAN, np.float32), TRUTH)[1] == []


def decoded(picture):
    return cv2.imdecode(np.frombuffer(picture.data, np.uint8), cv2.IMREAD_COLOR)


def test_pictures_have_the_same_colour_for_the_same_plane():
    image = np.full((1, 8, 3), 200, np.uint8)
    truth = true_planes(TRUTH, image)
    estimate = estimated_planes(instances("99900000", "00000770"), TRUTH, image)
    assert truth.caption == "true planes: 2"
    assert estimate.caption == "2 planes, 2 on a true one"
    a, b = decoded(truth), decoded(estimate)
    assert (a[0, 0] == b[0, 0]).all()
    assert (a[0, 5] == b[0, 5]).all()
    assert (a[0, 0] != a[0, 5]).any()
    assert (a[0, 4] == b[0, 4]).all()  # no plane: the photograph
    assert estimated_planes(instances("99990000"), TRUTH, None).caption.startswith("1 plane, ")
