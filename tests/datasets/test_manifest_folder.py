from __future__ import annotations

import json
import math
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from depthgauge import io
from depthgauge.datasets import DATASETS, truth_hash
from depthgauge.datasets._manifest_folder import verified_files
from depthgauge.datasets._manifest_folder.manifest_file import file_hash
from depthgauge.datasets.manifest_folder import manifest_hash, samples, verify, write
from depthgauge.errors import BadData, BadFile, DoesNotFit, Misuse, UnknownName
from depthgauge.types import Camera, Inputs, Rig, Sample, Truth

ABOUT = {"id": "mine", "title": "My scenes", "licence": "CC0-1.0"}


@pytest.fixture
def root(tmp_path, stereo) -> Path:
    write(tmp_path, [stereo("Meadow", 1), stereo("Bathroom/im0", 2)], **ABOUT, split="test")
    return tmp_path


def change(root: Path, how) -> None:
    content = json.loads((root / "dataset.json").read_text())
    how(content)
    (root / "dataset.json").write_text(json.dumps(content))


def with_items(inputs: dict[str, Any], truth: dict[str, Any] | None = None) -> Sample:
    return Sample("a", Inputs(inputs), None if truth is None else Truth(truth))


def again(tmp_path: Path, sample: Sample, *, trust: bool = False, **options) -> Sample:
    write(tmp_path, [sample], **ABOUT, **options)
    (found,) = samples(tmp_path, "all", trust=trust)
    return found


def test_what_is_written_can_be_read(root, stereo):
    found = list(samples(root, "test"))
    assert [s.id for s in found] == ["Bathroom/im0", "Meadow"]
    made = stereo("Meadow", 1)
    meadow = found[1]
    assert set(meadow.inputs) == set(made.inputs)
    assert set(meadow.truth) == set(made.truth)
    for name, value in made.truth.items():
        assert np.array_equal(meadow.truth[name], value, equal_nan=value.dtype.kind == "f"), name
        assert meadow.truth[name].dtype == value.dtype, name
    assert np.array_equal(meadow.inputs.left_image, made.inputs.left_image)
    assert meadow.inputs.disparity_range == (0, 16)
    assert truth_hash(meadow) == truth_hash(made)
    assert verify(root) == []


def test_cameras_come_back_exactly(root, stereo):
    made, found = stereo().inputs.rig, next(samples(root)).inputs.rig
    assert (found.baseline_m, found.principal_offset_px) == (0.25, 1.5)
    for name in ("left", "right"):
        a, b = made.cameras[name], found.cameras[name]
        assert (a.focal_px, a.centre_px, a.size_px) == (b.focal_px, b.centre_px, b.size_px)
        assert a.distortion == b.distortion
        assert np.array_equal(a.world_from_camera, b.world_from_camera)


def test_an_unknown_baseline_stays_unknown(tmp_path):
    camera = Camera((1.0, 1.0), (0.0, 0.0), (2, 2))
    found = again(tmp_path, with_items({"rig": Rig({"left": camera}), "camera": camera}))
    assert math.isnan(found.inputs.rig.baseline_m)
    assert found.inputs.camera.size_px == (2, 2)


def test_the_manifest_says_it_all(root):
    content = json.loads((root / "dataset.json").read_text())
    assert content["schema"] == 1
    assert content["quantities"] == ["disparity"]
    assert content["splits"] == {"test": ["Bathroom/im0", "Meadow"]}
    item = content["samples"]["Bathroom/im0"]["truth"]["disparity"]
    assert item["path"] == "Bathroom/im0/truth/disparity.npy"
    assert item["bytes"] == (root / item["path"]).stat().st_size
    assert set(item) == {"kind", "path", "bytes", "sha256"}


arrays = st.one_of(
    hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_dims=4, max_side=5)),
    hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=3, max_side=5)),
    hnp.arrays(np.bool_, hnp.array_shapes(min_dims=2, max_dims=3, max_side=5)),
    hnp.arrays(np.int32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=5)),
).filter(lambda a: a.dtype.kind != "f" or not np.isinf(a).any())
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["disparity", "edge_map", "x"]), arrays, min_size=1), plain)
def test_any_arrays_and_values_come_back(tmp_path_factory, truth, value):
    folder = tmp_path_factory.mktemp("d")
    made = with_items({"value": value}, truth)
    found = again(folder, made)
    assert found.inputs["value"] == value
    assert truth_hash(found) == truth_hash(made)
    assert verify(folder) == []


