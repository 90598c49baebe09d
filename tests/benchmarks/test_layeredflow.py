"""Our benchmarks of layers: on tags in the public layout, and on dense layers."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import BENCHMARKS, find_benchmark
from depthgauge.datasets import DATASETS
from depthgauge.datasets._layeredflow.points import Annotation, Place
from depthgauge.datasets.layered import write_sample
from depthgauge.datasets.layeredflow import write_scene
from depthgauge.engine.scoring.check import check_estimates
from depthgauge.errors import BadProtocol, Misuse
from depthgauge.io import write_map
from depthgauge.types import Camera, Rig

NAN = np.nan
CAMERA = Camera((400.0, 400.0), (47.5, 31.5), (96, 64))
RIG = Rig({"left": CAMERA, "right": CAMERA}, baseline_m=0.1)
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "layeredflow"


@pytest.fixture(scope="session")
def tags(tmp_path_factory) -> Path:
    """Two scenes of 96x64; ours are scored at 24x16. Three tags: glass, a wall behind it, metal.

    The glass moves by (8, 0) px, the wall by (4, 4), the metal by (-4, 0); disparities are 20, 10
    and 16 px, later 25, 10 and 16.
    """
    root = tmp_path_factory.mktemp("tags") / "layeredflow"
    images = {n: np.full((64, 96, 3), 99, np.uint8) for n in ("0_0", "0_1", "3_0", "3_1")}
    kinds = {0: ("transparent", 0), 1: ("diffuse", 1), 2: ("reflective", 0)}
    moves, shifts = {0: (8, 0), 1: (4, 4), 2: (-4, 0)}, {0: (20, 25), 1: (10, 10), 2: (16, 16)}
    for scene in ("3", "12"):
        optical, stereo = ([[], [], [], []] for _ in range(2))
        for tag in kinds:
            for corner in range(4):
                u, v = 33.5 + 16 * (corner % 2) + 4 * tag, 9.5 + 16 * (corner // 2) + 8 * tag
                off = 3.0 if (tag, corner) == (2, 3) else 0.5  # rows that do not match
                du, dv = moves[tag]
                now, later = shifts[tag]
                places = [(u, v), (u - now, v + off), (u + du, v + dv)]
                places.append((u + du - later, v + dv + off))
                for index, (x, y) in enumerate(places):
                    optical[index].append(Place((tag, corner), x, y))
                    stereo[index].append(Place((tag, corner), x, y))
        said = {(t, c): Annotation(True, *kinds[t]) for t in kinds for c in range(4)}
        write_scene(root, scene, images, optical, stereo, said, rig=RIG)
    return root


# --- what is read of tags -------------------------------------------------------------------------


def test_flow_of_tags(tags):
    samples = list(DATASETS["layeredflow"].samples(tags, "val"))
    assert [s.id for s in samples] == ["3_0", "3_1", "12_0", "12_1"]
    truth = samples[0].truth
    flow, kinds = truth["layered_flow"], truth["layer_material"]
    assert flow.shape == (4, 16, 24, 2)
    assert np.isfinite(flow[..., 0]).sum(axis=(1, 2)).tolist() == [8, 4, 0, 0]
    np.testing.assert_allclose(np.unique(flow[1][np.isfinite(flow[1])]), [1])
    assert sorted(set(kinds[0].ravel())) == [1, 2, 255]
    # The corner at (33.5, 9.5) of the photographs is at (8, 2.0) of the small ones: pixel 8, 2.
    np.testing.assert_allclose(flow[0, 2, 8], [2, 0])
    assert samples[0].inputs["first_image"].shape == (16, 24, 3)


def test_which_pixel_a_point_belongs_to(tags):
    found = {}
    for rule in ("nearest", "truncated", "rounded"):
        sample = next(DATASETS["layeredflow"].samples(tags, "val", pixel=rule, reduce=8))
        found[rule] = np.argwhere(np.isfinite(sample.truth["layered_flow"][0, ..., 0]))[0].tolist()
    # 33.5 and 9.5 over 8: 4.1875 and 1.1875; as areas, (33.5 + 0.5) / 8 = 4.25 and 1.25.
    assert found == {"nearest": [1, 4], "truncated": [1, 4], "rounded": [1, 4]}
    with pytest.raises(Misuse, match="nearest, truncated, rounded"):
        DATASETS["layeredflow"].samples(tags, "val", pixel="exact")
    with pytest.raises(Misuse, match="whole number"):
        DATASETS["layeredflow"].samples(tags, "val", reduce=2.5)


def test_disparity_and_depth_of_tags(tags):
    samples = list(DATASETS["layeredflow"].samples(tags, "val", pairs="stereo"))
    assert [s.id for s in samples] == ["3_t0", "3_t3", "12_t0", "12_t3"]
    before, after = samples[0].truth, samples[1].truth
    disparity = before["layered_disparity"]
    assert np.unique(disparity[0][np.isfinite(disparity[0])]).tolist() == [4.0, 5.0]
    assert np.isfinite(disparity[0]).sum() == 7  # one pair is 3 px apart in rows
    assert np.unique(after["layered_disparity"][0]).tolist()[:2] == [4.0, 6.25]
    residual = before["row_residual_px"]
    assert np.unique(residual[np.isfinite(residual)]).tolist() == [0.125]
    depth = before["layered_depth"]
    np.testing.assert_allclose(np.unique(depth[1][np.isfinite(depth[1])]), 400 * 0.1 / 10)
    small = samples[0].inputs["rig"]
    assert small.cameras["left"].focal_px == (100.0, 100.0)
    assert small.cameras["left"].centre_px == (11.5, 7.5)
    loose = DATASETS["layeredflow"].samples(tags, "val", pairs="stereo", most_row_offset_px=4)
    assert np.isfinite(next(loose).truth["layered_disparity"][0]).sum() == 8


def test_motion_of_tags_in_space(tags):
    (sample, _) = DATASETS["layeredflow"].samples(tags, "val", pairs="scene_flow")
    motion = sample.truth["layered_scene_flow"]
    # The wall stays at 4 m and moves by (4, 4) px: 4 / 400 * 4 m along x and y.
    known = np.isfinite(motion[1]).all(axis=2)
    np.testing.assert_allclose(motion[1][known], [[0.04, 0.04, 0]] * known.sum(), atol=1e-6)
    # The glass comes from 2 m to 1.6 m.
    assert np.nanmin(motion[0][..., 2]) == pytest.approx(-0.4)


def test_without_cameras_there_is_no_depth(tags, tmp_path):
    shutil.copytree(tags, tmp_path / "data")
    (tmp_path / "data/calib/3.json").write_text("{}")
    (tmp_path / "data/calib/12.json").unlink()
    samples = list(DATASETS["layeredflow"].samples(tmp_path / "data", "val", pairs="stereo"))
    assert "layered_depth" not in samples[2].truth
    write_map(tmp_path / "x.npy", np.ones((16, 24), np.float32))
    for sample in samples:
        (tmp_path / "estimates").mkdir(exist_ok=True)
        write_map(tmp_path / f"estimates/{sample.id}.npy", np.ones((16, 24), np.float32))
    with pytest.raises(dg.errors.DepthgaugeError, match=r"no usable cameras|no sample"):
        dg.evaluate("layeredflow-depth", tmp_path / "data", tmp_path / "estimates")


# --- scores of tags -------------------------------------------------------------------------------


def estimates(root, samples, value, suffix="npy"):
    root.mkdir()
    for sample in samples:
        write_map(root / f"{sample}.{suffix}", value)
    return root


FLOW_IDS, STEREO_IDS = ("3_0", "3_1", "12_0", "12_1"), ("3_t0", "3_t3", "12_t0", "12_t3")


def test_first_and_last_layer(tags, tmp_path):
    """An estimate that knows the wall only: (1, 1) px everywhere."""
    folder = estimates(tmp_path / "e", FLOW_IDS, np.ones((16, 24, 2), np.float32))
    first = dg.evaluate("layeredflow-first", tags, folder).summary
    # Glass moves by (2, 0) in the left camera, off by sqrt(2), and by (0.75, 0) in the right one;
    # metal by (-1, 0) in both, off by sqrt(5).
    glass = (math.sqrt(2) + math.hypot(0.25, 1)) / 2
    assert first["epe@transparent"].value == pytest.approx(glass)
    assert first["epe@reflective"].value == pytest.approx(math.sqrt(5))
    assert first["npx:1@all"].value == 100
    assert first["npx:3@all"].value == 0
    assert math.isnan(first["epe@diffuse"].value)
    last = dg.evaluate("layeredflow-last", tags, folder).summary
    assert last["epe@behind_transparent"].value == 0
    assert last["epe@diffuse"].value == 0
    assert last["epe@reflective"].value == pytest.approx(math.sqrt(5))
    assert last["epe@all"].value == pytest.approx(math.sqrt(5) / 2)


def test_all_layers(tags, tmp_path):
    stack = np.full((2, 2, 16, 24), NAN, np.float32)
    stack[0, 0], stack[0, 1] = 2, 0  # all of it glass
    stack[1] = 1  # with the wall behind it
    np.savez(tmp_path / "results.npz", **dict.fromkeys(FLOW_IDS, stack))
    found = {
        k: v.value for k, v in dg.evaluate("layeredflow-multi", tags, tmp_path).summary.items()
    }
    # Glass and wall are right in the left camera; in the right one, glass is off by 1.25 px. The
    # metal has too many layers, and is off by 3 px.
    assert found["count_bad:inf,1@all"] == 50
    assert found["count_bad:1,1@all"] == 75
    assert found["count_bad:1,2@all"] == 0
    assert found["multi_bad:1@all"] == 50
    assert found["multi_bad:3@all"] == 0
    assert found["multi_bad:1,reflective@all"] == 100
    assert found["multi_bad:1,transparent@all"] == 50
    assert found["multi_bad:1,diffuse@all"] == 0
    assert found["layered_flow:2/epe@all"] == 0
    result = dg.evaluate("layeredflow-multi", tags, tmp_path)
    points = {
        (layer, kind): sum(
            s[f"multi_bad:1,{layer},{kind}@all"].count for s in result.samples.values()
        )
        for layer in (1, 2)
        for kind in ("transparent", "reflective", "diffuse")
    }
    assert points == {
        (1, "transparent"): 16,
        (1, "reflective"): 16,
        (1, "diffuse"): 0,
        (2, "transparent"): 0,
        (2, "reflective"): 0,
        (2, "diffuse"): 16,
    }


def test_one_flow_counts_as_one_layer_or_as_all(tags, tmp_path):
    folder = estimates(tmp_path / "e", FLOW_IDS, np.ones((16, 24, 2), np.float32), "flo")
    multi = dg.evaluate("layeredflow-multi", tags, folder).summary
    assert multi["count_bad:1,2@all"].value == multi["multi_bad:1,diffuse@all"].value == 100
    assert multi["count_bad:inf,1@all"].value == 0
    every = dg.evaluate("layeredflow-multi-single", tags, folder).summary
    assert every["multi_bad:1,diffuse@all"].value == 0
    assert every["multi_bad:1,transparent@all"].value == 100
    assert "count_bad:1@all" not in every


def test_rows_are_an_estimate(tags, tmp_path):
    """Rows of u, v, layer, du, dv in a text file, at the points only."""
    for sample in DATASETS["layeredflow"].samples(tags, "val"):
        flow = sample.truth["layered_flow"]
        rows = ["u,v,layer,du,dv"]
        for layer, row, column in np.argwhere(np.isfinite(flow[..., 0])):
            if layer:  # nothing behind without something in front
                rows.append(f"{column},{row},1,0,0")
            du, dv = flow[layer, row, column]
            rows.append(f"{column},{row},{layer + 1},{du},{dv}")
        (tmp_path / f"{sample.id}.csv").write_text("\n".join(rows))
    found = dg.evaluate("layeredflow-multi", tags, tmp_path).summary
    assert found["count_bad:1@all"].value == 0
    assert found["layered_flow:2/npx:1@all"].value == 0
    (tmp_path / "3_0.csv").write_text("1,2,3")
    failed = dg.evaluate("layeredflow-multi", tags, tmp_path).failed
    assert list(failed) == ["3_0"]
    assert "row 1: expected 5 numbers" in failed["3_0"]


def test_stereo_shows_how_well_the_truth_is_rectified(tags, tmp_path):
    folder = estimates(tmp_path / "e", STEREO_IDS, np.full((16, 24), 5, np.float32), "pfm")
    found = dg.evaluate("layeredflow-stereo", tags, folder).summary
    assert found["row_residual@all"].value == pytest.approx(0.125)
    assert found["mae@reflective"].value == pytest.approx(1)
    assert found["mae@transparent"].value == pytest.approx(1.25 / 2)
    half = estimates(tmp_path / "h", STEREO_IDS, np.full((8, 12), 2.5, np.float32), "pfm")
    eighth = dg.evaluate("layeredflow-stereo-eighth", tags, half).summary
    assert eighth["row_residual@all"].value == pytest.approx(0.0625)
    assert eighth["mae@reflective"].value == pytest.approx(0.5)


def test_depth_and_scene_flow(tags, tmp_path):
    folder = estimates(tmp_path / "e", STEREO_IDS, np.full((16, 24), 2.5, np.float32))
    found = dg.evaluate("layeredflow-depth", tags, folder).summary
    # Metal is at 40 / 16 = 2.5 m.
    assert found["multi_bad:0.05,reflective@all"].value == 0
    assert found["multi_bad:0.5,diffuse@all"].value == 100  # no second layer
    stack = np.zeros((2, 16, 24, 3), np.float32)
    for sample in ("3", "12"):
        (tmp_path / "s").mkdir(exist_ok=True)
        np.save(tmp_path / f"s/{sample}.npy", stack)
    still = dg.evaluate("layeredflow-scene-flow", tags, tmp_path / "s").summary
    assert still["layered_scene_flow:2/epe@all"].value == pytest.approx(math.hypot(0.04, 0.04))


def test_ours_beside_the_public_scripts(tmp_path):
    """On points whose errors avoid the thresholds, and of which no two share a pixel."""
    subprocess.run([sys.executable, GOLDEN / "make_inputs.py", tmp_path], check=True)
    ours = find_benchmark("layeredflow-first")
    same = {"pairs": "flow", "reduce": 4, "pixel": "truncated"}
    ours = ours.model_copy(update={"dataset_options": same, "pool": "image"})
    mine = dg.evaluate(ours, tmp_path / "layeredflow", tmp_path / "first").samples
    theirs = dg.evaluate(
        "layeredflow-first-toolkit", tmp_path / "layeredflow", tmp_path / "first"
    ).samples
    compared = 0
    for sample, scores in theirs.items():
        for subset in ("all", "transparent", "reflective", "diffuse"):
            wanted, found = scores[f"bad:3@{subset}"], mine[sample][f"npx:3@{subset}"]
            assert found.count <= wanted.count
            if found.count == wanted.count and not sample.startswith("171"):
                compared += 1
                assert found.value == pytest.approx(wanted.value, nan_ok=True)
    assert compared >= 10


# --- dense layers ---------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def dense(tmp_path_factory) -> Path:
    """Two scenes: a pane (left half) in front of a wall, both moving; refraction grows down."""
    root = tmp_path_factory.mktemp("dense") / "layers"
    rng = np.random.default_rng(8)
    height, width = 48, 64
    for number in range(2):
        noise = rng.integers(0, 256, (height + 8, width + 8, 3), np.uint8)
        left = noise[4:-4, 4:-4]
        images = {"left": left, "right": noise[4:-4, 7:-1], "left_next": noise[4:-4, 2:-6]}
        images["right_next"] = images["right"]
        flow = np.full((4, height, width, 2), NAN, np.float32)
        glass = np.arange(width) < width // 2
        flow[0], flow[0, :, glass] = (2, 0), (5, 0)
        flow[1, :, glass] = 2, 0
        kinds = np.full((4, height, width), 255, np.uint8)
        kinds[0], kinds[0, :, glass] = 0, 1
        kinds[1, :, glass] = 0
        disparity = np.where(np.isfinite(flow[..., 0]), 3.0, NAN)
        disparity[0, :, glass] = 9
        bent = np.full((4, height, width), NAN, np.float32)
        bent[0] = 0
        bent[1, :, glass] = np.linspace(0, 20, height)[None]
        truth = {
            "layered_flow": flow,
            "layered_disparity": disparity,
            "layered_depth": 30 / disparity,
            "layer_material": kinds,
            "layer_count": np.where(glass, 2, 1) * np.ones((height, 1), int),
            "refraction_px": bent,
        }
        camera = Camera((100.0, 100.0), (31.5, 23.5), (width, height))
        rig = Rig({"left": camera, "right": camera}, baseline_m=0.3)
        write_sample(root, f"room{number}", images, truth, rig=rig, disparity_range=(0, 16))
    return root


def test_methods_of_one_layer_run_on_layers(dense, tmp_path):
    run = dg.run("layers-flow", dense, ["dis", "constant"], tmp_path / "run", workers=0)
    found = {e.label: run.results[e.label, 0].summary for e in run.entrants}
    # The images show the wall's motion everywhere, so what is behind glass is layer 1 of DIS.
    assert found["dis"]["count_bad:1,2@all"].value == 100
    assert found["dis"]["layered_flow:1/npx:3@all"].value > 40
    every = dg.run("layers-flow-single", dense, ["dis"], tmp_path / "single", workers=0)
    summary = every.results["dis", 0].summary
    assert summary["multi_bad:1,diffuse@all"].value < 20
    assert summary["multi_bad:1,transparent@all"].value > 80


def test_strata_of_dense_layers(dense, tmp_path):
    for room in ("room0", "room1"):
        (tmp_path / room).mkdir()
        stack = np.zeros((2, 48, 64, 2), np.float32)
        stack[..., 0] = 2
        stack[1, :, 32:] = NAN
        stack[1, 24:, :32, 0] = 9  # wrong where refraction is strong
        np.save(tmp_path / room / "layered_flow.npy", stack)
    found = {k: v.value for k, v in dg.evaluate("layers-flow", dense, tmp_path).summary.items()}
    assert found["npx:3@in_front_1"] == 0
    assert found["npx:3@in_front_2"] == 50
    assert found["npx:3@bent_1"] == found["npx:3@bent_2"] == found["npx:3@bent_3"] == 0
    assert found["npx:3@bent_5"] == 100
    assert math.isnan(found["npx:3@in_front_3"])
    assert found["layer_count@all"] == 100
    assert found["npx:3@plain_1"] == 50  # noise has much contrast


def test_perfect_layers_score_perfectly(dense, tmp_path):
    for quantity in ("flow", "disparity", "depth"):
        for sample in DATASETS["layered"].samples(dense):
            folder = tmp_path / quantity / sample.id
            folder.mkdir(parents=True)
            np.save(folder / f"layered_{quantity}.npy", sample.truth[f"layered_{quantity}"])
            np.save(folder / f"{quantity}.npy", sample.truth[quantity])
        result = dg.evaluate(f"layers-{quantity}", dense, tmp_path / quantity)
        assert result.failed == {}
        for name, score in result.summary.items():
            if score.used:
                best = 100 if name.startswith(("layer_count", "layered_depth:")) else 0
                assert score.value in (pytest.approx(best, abs=1e-4), pytest.approx(0, abs=1e-4))
        first = dg.evaluate(f"layers-{quantity}-first", dense, tmp_path / quantity).summary
        assert next(iter(first.values())).value == pytest.approx(0, abs=1e-6)


# --- bad input ------------------------------------------------------------------------------------


def test_a_wrong_stack_costs_its_sample_only(dense, tmp_path):
    good = np.full((2, 48, 64, 2), 2, np.float32)
    gap = good.copy()
    gap[0, 5, 7] = NAN
    for stack, words in (
        (gap, "have layer 2 but no layer 1"),
        (good[..., :1], "expected an array"),
    ):
        for room, values in (("room0", stack), ("room1", good)):
            (tmp_path / room).mkdir(exist_ok=True)
            np.save(tmp_path / room / "layered_flow.npy", values)
        result = dg.evaluate("layers-flow", dense, tmp_path)
        assert list(result.failed) == ["room0"]
        assert words in result.failed["room0"]
        assert result.samples["room1"]["multi_bad:1@all"].count > 0
        findings = check_estimates("layers-flow", dense, tmp_path)
        assert [f.sample for f in findings if f.serious] == ["room0"]
        assert words in findings[0].problem


def test_a_hostile_pickle_costs_its_scene_and_is_named(tags, tmp_path):
    data = tmp_path / "data"
    shutil.copytree(tags, data)
    (data / "val/3/gt.pickle").write_bytes(b"cos\nsystem\n(S'touch harm'\ntR.")
    command = ["run", "layeredflow-first", "-m", "constant", "--data", str(data)]
    command += ["--out", str(tmp_path / "run"), "--workers", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "depthgauge", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (
        "left out, because the data lacks what they need: 3_0: has no usable truth" in done.stderr
    )
    assert "os.system" in done.stderr
    assert "2 samples" in done.stdout
    assert not (tmp_path / "harm").exists()


def test_an_unknown_option_of_a_dataset_is_refused():
    protocol = find_benchmark("layeredflow-first")
    with pytest.raises(BadProtocol, match=r"dataset_options\.reduse: is no option of layeredflow"):
        protocol.model_copy(update={"dataset_options": {"reduse": 4}})
    assert BENCHMARKS["layeredflow-first"].hash != BENCHMARKS["layeredflow-first-eighth"].hash


def test_results_are_strict_json(tags, tmp_path):
    folder = estimates(tmp_path / "e", FLOW_IDS, np.ones((16, 24, 2), np.float32), "flo")
    body = dg.evaluate("layeredflow-multi", tags, folder).to_json()
    text = json.dumps(body, allow_nan=False)
    assert '"tau": "inf"' in text
