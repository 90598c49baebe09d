"""Training from packs, stages of the plan, and fine-tuning on a dataset; tiny, on a CPU."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from depthgauge import io
from depthgauge.methods.nets._packs import stored_motion, write_packs
from depthgauge.methods.nets._stages import STAGES, STEREO_SEEDS

REPOSITORY = Path(__file__).resolve().parents[3]
SIZE = (32, 64)
TINY = ("--batch", "1", "--size", "32", "64", "--pool", "1", "--textures", "1", "--steps", "2")


def test_the_plan_can_be_trained_in_its_order():
    seen = set()
    for stage in STAGES.values():
        assert not stage.start or stage.start in seen
        seen.add(stage.name)
    stereo = [s for s in STAGES.values() if s.task == "stereo" and s.data == "S"]
    assert tuple(s.seed for s in stereo) == STEREO_SEEDS
    assert {s.data for s in STAGES.values() if s.task == "layers"} == {"S", "L", "S+L"}


def test_a_stage_says_what_it_lacks(tmp_path):
    with pytest.raises(ValueError, match="learns from packs"):
        STAGES["layers-sl-0"].settings(tmp_path, None)
    with pytest.raises(ValueError, match="train flow-s-0 first"):
        STAGES["flow-small-0"].settings(tmp_path, None)


def test_a_stage_knows_how_far_it_is(tmp_path):
    stage = STAGES["flow-s-0"]
    assert stage.done(tmp_path) == 0
    (tmp_path / stage.name).mkdir()
    (tmp_path / stage.name / "checkpoint.json").write_text('{"step": 12}')
    assert stage.done(tmp_path) == 12


def packs(folder, kind="stereo", held=True):
    """Pairs of noise, shifted by 3 px."""
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 255, (4, SIZE[0], SIZE[1] + 3, 3), dtype=np.uint8)
    left, right = wide[:, :, :-3], wide[:, :, 3:]
    shape = {"stereo": (1, 1), "flow": (1, 2), "layers": (4, 2)}[kind]
    motion = np.zeros((4, *shape, *SIZE), np.float32)
    motion[:, :, 0] = 3 if kind == "stereo" else -3
    pairs = left, right, stored_motion(motion)
    parts = {"train": pairs, "held": tuple(p[: 2 * held] for p in pairs)}
    write_packs(folder, kind, parts, {"size": list(SIZE)})
    return folder


@pytest.mark.nets
@pytest.mark.parametrize("kind", ["stereo", "flow", "layers"])
def test_packed_pairs_come_back_as_they_were(tmp_path, kind):
    torch = pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    from depthgauge.methods.nets._torch.data.draw import Draw
    from depthgauge.methods.nets._torch.data.packed import PackedPairs

    found = PackedPairs(packs(tmp_path, kind), kind, "cpu")
    pairs = found.in_order(0, 5, SIZE)
    assert torch.equal(pairs.first[0], pairs.first[4])  # after the last, the first again
    wanted = 3 if kind == "stereo" else -3
    assert (pairs.motion[:, :, 0] == wanted).all()
    assert torch.equal(pairs.first[..., 3:], pairs.second[..., :-3])
    drawn = found.batch(Draw(1), 3, (32, 32))
    assert drawn.first.shape == (3, 3, 32, 32)
    assert (drawn.motion[:, :, 0].abs() == 3).all()


@pytest.mark.nets
def test_training_from_packs_is_judged_on_what_is_held_out(tmp_path):
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    from depthgauge.methods.nets._torch.training.loop import Plan, train

    given = {"batch": 2, "size": SIZE, "pool": 1, "textures": 1, "texture_px": 32}
    seen = []
    plan = Plan(
        "stereo",
        tmp_path / "out",
        steps=2,
        log_every=1,
        validation=1,
        packs=packs(tmp_path / "packs"),
        packed_share=0.5,
        **given,
    )
    state = train(plan, lambda: seen.append(1))
    assert state["step"] == 2
    assert len(seen) == 3
    with np.load(tmp_path / "out" / "samples.npz") as samples:
        assert (samples["truth"] == 3).all()
        assert samples["estimate"].shape == (2, *SIZE, 1)


@pytest.mark.nets
def test_stored_weights_lie_between_the_old_and_the_trained_ones(tmp_path):
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    from depthgauge.methods.nets._networks import WEIGHTS
    from depthgauge.methods.nets._tensors import read_tensors
    from depthgauge.methods.nets._torch.training.loop import Plan, train

    old = WEIGHTS / "stereo.safetensors"
    given = {"batch": 1, "size": SIZE, "pool": 1, "textures": 1, "texture_px": 32}
    plan = Plan("stereo", tmp_path, steps=2, validation=1, start=old, rate=0.05, **given)

    def stored(learned):
        train(replace(plan, learned=learned))
        return read_tensors(tmp_path / "stereo.safetensors")[0]

    # The checkpoint keeps the trained weights: each call stores another blend of the same training.
    trained, between, same = stored(1.0), stored(0.25), stored(0.0)
    for name, start in read_tensors(old)[0].items():
        assert (same[name] == start).all()
        expected = 0.75 * start.astype(np.float32) + 0.25 * trained[name].astype(np.float32)
        assert np.allclose(between[name], expected, rtol=2e-3, atol=1e-4)
    assert any((trained[name] != same[name]).any() for name in same)


def test_weights_are_averaged_and_those_of_other_networks_refused(tmp_path):
    from depthgauge.methods.nets._networks import WEIGHTS
    from depthgauge.methods.nets._tensors import average, read_tensors, write_tensors

    one = WEIGHTS / "stereo.safetensors"
    moved = {name: values + np.float16(0.5) for name, values in read_tensors(one)[0].items()}
    write_tensors(tmp_path / "moved", moved)
    average([one, tmp_path / "moved"], tmp_path / "mean")
    for name, values in read_tensors(one)[0].items():
        found = read_tensors(tmp_path / "mean")[0][name].astype(np.float32)
        assert np.allclose(found, values.astype(np.float32) + 0.25, atol=4e-3)
    with pytest.raises(ValueError, match="another network"):
        average([one, WEIGHTS / "flow.safetensors"], tmp_path / "mean")


@pytest.mark.nets
def test_packs_have_the_size_of_training(tmp_path):
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    from depthgauge.methods.nets._packs import SIZES
    from depthgauge.methods.nets._torch.training.loop import Plan, _packed
    from depthgauge.methods.nets._torch.training.tasks import TASKS

    assert {name: task.size for name, task in TASKS.items()} == SIZES
    with pytest.raises(ValueError, match="has pairs of"):
        _packed(Plan("stereo", tmp_path, packs=packs(tmp_path / "packs")))


@pytest.mark.nets
def test_packed_steps_are_spread_evenly(tmp_path):
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    from depthgauge.methods.nets._torch.training.loop import Plan, _Supply, _task

    plan = Plan("stereo", tmp_path, packs=packs(tmp_path / "packs"), packed_share=0.25, size=SIZE)
    supply = _Supply(plan, _task(plan))
    assert sum(supply._learns_packed(step) for step in range(100)) == 25


@pytest.mark.nets
def test_stages_train_one_after_the_other_where_only_torch_is(tmp_path):
    """As on a GPU machine: the tool, without the rest of the package; then the page here."""
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    from depthgauge.report.training_page import write_progress

    packs(tmp_path / "packs" / "flow", "flow")
    for name, more in (
        ("flow-s-0", ()),
        ("flow-sl-0", ("--packs", tmp_path / "packs")),
    ):
        call = [sys.executable, REPOSITORY / "tools" / "train_networks.py", name, "--out", tmp_path]
        ran = subprocess.run(
            [*map(str, call), *TINY, *map(str, more)], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["step"] == 2
        assert STAGES[name].done(tmp_path) == 2
    assert write_progress(tmp_path / "flow-sl-0").is_file()


@pytest.fixture
def dataset(tmp_path):
    """Two scenes in a plain folder: noise at 2 and 4 px."""
    rng = np.random.default_rng(1)
    for name, shift in (("one", 2), ("two", 4)):
        wide = rng.integers(0, 255, (40, 100, 3), dtype=np.uint8)
        for side, start in (("left", 4), ("right", 4 + shift)):
            (tmp_path / "data" / side).mkdir(parents=True, exist_ok=True)
            picture = np.ascontiguousarray(wide[:, start : start + 80])
            io.write_image(tmp_path / "data" / side / f"{name}.png", picture)
        (tmp_path / "data" / "truth").mkdir(exist_ok=True)
        io.write_map(tmp_path / "data" / "truth" / f"{name}.pfm", np.full((40, 80), float(shift)))
    (tmp_path / "data" / "depthgauge.toml").write_text('quantity = "disparity"\n')
    return tmp_path / "data"


@pytest.mark.nets
def test_fine_tuning_continues_and_gives_weights_that_run(dataset, tmp_path, stereo):
    pytest.importorskip("torch", reason="needs depthgauge[nets]: make test-nets")
    from click.testing import CliRunner

    from depthgauge.cli.workshop.fine_tune_verb import command
    from depthgauge.methods import find_method

    call = ["stereo", "--dataset", "folder", "--data", str(dataset), "--out", str(tmp_path / "out")]
    call += ["--size", "32", "64", "--batch", "1", "--crops", "2", "--new-pairs", "0"]
    first = CliRunner().invoke(command, [*call, "--steps", "2", "--seconds", "0"])
    assert first.exit_code == 0, first.output
    assert ": 1 steps; on new pairs the mean error is" in first.output
    again = CliRunner().invoke(command, [*call, "--steps", "2"])
    assert ": 2 steps; on new pairs" in again.output
    index = json.loads((tmp_path / "out" / "packs" / "packs.json").read_text())
    assert sorted(index["scenes"]["train"] + index["scenes"]["held"]) == ["one", "two"]
    assert "<svg" in (tmp_path / "out" / "progress.html").read_text()
    weights = tmp_path / "out" / "stereo.safetensors"
    method = find_method(f"nets-stereo:weights={weights},updates=2")
    assert method.estimate(stereo(4.0), "disparity").values.ndim == 2
    other = CliRunner().invoke(command, [*call, "--size", "32", "32"])
    assert "choose another --out" in str(other.exception)
