"""Which protocol gives a number: reading it, finding it, chance, and ranks with their causes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.analysis.explain.ranks import rank_table
from depthgauge.analysis.explain.search import Published, expected_by_chance, explain
from depthgauge.analysis.explain.space import Wanted
from depthgauge.engine.explaining.source import source_of_folders, source_of_maps
from depthgauge.errors import Misuse


def test_a_number_is_read_with_its_precision():
    for text, low, high in (
        ("13.6", 13.55, 13.65),
        ("13.60 %", 13.595, 13.605),
        ("7", 6.5, 7.5),
        ("1.2e-3", 0.00115, 0.00125),
        ("-0.5", -0.55, -0.45),
    ):
        found = Published.of(text)
        assert (found.low, found.high) == pytest.approx((low, high))
    found = Published.of("13.6")
    assert found.has(13.55)
    assert found.has(13.6499)
    assert not found.has(13.65)
    assert not found.has(13.5499)
    for text in ("a lot", "nan", "inf", ""):
        with pytest.raises(Misuse, match="number"):
            Published.of(text)


@given(st.floats(1, 1000), st.integers(0, 4))
def test_a_printed_value_is_always_in_its_interval(value, decimals):
    assert Published.of(f"{value:.{decimals}f}").has(value) or math.isclose(
        value * 10**decimals % 1, 0.5, abs_tol=1e-6
    )


def test_chance_is_the_density_around_the_number():
    """Values spread evenly: as many in the interval as its width says."""
    values = np.linspace(5, 25, 2001)  # one every 0.01
    found = expected_by_chance(Published.of("10.0"), list(values))
    assert found == pytest.approx(10, rel=0.03)  # the interval is 0.1 wide
    assert expected_by_chance(Published.of("10.0"), []) == 0


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Three samples of two methods: one with holes, one dense and less exact."""
    root = tmp_path_factory.mktemp("explain")
    rng = np.random.default_rng(3)
    for name in ("truth", "careful", "dense"):
        (root / name).mkdir()
    for name in ("a", "b", "c"):
        truth = np.tile(np.linspace(10, 60, 40), (30, 1))
        careful = truth + rng.normal(0, 1.2, truth.shape)
        careful[rng.random(truth.shape) < 0.08] = np.nan
        dg.write_map(root / "truth" / f"{name}.pfm", truth)
        dg.write_map(root / "careful" / f"{name}.pfm", careful)
        dg.write_map(root / "dense" / f"{name}.pfm", truth + rng.normal(0, 1.4, truth.shape))
    return root


def source(root, *names):
    return source_of_folders(root / "truth", {n: root / n for n in names})


def test_the_protocol_of_a_number_is_found_and_can_be_repeated(folders):
    """A number is made by a protocol that the search does not know; its command prints it."""
    scored = dg.score_folders(
        folders / "truth", folders / "careful", "badpix:1.5", missing="skip", pool="pixel"
    )
    value = next(iter(scored.run.results.values())).summary["badpix:1.5@all"].value
    found = explain(f"{value:.4f}", source(folders, "careful")).found[0]
    best = found.matches[0]
    assert best.candidate.metric == "badpix:1.5"
    assert {"skip"} == {c.missing for c in (best.candidate, *best.same)}
    assert found.by_chance < 0.05
    assert best.arguments[:2] == ("--truth", str(folders / "truth"))


def test_filled_holes_and_presentations_are_found(folders):
    scored = dg.score_folders(
        folders / "truth",
        folders / "careful",
        "badpix:1",
        missing="interpolate",
        interpolate="scanline",
    )
    value = next(iter(scored.run.results.values())).summary["badpix:1@all"].value
    found = explain(f"{1 - value / 100:.5f}", source(folders, "careful")).found[0]
    assert not found.matches  # good pixels as a fraction: two presentations at once are not tried
    found = explain(f"{100 - value:.4f}", source(folders, "careful")).found[0]
    assert found.matches[0].candidate.shown == "good"
    assert found.matches[0].candidate.setting.name == "holes filled along the row"


def test_two_numbers_must_come_from_one_protocol(folders):
    scored = dg.score_folders(folders / "truth", folders / "careful", ["badpix:1", "mae"])
    summary = next(iter(scored.run.results.values())).summary
    texts = [f"{summary[name].value:.3f}" for name in ("badpix:1@all", "mae@all")]
    found = explain(texts, source(folders, "careful"))
    first = found.together[0]
    assert [c.metric for c in first.candidates] == ["badpix:1", "mae"]
    assert (first.missing, first.pool, first.setting) == ("bad", "image", "")
    # Leaving pixels out gives the mean, but not the percentage.
    assert "skip" not in {each.missing for each in found.together}