def test_a_value_that_could_not_be_read_back_is_not_written(tmp_path):
    with pytest.raises(BadData, match="cannot be written: it holds an integer beyond 64 bits"):
        again(tmp_path, with_items({"value": 2**63}))
    assert not (tmp_path / "dataset.json").exists()


def test_a_float_image_keeps_its_values(tmp_path):
    image = np.linspace(0, 3, 24, dtype=np.float32).reshape(2, 4, 3)
    assert np.array_equal(
        again(tmp_path, with_items({"left_image": image})).inputs.left_image, image
    )


def test_paths_are_left_out(tmp_path):
    found = again(tmp_path, with_items({"calib_path": Path("/x"), "n": np.int64(3)}))
    assert dict(found.inputs) == {"n": 3}


def test_a_middlebury_scene_can_be_carried_over(tmp_path, stereo):
    middlebury = DATASETS["middlebury-2014"]
    middlebury.write(tmp_path / "m", [stereo("Canal")])
    made = next(middlebury.samples(tmp_path / "m", "all"))
    found = again(tmp_path / "d", made)
    assert found.inputs.calib.ndisp == 16
    assert np.array_equal(found.truth.disparity, made.truth.disparity, equal_nan=True)
    # And to another machine: no path of this one may be in it.
    assert str(tmp_path) not in (tmp_path / "d/dataset.json").read_text()


def test_splits(tmp_path, stereo):
    made = [stereo("a"), stereo("b")]
    write(tmp_path, made, **ABOUT, splits={"train": ["b"], "test": ["a"]})
    assert [s.id for s in samples(tmp_path, "train")] == ["b"]
    assert [s.id for s in samples(tmp_path)] == ["a", "b"]
    with pytest.raises(UnknownName, match="Did you mean 'train'"):
        samples(tmp_path, "trian")


def test_samples_of_one_scene_stay_together(tmp_path):
    found = again(tmp_path, Sample("a", Inputs({"n": 1}), None, scene="kitchen"))
    assert found.scene == "kitchen"


def test_hidden_truth_is_not_written_and_does_not_stay(tmp_path, stereo):
    write(tmp_path, [stereo("a")], **ABOUT)
    write(tmp_path, [stereo("a")], **ABOUT, with_truth=False, overwrite=True)
    (found,) = samples(tmp_path)
    assert found.truth is None
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and "truth" in p.parts]


def test_a_folder_can_be_rewritten_from_itself(tmp_path):
    """The map is large enough to be mapped from the very file that is replaced."""
    values = np.arange(600 * 600, dtype=np.float32).reshape(600, 600)
    write(tmp_path, [with_items({}, {"disparity": values})], **ABOUT)
    write(tmp_path, samples(tmp_path), **ABOUT, overwrite=True)
    assert np.array_equal(next(samples(tmp_path)).truth.disparity, values)
    assert verify(tmp_path) == []


def test_half_a_folder_is_none(tmp_path, stereo):
    def breaks():
        yield stereo("a")
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        write(tmp_path, breaks(), **ABOUT)
    with pytest.raises(BadData, match=r"dataset\.json: there is no such file"):
        samples(tmp_path)


@pytest.mark.parametrize(
    ("items", "error", "text"),
    [
        (
            {"x": object()},
            Misuse,
            r"a/inputs/x: a dataset folder cannot hold an item of type object",
        ),
        ({"x": [np.ones((2, 2))]}, Misuse, "of type list"),
        ({"x": math.nan}, Misuse, "a/inputs/x: a value is not finite"),
        ({"x_labels": np.array([[70000]])}, DoesNotFit, r"a 16-bit PNG holds 0\.\.65535"),
        ({"x": np.full((2, 2), np.inf, np.float32)}, DoesNotFit, "a map has infinities"),
        ({"../x": np.ones((2, 2), np.float32)}, BadData, "refused"),
    ],
)
def test_what_cannot_be_written(tmp_path, items, error, text):
    with pytest.raises(error, match=text):
        write(tmp_path, [with_items(items)], **ABOUT)
    assert not (tmp_path / "dataset.json").exists()


