"""Scenes with dense layers: what is written comes back, what does not fit is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from depthgauge.datasets import DATASETS
from depthgauge.datasets.layered import is_written, write_sample
from depthgauge.errors import BadData, CannotWrite, Unavailable, WrongShape
from depthgauge.types import Camera, Rig

CAMERA = Camera((50.0, 50.0), (7.5, 5.5), (16, 12))
RIG = Rig({"left": CAMERA, "right": CAMERA}, baseline_m=0.1)


@pytest.fixture
def made():
    rng = np.random.default_rng(3)
    images = {
        name: rng.integers(0, 256, (12, 16, 3), np.uint8)
        for name in ("left", "right", "left_next", "right_next")
    }
    flow = rng.normal(size=(4, 12, 16, 2)).astype(np.float32)
    flow[2:] = np.nan
    material = np.full((4, 12, 16), 255, np.uint8)
    material[0], material[1] = 1, 0
    truth = {
        "layered_flow": flow,
        "layered_disparity": flow[..., 0] + 9,
        "layered_depth": flow[..., 1] + 9,
        "layer_material": material,
        "layer_object": rng.integers(-1, 1000, (4, 12, 16)),
        "layer_count": np.full((12, 16), 2, np.uint8),
        "flow_state": rng.integers(0, 5, (4, 12, 16), np.uint8),
        "refraction_px": np.abs(flow[..., 0]),
    }
    return images, truth


def test_a_sample_comes_back(made, tmp_path):
    images, truth = made
    write_sample(
        tmp_path, "kitchen/1", images, truth, rig=RIG, disparity_range=(0, 40), facts={"seed": 3}
    )
    assert is_written(tmp_path, "kitchen/1")
    (sample,) = DATASETS["layered"].samples(tmp_path)
    assert sample.id == "kitchen/1"
    for name, values in truth.items():
        np.testing.assert_array_equal(sample.truth[name], values)
        assert sample.truth[name].dtype == (np.uint8 if name == "layer_material" else np.int32) or (
            sample.truth[name].dtype == np.float32
        )
    for single in ("flow", "disparity", "depth"):
        np.testing.assert_array_equal(sample.truth[single], truth[f"layered_{single}"][0])
    inputs = sample.inputs
    np.testing.assert_array_equal(inputs["first_image"], images["left"])
    np.testing.assert_array_equal(inputs["second_image"], images["left_next"])
    np.testing.assert_array_equal(inputs["right_image"], images["right"])
    np.testing.assert_array_equal(inputs["right_next_image"], images["right_next"])
    assert inputs["disparity_range"] == (0.0, 40.0)
    assert inputs["rig"].baseline_m == 0.1


def test_the_same_sample_gives_the_same_bytes(made, tmp_path):
    for folder in ("a", "b"):
        write_sample(tmp_path / folder, "s", *made, rig=RIG)
    files = sorted(p.name for p in (tmp_path / "a/s").iterdir())
    for name in files:
        assert (tmp_path / "a/s" / name).read_bytes() == (tmp_path / "b/s" / name).read_bytes()


def test_materials_in_another_order(made, tmp_path):
    images, truth = made
    order = ("transparent", "reflective", "diffuse")
    swapped = np.where(truth["layer_material"] == 1, 0, truth["layer_material"])
    swapped[truth["layer_material"] == 0] = 2
    folder = write_sample(
        tmp_path, "s", images, {**truth, "layer_material": swapped}, rig=RIG, materials=order
    )
    (sample,) = DATASETS["layered"].samples(tmp_path)
    np.testing.assert_array_equal(sample.truth["layer_material"], truth["layer_material"])
    record = json.loads((folder / "sample.json").read_text())
    (folder / "sample.json").write_text(json.dumps({**record, "materials": ["wood"]}))
    (sample,) = DATASETS["layered"].samples(tmp_path)
    with pytest.raises(Unavailable, match="wood"):
        sample.truth["layer_material"]


def test_an_unfinished_sample_is_not_read(made, tmp_path):
    folder = write_sample(tmp_path, "s", *made, rig=RIG)
    (folder / "sample.json").unlink()
    assert not is_written(tmp_path, "s")
    with pytest.raises(BadData, match="no sample"):
        DATASETS["layered"].samples(tmp_path)


def test_what_does_not_fit_is_refused(made, tmp_path):
    images, truth = made
    with pytest.raises(WrongShape, match="one size"):
        write_sample(tmp_path, "s", images, {"layer_count": np.zeros((3, 4))}, rig=RIG)
    fewer = {**truth, "layered_depth": truth["layered_depth"][:2]}
    with pytest.raises(WrongShape, match="number of layers"):
        write_sample(tmp_path, "s", images, fewer, rig=RIG)
    with pytest.raises(WrongShape, match=r"layered_flow has the axes \(layer, y, x, uv\)"):
        write_sample(tmp_path, "s", images, {"layered_flow": np.zeros((4, 12, 16))}, rig=RIG)
    with pytest.raises(CannotWrite, match="no map 'layered_colour'"):
        write_sample(tmp_path, "s", images, {"layered_colour": np.zeros(3)}, rig=RIG)
    assert not (tmp_path / "s").exists()


def test_a_damaged_map_costs_its_sample_only(made, tmp_path):
    folder = write_sample(tmp_path, "s", *made, rig=RIG)
    (folder / "layered_flow.npz").write_bytes(b"PK")
    np.savez(folder / "layered_depth.npz", map=np.zeros((4, 12), np.float32))
    (sample,) = DATASETS["layered"].samples(tmp_path)
    with pytest.raises(Unavailable, match=r"layered_flow\.npz"):
        sample.truth["layered_flow"]
    with pytest.raises(Unavailable, match=r"expected an array with the axes \(layer, y, x\)"):
        sample.truth["layered_depth"]
