"""What a person said of normals: kept, mirrored, averaged, adjusted, or left out with a note."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.annotate.drawn import annotation, segmentation

from depthgauge.annotate.reconstruct.hand_normals import described, hand_normals
from depthgauge.annotate.reconstruct.reconstruction import camera_of
from depthgauge.annotate.records.annotation import NormalMark, Relation, SurfaceMark

TWO = segmentation(
    np.tile([1, 1, 1, 2, 2, 2], (4, 1)),
    shapes={1: "planar", 2: "planar"},
    marks={"one": 1, "again": 1, "two": 2, "nowhere": 0},
)
CURVED = segmentation(np.ones((4, 6)), shapes={1: "curved"})


def sorted_out(segmented, normals, relations=None):
    drawn = annotation(6, 4, 10.0, normals=normals, relations=relations or {})
    return hand_normals(drawn, segmented, camera_of(drawn))


def test_a_plane_has_its_one_unit_normal_and_a_curved_surface_its_pixels():
    planes = sorted_out(
        TWO, {"a": NormalMark((1, 1), (0, 0, -2)), "b": NormalMark((4, 2), (3, 0, -4))}
    )
    assert planes.planes[1] == (0, 0, -1)
    assert planes.planes[2] == pytest.approx((0.6, 0, -0.8))
    assert not planes.points
    assert planes.notes == ()
    points = sorted_out(CURVED, {"a": NormalMark((2.4, 0.6), (0, 0, -1))})
    assert points.points == {(1, 2): (0, 0, -1)}
    assert not points.planes


def test_a_normal_that_faces_away_is_mirrored_at_the_ray():
    found = sorted_out(
        TWO, {"a": NormalMark((2, 2), (0.6, 0, 0.8)), "b": NormalMark((4, 2), (0, 0, -1))}
    )
    assert found.planes[1][2] < -0.7
    assert len(found.notes) == 1
    assert "'a' at (2, 2) faces away from the viewer and was mirrored" in found.notes[0]
    # In the middle of the image the ray is the axis: only z changes its sign.
    middle = sorted_out(CURVED, {"a": NormalMark((2.5, 1.5), (0.6, 0, 0.8))})
    assert next(iter(middle.points.values())) == pytest.approx((0.6, 0, -0.8))


@pytest.mark.parametrize("normal", [(0, 0, 0), (math.nan, 0, -1), (math.inf, 0, -1)])
def test_what_has_no_direction_is_left_out(normal):
    found = sorted_out(CURVED, {"a": NormalMark((1, 1), normal)})
    assert not found.points
    assert "'a' at (1, 1) has no direction" in found.notes[0]


@pytest.mark.parametrize("place", [(-5, 1), (100, 1), (math.nan, 1), (math.inf, 1)])
def test_what_lies_outside_is_left_out(place):
    found = sorted_out(CURVED, {"far": NormalMark(place, (0, 0, -1))})
    assert not found.points
    assert "'far'" in found.notes[0]
    assert "outside the region" in found.notes[0]


def test_several_normals_of_one_plane_give_their_mean_and_a_note():
    found = sorted_out(
        TWO,
        {
            "a": NormalMark((0, 0), (0.6, 0, -0.8)),
            "b": NormalMark((1, 1), (-0.6, 0, -0.8)),
            "c": NormalMark((4, 1), (0, 0, -1)),
        },
    )
    assert found.planes[1] == pytest.approx((0, 0, -1))
    assert "has 2 normals up to 37 degrees from their mean" in found.notes[0]


def test_a_plane_without_a_normal_faces_the_viewer_and_is_named():
    found = sorted_out(TWO, {"a": NormalMark((1, 1), (0, 0, -1))})
    assert found.planes[2] == (0, 0, -1)
    assert "planar surface at (4, 1), 12 px, has no normal" in found.notes[0]


def test_related_planes_are_adjusted_together():
    found = sorted_out(
        TWO,
        {"a": NormalMark((1, 1), (0.7, 0, -0.7)), "b": NormalMark((4, 1), (-0.6, 0.1, -0.8))},
        {"r": Relation("again", "two", "orthogonal")},
    )
    assert np.dot(found.planes[1], found.planes[2]) == pytest.approx(0, abs=1e-9)
    assert found.notes == ()


@pytest.mark.parametrize(
    "relation",
    [
        Relation("one", "again", "parallel"),
        Relation("one", "nowhere", "parallel"),
        Relation("one", "unheard of", "parallel"),
        Relation("one", "two", "parallel"),
    ],
)
def test_relations_that_say_nothing_are_left_out(relation):
    found = sorted_out(TWO, {"a": NormalMark((1, 1), (0.6, 0, -0.8))}, {"r": relation})
    assert found.planes[1] == pytest.approx((0.6, 0, -0.8))
    assert any("Relation 'r' needs two planar surfaces" in note for note in found.notes)


def test_a_surface_is_named_by_a_pixel_of_its_own():
    hollow = np.ones((9, 9))
    hollow[1:8, 1:8] = 2
    assert described(1, segmentation(hollow)) in {
        f"at ({x}, {y}), 32 px" for x, y in ((4, 0), (0, 4), (8, 4), (4, 8))
    }
    assert described(7, segmentation(hollow)) == "without a pixel"
    assert SurfaceMark((0, 0), "planar").shape == "planar"


def test_relations_are_held_along_the_rays_of_the_marks():
    """The right wall is seen at x = 5 (slope 0.25), where its normal may have z > 0."""
    left, right = (math.cos(0.1), 0.0, -math.sin(0.1)), (-1.0, 0.0, 0.0)
    found = sorted_out(
        TWO,
        {"a": NormalMark((0, 1.5), left), "b": NormalMark((5, 1.5), right)},
        {"r": Relation("one", "two", "parallel")},
    )
    assert found.notes == ()
    assert found.planes[2] == pytest.approx((-math.cos(0.05), 0.0, math.sin(0.05)))
    assert found.planes[1] == pytest.approx((math.cos(0.05), 0.0, -math.sin(0.05)))