def test_mistakes_of_the_caller(root, tmp_path_factory, stereo):
    other = tmp_path_factory.mktemp("other")
    with pytest.raises(BadData, match="already contains a dataset"):
        write(root, [stereo()], **ABOUT)
    with pytest.raises(BadData, match="two samples are called 'Canal'"):
        write(other, [stereo(), stereo()], **ABOUT)
    with pytest.raises(Misuse, match="refused"):
        write(other, [stereo("../x")], **ABOUT)
    with pytest.raises(Misuse, match="lists 'nobody', which is not a sample"):
        write(other, [stereo()], **ABOUT, splits={"test": ["nobody"]})


def test_verify_finds_one_flipped_byte(root):
    path = root / "Meadow/truth/disparity.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    (problem,) = verify(root)
    assert problem.where == "Meadow/truth/disparity.npy"
    assert "SHA-256" in problem.what
    assert len(list(samples(root))) == 2  # reading does not hash


def test_verify_finds_missing_and_short_files(root):
    (root / "Meadow/truth/disparity.npy").unlink()
    (root / "Meadow/inputs/left_image.png").write_bytes(b"short")
    found = {p.where: p.what for p in verify(root)}
    assert found["Meadow/truth/disparity.npy"] == "the file is missing"
    assert "has 5 bytes, not" in found["Meadow/inputs/left_image.png"]
    assert len(found) == 2
    with pytest.raises(BadData, match=r"2 file\(s\) are not as dataset\.json says"):
        samples(root)


@pytest.mark.parametrize("bad", ["../x.npy", "/etc/passwd", "a/../../x", "C:\\x"])
def test_paths_that_leave_are_refused(root, bad):
    change(root, lambda c: c["samples"]["Meadow"]["truth"]["disparity"].update(path=bad))
    with pytest.raises(BadData, match="refused"):
        samples(root)
    (problem,) = verify(root)
    assert problem.where == "samples.Meadow.truth.disparity.path"


def test_ids_that_leave_are_refused(root):
    change(root, lambda c: c["samples"].update({"../up": c["samples"]["Meadow"]}))
    with pytest.raises(BadData, match="refused"):
        samples(root)


