"""Our benchmarks on OASIS: the golden inputs, where definitions coincide with the public code's."""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import BENCHMARKS, find_benchmark
from depthgauge.datasets import DATASETS
from depthgauge.datasets.oasis import write, write_estimate
from depthgauge.engine.running.run import run
from depthgauge.engine.store.load import load_run
from depthgauge.geometry.angles import angles_between
from depthgauge.geometry.pairs import NEITHER, ORTHOGONAL, PARALLEL
from depthgauge.io import write_image, write_map
from depthgauge.metrics import METRICS
from depthgauge.metrics.average_precision import average_precision
from depthgauge.types import Camera, Estimate, Inputs, Rig, Sample, Truth, merge_states

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "oasis"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())


@pytest.fixture(scope="module")
def golden(tmp_path_factory):
    out = tmp_path_factory.mktemp("golden") / "oasis"
    subprocess.run([sys.executable, GOLDEN / "make_inputs.py", out], check=True)
    return out


def summary(result):
    return {name: found.value for name, found in result.summary.items()}


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("oasis-depth", "lsiv lsiv_root wkdr"),
        ("oasis-normals", "mean median within:11.25 within:22.5 within:30 balanced"),
        (
            "oasis-relative-normals",
            "ap_parallel ap_orthogonal ap_parallel_both ap_orthogonal_both",
        ),
        ("oasis-planes", "ap ap50 ap75"),
        ("oasis-planes-toolkit", "ap ap50 ap75"),
        ("diw", "wkdr"),
        ("depth-normals", "mean median within:11.25 within:22.5 within:30"),
    ],
)
def test_ids_have_no_region(name, ids):
    assert " ".join(BENCHMARKS[name].score_ids) == ids
    assert BENCHMARKS[name].pool == "pixel"


def test_depth(golden):
    """Per picture: WKDR is the public number; LSIV differs by an island of 8 px, and by 1e-8s."""
    result = dg.evaluate("oasis-depth", golden, golden / "pred")
    expected = EXPECTED["depth"]["val_pred_focal"]["per_image"]
    for name, numbers in expected.items():
        found = {score: value.value for score, value in result.samples[name].items()}
        assert found["wkdr"] == pytest.approx(numbers["WKDR"], abs=0.3)
        assert found["lsiv"] == pytest.approx(numbers["LSIV_mean_of_squares"], rel=5e-3)
        assert found["lsiv_root"] == pytest.approx(math.sqrt(found["lsiv"]))
    counts = {name: scores["wkdr"].count for name, scores in result.samples.items()}
    assert counts["0031"] == 342
    assert counts["0034"] > 0  # pairs without depth
    found = summary(result)
    squares = sum(s["lsiv"].state.sums[0] for s in result.samples.values())
    pixels = sum(s["lsiv"].count for s in result.samples.values())
    assert found["lsiv"] == pytest.approx(squares / pixels)
    assert found["lsiv_root"] == pytest.approx(math.sqrt(squares / pixels))


def test_lsiv_is_the_public_number_on_the_public_codes_surfaces(golden):
    """Connected pixels, at least ten of them; only the 1e-8 of the public formulas differ."""
    m, states = METRICS["lsiv"], []
    for sample in DATASETS["oasis"].samples(golden, "val"):
        if sample.id == "0034":  # no depth
            continue
        truth = sample.truth
        depth = truth["depth"]
        labels = cv2.connectedComponents((depth > 0).astype(np.uint8), connectivity=4)[1]
        estimate = np.load(golden / "pred" / "depth_plain" / f"{sample.id}.npy")
        needs = {"camera": truth["camera"], "continuous_labels": labels, "estimate_focal_px": 500.0}
        states.append(m.measure(estimate, depth, **needs, least_px=10))
    merged = merge_states(states)
    expected = EXPECTED["depth"]["val_plain_fixed_focal_500"]
    assert merged.count == expected["n_pixel"]
    assert merged.sums[0] == pytest.approx(expected["loss_sum"], rel=1e-6)


