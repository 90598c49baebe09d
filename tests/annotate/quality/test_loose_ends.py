"""Ends of lines in the middle of a surface are found, with their place in the photograph."""

from dataclasses import replace

import pytest

from depthgauge.annotate.quality.loose_ends import loose_ends
from depthgauge.annotate.quality.problems import Enlarged, located_problems, problems_of
from depthgauge.annotate.reconstruct.reconstruction import scaled
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.annotation import Annotation, Focal, Picture, Stroke


def drawn(**strokes):
    made = {name: Stroke("fold", points) for name, points in strokes.items()}
    return Annotation(Picture("p", 100, 80), Focal(100.0), strokes=made)


def ends(annotation):
    return loose_ends(annotation, segment(annotation))


def test_an_end_before_another_line_says_how_far():
    found = ends(drawn(wall=((50, -1), (50, 80)), shelf=((-1, 30), (38, 30))))
    (problem,) = found
    assert problem.at_px == (38.0, 30.0)
    assert problem.text.startswith("Stroke 'shelf' ends 12 px before 'wall'")


def test_what_segment_closes_is_no_problem():
    assert not ends(drawn(wall=((50, -1), (50, 80)), shelf=((-1, 30), (46, 30))))
    assert not ends(drawn(ring=((30, 30), (60, 30), (60, 60), (30, 60), (30, 33))))
    assert not ends(drawn(to_the_edge=((3, 40), (96, 40))))


def test_an_end_far_from_everything_is_a_question():
    (problem,) = ends(drawn(crease=((-1, 30), (50, 40))))
    assert "in the middle of a surface" in problem.text
    assert problem.at_px == (50.0, 40.0)


def test_a_line_may_end_at_the_edge_of_the_region():
    region = ((20, 20), (80, 20), (80, 60), (20, 60))
    assert not ends(replace(drawn(shelf=((22, 40), (78, 40))), region_px=region))
    assert len(ends(replace(drawn(shelf=((22, 40), (60, 40))), region_px=region))) == 1


def test_places_are_those_of_the_photograph():
    large = Annotation(
        Picture("p", 400, 320),
        Focal(400.0),
        must_contain_px=((10.0, 12.0),),
        region_px=((100, 100), (380, 100), (380, 300), (100, 300)),
        strokes={
            "dot": Stroke("fold", ((200.0, 200.0),)),
            "a": Stroke("fold", ((99, 150), (250, 170))),
        },
    )
    small = scaled(large, 0.25)
    surfaces, view = segment(small), Enlarged(4.0, 4.0)
    exact = {
        p.text.partition(" ")[0] + p.text[-12:]: p for p in located_problems(large, segment(large))
    }
    for problem in located_problems(small, surfaces, view):
        other = exact[problem.text.partition(" ")[0] + problem.text[-12:]]
        assert problem.at_px == pytest.approx(other.at_px, abs=3)
    (loose,) = loose_ends(small, surfaces, view)
    assert loose.at_px == pytest.approx((250, 170), abs=1)
    texts = [p.text for p in located_problems(large, segment(large))]
    assert texts == problems_of(large)
    assert texts[0] == "The region does not contain the point (10, 12); extend it."