def test_a_link_that_leaves_is_refused(root, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "secret.npy"
    path = root / "Meadow/truth/disparity.npy"
    path.rename(outside)
    path.symlink_to(outside)
    assert "a link on it leads outside" in str(verify(root))
    with pytest.raises(BadData, match="leads outside"):
        samples(root)


def test_another_schema_version(root):
    change(root, lambda c: c.update(schema=2))
    (problem,) = verify(root)
    assert "schema version 2 is not known" in problem.what
    with pytest.raises(BadData, match="this depthgauge reads 1"):
        samples(root)


def test_all_mistakes_of_a_manifest_are_named(root):
    def spoil(content):
        content["titel"] = content.pop("title")
        content["samples"]["Meadow"]["truth"]["disparity"]["kind"] = "mapp"
        content["samples"]["Meadow"]["inputs"]["rig"]["value"] = {"cameras": {}}
        content["samples"]["Meadow"]["inputs"]["left_image"].pop("sha256")

    change(root, spoil)
    text = "\n".join(str(p) for p in verify(root))
    assert "title: Field required" in text
    assert "titel: Extra inputs are not permitted" in text
    assert "Did you mean 'map'?" in text
    assert "the rig is incomplete" in text
    assert "kind 'image' needs path, bytes and sha256" in text


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": NaN}', '"x"', "[" * 100_000])
def test_a_manifest_that_is_none(tmp_path, text):
    (tmp_path / "dataset.json").write_text(text)
    assert verify(tmp_path)
    with pytest.raises(BadData, match="not a usable dataset folder"):
        samples(tmp_path)


def test_nothing_is_read_before_it_is_asked_for(root):
    sample = next(samples(root))
    for path in root.rglob("*.*"):
        path.unlink()
    with pytest.raises(BadFile, match="no such file"):
        _ = sample.truth.disparity


@pytest.mark.parametrize("shape", [(), (0, 2), (3,), (2, 3, 1)])
def test_arrays_of_odd_shapes(tmp_path, shape):
    made = with_items({}, {"edges": np.ones(shape, np.float32)})
    assert again(tmp_path, made).truth.edges.shape == shape


def test_a_lying_array_is_a_bad_file(tmp_path):
    made = with_items({}, {"stack": np.ones((2, 2, 2, 2), np.float32)})
    sample = again(tmp_path, made, trust=True)
    path = tmp_path / "a/truth/stack.npy"
    path.write_bytes(path.read_bytes().replace(b"(2, 2, 2, 2)", b"(9, 9, 9, 9)"))
    with pytest.raises(BadFile, match="not a NumPy array"):
        _ = sample.truth.stack


def test_a_sample_can_be_sent_to_another_process(root):
    sample = next(samples(root))
    before = sample.truth.disparity
    found = pickle.loads(pickle.dumps(sample))
    assert np.array_equal(found.truth.disparity, before, equal_nan=True)
    assert found.inputs.rig.baseline_m == 0.25


def test_the_manifests_hash(root, tmp_path_factory, stereo):
    before = manifest_hash(root)
    change(root, lambda c: None)  # another indentation
    assert manifest_hash(root) == before
    other = tmp_path_factory.mktemp("other")
    sample = stereo("Meadow", 1)
    sample.truth.disparity[3, 3] += 1
    write(other, [sample, stereo("Bathroom/im0", 2)], **ABOUT, split="test")
    assert manifest_hash(other) != before


def test_the_same_samples_give_the_same_bytes(root, tmp_path_factory, stereo):
    other = tmp_path_factory.mktemp("other")
    write(other, [stereo("Bathroom/im0", 2), stereo("Meadow", 1)], **ABOUT, split="test")
    assert (other / "dataset.json").read_bytes() == (root / "dataset.json").read_bytes()


def test_another_program_may_write_infinities(tmp_path):
    ones = {"disparity": np.ones((2, 2), np.float32)}
    found = again(tmp_path, with_items({}, ones), trust=True)
    np.save(tmp_path / "a/truth/disparity.npy", np.full((2, 2), np.inf, np.float32))
    assert np.isnan(found.truth.disparity).all()


def test_labels_are_whole_numbers_of_16_bits(root):
    labels = io.read_labels(root / "Meadow/truth/material_labels.png")
    assert labels.max() == 47_000


def flip_a_byte(path: Path) -> None:
    body = bytearray(path.read_bytes())
    body[-1] ^= 1  # of the same size, and a file that can be read
    path.write_bytes(bytes(body))


def test_a_file_is_compared_with_its_hash_when_it_is_first_read(root):
    first = next(samples(root, "all"))
    place = root / first.id / "truth/disparity.npy"
    flip_a_byte(place)
    with pytest.raises(BadFile, match=r"disparity\.npy: its SHA-256 is not .* --trust"):
        first.truth["disparity"]
    assert first.inputs["left_image"] is not None  # only that file is refused
    trusted = next(samples(root, "all", trust=True))
    assert trusted.truth["disparity"].shape == trusted.inputs["left_image"].shape[:2]


def test_a_file_that_was_compared_is_not_hashed_again(root, tmp_path, monkeypatch):
    monkeypatch.setenv("DEPTHGAUGE_CACHE", str(tmp_path / "own"))
    place = root / next(samples(root, "all")).id / "truth/disparity.npy"
    hashed = []

    def counted(path):
        hashed.append(path)
        return file_hash(path)

    def read():
        verified_files._known.cache_clear()  # as in another process
        next(samples(root, "all")).truth["disparity"]

    monkeypatch.setattr(verified_files, "file_hash", counted)
    read()
    read()
    assert hashed == [place, place]  # too young to be remembered
    monkeypatch.setattr(verified_files, "_TOO_YOUNG_NS", 0)
    for _ in range(3):
        read()
    assert len(hashed) == 3
    os.utime(place, (1, 1))
    read()
    assert len(hashed) == 4
    before = place.read_bytes()
    flip_a_byte(place)
    os.utime(place, (1, 1))  # the time of its record cannot be put back
    with pytest.raises(BadFile, match="SHA-256"):
        read()
    place.write_bytes(before)
    read()
    monkeypatch.setenv("DEPTHGAUGE_CACHE", "/proc/nowhere")  # where nothing can be written
    read()
    verified_files._known.cache_clear()
