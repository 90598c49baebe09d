"""A run for each level: what methods see, which protocol each has, what can be read back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from depthgauge.benchmarks import find_benchmark
from depthgauge.datasets import DATASETS
from depthgauge.engine.running.perturbed import load_perturbed, run_perturbed
from depthgauge.engine.running.rescore import rescore
from depthgauge.engine.running.run import run
from depthgauge.engine.scoring.evaluate import evaluate
from depthgauge.errors import BadData, BadFile, BadScoreId, Misuse
from depthgauge.types import Inputs, Sample, Truth

LEVELS = "noise:0,10,40"


def brightness_spread(inputs):
    """A method that says how noisy its picture is."""
    image = inputs.left_image.astype(np.float32)
    return np.full(image.shape[:2], image.std(), np.float32)


@pytest.fixture
def data(tmp_path):
    grey = np.full((12, 16, 3), 128, np.uint8)
    samples = [
        Sample(
            name,
            Inputs({"left_image": grey, "right_image": grey}),
            Truth({"disparity": np.zeros((12, 16), np.float32)}),
        )
        for name in ("one", "two")
    ]
    DATASETS["depthgauge"].write(
        tmp_path / "data", iter(samples), id="grey", title="Grey", licence="CC0-1.0"
    )
    return tmp_path


@pytest.fixture
def protocol(trial):
    return trial(dataset="depthgauge", scores=[{"metric": "mae"}])


def test_methods_see_the_damage_and_the_truth_stays(data, protocol):
    out = data / "noisy"
    runs = run_perturbed(
        protocol, data / "data", [brightness_spread], out, perturb=LEVELS, workers=0
    )
    spread = [run.results["brightness_spread", 0].summary["mae@all"].value for run in runs]
    assert spread[0] == 0
    assert spread[1] == pytest.approx(10, rel=0.15)
    assert spread[2] == pytest.approx(40, rel=0.15)
    assert runs[0].truth_hashes == runs[2].truth_hashes


def test_the_neutral_level_has_the_benchmarks_own_hash_and_the_others_have_their_own(
    data, protocol
):
    runs = run_perturbed(
        protocol, data / "data", [brightness_spread], data / "n", perturb=LEVELS, workers=0
    )
    hashes = [run.protocol.hash for run in runs]
    assert hashes[0] == protocol.hash
    assert len(set(hashes)) == 3
    assert [run.protocol.perturb for run in runs] == ["", "noise:10", "noise:40"]


def test_the_runs_are_found_again_and_continued(data, protocol):
    call = {"perturb": LEVELS, "workers": 0}
    run_perturbed(protocol, data / "data", [brightness_spread], data / "n", **call)
    assert [run.protocol.perturb for run in load_perturbed(data / "n")] == [
        "",
        "noise:10",
        "noise:40",
    ]
    seen = []
    run_perturbed(
        protocol,
        data / "data",
        [brightness_spread],
        data / "n",
        progress=lambda what, done, n: seen.append((done, n)),
        **call,
    )
    assert seen == []  # everything was there


def test_progress_counts_through_all_levels(data, protocol):
    seen = []
    run_perturbed(
        protocol,
        data / "data",
        [brightness_spread],
        data / "n",
        perturb="noise:0,10",
        workers=0,
        progress=lambda what, done, n: seen.append((done, n)),
    )
    assert seen[-1] == (4, 4)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_wrong_calls_and_damaged_folders_are_refused(data, protocol, tmp_path):
    own = find_benchmark("stereo-scenes").model_copy(update={"perturb": "blur:1"})
    with pytest.raises(Misuse, match="its own perturbation"):
        run_perturbed(own, data / "data", ["constant"], data / "n", perturb=LEVELS)
    with pytest.raises(BadScoreId, match="from 0 to 255"):
        run_perturbed(protocol, data / "data", ["constant"], data / "n", perturb="noise:-1")
    with pytest.raises(BadData, match="--perturb"):
        load_perturbed(tmp_path)
    path = tmp_path / "robustness.json"
    path.write_text("{")
    with pytest.raises(BadFile, match="damaged"):
        load_perturbed(tmp_path)
    body = {"schema": 1, "kind": "depthgauge-robustness", "runs": [{"folder": "../elsewhere"}]}
    path.write_text(json.dumps(body))
    with pytest.raises(BadFile):
        load_perturbed(tmp_path)


def test_estimates_that_are_there_already_cannot_be_perturbed(data, protocol, tmp_path):
    run_perturbed(
        protocol, data / "data", [brightness_spread], data / "n", perturb="noise:0,40", workers=0
    )
    made = f"folder:{data / 'n' / 'noise_0' / 'estimates' / 'brightness_spread'}"
    with pytest.raises(Misuse, match="no damage to images changes them"):
        run_perturbed(protocol, data / "data", [made], data / "m", perturb="noise:0,40")
    noisy = protocol.model_copy(update={"perturb": "noise:40"})
    with pytest.raises(Misuse, match="made from other images"):
        run(noisy, data / "data", [made], data / "m")
    with pytest.raises(Misuse, match="made from other images"):
        evaluate(noisy, data / "data", data / "n")


def test_estimates_of_noisy_images_are_not_scored_as_those_of_clean_ones(data, protocol):
    run_perturbed(
        protocol, data / "data", [brightness_spread], data / "n", perturb="noise:0,40", workers=0
    )
    with pytest.raises(BadData, match="made from images with noise:40"):
        rescore(data / "n" / "noise_40", protocol, data / "again", workers=0)
    again = rescore(data / "n" / "noise_0", protocol, data / "again", workers=0)
    assert again.protocol.hash == protocol.hash


def test_parts_that_change_nothing_are_not_in_the_hash(protocol):
    plain = protocol.hash
    assert protocol.model_copy(update={"perturb": "noise:0"}).hash == plain
    one = protocol.model_copy(update={"perturb": "gain:0.9"}).hash
    assert protocol.model_copy(update={"perturb": "noise:0+gain:0.9"}).hash == one != plain