def test_average_precision_is_the_public_number_on_all_pairs(golden):
    scores = {PARALLEL: [], ORTHOGONAL: []}
    relations = []
    for sample in DATASETS["oasis"].samples(golden, "val"):
        pairs = sample.truth["relative_normals"]
        normals = np.load(golden / "pred" / "normals" / f"{sample.id}.npy")
        x_a, y_a, x_b, y_b, relation = pairs.T
        angles = angles_between(normals[y_a, x_a], normals[y_b, x_b])
        scores[PARALLEL].append(1 - np.minimum(angles, 180 - angles) / 180)
        scores[ORTHOGONAL].append(1 - np.abs(angles - 90) / 180)
        relations.append(relation)
    relations = np.concatenate(relations)
    for relation, name in ((PARALLEL, "AP_parallel"), (ORTHOGONAL, "AP_perpendicular")):
        used = (relations == relation) | (relations == NEITHER)
        right = relations[used] == relation
        found = average_precision(np.concatenate(scores[relation])[used], right, right.sum())
        assert found == pytest.approx(EXPECTED["relative_normals"][name], abs=1e-6)


def test_normals(golden):
    result = dg.evaluate("oasis-normals", golden, golden / "pred")
    expected, found = EXPECTED["normals"], summary(result)
    assert found["mean"] == pytest.approx(expected["mean"], abs=1e-4)
    assert found["median"] == pytest.approx(expected["median"], abs=1e-4)
    for degrees in ("11.25", "22.5", "30"):
        key = f"below_{degrees.replace('.', '_')}"
        assert found[f"within:{degrees}"] == pytest.approx(expected[key], abs=1e-9)
    assert sum(s["mean"].count for s in result.samples.values()) == expected["n_pixels"]


def test_all_relations_with_equal_numbers(golden):
    result = dg.evaluate("oasis-relative-normals", golden, golden / "pred")
    found = summary(result)
    assert all(0.5 < value < 1 for value in found.values())
    assert found["ap_parallel_both"] < found["ap_parallel"]
    assert sum(s["ap_parallel"].count for s in result.samples.values()) == 2220
    # A score of the whole dataset is in no sample.
    assert result.to_json()["samples"]["0031"] == {}


def test_planes_are_near_the_public_number(golden):
    found = summary(dg.evaluate("oasis-planes", golden, golden / "pred"))
    assert found["ap"] == pytest.approx(EXPECTED["planar"]["AP"], abs=0.01)
    assert found["ap50"] == pytest.approx(EXPECTED["planar"]["AP50"], abs=0.02)
    assert found["ap75"] == pytest.approx(EXPECTED["planar"]["AP75"], abs=0.02)


def test_what_a_missing_picture_costs(golden, tmp_path):
    shutil.copytree(golden / "pred", tmp_path / "pred")
    for name in ("planar/0032.txt", "normals/0031.npy", "depth/0031.npy"):
        (tmp_path / "pred" / name).unlink()
    planes = dg.evaluate("oasis-planes", golden, tmp_path / "pred")
    assert planes.samples["0032"]["ap"].missing == 6
    assert 0.3 < planes.summary["ap"].value < 0.45
    normals = dg.evaluate("oasis-normals", golden, tmp_path / "pred")
    assert normals.samples["0031"]["mean"].value == 180
    relations = summary(dg.evaluate("oasis-relative-normals", golden, tmp_path / "pred"))
    assert 0 < relations["ap_parallel"] < 0.6
    depth = dg.evaluate("oasis-depth", golden, tmp_path / "pred")
    assert depth.samples["0031"]["wkdr"].value == 100
    assert math.isnan(depth.summary["lsiv"].value)


def test_front_facing_scores_a_half(golden, tmp_path):
    done = run("oasis-relative-normals", golden, ["front_facing"], tmp_path / "run", workers=0)
    found = summary(done.results["front_facing", 0])
    assert found["ap_parallel"] == found["ap_orthogonal"] == 0.5
    assert found["ap_parallel_both"] == found["ap_orthogonal_both"] == pytest.approx(1 / 3)
    again = load_run(tmp_path / "run")
    assert summary(again.results["front_facing", 0]) == found


