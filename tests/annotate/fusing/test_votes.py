"""What several people say together."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from tests.annotate.drawn import annotation, ball_before_wall

from depthgauge.annotate.fusing._votes import (
    person_weights,
    robust_mean,
    voted_orders,
    voted_relations,
)
from depthgauge.annotate.fusing.fusion import fuse
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.annotation import NormalMark, Relation, Stroke, SurfaceMark


def maps(spreads: Sequence[float], seed=0):
    """Normal maps around the viewing axis, of people with errors of so many degrees."""
    rng = np.random.default_rng(seed)
    lean = np.stack([np.radians(s) * rng.normal(size=(30, 40, 2)) for s in spreads])
    normals = np.concatenate([lean, -np.ones((*lean.shape[:3], 1))], axis=-1)
    return normals / np.linalg.norm(normals, axis=-1, keepdims=True)


def off_deg(mean):
    return float(np.degrees(np.arccos(np.clip(-mean[..., 2], -1, 1))).mean())


def test_people_far_from_the_others_count_little():
    normals = maps([3, 3, 3, 3, 25])
    weights = person_weights(normals)
    np.testing.assert_allclose(weights.mean(), 1.0)
    assert weights[4] < 0.2 * weights[:4].min()
    assert off_deg(robust_mean(normals, weights)[0]) < off_deg(robust_mean(normals)[0])


def test_equal_people_count_equally_and_two_cannot_be_told_apart():
    assert np.ptp(person_weights(maps([5] * 6))) < 0.1
    assert person_weights(maps([1, 30])).tolist() == [1.0, 1.0]


def test_who_agrees_by_chance_does_not_decide_alone():
    normals = maps([6, 6, 6, 6])
    copied = np.concatenate([normals, normals[:1]])
    assert person_weights(copied).max() < 3


def test_missing_normals_have_no_voice():
    normals = maps([2, 2, 2])
    normals[0, :, :20] = np.nan
    mean, angles = robust_mean(normals, person_weights(normals))
    assert np.isfinite(mean).all()
    assert np.isnan(angles[0, :, :20]).all()


def test_most_people_decide_which_side_is_closer():
    right = ball_before_wall()
    stroke = right.strokes["ball"]
    wrong = replace(right, strokes={"ball": replace(stroke, closer="left", smooth=False)})
    made = [reconstruct(right)] * 3
    assert voted_orders(wrong, made).strokes["ball"].closer == "right"
    assert voted_orders(right, made) == right
    assert voted_orders(wrong, made[:1]) == wrong  # one against one
    fused = fuse([wrong, right, right, right]).reconstruction
    assert fused.depth[60, 60] < fused.depth[3, 3]


def test_relations_are_those_that_most_state():
    drawn = annotation(
        80,
        60,
        90.0,
        strokes={"cut": Stroke("fold", ((40, -1), (40, 60)))},
        surfaces={"a": SurfaceMark((20, 30), "planar"), "b": SurfaceMark((60, 30), "planar")},
        normals={
            "a": NormalMark((20, 30), (0.7, 0.0, -0.7)),
            "b": NormalMark((60, 30), (-0.7, 0.0, -0.7)),
        },
    )
    one, two, three = (
        replace(drawn, relations={"r": Relation("b", "a", kind)})
        for kind in ("orthogonal", "orthogonal", "neither")
    )
    base = reconstruct(one)
    assert voted_relations(base, [one, two, three]) == [(1, 2, "orthogonal")]
    assert voted_relations(base, [one, three]) == []
    assert voted_relations(base, [drawn]) == []
