"""Layers on the command line: two files, what they come with, and words for what is wrong."""

import sys

import numpy as np
import pytest
from tests.report.layered import HEIGHT, WIDTH, both, true_flow, write_rooms

from depthgauge.benchmarks.score_ids import parse_metric
from depthgauge.cli import main
from depthgauge.errors import BadScoreId

NAN = np.nan


@pytest.fixture
def run(capsys):
    def call(*arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["depthgauge", *map(str, arguments)])
            with pytest.raises(SystemExit) as ended:
                main()
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return ended.value.code, out, err

    return call


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A truth, its materials, and estimates in all forms."""
    root = tmp_path_factory.mktemp("files")
    truth, estimate = true_flow(), both(None).values
    materials = np.where(np.isfinite(truth[..., 0]), np.uint8(0), np.uint8(255))
    materials[0][:, : WIDTH // 2] = 1
    gap = np.full((2, HEIGHT, WIDTH, 2), 1, np.float32)
    gap[0, 3, 4] = NAN
    rows = [
        (x, y, k + 1, *estimate[k, y, x])
        for k, y, x in zip(*np.nonzero(np.isfinite(estimate[..., 0])), strict=True)
    ]
    for name, values in {
        "truth": truth,
        "materials": materials,
        "stack": estimate,
        "one": estimate[0],
        "gap": gap,
    }.items():
        np.save(root / f"{name}.npy", values)
    np.savetxt(
        root / "rows.csv", rows, delimiter=",", fmt="%g", header="u,v,layer,du,dv", comments=""
    )
    return root


def scored(run, files, estimate, *more):
    named = ("--truth", files / "truth.npy", "--estimate", files / estimate)
    return run("score", *named, "--quantity", "layered_flow", *more)


def values(text):
    """The numbers of a printed table, by score id."""
    lines = (line.split() for line in text.splitlines() if "@" in line)
    return {words[0]: float(words[1]) for words in lines}


def test_two_files_and_the_same_as_rows(run, files):
    ids = [f"--metric={m}" for m in ("multi_bad:1", "multi_bad:3,2", "multi_bad:5")]
    found = [values(scored(run, files, name, *ids)[1]) for name in ("stack.npy", "rows.csv")]
    assert found[0] == found[1]
    assert found[0] == {"multi_bad:1@all": 25, "multi_bad:3,2@all": 50, "multi_bad:5@all": 0}


def test_one_map_is_one_layer(run, files):
    code, out, _ = scored(run, files, "one.npy", "--metric=multi_bad:1", "--metric=multi_bad:1,1")
    assert code == 0
    assert values(out) == {"multi_bad:1@all": 50, "multi_bad:1,1@all": 0}


def test_materials_and_error_maps(run, files, tmp_path):
    ids = [f"--metric={m}" for m in ("count_bad:inf", "multi_bad:1,transparent", "layer_count")]
    given = (*ids, "--materials", files / "materials.npy", "--map", tmp_path / "maps")
    code, out, _ = scored(run, files, "one.npy", *given)
    assert code == 0
    found = values(out)
    assert found["count_bad:inf@all"] == found["layer_count@all"] == 50
    assert found["multi_bad:1,transparent@all"] == 0
    assert {p.name for p in (tmp_path / "maps").iterdir()} == {"layer_1.png", "layer_2.png"}


@pytest.mark.parametrize(
    ("estimate", "more", "words"),
    [
        ("gap.npy", (), "gap.npy: 1 pixels, the first at column 4 and row 3, have layer 2"),
        ("materials.npy", (), "materials.npy: expected an array with the axes (layer, y, x, c)"),
        ("stack.npy", ("--metric", "count_bad:1"), "give --materials FILE"),
        ("stack.npy", ("--metric", "multi_bad:1,transparent,2"), "write multi_bad:tau,layer,"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(run, files, estimate, more, words):
    code, _, err = scored(run, files, estimate, *more)
    assert code in (1, 2)
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_wrong_materials_and_truths(run, files):
    code, _, err = scored(run, files, "stack.npy", "--materials", files / "stack.npy")
    assert code == 1
    assert "(layer, y, x)" in err
    named = ("--truth", files / "rows.csv", "--estimate", files / "stack.npy")
    code, _, err = run("score", *named, "--quantity", "layered_flow")
    assert code == 1
    assert "the truth has the axes (layer, y, x, c), or is one map" in err
    code, _, err = run("score", "--truth", files / "truth.npy", "--estimate", files / "stack.npy")
    assert code == 1
    assert "a quantity such as layered_flow" in err


def test_show_says_how_the_data_is_read_and_where_estimates_are(run):
    _, out, _ = run("show", "layeredflow-stereo-eighth")
    words = " ".join(out.split())
    assert "an eighth of the photographs' size" in words
    assert "reduce = 8" in words
    assert "layer: first" in words
    _, out, _ = run("show", "layeredflow-multi-single")
    assert "stands for all" in out
    assert "results.npz/<sample>" in out


def test_check_names_arrays_that_are_numbered(run, tmp_path):
    data = write_rooms(tmp_path / "data")
    (tmp_path / "public").mkdir()
    np.savez(tmp_path / "public/results.npz", **{"0": np.zeros((1, 2, 6, 8), np.float32)})
    scene = tmp_path / "tags/val/7"
    scene.mkdir(parents=True)
    for name in ("0_0", "0_1", "3_0", "3_1"):
        (scene / f"{name}.png").write_bytes((data / "room0/left.png").read_bytes())
    code, out, _ = run(
        "check", "layeredflow-multi", tmp_path / "public", "--data", tmp_path / "tags"
    )
    assert code == 1
    assert "the arrays of results.npz are named 0; name them by sample" in out
    options = ("--estimates", tmp_path / "public", "--data", tmp_path / "tags")
    assert run("check", "layeredflow-multi", *options) == (code, out, "")
    code, _, err = run("check", "layeredflow-multi", tmp_path / "public", *options)
    assert (code, "give the folder once" in err) == (2, True)


def test_words_find_their_parameter():
    assert parse_metric("multi_bad:transparent")[1] == {"material": "transparent"}
    assert parse_metric("multi_bad:3,2,diffuse")[1]["material"] == "diffuse"
    with pytest.raises(BadScoreId, match="write multi_bad:tau,layer,material"):
        parse_metric("multi_bad:1,transparent,2")
