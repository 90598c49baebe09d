"""The OASIS-like set: what is written, that it can be scored, stopped and made again."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from depthgauge import io
from depthgauge.annotate.reconstruct.reconstruction import reconstruct
from depthgauge.annotate.records.files import read_records
from depthgauge.annotate.simulate import oasis_like
from depthgauge.annotate.simulate.annotator import simulate
from depthgauge.annotate.simulate.oasis_like import (
    OasisLike,
    estimates_of,
    scene_view,
    write_oasis_like,
)
from depthgauge.datasets import DATASETS, find_estimate, read_estimate
from depthgauge.errors import CannotWrite, Misuse
from depthgauge.synth.sets.single_views import make_view

SMALL = OasisLike(scenes=2, size_px=(96, 72), annotators=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("oasis") / "set"
    write_oasis_like(out, SMALL)
    return out


def hashes(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_dataset_has_all_items(folder):
    samples = {sample.id: sample for sample in DATASETS["oasis"].samples(folder, "val")}
    assert sorted(samples) == ["curved-0000", "mixed-0001"]
    for sample in samples.values():
        truth = sample.truth
        assert sample.inputs["left_image"].shape == (72, 96, 3)
        wanted = {"depth", "normals", "boundaries", "planes", "camera", "roi_mask"}
        wanted |= {"continuous_labels", "smooth_labels", "relative_depth", "relative_normals"}
        assert wanted <= set(truth)
        assert np.array_equal(np.isfinite(truth["depth"]), truth["roi_mask"])
        pairs = truth["relative_depth"]
        assert len(pairs) == 200
        x_a, y_a, x_b, y_b, order = pairs.T
        deeper = truth["depth"][y_a, x_a] > truth["depth"][y_b, x_b]
        assert np.array_equal(order == 1, deeper)
        assert np.count_nonzero(y_a == y_b) >= 100


def test_exact_maps_and_records_lie_beside_it(folder):
    view = make_view("curved", 0, (96, 72))
    exact = io.read_map(folder / "sensor" / "depth" / "curved-0000.npy", quantity="depth")
    assert np.array_equal(exact, view.depth)
    normals = io.read_map(folder / "sensor" / "normals" / "curved-0000.npy", quantity="normals")
    assert np.array_equal(normals, view.normals)
    truth = read_records(folder / "truth-records" / "curved-0000.jsonl")
    assert truth == simulate(view, SMALL.truth_noise, 0)
    other = read_records(folder / "records" / "human-1" / "curved-0000.jsonl")
    assert other == simulate(view, SMALL.human_noise, 1)


@pytest.mark.parametrize("quantity", ["depth", "normals", "boundaries", "planes"])
def test_people_are_estimates_in_the_public_layout(folder, quantity):
    path = find_estimate(folder / "humans" / "human-1", DATASETS["oasis"], "mixed-0001", quantity)
    estimate = read_estimate(path, DATASETS["oasis"], quantity)
    annotation = read_records(folder / "records" / "human-1" / "mixed-0001.jsonl")
    made = {e.quantity: e for e in estimates_of(reconstruct(annotation))}[quantity]
    assert np.allclose(estimate.values, made.values, atol=1e-6)
    if quantity == "depth":
        assert estimate.parts["focal_px"] == annotation.focal.focal_px


def test_nobody_finds_a_plane_where_there_is_none():
    empty = oasis_like._plane_stack(np.array([[0.0, np.nan]], np.float32))
    assert empty.shape == (1, 2, 1)
    assert not empty.any()
    two = oasis_like._plane_stack(np.array([[3.0, 5.0, 0.0]], np.float32))
    assert two.tolist() == [[[1, 0], [0, 1], [0, 0]]]


def test_a_stopped_set_goes_on_and_is_the_same(folder, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    out = tmp_path / "set"
    with monkeypatch.context() as patched:
        patched.setattr(oasis_like, "_truth_sample", stop)
        with pytest.raises(KeyboardInterrupt):
            write_oasis_like(out, SMALL)
    record = out / "records" / "human-1" / "curved-0000.jsonl"
    before = record.stat().st_mtime_ns
    assert not (out / "OASIS_val.csv").exists()
    seen = []
    ids = write_oasis_like(out, SMALL, progress=lambda *step: seen.append(step))
    assert ids == ("curved-0000", "mixed-0001")
    assert seen == [("curved-0000", 0, 2), ("mixed-0001", 1, 2)]
    assert record.stat().st_mtime_ns == before
    assert hashes(out) == hashes(folder)


def test_a_finished_set_stays_and_other_options_are_not_mixed_in(folder):
    before = hashes(folder)
    assert write_oasis_like(folder, SMALL) == ("curved-0000", "mixed-0001")
    with pytest.raises(CannotWrite, match="other options"):
        write_oasis_like(folder, OasisLike(scenes=1, size_px=(96, 72), annotators=0))
    assert hashes(folder) == before


def test_overwriting_leaves_nothing_of_the_old_set(tmp_path):
    out = tmp_path / "set"
    write_oasis_like(out, OasisLike(scenes=1, size_px=(64, 48), annotators=1))
    write_oasis_like(out, OasisLike(1, (64, 48), seed=1, annotators=0), overwrite=True)
    names = {path.name for path in out.rglob("*") if path.is_file()}
    assert not any("0000" in name for name in names)
    assert not (out / "humans").exists()
    assert "curved-1000.jsonl" in names


def test_our_own_layout_keeps_exact_maps_in_the_truth(tmp_path):
    options = OasisLike(scenes=1, size_px=(64, 48), annotators=0, layout="depthgauge")
    write_oasis_like(tmp_path, options)
    (sample,) = DATASETS["depthgauge"].samples(tmp_path, "val")
    view = scene_view(options, 0)
    assert np.array_equal(sample.truth["exact_depth"], view.depth)
    assert np.array_equal(sample.truth["exact_normals"], view.normals)
    assert sample.truth["camera"].focal_px[0] == pytest.approx(view.focal_px)


def test_another_dataset_is_not_replaced(folder, tmp_path):
    (tmp_path / "OASIS_val.csv").write_text("Image\n")
    with pytest.raises(CannotWrite, match="--overwrite"):
        write_oasis_like(tmp_path, OasisLike(1, (64, 48), annotators=0))
    assert (tmp_path / "OASIS_val.csv").read_text() == "Image\n"


@pytest.mark.parametrize("wrong", [{"layout": "oasys"}, {"scenes": 0}, {"seed": -1}])
def test_impossible_options_are_refused(tmp_path, wrong):
    with pytest.raises(Misuse):
        write_oasis_like(tmp_path, OasisLike(**wrong))


def test_overwriting_leaves_what_others_put_there(tmp_path):
    out = tmp_path / "set"
    write_oasis_like(out, OasisLike(1, (64, 48), annotators=1))
    others = [
        out / "records" / "anna" / "planar-0000.jsonl",
        out / "records" / "human-1" / "beach.jsonl",
        out / "humans" / "me" / "depth" / "planar-0000.npy",
        out / "sensor" / "mine.txt",
    ]
    for path in others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    (first,) = (out / "truth-records").iterdir()
    write_oasis_like(out, OasisLike(1, (64, 48), seed=1, annotators=1), overwrite=True)
    assert all(path.read_text() == "mine" for path in others)
    assert not first.exists()
    assert not (out / "humans" / "human-1" / "depth" / f"{first.stem}.npy").exists()
    assert not list((out / "humans" / "human-1" / "planar").glob(f"{first.stem}*"))


def test_a_study_of_somebody_else_is_not_taken_over(tmp_path):
    (tmp_path / "records" / "anna").mkdir(parents=True)
    with pytest.raises(CannotWrite, match="has records already"):
        write_oasis_like(tmp_path, OasisLike(1, (64, 48), annotators=1))
    assert [path.name for path in tmp_path.iterdir()] == ["records"]


def test_a_refused_study_keeps_its_pictures(tmp_path):
    from depthgauge.annotate.simulate.study import write_study

    write_study(tmp_path, "planar", annotators=1, width=64, height=48)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    with pytest.raises(CannotWrite, match="another --out"):
        write_study(tmp_path, "planar", annotators=2, width=96, height=72)
    assert {path: path.read_bytes() for path in before} == before
    assert write_study(tmp_path, "planar", annotators=1, width=64, height=48).scenes == (
        "planar-0000",
    )
