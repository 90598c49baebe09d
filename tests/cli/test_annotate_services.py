"""Each `annotate` command is one function that Python can call, with the same JSON."""

import json

import pytest

from depthgauge.annotate.quality.check import check_records
from depthgauge.annotate.quality.statistics import count_annotations
from depthgauge.annotate.quality.studies import compare_study
from depthgauge.annotate.reconstruct.export import export_records
from depthgauge.annotate.reconstruct.files import write_reconstruction
from depthgauge.annotate.records.votes import count_votes
from depthgauge.annotate.simulate.study import write_study
from depthgauge.benchmarks import find_benchmark
from depthgauge.engine.scoring.best_focal import best_focal
from depthgauge.engine.scoring.human_baseline import human_performance


@pytest.fixture
def same(run):
    """Whether a command's JSON is that of what a function returned."""

    def compare(made, *call):
        ran = run("annotate", *call, "--json")
        assert ran.code in (0, 1), ran.err
        return json.loads(json.dumps(made.to_json(), allow_nan=False)) == ran.json()

    return compare


def test_check(same, annotated):
    assert same(check_records([annotated]), "check", annotated)


def test_reconstruct(same, annotated, tmp_path):
    record = annotated / "records" / "simulated-1" / "planar-0000.jsonl"
    image = annotated / "images" / "planar-0000.png"
    made = write_reconstruction(record, tmp_path, image=image, seed=3)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    call = ("reconstruct", record, "--out", tmp_path, "--image", image, "--seed", 3)
    assert same(made, *call)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after.pop("picture.png")
    assert after == before


def test_export(same, annotated, tmp_path):
    places, images = [annotated / "records" / "simulated-2"], annotated / "images"
    made = export_records(places, images, tmp_path, split="test", notes=pytest.fail)
    call = ("export", *places, "--images", images, "--out", tmp_path, "--split", "test")
    assert same(made, *call, "--overwrite")


def test_simulate(same, tmp_path):
    made = write_study(tmp_path, "planar", annotators=1, width=64, height=48, seed=2)
    size = ("--annotators", 1, "--width", 64, "--height", 48, "--seed", 2)
    assert same(made, "simulate", "planar", "--out", tmp_path, *size)


def test_agreement(same, annotated):
    methods = {"exact": annotated / "sensor"}
    made = compare_study(annotated, methods, size=48, rotation=False, notes=pytest.fail)
    given = ("--method", f"exact={annotated / 'sensor'}", "--size", 48, "--no-rotation")
    assert same(made, "agreement", annotated, *given)


def test_statistics(same, annotated):
    records = count_annotations(annotated, notes=pytest.fail)
    assert same(records, "statistics", annotated)
    data = count_annotations(annotated / "data", dataset="oasis", split="val", notes=pytest.fail)
    kind = ("--dataset", "oasis", "--split", "val")
    assert same(data, "statistics", annotated / "data", *kind)


def test_votes(same, annotated):
    votes = annotated / "votes.jsonl"
    assert same(count_votes(votes, needed=3), "votes", votes, "--needed", 3)


def test_human_and_focal(same, annotated):
    data, people = annotated / "data", annotated / "estimates"
    found = best_focal("oasis-depth", data, people / "anna")
    of_anna = ("--data", data, "--estimates", people / "anna")
    assert same(found, "focal", "oasis-depth", *of_anna)
    protocol = find_benchmark("oasis-depth").with_settings(focal_px=60.0)
    made = human_performance(protocol, data, [people])
    of_all = ("--data", data, "--estimates", people, "--focal", 60)
    assert same(made, "human", "oasis-depth", *of_all)
