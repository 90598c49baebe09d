"""Everything that should be mended is named, with what to do; nothing of it crashes."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.annotate.quality.problems import problems_of
from depthgauge.annotate.reconstruct.segmentation import segment
from depthgauge.annotate.records.annotation import (
    Annotation,
    Focal,
    NormalMark,
    Picture,
    Relation,
    Stroke,
    SurfaceMark,
)
from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.annotate.simulate.noise import LEVELS
from depthgauge.synth.sets.single_views import make_view

NAN = float("nan")
UP = (0.0, 0.0, -1.0)

GOOD = Annotation(
    Picture("test", 60, 50),
    Focal(500.0),
    must_contain_px=((20.0, 20.0), (40.0, 30.0)),
    region_px=((5.0, 5.0), (55.0, 5.0), (55.0, 45.0), (5.0, 45.0)),
    strokes={"line": Stroke("occlusion", ((30.0, 0.0), (30.0, 49.0)), "left")},
    surfaces={
        "a": SurfaceMark((10.0, 10.0), "planar"),
        "b": SurfaceMark((50.0, 10.0), "planar"),
    },
    normals={"na": NormalMark((10.0, 20.0), UP), "nb": NormalMark((50.0, 20.0), UP)},
    relations={"r": Relation("a", "b", "parallel")},
)


def test_a_good_annotation_has_none():
    assert problems_of(GOOD) == []
    assert problems_of(GOOD, segment(GOOD)) == []


def changed(**things):
    """The good one with entries added to its mappings, or fields replaced."""
    fields = {
        name: {**getattr(GOOD, name), **value} if isinstance(value, dict) else value
        for name, value in things.items()
    }
    return replace(GOOD, **fields)


def fold(*points):
    return Stroke("fold", points)


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        (changed(focal=Focal(0.0)), "The focal length is 0 px; give a positive one."),
        (changed(focal=Focal(NAN)), "The focal length is nan px"),
        (changed(must_contain_px=((2.0, 2.0),)), "does not contain the point (2, 2)"),
        (changed(must_contain_px=((2000.0, 2.0),)), "does not contain the point (2000, 2)"),
        (changed(region_px=((5.0, 5.0), (55.0, 45.0))), "fewer than three different corners"),
        (
            changed(region_px=((5.0, 5.0), (55.0, 45.0), (55.0, 5.0), (5.0, 45.0))),
            "crosses itself near (30, 25)",
        ),
        (changed(region_px=((500.0, 5.0), (555.0, 5.0), (555.0, 45.0))), "encloses no pixel"),
        (changed(region_px=(*GOOD.region_px, (NAN, 2.0))), "a corner with invalid"),
        (changed(strokes={"far": fold((0.0, 1.0), (20.0, 1.0))}), "Stroke 'far' lies outside"),
        (changed(strokes={"dot": fold((9.0, 9.0), (9.0, 9.0))}), "Stroke 'dot' has no length"),
        (changed(strokes={"no": fold()}), "Stroke 'no' has no length"),
        (
            changed(strokes={"odd": fold((10.0, 9.0), (NAN, 9.0), (12.0, 9.0))}),
            "Stroke 'odd' has a point with invalid",
        ),
        (
            changed(strokes={"line": Stroke("occlusion", ((30.0, 0.0), (30.0, 49.0)))}),
            "Occlusion 'line' does not say which side is closer; choose the side.",
        ),
        (
            changed(normals={"na": NormalMark((10.0, 20.0), (0.0, 0.6, 0.8))}),
            "Normal 'na' faces away from the viewer; turn it",
        ),
        (changed(normals={"na": NormalMark((10.0, 20.0), (-1.0, 0.0, 0.0))}), "'na' faces away"),
        (changed(normals={"na": NormalMark((10.0, 20.0), (0.0, 0.0, 0.0))}), "'na' has no length"),
        (changed(normals={"na": NormalMark((10.0, 20.0), (NAN, 0.0, 0.0))}), "not a finite vector"),
        (changed(normals={"off": NormalMark((1.0, 1.0), UP)}), "Normal 'off' lies outside"),
        (changed(surfaces={"c": SurfaceMark((1.0, 1.0), "planar")}), "Mark 'c' lies outside"),
        (
            changed(surfaces={"c": SurfaceMark((50.0, 40.0), "curved")}),
            "Marks 'b' and 'c' are on the same surface and disagree",
        ),
        (
            changed(normals={"more": NormalMark((12.0, 20.0), UP)}),
            "Surface 'a' is planar and has 2 normals ('na', 'more'); keep one of them.",
        ),
        (replace(GOOD, normals={"na": GOOD.normals["na"]}), "Surface 'b' has no normal; set one."),
        (
            changed(strokes={"split": fold((5.0, 30.0), (30.0, 30.0))}),
            "has no normal; set at least one.",
        ),
        (changed(relations={"s": Relation("a", "a", "parallel")}), "relates 'a' to itself"),
        (changed(relations={"s": Relation("a", "z", "parallel")}), "names 'z', which is not"),
        (
            changed(surfaces={"b": SurfaceMark((50.0, 10.0), "curved")}),
            "Relation 'r' names 'b', which is curved; relate planes only.",
        ),
        (
            changed(
                surfaces={"c": SurfaceMark((50.0, 40.0), "planar")},
                relations={"s": Relation("b", "c", "parallel")},
            ),
            "'b' and 'c', which are on the same surface",
        ),
    ],
)
def test_each_problem_is_named_with_what_to_do(annotation, says):
    found = problems_of(annotation)
    assert any(says in sentence for sentence in found), found
    assert all(";" in sentence and sentence.endswith(".") for sentence in found)
    segment(annotation)


def test_a_surface_without_a_mark_is_named_by_a_place_on_it():
    annotation = changed(strokes={"split": fold((5.0, 30.0), (30.0, 30.0))})
    (sentence,) = problems_of(annotation)
    x, y = (int(number) for number in re.findall(r"\((\d+), (\d+)\)", sentence)[0])
    found = segment(annotation)
    assert found.smooth[y, x] not in {found.smooth_at(n.at_px) for n in GOOD.normals.values()}


def test_a_whole_image_and_a_closed_outline_are_fine():
    whole = ((-1.0, -1.0), (60.0, -1.0), (60.0, 50.0), (-1.0, 50.0))
    assert problems_of(replace(GOOD, region_px=whole)) == []
    assert problems_of(replace(GOOD, region_px=())) == []
    assert problems_of(replace(GOOD, region_px=(*GOOD.region_px, GOOD.region_px[0]))) == []


def test_facing_away_is_told_along_the_ray_of_the_mark():
    """At x = 10 of 60 and a focal length of 500 px the ray leans left by 0.039."""
    seen = changed(normals={"na": NormalMark((10.0, 24.5), (1.0, 0.0, 0.038))})
    assert problems_of(seen) == []
    away = changed(normals={"na": NormalMark((10.0, 24.5), (1.0, 0.0, 0.040))})
    assert len(problems_of(away)) == 1
    # Nor does a length matter, and where there is no ray the sign of z is all there is.
    assert problems_of(changed(normals={"na": NormalMark((10.0, 24.5), (1e300, 0.0, 1e298))})) == []
    tiny = changed(focal=Focal(1e-300), normals={"na": NormalMark((1e300, 24.5), (1.0, 0.0, -1.0))})
    assert "'na' faces away" in problems_of(tiny)[0]
    blind = changed(focal=Focal(0.0), normals={"na": NormalMark((10.0, 24.5), (1.0, 0.0, 0.01))})
    assert any("'na' faces away" in sentence for sentence in problems_of(blind))


@pytest.mark.parametrize(("kind", "seed"), [("planar", 4), ("curved", 5)])
def test_exact_normals_of_a_scene_face_the_viewer(kind, seed):
    drawn = simulate(make_view(kind, seed, (320, 240)), LEVELS["none"], seed=1)
    assert not [sentence for sentence in problems_of(drawn) if "faces away" in sentence]


anything = st.floats() | st.sampled_from([0.0, 10.0, 30.0, NAN, 1e300, -1e300, float("inf")])
places = st.tuples(anything, anything)


@given(
    st.builds(
        Annotation,
        picture=st.builds(Picture, st.just("p"), st.integers(1, 40), st.integers(1, 40)),
        focal=st.builds(Focal, anything),
        must_contain_px=st.lists(places, max_size=2).map(tuple),
        region_px=st.lists(places, max_size=5).map(tuple),
        strokes=st.dictionaries(
            st.text(max_size=2),
            st.builds(
                Stroke,
                st.sampled_from(["occlusion", "fold"]),
                st.lists(places, max_size=4).map(tuple),
                st.sampled_from(["left", "right", None]),
            ),
            max_size=3,
        ),
        surfaces=st.dictionaries(
            st.sampled_from("ab"), st.builds(SurfaceMark, places, st.just("planar"))
        ),
        normals=st.dictionaries(
            st.sampled_from("ab"),
            st.builds(NormalMark, places, st.tuples(anything, anything, anything)),
        ),
        relations=st.dictionaries(
            st.text(max_size=1),
            st.builds(
                Relation, st.sampled_from("abc"), st.sampled_from("abc"), st.just("parallel")
            ),
            max_size=2,
        ),
    )
)
def test_no_annotation_crashes(annotation):
    for sentence in (*problems_of(annotation), *segment(annotation).notes):
        assert sentence.endswith(".")
