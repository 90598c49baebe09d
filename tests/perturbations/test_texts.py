"""The text of a perturbation: what it means, its canonical form, what is refused and how."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.errors import BadScoreId, Misuse, UnknownName
from depthgauge.perturbations import EFFECTS, Part, levels_of, parse_perturbation


def test_parts_are_read():
    found = parse_perturbation("noise:5@right+blur:1.5")
    assert found.parts == (Part("noise", 5.0, "right"), Part("blur", 1.5, "all"))
    assert found.revisions == {"noise": 1, "blur": 1}
    assert str(found) == "noise:5@right+blur:1.5"
    assert not found.is_neutral


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("noise:5", "noise:5"),
        (" noise : 5.0 @ all ", "noise:5"),
        ("noise:0.50@others + jpeg:90", "noise:0.5@others+jpeg:90"),
        ("decalibration:1", "decalibration:1"),
        ("decalibration:1@others", "decalibration:1"),
        ("decalibration:1@right", "decalibration:1@right"),
        ("offset:-0", "offset:0"),
        ("noise:1e-5", "noise:0.00001"),
    ],
)
def test_texts_have_one_canonical_form(text, canonical):
    assert parse_perturbation(text).text == canonical
    assert parse_perturbation(canonical) == parse_perturbation(text)


@given(st.floats(0, 255), st.sampled_from(["all", "left", "others"]))
def test_a_text_loses_no_digit(level, views):
    found = parse_perturbation(f"noise:{level!r}@{views}".replace("e+", "e"))
    assert found.parts[0].level == level
    assert parse_perturbation(found.text) == found


def test_moving_effects_are_for_the_other_views():
    assert parse_perturbation("rotation:0.1").parts[0].views == "others"


def test_neutral_is_known():
    assert parse_perturbation("noise:0+gain:1+jpeg:100").is_neutral
    assert not parse_perturbation("noise:0+gain:0.9").is_neutral


def test_series():
    assert [p.text for p in levels_of("noise:0,5,10,20")] == [
        "noise:0", "noise:5", "noise:10", "noise:20",
    ]  # fmt: skip
    assert [p.text for p in levels_of("jpeg:50+gain:1,0.5@right")] == [
        "jpeg:50+gain:1@right",
        "jpeg:50+gain:0.5@right",
    ]
    assert [p.text for p in levels_of("blur:2")] == ["blur:2"]


def test_a_series_without_levels_has_those_that_the_effect_suggests():
    found = levels_of("vignetting@right")
    assert [p.parts[0].level for p in found] == list(EFFECTS["vignetting"].levels)
    assert {p.parts[0].views for p in found} == {"right"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a part is missing; write effect:level"),
        ("noise:", "a part is missing"),
        ("noise:5@", "a part is missing"),
        ("noise:5+", "a part is missing"),
        (":5", "a part is missing"),
        ("noise", r"needs its level: noise:<grey levels>, for instance noise:20\."),
        ("gain", "needs its level: gain:<level>"),
        ("noise:loud", r"a number \(grey levels\) from 0 to 255, not 'loud'"),
        ("noise:-1", "from 0 to 255, not '-1'"),
        ("noise:nan", "not 'nan'"),
        ("noise:inf", "not 'inf'"),
        ("jpeg:50.5", "a whole number"),
        ("jpeg:0", "from 1 to 100, not '0'"),
        ("vignetting:1", "from 0 to 0.99"),
        ("noise:5@rihgt", "no views 'rihgt'. Did you mean 'right'"),
        ("noise:5@middle", "no views 'middle'. Known: all, left, right"),
        ("noise:0,5", "one level of noise is wanted here, not 2; write noise:0"),
        ("decalibration:1@left", "moves what is seen.*instead of '@left' write '@others'"),
        ("decalibration:1@all", "moves what is seen"),
        ("rotation:1@centre", "moves what is seen"),
    ],
)
def test_wrong_texts_are_refused(text, message):
    with pytest.raises(BadScoreId, match=message):
        parse_perturbation(text)


def test_unknown_effects_name_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'noise'"):
        parse_perturbation("niose:5")
    with pytest.raises(UnknownName, match="Did you mean 'blur'"):
        levels_of("noise:1+blurr:5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("noise:0,5+blur:1,2", "only one effect .* but noise and blur have"),
        ("noise:5,5", "has a level twice"),
        ("noise:5,,6", "not ''"),
    ],
)
def test_wrong_series_are_refused(text, message):
    with pytest.raises(Misuse, match=message):
        levels_of(text)


def test_perturbations_travel():
    found = parse_perturbation("noise:5@right+blur:1.5")
    assert pickle.loads(pickle.dumps(found)) == found
    assert hash(pickle.loads(pickle.dumps(found))) == hash(found)
