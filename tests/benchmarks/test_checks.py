"""Mistakes in benchmarks: each is found when the file is read, says where and what."""

import pytest

from depthgauge.benchmarks.protocol import load_protocol
from depthgauge.errors import BadProtocol

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("changes", "where", "what"),
    [
        # regions
        ({"regions": {"rim": "border"}}, "regions.rim", "needs its width"),
        ({"regions": {"t": "textureless:1,2,3"}}, "regions.t", "takes only window, threshold"),
        ({"regions": {"t": "textureless:wide"}}, "regions.t", "window is a whole number"),
        ({"regions": {"visible": "all"}}, "regions.visible", "is built in"),
        ({"regions": {"a": "a | all"}}, "regions.a", "defined by itself"),
        ({"regions": {"a b": "all"}}, "regions.a b", "is not a valid name"),
        ({"regions": {"g": "all"}, "given_regions": ["g"]}, "regions.g", "as a mask with the call"),
        ({"regions": {"a": "glass:3"}}, "regions.a", "no region with parameters 'glass'"),
        ({"regions": {"a": 3}}, "regions.a", "is 3 but must be a text"),
        ({"align": {"kind": "median", "fit_on": "border"}}, "align.fit_on", "needs its width"),
        ({"scores": [{"metric": "mae", "region": "border"}]}, "scores[0].region", "its width"),
        (
            {"scores": [{"metric": "mae", "region": ["all", "~"]}]},
            "scores[0].region[1]",
            "expected",
        ),
        ({"scores": [{"metric": "mae", "region": 3}]}, "scores[0].region", "is 3 but must be a re"),
        ({"scores": [{"metric": "mae", "region": ["all", 3]}]}, "scores[0].region", "['all', 3]"),
        # ranges
        ({"estimate": {"clip": [5, 5]}}, "estimate.clip", "is [5, 5]"),
        ({"estimate": {"clip": [0, INF]}}, "estimate.clip", "is [0, inf] but must be [low, high]"),
        ({"estimate": {"clip": [0]}}, "estimate.clip", "is [0] but must be [low, high]"),
        ({"estimate": {"clip": [0, 1, 2]}}, "estimate.clip", "is [0, 1, 2] but must be"),
        ({"estimate": {"clip": [0, True]}}, "estimate.clip", "must be [low, high], two finite"),
        ({"estimate": {"range": [5, 1]}}, "estimate.range", "is [5, 1]"),
        ({"estimate": {"range": [NAN, 1]}}, "estimate.range", "is [nan, 1] but must be 'inputs'"),
        ({"truth": {"min_depth_m": 3, "max_depth_m": 3}}, "truth.min_depth_m", "max_depth_m is 3"),
        ({"truth": {"max_depth_m": INF}}, "truth.max_depth_m", "is inf but must be a finite"),
        ({"truth": {"min_depth_m": -1}}, "truth.min_depth_m", "is -1 but must be greater than or"),
        (
            {"missing": "interpolate", "interpolate": "constant", "interpolate_constant": NAN},
            "interpolate_constant",
            "is nan but must be a finite number",
        ),
        # parameters
        ({"scores": [{"metric": "badpix", "threshold": []}]}, "scores[0].threshold", "empty list"),
        ({"scores": [{"metric": "mae", "region": []}]}, "scores[0].region", "empty list"),
        ({"scores": [{"metric": "badpix", "threshold": True}]}, "scores[0].threshold", "is true"),
        (
            {"scores": [{"metric": "badpix", "threshold": [2, False]}]},
            "scores[0].threshold",
            "fals",
        ),
        ({"scores": [{"metric": "badpix", "threshold": [1, 1.0]}]}, "scores", "occurs twice"),
        ({"scores": [{"metric": "badpix", "threshold": [[1]]}]}, "scores[0]", "must be a number"),
        ({"scores": [{"region": "all"}]}, "scores[0].metric", "is missing"),
        ({"scores": {"metric": "mae"}}, "scores", "must be a list of tables: [[scores]]"),
        ({"scores": ["mae"]}, "scores[0]", "is 'mae' but must be a table"),
        # whole numbers
        ({"version": "1"}, "version", "is '1' but must be a whole number"),
        ({"version": True}, "version", "is true but must be a whole number"),
        ({"version": 1.0}, "version", "is 1.0 but must be a whole number"),
        ({"version": 0}, "version", "is 0 but must be greater than or equal to 1"),
        ({"crop": "3"}, "crop", "'3' is not a crop; write ROWS,COLUMNS such as"),
        ({"crop": "gerg"}, "crop", "'gerg' is not a crop; did you mean 'garg'"),
        ({"crop": -3}, "crop", "is -3 but must be a whole number of pixels, or a box such as"),
        ({"crop": "9:3,0:1"}, "crop", "ends before it begins"),
        ({"crop": "garg", "truth_scale": 0.5}, "crop", "is 'garg' with truth_scale = 0.5"),
        ({"crop": False}, "crop", "is false but must be"),
        ({"truth_scale": True}, "truth_scale", "is true but must be a number"),
        # what does not go together
        ({"crop": 2, "truth_scale": 0.5}, "crop", "is 2 with truth_scale = 0.5"),
        ({"options": {"clip": "none"}}, "options", "are for a twin"),
        ({"missing": "interpolate"}, "interpolate", "must say how"),
        # words
        ({"id": "My Own"}, "id", "is 'My Own' but must be lower-case letters"),
        ({"align": "median"}, "align", "is 'median' but must be a table"),
        ({"pool": None}, "pool", "is missing"),
        ({"dataset": 3}, "dataset", "is 3 but must be a text"),
    ],
)
def test_a_mistake_says_where_and_what(problems, changes, where, what):
    found = problems(**changes)
    assert set(found) == {where}
    assert what in found[where].what


