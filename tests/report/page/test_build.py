"""From a run folder to the page: which samples are shown, and what is on it."""

import re
import shutil

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.analysis.boards.make_board import make_board
from depthgauge.analysis.maps.oracles import score_oracles
from depthgauge.analysis.maps.scatter import count_pairs, scatter_edges
from depthgauge.analysis.sample_choice import choose_samples
from depthgauge.analysis.seeds import values_of
from depthgauge.benchmarks import make_protocol
from depthgauge.datasets import DATASETS
from depthgauge.engine.running.maps import RunMaps
from depthgauge.io import write_image
from depthgauge.report.page.all_pictures import write_all_pictures
from depthgauge.report.page.build import build_page
from depthgauge.report.page.html import render_report, write_report
from depthgauge.types import Inputs, Sample, Truth

SIZE = (20, 30)


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    """Nine samples, three methods of which one fails twice."""
    root = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(2)
    for kind in ("left", "right", "truth"):
        (root / "data" / kind).mkdir(parents=True)
    for n in range(9):
        image = rng.integers(0, 255, (*SIZE, 3), dtype=np.uint8)
        write_image(root / "data/left" / f"s{n}.png", image)
        write_image(root / "data/right" / f"s{n}.png", image)
        truth = np.full(SIZE, 4.0 + n, np.float32)
        truth[:2] = np.nan
        dg.write_map(root / "data/truth" / f"s{n}.pfm", truth)

    def good(inputs):
        return np.full(SIZE, 4.5 + int(inputs["sample"][1:]))

    def fair(inputs):
        made = np.full(SIZE, 5.5 + int(inputs["sample"][1:]))
        made[:, :4] = np.nan
        return made

    def poor(inputs):
        if inputs["sample"] in ("s1", "s2"):
            raise RuntimeError("<b>no</b>")
        return np.full(SIZE, 9.0)

    protocol = make_protocol(
        {
            "id": "small",
            "version": 1,
            "dataset": "folder",
            "quantity": "disparity",
            "pool": "image",
            "scores": [{"metric": "badpix", "threshold": [1, 2]}, {"metric": "mae"}],
        },
        "small",
    )
    return dg.run(protocol, root / "data", [good, fair, poor], root / "run", workers=0)


def test_the_page_has_every_part(small_run, tmp_path):
    page = build_page(small_run, main="mae@all", with_oracles=True)
    assert [row.label for row in page.board.rows if not row.oracle] == ["good", "fair", "poor"]
    assert sum(row.oracle for row in page.board.rows) == 5
    assert list(page.samples) == ["good", "fair", "poor"]
    assert page.curves is not None
    assert page.stability is not None
    assert page.radar is not None
    assert set(page.scatter) == {"good", "fair", "poor"}
    assert sum(page.rank_probabilities["good"]) == pytest.approx(1)
    assert page.provenance.versions["depthgauge"] == dg.__version__
    write_report(tmp_path / "report.html", page)
    text = (tmp_path / "report.html").read_text()
    assert "&lt;b&gt;no&lt;/b&gt;" in text
    assert "<b>no</b>" not in text
    assert small_run.protocol.hash[:12] in text


def test_a_negative_scale_is_the_first_thing_that_is_said(tmp_path):
    """An estimate that grows where the truth shrinks, aligned: a number that means nothing."""
    rng = np.random.default_rng(3)
    for kind in ("left", "right", "truth"):
        (tmp_path / "data" / kind).mkdir(parents=True)
    truths = {f"s{n}": rng.uniform(1, 9, SIZE).astype(np.float32) for n in range(3)}
    for name, truth in truths.items():
        for side in ("left", "right"):
            write_image(tmp_path / "data" / side / f"{name}.png", np.zeros((*SIZE, 3), np.uint8))
        dg.write_map(tmp_path / "data/truth" / f"{name}.pfm", truth)

    def turned(inputs):
        return 10 - truths[inputs["sample"]]

    protocol = make_protocol(
        {
            "id": "aligned",
            "version": 1,
            "dataset": "folder",
            "quantity": "disparity",
            "pool": "image",
            "align": {"kind": "scale_shift"},
            "scores": [{"metric": "mae"}],
        },
        "aligned",
    )
    run = dg.run(protocol, tmp_path / "data", [turned], tmp_path / "run", workers=0)
    for loaded in (run, dg.load_run(tmp_path / "run")):
        (warning,) = [w for w in make_board(loaded).warnings if w.code == "negative-scale"]
        assert warning.methods == ("turned",)
        assert warning.samples == ("s0", "s1", "s2")
        text = render_report(build_page(loaded))
        said = text.partition("<summary>")[2].partition("</summary>")[0]
        assert "turned: The fitted scale is negative" in said
        assert "or -estimate" in text


