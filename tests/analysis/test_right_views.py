"""Right views: controls give metrics their scale, tables split by facts, tiers are not mixed."""

import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from tests import rig_scenes

from depthgauge.analysis.baselines import (
    baseline_curves,
    implicit_baselines,
    is_sweep,
    median_interval,
)
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.boards.tier_boards import joined_board, tier_boards
from depthgauge.analysis.boards.tiers import one_tier, tiers_of
from depthgauge.analysis.compare import compare
from depthgauge.analysis.merged_runs import merge_runs
from depthgauge.analysis.profiles import choose_profiles
from depthgauge.analysis.stability import rank_probabilities, rank_stability
from depthgauge.analysis.strata import (
    BASELINE_CM,
    bins,
    by_branch,
    by_number,
    stratum_rows,
    student,
)
from depthgauge.benchmarks import find_benchmark
from depthgauge.cli import depthgauge as main
from depthgauge.datasets import stereogenbench as sgb
from depthgauge.engine.running.controls import CONTROLS, controls_of
from depthgauge.engine.running.run import run
from depthgauge.errors import CannotCompare, Misuse, Unavailable, UnknownName
from depthgauge.report.page.model import start_page
from depthgauge.report.pictures.quantities.view import anaglyph
from depthgauge.report.sections import SECTIONS
from depthgauge.report.tables.views import VIEW_TABLES, view_tables, views_text
from depthgauge.report.words.headline import headline

