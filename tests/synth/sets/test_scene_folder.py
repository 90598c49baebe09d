"""The scenes as a dataset folder, and the benchmark that scores it."""

import json

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import BENCHMARKS
from depthgauge.datasets import DATASETS, manifest_folder
from depthgauge.errors import BadData
from depthgauge.regions.resolve import compute_regions
from depthgauge.synth.sets import stereo_scenes
from depthgauge.synth.sets.stereo_scenes import REVISION, SCENES, make_scene, write_scenes

SMALL = (96, 72)
# Means of left disparity and left image at that size, for revision 1 and seed 5.
MEANS = {
    "boxes": (4.08792, 128.578),
    "clutter": (4.36009, 136.295),
    "curved": (4.14319, 147.469),
    "fence": (3.53109, 129.819),
    "slanted": (4.31673, 142.786),
    "spheres": (7.14368, 155.771),
    "staircase": (3.85732, 142.967),
    "textureless": (4.06555, 159.476),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("scenes")
    write_scenes(root, size_px=SMALL, seed=5)
    return root


def test_the_folder_holds_what_was_made(folder):
    assert manifest_folder.verify(folder) == []
    read = {sample.id: sample for sample in DATASETS["depthgauge"].samples(folder)}
    assert tuple(read) == SCENES
    made = make_scene("fence", SMALL, 5)
    for side in ("inputs", "truth"):
        wanted, found = getattr(made, side), getattr(read["fence"], side)
        assert list(wanted) == list(found)
        for name, thing in wanted.items():
            if isinstance(thing, np.ndarray):
                np.testing.assert_array_equal(found[name], thing, strict=True)
            else:
                assert found[name] == thing


def test_the_manifest_says_how_it_was_made(folder):
    manifest = json.loads((folder / "dataset.json").read_text())
    assert (manifest["id"], manifest["licence"]) == ("stereo-scenes", "CC0-1.0")
    assert manifest["quantities"] == ["disparity"]
    assert manifest["made_by"] == {
        "program": "depthgauge.synth.stereo_scenes",
        "revision": 1,
        "size_px": [96, 72],
        "seed": 5,
    }


def test_a_changed_generator_raises_its_revision(folder):
    assert REVISION == 1
    found = {
        sample.id: (sample.truth.disparity.mean(), sample.inputs.left_image.mean())
        for sample in DATASETS["depthgauge"].samples(folder)
    }
    assert found == {name: pytest.approx(pair, rel=1e-4) for name, pair in MEANS.items()}


def test_progress_is_told_and_nothing_is_overwritten_unasked(tmp_path, monkeypatch):
    monkeypatch.setattr(stereo_scenes, "SCENES", ("boxes", "slanted"))
    told = []
    write_scenes(tmp_path, size_px=(16, 12), progress=lambda *what: told.append(what))
    assert told == [("boxes", 0, 2), ("slanted", 1, 2)]
    with pytest.raises(BadData, match="already"):
        write_scenes(tmp_path, size_px=(16, 12))
    write_scenes(tmp_path, size_px=(20, 16), overwrite=True)
    assert manifest_folder.verify(tmp_path) == []


@pytest.mark.long
def test_every_region_of_the_benchmark_is_in_some_scene(clean):
    texts = BENCHMARKS["stereo-scenes"].region_texts
    pixels = dict.fromkeys(texts, 0)
    for sample in clean.values():
        items = {**sample.inputs, **sample.truth}
        found = compute_regions(texts, sample.truth.disparity, items, quantity="disparity")
        assert found.unavailable == {}
        for name, mask in found.masks.items():
            pixels[name] += int(mask.sum())
    assert min(pixels.values()) > 3000, pixels


def test_the_truth_itself_scores_without_error(folder, tmp_path):
    for sample in DATASETS["depthgauge"].samples(folder):
        place = tmp_path / sample.id
        place.mkdir()
        np.save(place / "disparity.npy", sample.truth.disparity)
    result = dg.evaluate("stereo-scenes", folder, tmp_path)
    for score_id, score in result.summary.items():
        assert score.value == (100.0 if score_id.startswith("density") else 0.0), score_id