def test_the_page_shows_examples_of_the_best_method(small_run):
    page = build_page(small_run, main="mae@all")
    assert [group.why for group in page.examples]
    assert {method.label for group in page.examples for method in group.methods} == {"good"}
    whys = [what for group in page.examples for what in group.why]
    assert whys == ["best", "median", "worst"]
    assert {group.sample for group in page.examples} <= {group.sample for group in page.pictures}
    assert all(len(group.inputs) == 1 for group in page.examples)
    assert build_page(small_run, most_pictures=0).examples == ()


def test_the_same_run_gives_the_same_bytes(small_run, tmp_path):
    for name in ("a.html", "b.html"):
        write_report(tmp_path / name, build_page(small_run))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_best_median_and_worst_of_each_method_are_shown(small_run):
    board = make_board(small_run, main="mae@all")
    chosen = choose_samples(board, values_of(small_run))
    # `poor` says 9 everywhere: right on s5, farthest from s0; it failed on s1 and s2.
    assert "best of poor" in chosen["s5"]
    assert any("worst of poor" in chosen[name] for name in ("s1", "s2") if name in chosen)
    words = [why for reasons in chosen.values() for why in reasons]
    named = [(w.partition(" of ")[0], m) for w in words for m in w.partition(" of ")[2].split(", ")]
    wanted = {(w, m) for w in ("best", "median", "worst") for m in ("good", "fair", "poor")}
    assert len(named) == len(set(named)) == 9
    assert set(named) == wanted
    alone = {label: {"s5": samples["s5"]} for label, samples in values_of(small_run).items()}
    reasons = ("worst of all methods", "best of all methods", "median of all methods")
    assert choose_samples(board, alone) == {"s5": reasons}
    assert choose_samples(board, values_of(small_run), most=1).keys() <= chosen.keys()
    assert len(choose_samples(board, values_of(small_run), most=2)) == 2


def test_oracles_are_made_of_the_stored_estimates(small_run):
    found = score_oracles(RunMaps(small_run))
    best = found["per_pixel_best"]
    for name in small_run.samples:
        each = [small_run.results[k, 0].samples[name]["mae@all"].value for k in ("good", "fair")]
        assert best.samples[name]["mae@all"].value <= np.nanmin(each)
    # On s6 good says 10.5, fair 11.5 (or nothing) and poor 9; the truth is 10.
    assert best.samples["s6"]["mae@all"].value == pytest.approx(0.5)
    mean = found["per_pixel_mean"].samples["s6"]["mae@all"].value
    assert mean == pytest.approx((26 * abs((10.5 + 11.5 + 9) / 3 - 10) + 4 * 0.25) / 30, rel=1e-5)


