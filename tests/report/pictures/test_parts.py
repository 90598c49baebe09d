"""Parts besides the main map are drawn, too."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.analysis.maps.sample_maps import PartMaps, SampleMaps
from depthgauge.benchmarks import make_protocol
from depthgauge.engine.running.maps import RunMaps
from depthgauge.io import write_image
from depthgauge.report.page.build import build_page
from depthgauge.report.page.html import render_report
from depthgauge.report.pictures.parts import part_rows
from depthgauge.types import Estimate

SIZE = (20, 30)
TRUTH = np.tile(np.linspace(2, 9, SIZE[1], dtype=np.float32), (SIZE[0], 1))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two methods, of which one says how sure it is."""
    root = tmp_path_factory.mktemp("parts")
    for kind in ("left", "right", "truth"):
        (root / "data" / kind).mkdir(parents=True)
    for name in ("s0", "s1"):
        for side in ("left", "right"):
            write_image(root / "data" / side / f"{name}.png", np.zeros((*SIZE, 3), np.uint8))
        dg.write_map(root / "data/truth" / f"{name}.pfm", TRUTH)

    def sure(inputs):
        confidence = np.linspace(0, 40, 600, dtype=np.float32).reshape(SIZE)
        confidence[0, 0] = np.nan
        return Estimate(TRUTH + 1, "disparity", {"confidence": confidence})

    def silent(inputs):
        return TRUTH + 2

    protocol = make_protocol(
        {
            "id": "parts",
            "version": 1,
            "dataset": "folder",
            "quantity": "disparity",
            "pool": "image",
            "scores": [{"metric": "mae"}],
        },
        "parts",
    )
    made = dg.run(protocol, root / "data", [sure, silent], root / "run", workers=0)
    assert not made.failures
    return made


def test_a_confidence_has_a_row(run):
    assert RunMaps(run).unscored_parts("s0").keys() == {"confidence"}
    page = build_page(run)
    for group in page.pictures:
        (row,) = [row for row in group.rows if row.title == "Confidence"]
        assert list(row.pictures) == ["sure"]
        bar = row.pictures["sure"].bar
        assert 0 <= bar.low < 1
        assert 39 < bar.high <= 40
        assert bar.missing
        assert row.pictures["sure"].size_px == (30, 20)
    assert "<summary>Confidence</summary>" in render_report(page)


def test_estimates_of_a_sample_are_read_once(run, monkeypatch):
    maps = RunMaps(run)
    asked = []
    plain = RunMaps._estimate

    def counted(self, entrant, sample, seed):
        asked.append((entrant.label, sample))
        return plain(self, entrant, sample, seed)

    monkeypatch.setattr(RunMaps, "_estimate", counted)
    for sample in ("s0", "s1", "s0"):
        maps.all_prepared(sample)
        maps.unscored_parts(sample)
    assert len(asked) == 6


def test_a_scored_part_is_drawn_as_its_quantity_is():
    flow = np.zeros((*SIZE, 2), np.float32)
    flow[..., 0] = 3
    errors = np.full(SIZE, 2.0, np.float32)
    part = PartMaps("flow", "flow", flow, {"a": flow + 1}, {"a": errors})
    values, wrong = part_rows(SampleMaps("s", "scene_flow", TRUTH, parts=(part,)))
    assert (values.title, wrong.title) == ("Flow", "Flow: errors")
    assert list(values.pictures) == ["the truth", "a"]
    assert {picture.bar.colours for picture in values.pictures.values()} == {"wheel"}
    assert wrong.pictures["a"].bar.high == 2
    assert wrong.pictures["a"].caption == "a"


def test_vectors_that_are_not_scored_are_drawn_by_their_length():
    flow = np.full((*SIZE, 2), [3, 4], np.float32)
    flow[0] = np.nan
    part = PartMaps("motion", "flow", None, {"a": flow, "b": 2 * flow})
    (row,) = part_rows(SampleMaps("s", "disparity", TRUTH, parts=(part,)))
    bar = row.pictures["a"].bar
    assert (bar.low, bar.high) == (5, 10)
    assert "not scored" in row.about
