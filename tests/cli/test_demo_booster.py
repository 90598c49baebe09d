"""`depthgauge demo --booster` at a tiny size: labels that the pipeline made rank as the truth."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from depthgauge.analysis.demonstrations import LabelDemonstration
from depthgauge.analysis.rank_moves import Move, RankMoves
from depthgauge.cli import demo_verb

TINY = LabelDemonstration(
    scenes=("kitchen",),
    session={"width_px": 240, "patterns": 5, "illuminations": 1, "poses": 12, "samples": 2},
    methods=("sgbm", "bm", "constant"),
)
SHOWN = TINY.scores
MAIN = SHOWN[0]


@pytest.fixture(scope="module", autouse=True)
def _renderers():
    pytest.importorskip("embreex", reason="simulated sessions need Embree: depthgauge[render]")
    pytest.importorskip("mitsuba", reason="passive images need Mitsuba: depthgauge[render]")


@pytest.mark.long
def test_labels_rank_methods_as_the_exact_truth(run, monkeypatch, tmp_path):
    monkeypatch.setattr(demo_verb, "BOOSTER", TINY)
    call = ("demo", "--booster", "--out", tmp_path, "--workers", "0")
    ran = run(*call, "--json")
    assert ran.code == 0, ran.err
    body = ran.json()
    assert list(body["same_ranking"]) == list(SHOWN)
    assert body["same_ranking"][MAIN]
    scores = {
        name: {
            label: method["results"][0]["summary"][MAIN]
            for label, method in body[name]["methods"].items()
        }
        for name in ("labels", "exact")
    }
    assert scores["labels"] == pytest.approx(scores["exact"], abs=4.0)
    assert scores["exact"]["sgbm"] < scores["exact"]["bm"] < scores["exact"]["constant"]
    out = tmp_path / "booster"
    steps = out / "sessions" / "kitchen" / "work"
    for page in (out / "labels.html", out / "exact.html", steps / "index.html"):
        assert page.is_file()


@pytest.fixture
def without_work(monkeypatch, tmp_path):
    """The command with made-up rankings, and without the minutes before them."""

    def use(*places):
        moves = tuple(
            Move(f"m{n}", 1.0 * a, 1.0 * b, a, b, 0.5, 0.625) for n, (a, b) in enumerate(places)
        )
        found = RankMoves(MAIN, MAIN, moves, tau=0.333, why=())
        monkeypatch.setattr(LabelDemonstration, "photograph", lambda *_: ())
        nothing = SimpleNamespace(to_json=dict)
        monkeypatch.setattr(LabelDemonstration, "run", lambda *_: nothing)
        compared = {score: replace(found) for score in SHOWN}
        monkeypatch.setattr(LabelDemonstration, "compare", lambda *_: compared)
        for name in ("_label", "_write_label_report"):
            monkeypatch.setattr(demo_verb, name, lambda *_: None)
        return ("demo", "--booster", "--out", tmp_path)

    return use


def test_rankings_that_differ_are_said_and_no_error(run, without_work):
    call = without_work((1, 1), (3, 2), (2, 3))
    ran = run(*call)
    assert ran.code == 0
    assert "do not give the same ranking (Kendall's tau 0.333): m2 2 -> 3, m1 3 -> 2." in ran.out
    assert "give the same ranking." not in ran.out
    assert ran.out.count("62.5 %") == 3 * len(SHOWN), "the density beside every score"
    body = run(*call, "--json").json()
    assert body["same_ranking"] == dict.fromkeys(SHOWN, False)


def test_rankings_that_agree_are_said(run, without_work):
    call = without_work((1, 1), (2, 2))
    assert run(*call).out.count("Labels and exact truth give the same ranking.") == len(SHOWN)
    assert run(*call, "--json").json()["same_ranking"] == dict.fromkeys(SHOWN, True)


def test_a_part_of_the_other_demonstration_is_refused(run, tmp_path):
    ran = run("demo", "--booster", "--part", "stereo", "--out", tmp_path)
    assert ran.code == 2
    assert "--part" in ran.err