def test_a_run_without_its_data_has_no_pictures_and_says_why(small_run, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(small_run.path.parent / "data", moved)
    page = build_page(small_run, data=tmp_path / "nowhere")
    assert not page.pictures
    assert "could not be read" in page.notes[0]
    assert build_page(small_run, data=moved).pictures


def test_a_deleted_estimate_costs_its_pictures_only(small_run, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(small_run.path, copy)
    run = dg.load_run(copy)
    whole = build_page(run)
    lost = whole.pictures[0].sample
    (copy / "estimates" / "good" / lost / "disparity.npy").unlink()
    page = build_page(run)
    assert len(page.pictures) == len(whole.pictures) - 1
    assert any(f"no pictures of {lost}" in note for note in page.notes)


def test_pictures_of_all_samples_beside_the_page(small_run, tmp_path):
    page = write_all_pictures(small_run, build_page(small_run), tmp_path / "report.html")
    (written,) = tmp_path.glob("report-pictures-*.html")
    assert written.name in page.notes[-1]
    shown = written.read_text()
    assert all(name in shown for name in small_run.samples)
    assert not re.search(r'(src|href)="(?!data:|#)', shown)


def test_scatter_counts_pairs():
    truth = np.array([[0.0, 10.0, np.nan, 5.0]], np.float32)
    estimate = np.array([[0.0, 99.0, 3.0, np.nan]], np.float32)
    edges = scatter_edges([truth])
    found = count_pairs(estimate, truth, edges)
    assert found.counts.sum() == 2
    assert found.counts[:, -1].sum() == 1  # beyond the last bin
    assert count_pairs(estimate, truth, edges, found).counts.sum() == 4
    flow = np.array([[[3.0, 4.0]]], np.float32)
    assert count_pairs(flow, flow, np.array([0.0, 4.9, 5.1])).counts.tolist() == [[0, 0], [0, 1]]


def test_oracles_count_samples_on_which_all_methods_failed(small_run, tmp_path):
    def never(inputs):
        if inputs["sample"] in ("s1", "s2"):
            raise RuntimeError("no")
        return np.full(SIZE, 5.0)

    data = small_run.path.parent / "data"
    run = dg.run(small_run.protocol, data, [never], tmp_path / "run", workers=0)
    best = score_oracles(RunMaps(run))["per_pixel_best"]
    assert sorted(best.failed) == ["s1", "s2"]
    assert best.samples["s1"]["badpix:1@all"].value == 100
    assert best.summary["badpix:1@all"].all == 9


def test_a_damaged_truth_costs_its_pictures_and_the_oracles_only(small_run, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(small_run.path.parent / "data", data)
    page = build_page(small_run, data=data)
    lost = page.pictures[0].sample
    (data / "truth" / f"{lost}.pfm").write_bytes(b"Pf\n")
    hurt = build_page(small_run, data=data, with_oracles=True)
    assert len(hurt.pictures) == len(page.pictures) - 1
    assert any(note.startswith("There are no oracles") for note in hurt.notes)


def test_bins_edges_and_metrics_reach_the_page(tmp_path):
    """One scene whose left half is easy, in three bins from top to bottom."""
    truth = np.full((24, 32), 3.0, np.float32)
    truth[:, 16:] = 9.0
    bins = np.repeat(np.arange(24) // 8 + 1, 32).reshape(truth.shape).astype(np.uint8)
    image = np.zeros((24, 32, 3), np.uint8)
    inputs = Inputs({"left_image": image, "right_image": image})
    scene = Sample("scene", inputs, Truth({"disparity": truth, "rows_labels": bins}))
    DATASETS["depthgauge"].write(tmp_path / "data", [scene], id="d", title="D", licence="CC0-1.0")

    def wide(inputs):
        """Fatter by one pixel in each bin."""
        made = truth.copy()
        for n in (1, 2, 3):
            made[(bins == n) & (np.arange(32) >= 16 - n)] = 9.0
        return made

    def exact(inputs):
        return truth

    def off(inputs):
        return truth + 0.5

    body = {
        "id": "bins",
        "version": 1,
        "dataset": "depthgauge",
        "quantity": "disparity",
        "pool": "image",
        "axes": {"rows": {"label": "row", "values": [10, 20, 30]}},
        "scores": [
            {"metric": "badpix", "threshold": 1, "region": ["all", "rows_{1..3}"]},
            {"metric": "foreground_fattening"},
        ],
    }
    protocol = make_protocol(body, "bins")
    run = dg.run(protocol, tmp_path / "data", [wide, exact, off], tmp_path / "run", workers=0)
    page = build_page(run)
    (found,) = page.degradations
    assert found.bins == (10, 20, 30)
    assert found.lines["wide"] == pytest.approx([100 / 32, 200 / 32, 300 / 32])
    assert found.lines["exact"] == (0, 0, 0)
    assert [c.id for c in page.columns] == ["badpix:1@all", "foreground_fattening@all"]
    (group,) = page.pictures
    assert [p.caption for p in group.together][1:] == [
        "median error of all methods",
        "least error of any method",
    ]
    titles = [row.title for row in group.rows]
    assert titles[0] == "Estimates with the truth's discontinuities"
    assert titles[1:] == ["The best quarter of each method (Q25)", "foreground_fattening"]
    caption = group.rows[2].pictures["wide"].caption
    assert caption == f"wide, {100 * 2 / 10:.3f} %"  # 1, 2 and 3 of the 10 px beside the edge
    assert set(group.scatter) == {"wide", "exact", "off"}
    text = render_report(page)
    before, _, after = text.partition("<h3>CSV</h3>")
    assert "badpix:1@rows_1" not in before
    assert "badpix:1@rows_1" in after
