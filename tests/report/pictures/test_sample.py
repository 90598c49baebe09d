"""Whole pages of normals, boundaries, planes and single-image depth."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from tests.report.views import SCORES

import depthgauge as dg
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.compare import compare_runs
from depthgauge.analysis.maps.oracles import score_oracles
from depthgauge.analysis.merged_runs import restrict
from depthgauge.analysis.sample_choice import choose_samples, spread_samples
from depthgauge.analysis.seeds import sample_values, values_alone, values_of
from depthgauge.engine.running.maps import RunMaps
from depthgauge.engine.scoring.pool import pool_spec
from depthgauge.errors import Unavailable
from depthgauge.report.page.all_pictures import write_all_pictures
from depthgauge.report.page.build import build_page
from depthgauge.report.page.html import render_report
from depthgauge.report.pictures.error_maps import write_error_maps
from depthgauge.report.pictures.sample import sample_pictures
from depthgauge.report.tables.leaderboard import leaderboard_table, sample_table

QUANTITIES = tuple(SCORES)
WHOLE = {"normals": 2, "boundaries": 3, "planes": 2, "depth": 0}
"""How many scores only the whole dataset has."""


@pytest.fixture(scope="module")
def boards(view_runs):
    made = {}

    def board(quantity):
        if quantity not in made:
            made[quantity] = make_board(view_runs(quantity), resamples=100)
        return made[quantity]

    return board


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_a_page_has_what_makes_sense_and_nothing_else(view_page, quantity):
    page = view_page(quantity)
    assert page.notes == ()
    assert [row.label for row in page.board.rows] == ["good", "fair", "poor"]
    assert page.pictures
    # Angles have thresholds as distances have; the others have no error of a pixel.
    assert (page.curves is None) == (quantity != "normals")
    assert (page.stability is None) == (quantity != "normals")
    assert not page.scatter
    assert all(not group.scatter for group in page.pictures)
    assert bool(page.precision_recall) == (quantity == "boundaries")
    text = render_report(page)
    assert "direction of motion" not in text
    assert "end-point" not in text
    assert not re.search(r">\s*nan\b", text)
    assert ("did not keep" in text) == (not page.rank_probabilities)
    assert ("Every sample</h2>" in text) == (WHOLE[quantity] < len(page.board.columns))
    assert ("Precision and recall" in text) == (quantity == "boundaries")


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_scores_of_the_whole_dataset_are_nowhere_given_to_samples(view_runs, boards, quantity):
    run, board = view_runs(quantity), boards(quantity)
    whole = [column for column in board.columns if column.level == "dataset"]
    assert len(whole) == WHOLE[quantity]
    said = [note for note in board.notes if note.startswith("Only for the whole dataset")]
    assert len(said) == bool(whole)
    for column in whole:
        assert column.id in said[0]
        assert sample_values(run, "good", column.id) == {}
        with pytest.raises(Unavailable, match="only over the whole dataset"):
            sample_table(values_of(run), column)
    for row in board.rows:
        for column in whole:
            cell = row.cells[column.id]
            assert cell.low <= cell.value <= cell.high
            assert np.isnan(cell.mean_rank)
    found = {i for each in values_of(run).values() for here in each.values() for i in here}
    assert found == {column.id for column in board.columns if column.level == "sample"}


def test_normals_are_drawn_as_normals_and_their_errors_are_angles(view_page, view_runs):
    page = view_page("normals")
    group = next(g for g in page.pictures if g.sample != "view01")
    assert group.truth.bar.colours == "ball"
    for method in group.methods:
        assert method.estimate.bar.colours == "ball"
        assert (method.error.bar.unit, method.error.bar.colours) == ("deg", "magma")
        assert method.error.caption == "angle to the truth"
    captions = [picture.caption for picture in group.together]
    assert "share of methods that are wrong (error above 11.25 deg)" in captions
    assert any("relations of planes" in caption for caption in captions)
    assert [row.title for row in group.rows] == ["The best quarter of each method (Q25)"]
    assert "as on the ball" in render_report(page)


def test_boundaries_are_matched_at_one_threshold_a_method(view_page):
    page = view_page("boundaries")
    for group in page.pictures:
        for method in group.methods:
            if method.note.startswith("failed"):
                assert method.estimate is method.error is None
                continue
            curve = page.precision_recall[method.label]
            assert method.error.caption.endswith(f"{curve.thresholds[curve.best]:.2f} on")
            assert method.note.startswith("F 0.")


def test_planes_say_how_many_lie_on_a_true_one(view_page):
    captions = [m.estimate.caption for g in view_page("planes").pictures for m in g.methods[:1]]
    assert set(captions) == {"4 planes, 3 on a true one"}
    notes = [m.note for g in view_page("planes").pictures for m in g.methods]
    alone = [note for note in notes if re.fullmatch(r"ap50 \d\.\d+ of this sample alone", note)]
    assert len(alone) == len(notes) - 1  # one failed


def test_depth_up_to_a_scale_has_scales_of_its_own_and_one_error(view_page):
    group = next(g for g in view_page("depth").pictures if g.sample != "view01")
    bars = [group.truth.bar, *(m.estimate.bar for m in group.methods)]
    assert len({bar.high for bar in bars}) == len(bars)
    assert {m.error.bar.high for m in group.methods} == {group.methods[0].error.bar.high}
    assert {m.error.caption for m in group.methods} == {
        "distance after the best scale of each surface"
    }
    assert not group.together
    assert "Pairs of points (wkdr)" in [row.title for row in group.rows]


def test_samples_are_chosen_by_what_each_has_alone(view_runs, view_page):
    run = view_runs("planes")
    alone = values_alone(run, "poor", "ap50")
    assert set(alone) == set(run.samples)
    assert alone["view01"] == 0  # it failed there
    groups = {group.sample: group.why for group in view_page("planes").pictures}
    assert any(why.startswith("worst of") and "poor" in why for why in groups["view01"])
    assert all(why[-1] == "by ap50 of single samples" for why in groups.values())
    assert values_alone(run, "nobody", "ap50") == values_alone(run, "poor", "nothing") == {}


def test_nothing_is_best_of_a_method_that_failed_everywhere(boards):
    values = {"poor": {"view01": {"ap50": float("nan")}}, "good": {"view02": {"ap50": 0.5}}}
    chosen = choose_samples(boards("planes"), values)
    assert chosen["view01"] == ("worst of poor",)
    assert "best of good" in chosen["view02"]


def test_where_nothing_says_which_are_good_samples_are_spread(boards):
    assert choose_samples(boards("planes"), {"good": {}}) == {}
    assert list(spread_samples(("a", "b", "c", "d"), 2)) == ["a", "c"]
    assert spread_samples((), 3) == {}
    assert len(spread_samples(tuple("abcdefg"), 3)) == 3


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_oracles_are_made_where_they_make_sense(view_runs, quantity):
    maps = RunMaps(view_runs(quantity))
    if quantity != "normals":
        with pytest.raises(Unavailable, match="leave them out"):
            score_oracles(maps)
        return
    found = score_oracles(maps)
    assert set(found) == {"per_pixel_best", "per_pixel_mean", "per_pixel_median"}
    best = found["per_pixel_best"].summary
    good = view_runs(quantity).results["good", 0].summary
    assert best["mean_angle"].value <= good["mean_angle"].value
    # Pairs may lie where no truth says which method is best.
    assert "ap_parallel" not in best


def test_a_page_without_oracles_says_why(view_runs):
    page = build_page(view_runs("depth"), with_oracles=True, most_pictures=0)
    assert "There are no oracles" in page.notes[0]


def test_oracles_of_normals_stand_on_the_board(view_runs):
    run = view_runs("normals")
    board = make_board(run, oracles=score_oracles(RunMaps(run)), resamples=100)
    table = leaderboard_table(board)
    assert [row.apart for row in table.rows] == [False] * 3 + [True] * 3
    assert table.rows[-1].cells[-2].text == "-"


@pytest.mark.parametrize(
    ("quantity", "written", "without"),
    [
        ("boundaries", {"ods.png"}, []),
        ("planes", {"planes.png"}, []),
        ("depth", {"lsiv.png", "lsiv_root.png"}, ["wkdr"]),
        (
            "normals",
            {
                "mean_angle.png",
                "median_angle.png",
                "balanced_angle.png",
                "within_11.25.png",
                "within_30.png",
            },
            ["ap_parallel", "ap_orthogonal"],
        ),
    ],
)
def test_error_maps_are_files(view_runs, tmp_path, quantity, written, without):
    run = view_runs(quantity)
    prepared = RunMaps(run).prepared(run.entrants[0], "view02")
    assert write_error_maps(tmp_path / "maps", run.protocol, prepared, "view02") == without
    assert {path.name for path in tmp_path.glob("maps/*")} == written


def test_pictures_of_all_samples(view_runs, view_page, tmp_path):
    write_all_pictures(view_runs("boundaries"), view_page("boundaries"), tmp_path / "report.html")
    (path,) = tmp_path.glob("report-pictures-*.html")
    text = path.read_text()
    assert text.count("<figcaption>matched, from") == 3 * 9 - 1
    assert all(sample in text for sample in view_runs("boundaries").samples)


def test_where_only_pairs_are_known_estimates_are_drawn_all_the_same(view_runs, boards):
    run = view_runs("normals")
    maps = _WithoutMap(run)
    found = {label: maps.hide(each) for label, each in RunMaps(run).all_prepared("view02").items()}
    drawn = sample_pictures(maps, boards("normals"), "view02", found)
    assert drawn.truth is None
    assert [p.caption for p in drawn.together] == ["relations of planes at pairs of points"]
    assert all(m.estimate is not None and m.error is None for m in drawn.methods)
    assert not drawn.rows


class _WithoutMap(RunMaps):
    """The same run, had people only marked relations of planes."""

    def missing(self, sample):
        return self.hide(super().missing(sample))

    @staticmethod
    def hide(prepared):
        return replace(prepared, truth=np.full_like(prepared.truth, np.nan))


def test_runs_are_compared_by_scores_of_the_whole_dataset(view_runs, tmp_path):
    run = view_runs("planes")
    shutil.copytree(run.path, tmp_path / "again")
    found = compare_runs(run, dg.load_run(tmp_path / "again"))
    assert {change.score_id for change in found.changes} == {"ap75", "ap50"}
    assert {change.verdict for change in found.changes} == {"cannot be told apart"}


def test_fewer_samples_are_pooled_anew(view_runs):
    run = view_runs("planes")
    some = restrict(run, run.samples[:3])
    scores = {n: run.results["fair", 0].samples[n]["ap50"] for n in run.samples[:3]}
    spec = next(spec for spec in run.protocol.specs if spec.id == "ap50")
    wanted = pool_spec(spec, scores, {}, "pixel", "bad").value
    assert some.results["fair", 0].summary["ap50"].value == wanted
