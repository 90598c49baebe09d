"""Every benchmark of monocular depth on tiny data in the true layout: perfect, scaled, missing."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import find_benchmark
from depthgauge.datasets import DATASETS
from depthgauge.engine.scoring.check import check_estimates
from depthgauge.types import Camera, Inputs, Sample, Truth

NAN = np.nan
SIZES = {"nyu-depth-v2": (480, 640), "kitti-depth": (375, 1242)}
IDS = {
    "nyu-depth-v2": "study_00001",
    "kitti-depth": "2011_09_26_drive_0002_sync_0000000069",
    "diode": "indoors/scene_00019/scan_00183/a",
    "scannet": "scene0011_00/000000",
    "eth3d-depth": "office/DSC_0219",
    "ibims-1": "corridor_01",
    "sintel-depth": "alley_1/frame_0001",
    "mattes": "m_0a",
    "tum-rgbd": "fr1_desk/1305031453.359684",
}
OURS = ("nyu-depth", "kitti-eigen", "diode", "ibims")
ZERO_SHOT = tuple(
    f"mono-zero-shot-{name}" for name in ("nyu", "kitti", "eth3d", "scannet", "diode")
)
ABSREL = {"ibims": "absrel@usable"}
DELTA = {"ibims": "delta:1.25@usable"}


def depth_of(size):
    """A wall behind a post, with steps that every detector finds."""
    y, x = np.mgrid[0 : size[0], 0 : size[1]].astype(np.float64)
    depth = 4 + x / size[1] + 0.5 * y / size[0]
    depth[:, size[1] // 3 : size[1] // 2] = 2.0
    return depth.astype(np.float32)


def items(size):
    wall = np.zeros(size, np.int32)
    wall[:, size[1] // 3 : size[1] // 2] = 1
    none, edges = np.zeros(size, np.int32), np.zeros(size, bool)
    edges[:, [size[1] // 3, size[1] // 2]] = True
    return {
        "usable_mask": np.ones(size, bool),
        "edges_mask": edges,
        "wall_labels": wall,
        "table_labels": none,
        "floor_labels": none,
        "wall_planes": np.array([[0.0, -1.0, 0.0, 2.0]]),
        "table_planes": np.zeros((0, 4)),
        "floor_planes": np.zeros((0, 4)),
        "matte_mask": wall > 0,
    }


@pytest.fixture
def place(tmp_path):
    """Writes one sample of a benchmark's dataset, and an estimate made of its depth."""

    def made(name, change=lambda depth: depth):
        dataset = find_benchmark(name).dataset
        size = SIZES.get(dataset, (48, 64))
        depth = depth_of(size)
        camera = Camera((60.0, 60.0), (31.5, 23.5), size[::-1])
        inputs = {"left_image": np.zeros((*size, 3), np.uint8), "camera": camera}
        truth = {"depth": depth, **items(size)}
        sample = Sample(IDS[dataset], Inputs(inputs), Truth(truth))
        DATASETS[dataset].write(tmp_path / "data", [sample])
        path = tmp_path / "mine" / f"{sample.id}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.asarray(change(depth), np.float32))
        return tmp_path / "data", tmp_path / "mine"

    return made


def summary(name, folders, protocol=None):
    found = dg.evaluate(protocol or name, *folders, check=False)
    assert found.failed == {}
    return {key: value.value for key, value in found.summary.items()}


@pytest.mark.parametrize("name", OURS)
def test_the_truth_itself_is_perfect_and_a_missing_half_costs(place, name):
    absrel, delta = ABSREL.get(name, "absrel@all"), DELTA.get(name, "delta:1.25@all")
    folders = place(name)
    assert check_estimates(name, *folders) == []
    found = summary(name, folders)
    assert found[absrel] == pytest.approx(0, abs=2e-3)  # codes of whole millimetres
    assert found[delta] == 100

    def half(depth):
        lost = depth.copy()
        lost[::2] = NAN
        return lost

    found = summary(name, place(name, half))
    assert found[absrel] == pytest.approx(0, abs=2e-3)
    assert found[delta] == pytest.approx(50, abs=1)


@pytest.mark.parametrize("name", ZERO_SHOT)
def test_scale_and_shift_are_free_in_depth_and_in_its_inverse(place, name):
    found = summary(name, place(name, lambda depth: 0.3 * depth - 0.7))
    assert found["absrel@all"] == pytest.approx(0, abs=2e-3)
    assert found["delta:1.25@all"] == 100
    protocol = find_benchmark(name)
    clip = {**protocol.estimate.model_dump(exclude_unset=True), "inverse": True}
    inverse = protocol.model_copy(update={"estimate": clip})
    folders = place(name, lambda depth: 5 / depth + 3)
    found = summary(name, folders, inverse)
    assert found["absrel@all"] == pytest.approx(0, abs=2e-3)
    assert check_estimates(inverse, *folders) == []


def test_ibims_of_the_truth_itself(place):
    found = summary("ibims", place("ibims"))
    assert found["plane_flatness@usable"] == pytest.approx(0, abs=1e-4)
    assert found["plane_angle@usable"] == pytest.approx(0, abs=0.1)
    assert found["edge_accuracy@all"] <= 1
    assert found["edge_completeness@all"] <= 1
    assert found["depth_boundary_f1@usable"] == pytest.approx(1)
    assert found["same_side:3@usable"] == 100
    theirs = summary("ibims-toolkit", place("ibims"))
    assert theirs["abs_rel"] == pytest.approx(0, abs=1e-3)
    assert theirs["dde_0"] == 1


@pytest.mark.parametrize(
    ("name", "score", "value"),
    [
        ("mattes", "matte_boundary_recall", 1),
        ("mattes-toolkit", "si_boundary_recall", 0.5),  # no outline above and below counts as 0
        ("sintel-depth-pro-toolkit", "si_boundary_f1", 0.5),
        ("ibims-depth-pro-toolkit", "si_boundary_f1", 0.5),
    ],
)
def test_boundaries_of_the_truth_itself(place, name, score, value):
    assert summary(name, place(name))[score] == pytest.approx(value)
    scaled = summary(name, place(name, lambda depth: 7 * depth))
    assert scaled[score] == pytest.approx(value)


@pytest.mark.parametrize("name", ["nyu-adabins-toolkit", "eth3d-marigold-toolkit", "diode-toolkit"])
def test_twins_of_the_truth_itself(place, name):
    found = summary(name, place(name))
    assert found["abs_rel"] == pytest.approx(0, abs=1e-3)
    assert found["delta1"] == 1


def test_midas_on_tum(place):
    found = summary("tum-midas-toolkit", place("tum-midas-toolkit", lambda depth: 2 - 3 / depth))
    assert found == {"bad_delta1": 0, "bad_delta2": 0}


def test_an_estimate_of_kittis_crop_is_put_back(place):
    """Nothing is stretched: the crop of the truth is perfect where it is, missing beside it."""
    folders = place("kitti-eigen", lambda depth: depth[23:, 13:1229])
    found = summary("kitti-eigen", folders)
    assert found["absrel@all"] == pytest.approx(0, abs=2e-3)
    assert found["density@all"] == 100  # Garg's crop lies inside
    wide = find_benchmark("kitti-eigen").model_copy(update={"crop": 0})
    found = summary("kitti-eigen", folders, wide)
    assert found["density@all"] == pytest.approx(100 * 352 * 1216 / (375 * 1242))
