"""`report --strata` in every format, and what is wrong with tags."""

import csv
import io

import numpy as np
import pytest

import depthgauge as dg


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A run of two methods on three samples, with tags beside the data."""
    root = tmp_path_factory.mktemp("strata")
    for name in ("data/truth", "good", "bad"):
        (root / name).mkdir(parents=True)
    for number, name in enumerate("abc"):
        truth = np.full((6, 8), 10.0, np.float32)
        dg.write_map(root / "data/truth" / f"{name}.pfm", truth)
        dg.write_map(root / "good" / f"{name}.pfm", truth + 0.5)
        dg.write_map(root / "bad" / f"{name}.pfm", truth + number)
    (root / "data" / "tags.csv").write_text("sample,light\na,day\nb,night\nc,night\n")
    folders = {"good": root / "good", "bad": root / "bad"}
    dg.score_folders(root / "data", folders, "mae", out=root / "run")
    return root


def test_every_format_has_the_same_values(run, work):
    tags = work / "data" / "tags.csv"
    body = run("report", work / "run", "--strata", tags, "--json").json()["scores"][0]
    values = {each["tag"]: each["values"]["bad"]["value"] for each in body["strata"]}
    assert values == {"day": 0, "night": 1.5}
    assert body["all"]["values"]["good"]["value"] == 0.5
    rows = list(csv.reader(io.StringIO(run("report", work / "run", "--csv", "--strata", tags).out)))
    night = next(row for row in rows if "night" in row)
    assert "1.5" in night
    text = run("report", work / "run", "--text", "--strata", tags, "--digits", "1").out
    assert "mae@all by tags" in text
    assert "66.7 %" in text
    for kind in ("--markdown", "--latex"):
        assert "night" in run("report", work / "run", kind, "--strata", tags).out


def test_the_page_has_the_tags_beside_the_data(run, work, tmp_path):
    page = tmp_path / "page.html"
    assert run("report", work / "run", "--html", page, "--data", work / "data").code == 0
    text = page.read_text()
    assert 'id="strata"' in text
    assert "light: night (2, 66.7 %)" in text
    assert "bad is worst on night (1.500 px; 1.000 everywhere)" in text


def test_damaged_tags_cost_the_page_only_its_tags(run, work, tmp_path):
    (work / "other").mkdir()
    (work / "other" / "truth").symlink_to(work / "data" / "truth")
    (work / "other" / "tags.csv").write_text("wrong\n")
    page = tmp_path / "page.html"
    ran = run("report", work / "run", "--html", page, "--data", work / "other")
    assert ran.code == 0
    assert "the report has no tags" in ran.err
    assert 'id="strata"' not in page.read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--strata", "nowhere.csv"], "nowhere.csv"),
        (["--strata", "x.json"], "tags are in a .csv or a .toml file"),
        (["--strata", "hazards", "--samples"], "a table of its own"),
        (["--strata", "hazards", "--column", "rms"], "rms"),
    ],
)
def test_mistakes_are_one_sentence(run, work, more, said):
    ran = run("report", work / "run", "--text", *more)
    assert ran.code in (1, 2)
    assert said in " ".join(ran.err.split())