def test_depth_is_searched_over_alignments_and_crops():
    rng = np.random.default_rng(2)
    truth = rng.uniform(1, 90, (40, 50)).astype(np.float32)
    estimate = (2.5 * truth * np.exp(rng.normal(0, 0.1, truth.shape))).astype(np.float32)
    scores = dg.score(
        estimate,
        truth,
        "absrel",
        quantity="depth",
        align="median",
        crop="garg",
        protocol={"truth": {"max_depth_m": 80}},
        check=False,
    )
    text = f"{scores['absrel@all'].value:.5f}"
    found = explain(text, source_of_maps(estimate, truth, quantity="depth")).found[0]
    assert len(found.matches) == 1
    best = found.matches[0].candidate
    assert best.setting.name == "aligned by median; garg crop; truth up to 80 m"


def test_what_is_known_leaves_less_to_try(folders):
    all_of_it = explain("9.3", source(folders, "careful")).found[0]
    wanted = Wanted(metrics=["badpix:2"], missing=["bad"], pools=["image"])
    little = explain("9.3", source(folders, "careful"), wanted=wanted).found[0]
    assert little.tried < all_of_it.tried / 50
    assert not little.matches
    assert little.nearest
    with pytest.raises(Misuse, match="bad, skip or fill"):
        explain("9.3", source(folders, "careful"), wanted=Wanted(missing=["good"]))
    with pytest.raises(Misuse, match="at least one number"):
        explain([], source(folders, "careful"))


def test_a_smaller_estimate_is_resized_in_every_way():
    truth = np.random.default_rng(4).uniform(10, 60, (30, 40)).astype(np.float32)
    small = truth[::2, ::2] / 2
    scores = dg.score(small, truth, "mae", estimate_resize="bilinear", check=False)
    text = f"{scores['mae@all'].value:.6g}"
    found = explain(text, source_of_maps(small, truth, quantity="disparity"))
    assert found.found[0].matches[0].candidate.setting.keys == {"estimate_resize": "bilinear"}
    kept = dg.score(
        small,
        truth,
        "mae",
        estimate_resize="bilinear",
        protocol={"resize_values": "kept"},
        check=False,
    )
    text = f"{kept['mae@all'].value:.6g}"
    found = explain(text, source_of_maps(small, truth, quantity="disparity"))
    assert "values kept" in found.found[0].matches[0].candidate.setting.name


def test_ranks_change_with_the_rule_and_the_cause_is_measured(folders):
    table = rank_table(source(folders, "careful", "dense"))
    rows = {row.words: row for row in table.protocols}
    first = table.protocols[0]
    assert first.ranks == {"careful": 2, "dense": 1}
    assert rows["missing pixels left out"].ranks == {"careful": 1, "dense": 2}
    said = [str(change) for change in table.changes]
    share = [s for s in said if "with missing pixels left out" in s]
    assert len(share) == 1
    assert share[0].startswith("careful is 2nd under badpix:2@all, 1st with missing")
    maps = [dg.read_map(folders / "careful" / f"{name}.pfm") for name in "abc"]
    assert f"because {100 * np.isnan(maps).mean():.1f} % of its pixels have no" in share[0]
    assert "0.0 % of those of dense" in share[0]
    body = table.to_json()
    assert body["protocols"][0]["ranks"]["dense"] == 1


def test_ranks_need_two_methods(folders):
    with pytest.raises(Misuse, match="at least two methods"):
        rank_table(source(folders, "careful"))
    with pytest.raises(Misuse, match="no method 'x' here"):
        rank_table(source(folders, "careful", "dense"), method="x")


def test_light_fields_have_finer_thresholds_and_borders():
    """The number of a light-field paper, of a network that gives 22 px less in both directions."""
    rng = np.random.default_rng(6)
    truth = rng.uniform(-2, 2, (64, 64)).astype(np.float32)
    whole = (truth + rng.normal(0, 0.05, truth.shape)).astype(np.float32)
    scores = dg.score(whole, truth, "badpix:0.07", crop=15, check=False)
    text = f"{scores['badpix:0.07@all'].value:.3f}"
    found = explain(text, source_of_maps(whole, truth, quantity="disparity")).found[0]
    assert found.matches[found.most_usual].candidate.setting.name == "without 15 px of border"
    inner = whole[11:-11, 11:-11]
    scores = dg.score(inner, truth, "badpix:0.07", crop=11, check=False)
    text = f"{scores['badpix:0.07@all'].value:.3f}"
    found = explain(text, source_of_maps(inner, truth, quantity="disparity")).found[0]
    assert found.matches[0].candidate.setting.keys == {"crop": 11}
    assert found.matches[0].candidate.metric == "badpix:0.07"
