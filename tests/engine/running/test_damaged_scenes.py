"""Damage of one scene costs that scene, in `run` and in `score`; others go on, all are counted."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests import rig_scenes

from depthgauge import io
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.cli._runs import finish_run
from depthgauge.datasets import stereogenbench as sgb
from depthgauge.engine.running.run import run
from depthgauge.engine.scoring.evaluate import evaluate
from depthgauge.errors import RunWarning

pytest.importorskip("av", reason="videos need PyAV: pip install 'depthgauge[video]'")
SIZE, LENGTH = (32, 24), 3
TIERS = {"G0": ["left_image", "rig", "disparity", "depth"], "G2": ["left_image"]}
PROTOCOL = make_protocol(
    {
        "id": "views",
        "version": 1,
        "dataset": "stereogenbench",
        "split": "eval",
        "quantity": "view",
        "pool": "image",
        "tiers": TIERS,
        "scores": [{"metric": "mae"}],
    },
    "test",
)
FOLDER = "eval/MapSeenInTrain/IPD_Gaussian/Room"
BROKEN = "scene_000000"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    root = tmp_path_factory.mktemp("rig")
    for index in range(2):
        known = {"split": "eval", "eval_subset": "MapSeenInTrain"}
        made = rig_scenes.record(f"scene_{index:06d}", size=SIZE, frames=LENGTH, **known)
        sgb.write_scene(root, made, rig_scenes.flat_views(SIZE, LENGTH), scale_m=0.0002)
    return root


@pytest.fixture
def root(written, tmp_path):
    return Path(shutil.copytree(written, tmp_path / "data"))


def forget_sizes(scene):
    """Without the sizes of files, damage shows only when a frame is read."""
    marker = scene / "_scene_complete.json"
    body = json.loads(marker.read_text())
    body.pop("files", None)
    marker.write_text(json.dumps(body))


def truncate(scene):
    path = scene / "cam_00_rgb.mp4"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def shorten(scene):
    with io.VideoWriter(scene / "cam_00_rgb.mp4", SIZE) as video:
        video.add(np.zeros((SIZE[1], SIZE[0], 3), np.uint8))


def resize(scene):
    with io.VideoWriter(scene / "cam_01_rgb.mp4", (16, 16)) as video:
        for _ in range(LENGTH):
            video.add(np.zeros((16, 16, 3), np.uint8))


def no_depth(scene):
    with io.DepthWriter(scene / "cam_00_depth.mkv", SIZE, fps=15, scale_m=0.001) as video:
        for _ in range(LENGTH):
            video.add(np.full((SIZE[1], SIZE[0]), np.nan, np.float32))


def no_camera(scene):
    (scene / "cam_03_rgb.mp4").unlink()


DAMAGE = {
    truncate: ("cam_00_rgb.mp4", "cam_00_rgb"),
    shorten: ("cam_00_rgb.mp4", "has 1 frames"),
    resize: ("cam_01_rgb.mp4", "is 16x16"),
    no_depth: ("cam_00_depth.mkv", "no depth at all"),
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda d: d.__name__)
def test_damage_that_shows_in_a_frame_costs_its_scene(root, tmp_path, damage, capsys):
    scene = root / FOLDER / BROKEN
    damage(scene)
    forget_sizes(scene)
    done = run(PROTOCOL, root, ["warp_inpaint", "copy_left"], tmp_path / "run", workers=0)
    assert done.samples == (f"{FOLDER}/scene_000001/00-01",)
    for label in ("warp_inpaint", "copy_left"):  # one that reads no depth is scored on no more
        result = done.results[label, 0]
        assert list(result.samples) == list(done.samples)
        assert not result.failed
        (text,) = result.left_out
        assert BROKEN in text
        assert all(words in text for words in DAMAGE[damage])
    finish_run(done, tmp_path / "run")
    said = " ".join(capsys.readouterr().err.split())
    assert "left out" in said
    assert BROKEN in said


def test_a_repaired_scene_is_scored_by_the_same_command(root, written, tmp_path):
    scene = root / FOLDER / BROKEN
    shorten(scene)
    forget_sizes(scene)
    out = tmp_path / "run"
    assert len(run(PROTOCOL, root, ["copy_left"], out, workers=0).samples) == 1
    shutil.copytree(written / FOLDER / BROKEN, scene, dirs_exist_ok=True)
    again = run(PROTOCOL, root, ["copy_left"], out, workers=0, retry_failed=True)
    assert len(again.samples) == 2
    assert not again.results["copy_left", 0].left_out


def test_damage_costs_its_scene_in_a_folder_of_views(root, tmp_path):
    estimates = tmp_path / "views"
    for index in range(2):
        for frame in range(LENGTH):
            place = estimates / FOLDER / f"scene_{index:06d}/00-01" / f"{frame:06d}"
            place.mkdir(parents=True)
            io.write_image(place / "view.png", np.full((SIZE[1], SIZE[0], 3), 90, np.uint8))
    resize(root / FOLDER / BROKEN)
    forget_sizes(root / FOLDER / BROKEN)
    found = evaluate(PROTOCOL, root, estimates)
    assert list(found.samples) == [f"{FOLDER}/scene_000001/00-01"]
    assert "is 16x16" in found.left_out[0]


def test_a_missing_camera_and_unknown_fields(root, tmp_path):
    no_camera(root / FOLDER / BROKEN)
    path = root / FOLDER / "scene_000001/baseline.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "weather": "sunny"}))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        done = run(PROTOCOL, root, ["copy_left"], tmp_path / "run", workers=0)
    assert any("lacks cam_03_rgb.mp4" in str(w.message) for w in said if w.category is RunWarning)
    assert len(done.samples) == 1
    assert done.info["left_out"] == [f"{FOLDER}/{BROKEN}"]


# --- shorter outputs ------------------------------------------------------------------------------

SHORT = """
from depthgauge.methods import MethodSpec
SPEC = MethodSpec("short", "x", ("view",), ("left_image",), most_frames=2)
def estimate(inputs, options):
    return inputs["left_image"]
"""


def test_a_declared_shorter_output_is_scored_on_its_frames(written, tmp_path):
    (tmp_path / "short.py").write_text(SHORT)
    methods = [tmp_path / "short.py", "copy_left"]
    done = run(PROTOCOL, written, methods, tmp_path / "run", workers=0)
    pixels = SIZE[0] * SIZE[1]
    for sample in done.samples:
        score = done.results["short", 0].samples[sample]["mae@all"]
        assert (score.count, score.missing) == (2 * pixels, 0)
        whole = done.results["copy_left", 0].samples[sample]["mae@all"]
        assert (whole.count, whole.missing) == (3 * pixels, 0)
    from depthgauge.analysis.strata import stratum_rows

    rows = {row.label: row for row in stratum_rows(done, {"all": done.samples})}
    assert (rows["short"].frames, rows["copy_left"].frames) == (4, 6)