pytest.importorskip("av", reason="videos need PyAV: pip install 'depthgauge[video]'")
METHODS = ("warp_inpaint", "warp_estimated", "copy_left", "shift")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two rendered scenes, one of each family; only their first frames."""
    root = tmp_path_factory.mktemp("rig")
    for index, family in enumerate(("IPD_Gaussian", "Uniform")):
        made = rig_scenes.record(
            f"scene_{index:06d}",
            frames=1,
            split="eval",
            eval_subset="MapSeenInTrain",
            family=family,
            map_name=f"Room{index}",
            focal_mm=24.0,
        )
        sgb.write_scene(root, made, rig_scenes.rendered(index, frames=1), scale_m=0.0002)
    return root


@pytest.fixture(scope="module")
def done(data, tmp_path_factory):
    protocol = find_benchmark("stereogenbench")
    names = ("psnr", "ssim", "e_match", "p_psnr", "sd", "sd_bias")
    scores = [{"metric": name} for name in names]
    small = protocol.model_copy(update={"scores": scores, "truth_size": [416, 240]})
    out = tmp_path_factory.mktemp("run") / "views"
    return run(small, data, METHODS, out, workers=0, controls=True)


def value(done, label, metric):
    return done.controls[label].summary[f"{metric}@all"].value


# --- controls -------------------------------------------------------------------------------------


@pytest.mark.long
def test_controls_order_the_metrics_as_the_paper_describes(done):
    assert list(done.controls) == [kind.label for kind in CONTROLS]
    target, left, wrong, random = (kind.label for kind in CONTROLS)
    for metric in ("psnr", "ssim"):
        found = [value(done, label, metric) for label in (target, left, wrong, random)]
        assert found[0] == max(found)
        assert found[3] == min(found)
    assert value(done, target, "ssim") == pytest.approx(1)
    match = {label: value(done, label, "e_match") for label in done.controls}
    assert match[target] == 0
    assert max(match[left], match[wrong]) < match[random]  # both stay matchable
    assert match[random] > 90
    assert value(done, random, "p_psnr") == min(value(done, x, "p_psnr") for x in done.controls)
    assert value(done, target, "sd") < 0.1 < value(done, wrong, "sd")  # it shows the wrong camera
    assert math.isnan(value(done, left, "sd"))  # no stereo at all: there is nothing to fit


def test_controls_are_no_methods(done):
    assert {entrant.label for entrant in done.entrants} == set(METHODS)
    board = joined_board(done)
    oracles = [row for row in board.rows if row.oracle]
    assert [row.label for row in oracles][:1] == ["rendered target"]
    assert all(cell.rank is None for row in oracles for cell in row.cells.values())
    with pytest.raises(Misuse, match="only benchmarks of views have controls"):
        controls_of(find_benchmark("stereo-scenes"))


def test_the_copied_left_view_is_the_method_of_that_name(done):
    ours = done.results["copy_left", 0].samples
    for sample, scores in done.controls["copied left"].samples.items():
        for name, score in scores.items():
            assert score.value == pytest.approx(ours[sample][name].value, nan_ok=True)


# --- tiers are not mixed --------------------------------------------------------------------------


def test_no_ranking_has_methods_of_two_tiers(done):
    assert tiers_of(done) == {"G0": METHODS[:1], "G1": METHODS[1:2], "G2": METHODS[2:]}
    for refused in (make_board, rank_stability, lambda r: rank_probabilities(r, "psnr@all")):
        with pytest.raises(CannotCompare, match="were given different inputs, so no ranking"):
            refused(done)
    with pytest.raises(CannotCompare, match="no profile ranks"):
        choose_profiles(joined_board(done), ["surgery"])
    assert choose_profiles(joined_board(done)) == ()
    with pytest.raises(UnknownName, match="no tier with methods in this run 'G3'"):
        one_tier(done, "G3")


def test_a_joined_board_has_the_ranks_of_each_tier(done):
    board = joined_board(done)
    assert board.tiers == ("G0", "G1", "G2")
    for tier, alone in tier_boards(done).items():
        for row in alone.rows:
            if not row.oracle:
                (same,) = [r for r in board.rows if r.label == row.label]
                assert same.tier == tier
                ranks = {name: cell.rank for name, cell in row.cells.items()}
                assert {name: cell.rank for name, cell in same.cells.items()} == ranks
    ranked = {row.label: row.cells["psnr@all"].rank for row in board.rows if not row.oracle}
    assert ranked == {"warp_inpaint": 1, "warp_estimated": 1, "shift": 1, "copy_left": 2}


def test_runs_of_one_method_each_and_two_tiers_are_not_compared(done):
    runs = [one_tier(done, tier) for tier in ("G0", "G1")]
    with pytest.raises(CannotCompare, match=r"'warp_inpaint' .* \(tier G0\) and 'warp_estimated'"):
        compare(*runs)
    assert len(compare(done, done).changes) > 0
    assert tiers_of(merge_runs(*runs)) == {"G0": METHODS[:1], "G1": METHODS[1:2]}


# --- strata ---------------------------------------------------------------------------------------


def test_bins_are_those_of_the_paper():
    found = bins(BASELINE_CM)
    assert [b.name for b in found] == ["[1,10)", "[10,30)", "[30,60)", "[60,100)", "[100,150]"]
    inside = {cm: [b.name for b in found if b.has(cm)] for cm in (0.9, 1, 9.99, 10, 150, 151)}
    assert inside[0.9] == inside[151] == []
    assert inside[1] == inside[9.99] == ["[1,10)"]
    assert (inside[10], inside[150]) == (["[10,30)"], ["[100,150]"])


def test_students_interval_by_hand():
    """1, 2, 3: deviation 1, t(2, 0.975) = 4.3027, so 4.3027 / sqrt(3)."""
    mean, half = student([1.0, 2.0, 3.0])
    assert (mean, half) == (2.0, pytest.approx(4.30265 / math.sqrt(3), rel=1e-5))
    assert math.isnan(student([5.0])[1])


@pytest.mark.parametrize("n", [6, 9, 20])
def test_the_interval_of_the_median_holds_as_often_as_it_says(n):
    rng = np.random.default_rng(n)
    found = [median_interval(rng.exponential(size=n).tolist()) for _ in range(2000)]
    share = np.mean([low <= math.log(2) <= high for low, high in found])
    assert 0.94 <= share <= 1.0


def test_rows_have_means_counts_and_intervals(done):
    branches = by_branch(done)
    assert list(branches) == ["Uniform", "IPD_Gaussian"]
    rows = stratum_rows(done, {"both": done.samples})
    assert [row.label for row in rows] == list(METHODS)
    row = rows[0]
    assert (row.scenes, row.frames, row.tier, row.type) == (2, 2, "G0", "image")
    each = [done.results["warp_inpaint", 0].samples[n]["psnr@all"].value for n in done.samples]
    assert row.values["psnr@all"].value == pytest.approx(np.mean(each))
    assert row.values["psnr@all"].half == pytest.approx(student(each)[1])


def test_the_three_kinds_of_dash(done):
    copied = {row.label: row for row in stratum_rows(done, {"all": done.samples})}["copy_left"]
    assert copied.values["sd@all"].dash == "unusable"
    result = done.results["shift", 0]
    first = done.samples[0]
    lacking = {
        n: {k: v for k, v in s.items() if k != "ssim@all"} for n, s in result.samples.items()
    }
    lacking[first]["psnr@all"] = replace(result.samples[first]["psnr@all"], value=math.nan)
    changed = replace(
        done, results={**done.results, ("shift", 0): replace(result, samples=lacking)}
    )
    row = {r.label: r for r in stratum_rows(changed, {"all": done.samples})}["shift"]
    assert row.values["ssim@all"].dash == "unavailable"
    assert (row.values["psnr@all"].dash, row.values["psnr@all"].used) == ("incomplete", 1)
    text = views_text(changed, "text", "branches")
    assert "- (i)" in text
    assert "- (iii)" in text
    assert "A dash is not a zero." in text


def test_baselines_within_a_scene_and_the_implied_one(done):
    """Biases of -0.5, 0 and 1 mean that twice, all and half of the asked baseline was used."""
    assert not is_sweep(done)
    sample = done.samples[0]
    names = [f"{sample}/{k}" for k in range(8)]
    asked_m = [0.05 * 2**k for k in range(8)]
    own = done.results["shift", 0].samples[sample]
    fixed_cm = 12.0
    samples = {}
    for name, baseline in zip(names, asked_m, strict=True):
        bias = 100 * baseline / fixed_cm - 1  # as a method that always uses 12 cm
        scores = {"sd_bias@all": replace(own["psnr@all"], value=bias)}
        samples[name] = {**own, **scores}
    facts = {n: {"baseline_m": b, "frames": 1} for n, b in zip(names, asked_m, strict=True)}
    entrant = next(e for e in done.entrants if e.label == "shift")
    wide = replace(
        done,
        entrants=(entrant,),
        samples=tuple(names),
        results={("shift", 0): replace(done.results["shift", 0], samples=samples)},
        scenes=dict.fromkeys(names, "") | {n: n for n in names},
        facts=facts,
        controls={},
    )
    (found,) = implicit_baselines(wide, {"all": tuple(names)})
    assert found.implied_cm == pytest.approx(fixed_cm)
    assert (found.low_cm, found.high_cm) == pytest.approx((fixed_cm, fixed_cm))
    assert found.follows == pytest.approx(0, abs=1e-9)
    (curve, *_) = baseline_curves(wide)
    assert len(curve.centres_cm) == len(by_number(wide, "baseline_m", BASELINE_CM, 100))
    assert curve.centres_cm == tuple(sorted(curve.centres_cm))


# --- tables ---------------------------------------------------------------------------------------


def test_every_table_in_every_format(done):
    found = view_tables(done)
    assert set(found) <= set(VIEW_TABLES)
    assert {"conditions", "branches", "controls", "baselines", "maps"} <= set(found)
    for name in found:
        for form in ("text", "markdown", "csv", "latex"):
            assert views_text(done, form, name)
    main = views_text(done, "text", "branches")
    heads = main.splitlines()[2].split()
    assert heads[:4] == ["method", "type", "tier", "branch"]
    assert "Geometric correctness" in main
    conditions = views_text(done, "text", "conditions")
    assert "disparity, left_image" in conditions
    assert "as far as the estimated depth is right" in conditions
    assert "Room0" in views_text(done, "csv", "maps")


def test_other_runs_have_no_such_tables(done):
    plain = replace(done, facts={})
    assert view_tables(plain) == {}
    with pytest.raises(Unavailable, match="does not score right views"):
        views_text(plain, "text", "branches")
    with pytest.raises(Unavailable, match="run it with --controls"):
        views_text(replace(done, controls={}), "text", "controls")


def test_the_command_line_has_the_tables_and_the_tiers(done):
    found = CliRunner().invoke(main, ["report", str(done.path), "--pivot", "branches"])
    assert found.exit_code == 0, found.output
    assert found.output == views_text(done, "text", "branches")
    alone = CliRunner().invoke(main, ["report", str(done.path), "--tier", "G2", "--csv"])
    assert "shift" in alone.output
    assert "warp_inpaint" not in alone.output
    wrong = CliRunner().invoke(main, ["report", str(done.path), "--tier", "G7", "--csv"])
    assert wrong.exit_code == 1


def test_the_page_has_a_section_with_all_tables(done):
    board = joined_board(done)
    page = start_page(done.protocol, board, view_tables=tuple(view_tables(done).values()))
    html = str(SECTIONS["views"].body(page))
    for title in ("Inference conditions", "Right views by branch", "Calibration controls"):
        assert title in html
    assert SECTIONS["views"].body(start_page(done.protocol, board)) is None
    board_html = str(SECTIONS["leaderboard"].body(page))
    assert board_html.index("Tier G0") < board_html.index("Tier G2") < board_html.index("Oracles")
    assert headline(board).startswith("Tier G0: warp_inpaint has a psnr@all of")


def test_an_anaglyph_has_the_red_of_the_left_view():
    left = np.full((4, 6, 3), 51, np.uint8)
    both = anaglyph(left, np.full((2, 3, 3), 0.6, np.float32))
    assert both.shape == (2, 3, 3)
    np.testing.assert_allclose(both[0, 0], [0.2, 0.6, 0.6], atol=1e-6)
