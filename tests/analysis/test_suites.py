"""Suites: average ranks by hand, what may be in one table, and the command line."""

import json

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.analysis.suites import SuiteEntry, entry_of, make_suite_board, read_entries
from depthgauge.benchmarks import find_benchmark
from depthgauge.benchmarks.suites import SUITES, load_suite
from depthgauge.engine.running.run import score_folder
from depthgauge.errors import BadFile, BadProtocol, CannotCompare, Misuse, UnknownName
from depthgauge.io import write_map
from depthgauge.report.tables.formats import to_csv, to_latex, to_markdown, to_text
from depthgauge.report.tables.suite import suite_table

SUITE = SUITES["mono-zero-shot"]
ABSREL, DELTA = SUITE.scores


def entry(method, member, absrel, delta, variant="depth", samples=("a",)):
    values = {ABSREL: absrel, DELTA: delta}
    return SuiteEntry(method, member, variant, values, frozenset(samples), f"{method}.json")


def test_average_ranks_by_hand():
    """A: 1, 1, 2, 2; B: 2, 2.5, 1, 1; C: 3, 2.5 and twice last."""
    board = make_suite_board(
        SUITE,
        [
            entry("A", "nyu", 0.05, 97),
            entry("B", "nyu", 0.06, 96),
            entry("C", "nyu", 0.07, 96),
            entry("A", "kitti", 0.12, 80),
            entry("B", "kitti", 0.11, 85, "disparity"),
        ],
    )
    assert [row.method for row in board.rows] == ["A", "B", "C"]
    assert [row.average_rank for row in board.rows] == [1.5, 1.625, 2.875]
    assert [row.complete for row in board.rows] == [4, 4, 2]
    assert board.rows[1].variants == ("depth", "disparity")
    assert board.left_out == ("eth3d", "scannet", "diode")
    body = board.to_json()
    json.dumps(body, allow_nan=False)
    assert body["methods"][2]["values"]["kitti/absrel@all"] is None
    table = suite_table(board)
    assert "0.05000*" in to_text(table)
    assert "**97.000**" in to_markdown(table)
    assert "Left out, because no method was scored there: eth3d, scannet, diode." in table.notes
    assert to_csv(table).splitlines()[1].startswith("A,")
    assert "\\begin{tabular}" in to_latex(table)


def test_one_method_cannot_have_two_results_of_a_member():
    with pytest.raises(Misuse, match=r"'A' has two results for nyu, A\.json and A\.json; name"):
        make_suite_board(SUITE, [entry("A", "nyu", 1, 1), entry("A", "nyu", 2, 2)])
    with pytest.raises(Misuse, match="no results"):
        make_suite_board(SUITE, [])


def test_other_samples_are_refused():
    entries = [entry("A", "nyu", 1, 1), entry("B", "nyu", 1, 1, samples=("a", "b"))]
    with pytest.raises(CannotCompare, match="different samples of mono-zero-shot-nyu: only one"):
        make_suite_board(SUITE, entries)


@pytest.fixture
def rooms(tmp_path):
    """ScanNet's layout with two frames, and two methods: depth up to an affine map, and inverse."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[0:20, 0:30]
    for number in range(2):
        depth = (2 + 0.1 * x + 0.05 * y + number).astype(np.float32)
        (tmp_path / "data").mkdir(exist_ok=True)
        write_map(tmp_path / "data" / f"{number}.png", depth, "depth", scale=1000)
        noisy = depth * rng.uniform(0.97, 1.03, depth.shape)
        for method, values in {"A": 3 * noisy - 1, "B": 0.5 / noisy + 0.2}.items():
            folder = tmp_path / method / "scannet"
            folder.mkdir(parents=True, exist_ok=True)
            np.save(folder / f"{number}.npy", values.astype(np.float32))
    return tmp_path


def inverse():
    return SUITE.protocols["scannet", "disparity"]


def test_files_runs_and_results_give_the_same_entry(rooms):
    result = dg.evaluate("mono-zero-shot-scannet", rooms / "data", rooms / "A/scannet")
    direct = entry_of(SUITE, "A", result)
    assert (direct.member, direct.variant) == ("scannet", "depth")
    (rooms / "a.json").write_text(json.dumps(result.to_json()))
    (from_file,) = read_entries(SUITE, [("A", rooms / "a.json")])
    score_folder(
        "mono-zero-shot-scannet", rooms / "data", rooms / "A/scannet", rooms / "run", workers=0
    )
    (from_run,) = read_entries(SUITE, [("A", rooms / "run")])
    assert from_file.values == from_run.values == direct.values
    assert from_file.samples == from_run.samples == {"0", "1"}


def test_an_inverse_estimate_is_as_good_as_the_depth_that_it_inverts(rooms):
    result = dg.evaluate(inverse(), rooms / "data", rooms / "B/scannet")
    assert entry_of(SUITE, "B", result).variant == "disparity"
    assert result.summary[ABSREL].value < 0.03
    assert result.summary[DELTA].value == 100


def test_another_protocol_is_refused(rooms):
    other = find_benchmark("mono-zero-shot-scannet").model_copy(update={"missing": "skip"})
    result = dg.evaluate(other, rooms / "data", rooms / "A/scannet")
    with pytest.raises(CannotCompare, match=r"mono-zero-shot-scannet was changed \(split, rules"):
        entry_of(SUITE, "A", result)
    changed = {"id": "mine", "version": 1}
    result = dg.evaluate(other.model_copy(update=changed), rooms / "data", rooms / "A/scannet")
    with pytest.raises(CannotCompare, match="mine is not a member; members are mono-zero-shot-nyu"):
        entry_of(SUITE, "A", result)


def test_a_file_of_something_else_is_named(tmp_path):
    (tmp_path / "x.json").write_text('{"a": 1}')
    with pytest.raises(BadFile, match="expected a run folder, or a file that 'score --json' wrote"):
        list(read_entries(SUITE, [("", tmp_path / "x.json")]))


def test_suites_are_checked(tmp_path):
    path = tmp_path / "s.toml"
    body = 'id = "s"\nversion = 1\nscores = ["mae@all"]\n[members]\nnyu = "mono-zero-shot-nyu"\n'
    path.write_text(body)
    with pytest.raises(BadProtocol, match="mono-zero-shot-nyu has no score 'mae@all'"):
        load_suite(path)
    path.write_text(body.replace("scores", "skores"))
    with pytest.raises(BadProtocol, match="skores"):
        load_suite(path)
    with pytest.raises(UnknownName, match="Did you mean 'mono-zero-shot'"):
        SUITES["mono-zeroshot"]
    with pytest.raises(UnknownName, match="It is a suite: see 'depthgauge suite mono-zero-shot"):
        find_benchmark("mono-zero-shot")


def test_every_member_has_its_own_hash():
    assert len(SUITE.by_hash) == len(SUITE.members) * len(SUITE.variants) == 10
