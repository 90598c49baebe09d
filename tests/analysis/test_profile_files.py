"""The profiles that come with the package, and profiles in a user's own file."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from depthgauge.analysis.profiles import PROFILES, find_profile, load_profile, rank_by_profile
from depthgauge.errors import BadFile, BadProtocol, UnknownName
from depthgauge.metrics import METRICS


def test_the_profiles_of_the_package():
    assert set(PROFILES) == {
        "automotive", "inspection", "matting", "robotics", "surgery", "view-interpolation",
    }  # fmt: skip


@pytest.mark.parametrize("name", list(PROFILES))
def test_every_profile_says_where_it_comes_from_and_why(name):
    found = PROFILES[name]
    assert found.id == name
    assert found.cite
    assert found.about
    assert all(weight.why.endswith(".") for weight in found.weights)
    assert len({weight.why for weight in found.weights}) == len(found.weights)


@pytest.mark.parametrize("name", list(PROFILES))
def test_every_weight_of_a_profile_can_be_scored_by_some_metric(name):
    known = [*METRICS, "runtime", "peak_memory"]
    for weight in PROFILES[name].weights:
        stems = [p.partition("@")[0].partition(":")[0] for p in weight.scores]
        assert any(fnmatchcase(metric, stem) for stem in stems for metric in known), weight


def test_thin_structures_matter_to_a_surgeon_and_time_does_not_to_an_editor():
    methods = {
        "thin": {"fine_thinning@all": 1.0, "badpix:2@textureless": 20.0, "runtime": 5.0},
        "fast": {"fine_thinning@all": 8.0, "badpix:2@textureless": 20.0, "runtime": 1.0},
    }
    assert rank_by_profile(methods, "surgery").rows[0].label == "thin"
    assert "runtime" not in [s.id for s in rank_by_profile(methods, "matting").scores]


# --------------------------------------------------------------------------------------- files

FILE = """
id = "mine"
title = "Mine"
[[weights]]
aspect = "accuracy"
scores = ["badpix:*"]
weight = 2.5
why = "Because."
"""


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    assert load_profile(path).weights[0].weight == 2.5
    assert find_profile(str(path)) == find_profile(path) == load_profile(path)
    values = {"a": {"badpix:2@all": 9.0}, "plain": {"badpix:2@all": 3.0}}
    assert rank_by_profile(values, path).rows[0].label == "plain"


def test_every_mistake_is_reported_at_once(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        FILE.replace('id = "mine"', 'id = "My Profile"')
        .replace("2.5", "-1")
        .replace("why =", "wy =")
    )
    with pytest.raises(BadProtocol) as raised:
        load_profile(path)
    found = {problem.where: str(problem) for problem in raised.value.problems}
    assert set(found) == {"id", "weights[0].weight", "weights[0].why", "weights[0].wy"}
    assert found["weights[0].why"] == "weights[0].why: is missing"
    assert "Did you mean 'why'" in found["weights[0].wy"]
    assert "is -1 but must be greater than 0" in found["weights[0].weight"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["badpix:*"]', "[]", r"weights\[0\].scores: "),
        ("2.5", '"2"', r"weights\[0\].weight: is '2' but must be a valid number"),
        ("2.5", "inf", r"weights\[0\].weight: "),
        ('title = "Mine"', "", "title: is missing"),
        (FILE[FILE.index("[[") :], "weights = []", "weights: "),
        (FILE, FILE + FILE[FILE.index("[[") :], "weights: has the aspect 'accuracy' twice"),
        ('title = "Mine"', 'titel = "Mine"', "titel: is not a key .Did you mean 'title'"),
    ],
)
def test_mistakes_are_said(old, new, message, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises(BadProtocol, match=message):
        load_profile(path)


def test_what_is_no_profile_is_said(tmp_path):
    with pytest.raises(UnknownName, match=r"no profile 'surgry'\. Did you mean 'surgery'"):
        find_profile("surgry")
    with pytest.raises(BadFile, match="there is no such file"):
        find_profile("./none.toml")
    (tmp_path / "mine.toml").write_text("id =")
    with pytest.raises(BadFile, match="is not TOML"):
        load_profile(tmp_path / "mine.toml")
