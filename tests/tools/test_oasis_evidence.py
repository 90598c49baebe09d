"""What the evidence about simulated people and reconstruction checks, and that it can fail."""

from __future__ import annotations

import numpy as np
import pytest
from tools.evidence import _oasis_ball, oasis_like, oasis_reconstruction, within
from tools.evidence._oasis_people import people_numbers, people_table, rough_normals

from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.geometry.projection import backproject


def met(numbers):
    return {number.name: number.met for number in numbers}


def test_limits_belong_to_what_is_allowed():
    assert [within("a", value, 1.0, 3.0).met for value in (0.9, 1.0, 3.0, 3.1, np.nan)] == [
        *(False, True, True, False, False)
    ]


@pytest.mark.parametrize(
    ("means", "falls", "rises"),
    [([1, 2, 4], True, True), ([1, 4, 3], False, True), ([1, 1.1, 1.2], True, False)],
)
def test_curves_must_rise(means, falls, rises):
    name = "tilt of single normals"
    found = met(oasis_reconstruction.curve_checks(name, "planar", means))
    assert list(found.values()) == [falls, rises]


def test_density_need_not_matter():
    found = met(oasis_reconstruction.curve_checks("distance between normals", "a", [1, 1]))
    assert list(found.values()) == [True]


def test_people_must_be_better_than_baselines():
    scores = {f"{b}, {oasis_like.PEOPLE}: {s}": 0.0 for b, s in oasis_like.AHEAD}
    good = {
        f"{benchmark}, other: {score}": -sign * (least + most) / 2
        for (benchmark, score), (sign, least, most) in oasis_like.AHEAD.items()
    }
    found = met(oasis_like.ahead({**scores, **good}))
    assert len(found) == len(oasis_like.AHEAD)
    assert all(found.values())
    worse = {name: -value for name, value in good.items()}
    assert not any(met(oasis_like.ahead({**scores, **worse})).values())


def test_rough_normals_are_as_rough_as_told():
    normals = np.tile(np.float32([0.6, 0.0, -0.8]), (50, 60, 1))
    rough = rough_normals(normals, 6.0)
    assert np.allclose(np.linalg.norm(rough, axis=2), 1, atol=1e-5)
    angles = np.degrees(np.arccos(np.clip((rough * normals).sum(axis=2), -1, 1)))
    assert angles.mean() == pytest.approx(6.0, rel=0.05)


def test_the_ball_is_a_ball_and_has_as_many_normals_as_asked():
    view = _oasis_ball.ball_view()
    on = view.depth < 4
    points = backproject(view.depth, view.camera)[on] - [0, 0, 4]
    radius = np.linalg.norm(points, axis=1)
    assert np.ptp(radius) < 1e-4
    assert on.sum() == pytest.approx(np.pi * 67**2, rel=0.01)
    drawn = simulate(view)
    off = len(_oasis_ball.with_normals(drawn, view, 1).normals) - 1
    for count in _oasis_ball.COUNTS:
        marks = _oasis_ball.with_normals(drawn, view, count).normals.values()
        assert len({mark.at_px for mark in marks}) == count + off


def test_rounding_helps_a_ball():
    numbers = list(_oasis_ball.ball_numbers())
    assert all(number.met for number in numbers)
    lines = _oasis_ball.ball_table({n.name: n.value for n in numbers}).splitlines()
    assert len(lines) == 2 + len(_oasis_ball.COUNTS)


def test_people_beside_the_paper(monkeypatch):
    monkeypatch.setattr("tools.evidence._oasis_people.SIZE_PX", (96, 72))
    monkeypatch.setattr("tools.evidence._oasis_people.KINDS", ("planar",))
    numbers = list(people_numbers(seeds=(0,), people=2))
    assert len(numbers) == 8
    assert all(np.isfinite(number.value) for number in numbers)
    assert "13.1" in people_table({n.name: n.value for n in numbers})


def test_the_pages_of_people_show_what_their_names_say():
    from tools.evidence import _people_page

    fusion = {"shared errors alone: EDist, %": 3.0}
    for errors in ("own", "own and shared"):
        for i, end in enumerate(_people_page._SAID.values()):
            fusion[f"8 people with {errors} errors{end}"] = float(i)
    rows = _people_page.fusion_table(fusion).splitlines()
    assert rows[2].split("|")[2:7] == [" 0.00 ", " 1.00 ", " 2.00 ", " 3.00 ", " 4 "]
    assert "3.00" in rows[-1]
    advice = {name: 0.5 for name, _ in _people_page._ADVICE.values()}
    assert len(_people_page.advice_table(advice).splitlines()) == 2 + len(advice)