def test_the_focal_length_of_a_wall_changes_nothing(golden, tmp_path):
    """All its points are scaled together; other depths fail without one, with a sentence."""
    done = run("oasis-depth", golden, ["plane:focal_px=400"], tmp_path / "own", workers=0)
    (label,) = (entrant.label for entrant in done.entrants)
    own = summary(done.results[label, 0])
    assert own["wkdr"] == 100  # nothing but ties
    assert 0 < own["lsiv"] < 1
    done = run("oasis-depth", golden, ["plane"], tmp_path / "default", workers=0)
    assert summary(done.results["plane", 0]) == pytest.approx(own)
    flat = "flat=constant:value=1"
    done = run("oasis-depth", golden, [flat], tmp_path / "none", workers=0)
    assert "focal length" in done.results["flat", 0].failed["0031"]
    given = find_benchmark("oasis-depth").with_settings(focal_px=400)
    done = run(given, golden, [flat], tmp_path / "given", workers=0)
    assert summary(done.results["flat", 0]) == pytest.approx(own)


def make_sample(name, seed):
    """A floor and a wall with everything that the benchmarks need."""
    rng = np.random.default_rng(seed)
    height, width = 24, 32
    low = np.arange(height)[:, None] >= height // 2
    low = np.broadcast_to(low, (height, width))
    normals = np.where(low[..., None], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]).astype(np.float32)
    depth = np.where(low, 2 + 0.1 * np.arange(width), 5).astype(np.float32)
    labels = np.where(low, 2, 1)
    truth = {
        "depth": depth,
        "normals": normals,
        "planes": labels.astype(np.float32),
        "smooth_labels": labels,
        "continuous_labels": labels,
        "camera": Camera((40.0, 40.0), (width / 2, height / 2), (width, height)),
        "roi_mask": np.ones((height, width), bool),
        "plane_relations": np.array([[1, 2, 2]]),
    }
    picture = rng.integers(0, 255, (height, width, 3), dtype=np.uint8)
    return Sample(name, Inputs({"left_image": picture}), Truth(truth))


def test_a_perfect_estimate_is_perfect_through_files(tmp_path):
    made = [make_sample(f"{n:04d}", n) for n in range(3)]
    write(tmp_path / "data", made, split="val")
    for sample in made:
        truth = sample.truth
        instances = np.stack([0.9 * (truth["planes"] == k) for k in (1, 2)], axis=-1)
        estimates = [
            Estimate(3 * truth["depth"], "depth", parts={"focal_px": 40.0}),
            Estimate(2 * truth["normals"], "normals"),
            Estimate(instances.astype(np.float32), "planes"),
        ]
        for estimate in estimates:
            write_estimate(tmp_path / "mine", sample.id, estimate)
    depth = summary(dg.evaluate("oasis-depth", tmp_path / "data", tmp_path / "mine"))
    assert depth == pytest.approx({"lsiv": 0, "lsiv_root": 0, "wkdr": 0}, abs=1e-6)
    normals = summary(dg.evaluate("oasis-normals", tmp_path / "data", tmp_path / "mine"))
    assert normals.pop("mean") == normals.pop("median") == normals.pop("balanced") == 0
    assert set(normals.values()) == {100.0}
    planes = summary(dg.evaluate("oasis-planes", tmp_path / "data", tmp_path / "mine"))
    assert set(planes.values()) == {1.0}