@pytest.mark.parametrize(
    ("changes", "where", "message", "hint"),
    [
        (
            {"align": {"kind": "medain"}},
            "align.kind",
            "is 'medain' but must be 'none', 'median', 'scale' or 'scale_shift'",
            "Did you mean 'median'?",
        ),
        (
            {"missing": "Bad"},
            "missing",
            "is 'Bad' but must be 'bad', 'skip', 'interpolate' or 'good'",
            "Did you mean 'bad'?",
        ),
        (
            {"estimate": {"range": "input"}},
            "estimate.range",
            "is 'input' but must be 'inputs', 'none' or [low, high], two finite numbers",
            "Did you mean 'inputs'?",
        ),
    ],
)
def test_a_wrong_word_is_shown_with_what_may_stand_there(problems, changes, where, message, hint):
    found = problems(**changes)
    assert (found[where].what, found[where].hint) == (message, hint)


def test_a_long_value_is_shortened(problems):
    assert len(problems(pool="x" * 1000)["pool"].what) < 150


def test_regions_in_a_circle(problems):
    regions = {"a": "b", "b": "~a", "c": "a", "d": "all"}
    found = problems(regions=regions)
    assert set(found) == {"regions.a", "regions.b"}
    assert found["regions.a"].what == "is defined by itself, through b"


def test_given_masks_are_known(make):
    scores = [{"metric": "mae", "region": ["glass", "near_glass"]}]
    regions = {"near_glass": "glass & near:3"}
    made = make(dataset="none", scores=scores, regions=regions, given_regions=["glass"])
    assert made.score_ids == ("mae@glass", "mae@near_glass")


def test_alignment_and_depth_limits_need_a_depth(problems, make):
    flow = {"quantity": "flow", "scores": [{"metric": "epe"}]}
    found = problems(**flow, align={"kind": "scale"}, truth={"min_depth_m": 1, "max_depth_m": 2})
    assert set(found) == {"align.kind", "truth.min_depth_m", "truth.max_depth_m"}
    assert found["align.kind"].what == "is 'scale' but for depth and disparity only, not for flow"
    make(**flow, align={"kind": "none"})


def test_a_twin_has_its_own_rules(problems, twin):
    keys = {
        "scores": [{"metric": "mae"}],
        "align": {"kind": "none"},
        "regions": {"a": "all"},
        "crop": 0,
        "truth_scale": 1,
        "interpolate": "scanline",
        "interpolate_constant": 3,
        "truth": {"max_depth_m": 3},
        "estimate": {"range": "none"},
        "given_regions": ["glass"],
    }
    found = problems(**{**twin, **keys}, options={"clip": "all"})
    assert set(found) == {*keys, "twin"}
    assert all("a twin has its own rules" in found[key].what for key in keys)
    assert "missing" in problems(**{**twin, "missing": "interpolate"})


def test_mistakes_of_both_kinds_come_together(problems):
    """What does not fit the schema hides nothing else."""
    found = problems(
        version="1",
        quantity=None,
        dataset="foldr",
        truth={"min_depth_m": 3, "max_depth_m": 2},
        estimate={"clip": [2, 1]},
        regions={"a": "b", "b": "a", "rim": "border"},
        options={"clip": "none"},
        align={"kind": "medain", "fit_on": "all &"},
        scores=[
            {"metric": "badpx", "region": 3},
            {"metric": "badpix", "threshold": [], "treshold": 2, "treshhold": 3},
            {"metric": 5, "region": "all &"},
            {"metric": "mae", "region": "border"},
            "mae",
        ],
    )
    assert set(found) == {
        "version",
        "quantity",
        "dataset",
        "truth.min_depth_m",
        "estimate.clip",
        "regions.a",
        "regions.b",
        "regions.rim",
        "options",
        "align.kind",
        "scores[0].metric",
        "scores[0].region",
        "scores[1].threshold",
        "scores[1].treshold",
        "scores[1].treshhold",
        "scores[2].metric",
        "scores[2].region",
        "scores[3].region",
        "scores[4]",
    }
    assert found["scores[2].metric"].what == "is 5 but must be a text"


def test_what_only_a_call_may_say_is_refused_in_a_file(tmp_path, make):
    make(dataset="none", given_regions=["glass"])
    path = tmp_path / "mine.toml"
    path.write_text(
        'id = "mine"\nversion = 1\ndataset = "none"\nquantity = "disparity"\npool = "images"\n'
        'given_regions = ["glass"]\n[[scores]]\nmetric = "mae"\n'
    )
    with pytest.raises(BadProtocol) as caught:
        load_protocol(path)
    assert {p.where for p in caught.value.problems} == {"pool", "dataset", "given_regions"}
