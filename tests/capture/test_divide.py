"""Splits that are written: every scene where it was said, test splits without truth."""

import numpy as np
import pytest

from depthgauge.capture.divide import write_splits
from depthgauge.capture.splits import Splits
from depthgauge.datasets import booster, booster_unbalanced
from depthgauge.datasets._booster import layout
from depthgauge.errors import CannotWrite, Misuse
from depthgauge.types import Camera, Inputs, Rig, Sample, Truth

SPLITS = Splits(
    {"train": ("A", "B"), "test-stereo": ("C",), "test-mono": ("D",)}, {"materials": 0.0}, 0
)
TRUTH = {*layout.TRUTH_FILES}


def scene(name, size=(6, 8)):
    rng = np.random.default_rng(ord(name))
    camera = Camera((10.0, 10.0), (3.5, 2.5), size[::-1])
    pictures = {
        f"{side}_image": rng.integers(0, 255, (*size, 3)).astype(np.uint8)
        for side in ("left", "right")
    }
    truth = {
        "disparity": rng.uniform(1, 9, size).astype(np.float32),
        "right_disparity": rng.uniform(1, 9, size).astype(np.float32),
        "visible_mask": rng.uniform(size=size) > 0.2,
        "material_labels": rng.integers(0, 4, size).astype(np.int32),
    }
    inputs = Inputs({**pictures, "rig": Rig({"left": camera, "right": camera}, 0.1)})
    return [Sample(f"{name}/im{k}", inputs, Truth(truth), scene=name) for k in range(2)]


@pytest.fixture
def dataset(tmp_path):
    for name in "ABCD":
        booster.write(tmp_path / "all", scene(name))
    booster_unbalanced.write(tmp_path / "all", scene("C"))
    return tmp_path / "all"


def files(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_every_scene_is_where_it_was_said(dataset, tmp_path):
    before = files(dataset)
    out, hidden = tmp_path / "out", tmp_path / "hidden"
    assert write_splits(dataset, SPLITS, out, with_truth=hidden) == {
        "train": 2,
        "test-stereo": 1,
        "test-mono": 1,
    }
    assert files(dataset) == before, "what was divided is not changed"
    for split, names in SPLITS.scenes.items():
        found = {sample.scene: sample for sample in booster.samples(out, split)}
        assert tuple(found) == names
        assert all((sample.truth is None) == (split != "train") for sample in found.values())
    assert [s.scene for s in booster_unbalanced.samples(out, "test-stereo")] == ["C", "C"]
    published = {path.name for path in (out / "test").rglob("*") if path.is_file()}
    assert not published & TRUTH
    (same,) = {s.scene: s for s in booster.samples(hidden, "test-stereo")}.values()
    (once,) = [s for s in booster.samples(dataset, "train") if s.id == "C/im1"]
    assert np.array_equal(same.truth["disparity"], once.truth["disparity"], equal_nan=True)
    assert np.array_equal(same.inputs["left_image"], once.inputs["left_image"])


def test_nothing_is_written_if_one_scene_exists(dataset, tmp_path):
    out = tmp_path / "out"
    booster.write(out, scene("D"), split="test-mono")
    before = files(out)
    with pytest.raises(CannotWrite, match="overwrite"):
        write_splits(dataset, SPLITS, out)
    assert files(out) == before
    write_splits(dataset, SPLITS, out, overwrite=True)
    left = {path.name for path in (out / "test").rglob("*") if path.is_file()}
    assert not left & TRUTH, "the truth of an earlier version is gone"


def test_the_truth_stays_apart(dataset, tmp_path):
    with pytest.raises(Misuse, match="would be published"):
        write_splits(dataset, SPLITS, tmp_path / "out", with_truth=tmp_path / "out" / "truth")
    with pytest.raises(Misuse, match="neither inside of"):
        write_splits(dataset, SPLITS, dataset / "splits")
    assert not (tmp_path / "out").exists()