def test_pairs_are_drawn_on_planes_whose_relations_are_known(tmp_path):
    """Four planes: two walls, a floor, a ramp; nobody marked points."""
    corners = {1: (0, 0, -1), 2: (0, 0, -1), 3: (0, -1, 0), 4: (0, -0.6, -0.8)}
    planes = np.repeat(np.repeat([[1, 2], [3, 4]], 12, axis=0), 16, axis=1)
    normals = np.array([corners[k] for k in planes.ravel()], np.float32).reshape(24, 32, 3)
    truth = {
        "normals": normals,
        "planes": planes.astype(np.float32),
        "plane_relations": np.array([[1, 2, 1], [1, 3, 2], [2, 3, 2], [1, 4, 0], [3, 4, 0]]),
        "roi_mask": np.ones(planes.shape, bool),
    }
    picture = np.zeros((24, 32, 3), np.uint8)
    sample = Sample("0001", Inputs({"left_image": picture}), Truth(truth))
    write(tmp_path / "data", [sample], split="val")
    write_estimate(tmp_path / "mine", "0001", Estimate(normals, "normals"))
    result = dg.evaluate("oasis-relative-normals", tmp_path / "data", tmp_path / "mine")
    assert summary(result) == dict.fromkeys(BENCHMARKS["oasis-relative-normals"].score_ids, 1.0)
    assert result.samples["0001"]["ap_parallel"].count == 300
    write_estimate(tmp_path / "turned", "0001", Estimate(normals[:, ::-1], "normals"))
    turned = dg.evaluate("oasis-relative-normals", tmp_path / "data", tmp_path / "turned")
    assert summary(turned)["ap_orthogonal"] < 0.9


@pytest.fixture
def wall(tmp_path):
    """A dataset of ours: a wall that faces the camera, with depth and no normals."""
    camera = Camera((40.0, 40.0), (15.5, 11.5), (32, 24))
    inputs = {"left_image": np.zeros((24, 32, 3), np.uint8), "rig": Rig({"left": camera})}
    depth = np.full((24, 32), 3, np.float32)
    about = {"id": "wall", "title": "A wall", "licence": "CC0-1.0"}
    sample = Sample("wall", Inputs(inputs), Truth({"depth": depth}))
    DATASETS["depthgauge"].write(tmp_path / "data", [sample], **about)
    return tmp_path / "data"


def test_normals_of_true_depth(wall, tmp_path):
    (tmp_path / "mine" / "wall").mkdir(parents=True)
    normals = np.tile(np.array([0, 0, -2], np.float32), (24, 32, 1))
    normals[:, 16:] = (0, -1, -1)
    write_map(tmp_path / "mine" / "wall" / "normals.npy", normals, quantity="normals")
    result = dg.evaluate("depth-normals", wall, tmp_path / "mine")
    assert result.samples["wall"]["mean"].count == 22 * 30  # not at the picture's border
    assert summary(result)["mean"] == pytest.approx(22.5, abs=1e-4)
    assert summary(result)["within:11.25"] == 50


def test_methods_run_on_normals_of_true_depth(wall, tmp_path):
    done = run("depth-normals", wall, ["front_facing"], tmp_path / "run", workers=0)
    assert summary(done.results["front_facing", 0])["mean"] == pytest.approx(0, abs=1e-4)


def test_pairs_without_a_map(tmp_path):
    """DIW: the deeper point of two of three pictures is found, one picture has no estimate."""
    picture = np.zeros((6, 8, 3), np.uint8)
    for n in range(4):
        write_image(tmp_path / f"{n}.png", picture)
    pairs = ["1,1,6,8,<,8,6", "1,1,6,8,>,8,6", "6,8,1,1,>,8,6", "1,1,6,8,<,8,6"]
    text = "".join(f"./{n}.png\n{line}\n" for n, line in enumerate(pairs))
    (tmp_path / "DIW_test.csv").write_text(text)
    ramp = np.add.outer(np.arange(6.0), np.arange(8.0)).astype(np.float32) + 1
    for n in range(3):
        (tmp_path / "mine" / f"{n}").mkdir(parents=True)
        write_map(tmp_path / "mine" / f"{n}" / "depth.npy", ramp, quantity="depth")
    result = dg.evaluate("diw", tmp_path, tmp_path / "mine")
    assert {name: s["wkdr"].value for name, s in result.samples.items()} == {
        "0": 0,
        "1": 100,
        "2": 0,
        "3": 100,
    }
    assert summary(result)["wkdr"] == 50
