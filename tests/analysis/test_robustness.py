"""Runs at several levels of one perturbation, put together or refused."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from depthgauge.analysis.robustness import load_robustness, robustness
from depthgauge.errors import BadData, CannotCompare, UnknownName
from depthgauge.types import Score

NAN = math.nan


@pytest.fixture
def make(build):
    """A run of `mae` from label -> value, at a perturbation."""

    def make(values, perturb="", metric="mae", **changes):
        protocol = build.protocol(
            scores=[{"metric": metric}], **({"perturb": perturb} if perturb else {}), **changes
        )
        (spec,) = protocol.specs
        unit = spec.metric.unit.of("disparity")
        found = {
            (label, 0): {
                "s": {spec.id: Score(v, *((0, 10) if math.isnan(v) else (10, 0)), unit=unit)}
            }
            for label, v in values.items()
        }
        return build.assemble(protocol, found, {}, path=f"runs/{perturb or 'none'}")

    return make


def test_levels_are_sorted_and_losses_are_from_the_neutral_one(make):
    runs = [
        make({"a": 5.0, "b": 2.5}, "noise:20"),
        make({"a": 1.0, "b": 2.0}),
        make({"a": 1.5, "b": 1.75}, "noise:5"),
    ]
    found = robustness(runs)
    assert (found.effect, found.unit, found.levels, found.base) == (
        "noise", "grey levels", (0, 5, 20), 0,
    )  # fmt: skip
    assert found.lines["mae@all"] == {"a": (1.0, 1.5, 5.0), "b": (2.0, 1.75, 2.5)}
    assert found.loss("mae@all", "a") == (0.0, 0.5, 4.0)
    assert found.loss("mae@all", "b") == (0.0, -0.25, 0.5)
    assert found.largest_loss("mae@all", "a") == 4.0
    assert [row.label for row in found.board.rows] == ["a", "b"]
    assert found.protocol.perturb == ""
    assert found.hashes == (runs[1].protocol.hash, runs[2].protocol.hash, runs[0].protocol.hash)
    assert len(set(found.hashes)) == 3
    assert found.notes == ()


def test_where_higher_is_better_less_is_a_loss(make):
    found = robustness(
        [make({"a": 90.0}, metric="density"), make({"a": 70.0}, "noise:5", metric="density")]
    )
    assert found.loss("density@all", "a") == (0.0, 20.0)


def test_a_quality_goes_down(make):
    found = robustness([make({"a": 3.0}, "jpeg:20"), make({"a": 1.0}), make({"a": 2.0}, "jpeg:60")])
    assert found.levels == (100, 60, 20)
    assert found.lines["mae@all"]["a"] == (1.0, 2.0, 3.0)
    assert found.base == 0


def test_a_neutral_level_between_others_stays_between(make):
    found = robustness(
        [make({"a": 3.0}, "gain:1.5"), make({"a": 1.0}), make({"a": 2.0}, "gain:0.5")]
    )
    assert found.levels == (0.5, 1, 1.5)
    assert found.base == 1
    assert found.loss("mae@all", "a") == (1.0, 0.0, 2.0)


def test_without_the_neutral_level_the_mildest_is_the_base(make):
    found = robustness([make({"a": 3.0}, "noise:20"), make({"a": 1.0}, "noise:5")])
    assert found.levels == (5, 20)
    assert found.loss("mae@all", "a") == (0.0, 2.0)
    assert found.notes == (
        "No run is without noise; losses are relative to the mildest level, noise 5.",
    )


def test_what_is_beside_the_series_is_named(make):
    runs = [make({"a": 1.0}, f"noise:{n}@right+jpeg:50") for n in (0, 5)]
    found = robustness(runs)
    assert (found.effect, found.views, found.beside) == ("noise", "right", "jpeg:50")


def test_an_incomplete_value_has_no_loss(make):
    found = robustness([make({"a": 1.0, "b": NAN}), make({"a": NAN, "b": 2.0}, "noise:5")])
    assert found.loss("mae@all", "a") == pytest.approx((0.0, NAN), nan_ok=True)
    assert all(math.isnan(loss) for loss in found.loss("mae@all", "b"))
    assert math.isnan(found.largest_loss("mae@all", "a"))


def test_failures_are_told(make):
    runs = [make({"a": 1.0}), make({"a": 2.0}, "noise:5")]
    hurt = {k: replace(r, failed={"s": "no"}) for k, r in runs[1].results.items()}
    found = robustness([runs[0], replace(runs[1], results=hurt)])
    assert found.notes == ("a has no usable estimate for some of the 1 samples: 1 at noise 5.",)


def test_another_main_score_is_asked_for(make):
    runs = [make({"a": 1.0}), make({"a": 2.0}, "noise:5")]
    assert robustness(runs, main="mae@all").board.main == "mae@all"
    with pytest.raises(UnknownName):
        robustness(runs, main="rms@all")


def test_these_runs_do_not_belong_together(make):
    plain, noisy = make({"a": 1.0}), make({"a": 2.0}, "noise:5")

    def refused(*runs):
        with pytest.raises(CannotCompare) as caught:
            robustness(runs)
        return str(caught.value)

    assert "at least two runs" in refused(noisy)
    assert "at least two runs" in refused(plain, plain)
    assert "different perturbations: noise:5, blur:1" in refused(noisy, make({"a": 1.0}, "blur:1"))
    right = make({"a": 1.0}, "noise:10@right")
    assert "different perturbations: noise:5, noise:10@right" in refused(noisy, right)
    assert "differ in nothing" in refused(noisy, noisy)
    assert "same perturbation: none, noise:5, noise:5" in refused(plain, noisy, noisy)
    two = make({"a": 1.0}, "noise:5+blur:1")
    assert "differ in more than one level: none, noise:5+blur:1" in refused(plain, two)
    skip = make({"a": 1.0}, "noise:10", missing="skip")
    assert "more than the perturbation: missing is bad" in refused(noisy, skip)
    more = make({"a": 1.0, "b": 1.0}, "noise:5")
    assert "only one of them has the method b" in refused(plain, more)
    changed = replace(noisy, truth_hashes={"s": "another"})
    assert "s was scored against another truth" in refused(plain, changed)
    assert "only one of them has the sample s" in refused(plain, replace(noisy, samples=("t",)))
    other = replace(noisy, entrants=tuple(replace(e, options_hash="x") for e in noisy.entrants))
    assert "a has different options" in refused(plain, other)


def test_a_folder_that_is_none_is_one_sentence(tmp_path):
    with pytest.raises(BadData, match=r"robustness\.json"):
        load_robustness(Path(tmp_path))
