"""Datasets become packs: crops with their motion, split by scene, in small files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from depthgauge import io
from depthgauge.engine.training import PackRules, pack
from depthgauge.engine.training.packing import held_out_scenes
from depthgauge.errors import BadData, Misuse
from depthgauge.methods.nets._packs import (
    LARGEST_FILE,
    MISSING,
    read_index,
    read_packs,
    stored_motion,
    write_packs,
)

SIZE = (64, 96)


@pytest.fixture
def folder(tmp_path):
    """Four stereo pairs of which every pixel says where it is: red is its column."""
    root = tmp_path / "data"
    columns = np.broadcast_to(np.arange(120, dtype=np.uint8), (80, 120))
    for number, name in enumerate("abcd"):
        picture = np.stack(
            [columns, np.full_like(columns, number), columns.T[:80, :80].repeat(2, 1)[:, :120]], -1
        )
        for side in ("left", "right"):
            (root / side).mkdir(parents=True, exist_ok=True)
            io.write_image(root / side / f"{name}.png", picture)
        (root / "truth").mkdir(exist_ok=True)
        truth = columns.astype(np.float32) / 7
        truth[:3] = np.nan
        io.write_map(root / "truth" / f"{name}.pfm", truth)
    (root / "depthgauge.toml").write_text('quantity = "disparity"\n')
    return root


def test_crops_and_their_truth_are_from_the_same_place(folder, tmp_path):
    index = pack("folder", folder, "stereo", tmp_path / "packs", PackRules(SIZE, crops=3))
    assert index["pairs"] == {"train": 9, "held": 3}
    first, second, motion = read_packs(tmp_path / "packs", "stereo")
    assert first.shape == (9, *SIZE, 3)
    assert motion.shape == (9, 1, 1, *SIZE)
    assert np.array_equal(first, second)
    known = motion[:, 0, 0] != MISSING
    expected = first[..., 0] / 7
    assert np.abs(motion[:, 0, 0] / 64 - expected)[known].max() <= 0.5 / 64 + 1e-6
    assert known.mean() > 0.9


def test_scenes_are_held_out_as_a_whole(folder, tmp_path):
    index = pack("folder", folder, "stereo", tmp_path / "packs", PackRules(SIZE, crops=2))
    train, held = (set(index["scenes"][part]) for part in ("train", "held"))
    assert train | held == set("abcd")
    assert not train & held
    marks = [
        set(np.unique(read_packs(tmp_path / "packs", "stereo", held_out=h)[0][..., 1]))
        for h in (False, True)
    ]
    assert not marks[0] & marks[1]


@given(st.sets(st.text(min_size=1, max_size=4), max_size=12), st.floats(0, 0.99))
def test_some_scenes_are_held_out_but_never_all(scenes, share):
    held = held_out_scenes(scenes, share)
    assert held <= scenes
    assert not scenes or len(held) < len(scenes)
    assert bool(held) == (share > 0 and len(scenes) > 1)


def test_pictures_smaller_than_a_crop_are_extended_and_have_no_truth_there(folder, tmp_path):
    pack("folder", folder, "stereo", tmp_path / "packs", PackRules((96, 128), crops=1))
    first, _, motion = read_packs(tmp_path / "packs", "stereo")
    assert (motion[:, 0, 0, 80:] == MISSING).all()
    assert (motion[:, 0, 0, :, 120:] == MISSING).all()
    assert np.array_equal(first[:, 80:], np.repeat(first[:, 79:80], 16, axis=1))


def test_a_limit_costs_crops_then_samples(folder, tmp_path):
    pair = 8 * SIZE[0] * SIZE[1] / 2**20
    rules = PackRules(SIZE, crops=5, most_mib=3.5 * pair, held_out=0)
    index = pack("folder", folder, "stereo", tmp_path / "packs", rules)
    assert index["pairs"]["train"] == 3
    assert index["left_out"] == ["d"]


def test_samples_that_do_not_fit_are_left_out_evenly(folder, tmp_path):
    pair = 8 * SIZE[0] * SIZE[1] / 2**20
    rules = PackRules(SIZE, most_mib=2.5 * pair, held_out=0)
    index = pack("folder", folder, "stereo", tmp_path / "packs", rules)
    assert index["scenes"]["train"] == ["a", "c"]
    assert index["left_out"] == ["b", "d"]


def test_crops_with_larger_motion_are_not_packed(folder, tmp_path):
    """A crop of 96 columns that starts at column s has disparities up to (s + 95) / 7 px."""
    rules = PackRules(SIZE, crops=20, held_out=0, largest_px=15.0)
    index = pack("folder", folder, "stereo", tmp_path / "packs", rules)
    _, _, motion = read_packs(tmp_path / "packs", "stereo")
    assert 0 < index["pairs"]["train"] == len(motion) < 80
    assert motion.max() / 64 <= 15
    with pytest.raises(BadData, match="motion that is too large"):
        pack("folder", folder, "stereo", tmp_path / "none", PackRules(SIZE, largest_px=5.0))


def test_files_stay_below_their_limit(tmp_path):
    pairs = np.zeros((40, 256, 448, 3), np.uint8)
    parts = {"train": (pairs, pairs, np.zeros((40, 1, 1, 256, 448), np.int16))}
    index = write_packs(
        tmp_path, "stereo", {**parts, "held": tuple(p[:0] for p in parts["train"])}, {}
    )
    files = index["files"]["train"]
    assert len(files) > 1
    assert all((tmp_path / name).stat().st_size < LARGEST_FILE + 4096 for name in files)
    assert len(read_packs(tmp_path, "stereo")[0]) == 40
    with pytest.raises(ValueError, match="has no held-out pairs"):
        read_packs(tmp_path, "stereo", held_out=True)
    with pytest.raises(ValueError, match="has pairs for stereo, not for flow"):
        read_packs(tmp_path, "flow")


@given(arrays.arrays(np.float32, (3, 4), elements=st.floats(-600, 600, width=32)))
def test_stored_motion_is_within_half_a_step(motion):
    stored = stored_motion(motion)
    kept = stored != MISSING
    assert np.array_equal(kept, np.abs(np.rint(motion.astype(float) * 64)) < 2**15)
    assert np.abs(stored / 64 - motion)[kept].max(initial=0) <= 0.5 / 64


def test_nan_is_missing():
    assert (stored_motion(np.array([np.nan, np.inf, -np.inf])) == MISSING).all()


def test_what_cannot_be_packed_is_said(folder, tmp_path):
    with pytest.raises(BadData, match="no sample of 'folder' has first_image and second_image"):
        pack("folder", folder, "flow", tmp_path / "packs", PackRules(SIZE))
    with pytest.raises(Misuse, match="multiples of 32"):
        pack("folder", folder, "stereo", tmp_path / "packs", PackRules((60, 96)))
    with pytest.raises(ValueError, match=r"has no packs\.json"):
        read_index(tmp_path)


def test_an_index_of_another_version_is_refused(tmp_path):
    (tmp_path / "packs.json").write_text(json.dumps({"schema": 9}))
    with pytest.raises(ValueError, match="schema 9, not 1"):
        read_index(tmp_path)


def test_layers_repeat_the_last_one(tmp_path):
    from depthgauge.engine.training.packing import _repeated

    layers = np.full((2, 1, 2, 2), np.nan, np.float32)
    layers[0, 0, :, 0] = 1
    layers[1, 0, 1, 0] = 5
    layers[..., 1] = layers[..., 0]
    assert _repeated(layers)[:, 0, :, 0].tolist() == [[1, 1], [1, 5], [1, 5], [1, 5]]
