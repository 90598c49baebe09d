"""Scale and marks in `score`, in benchmarks and in their records."""

import json

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks.protocol import make_protocol
from depthgauge.errors import BadProtocol, BadScoreId, Misuse, UnknownScale
from depthgauge.io import _png_chunks
from depthgauge.io._files import write_parts

METRES = np.linspace(1, 9, 120, dtype=np.float32).reshape(10, 12)
MILLIMETRES = np.rint(1000 * METRES).astype(np.uint16)


@pytest.fixture
def png(tmp_path):
    write_parts(tmp_path / "mm.png", _png_chunks.encode(MILLIMETRES))
    return tmp_path / "mm.png"


def test_a_png_in_millimetres_is_scored_in_metres(png):
    found = dg.score(png, METRES, "rms", quantity="depth", estimate_scale=0.001)
    assert found["rms@all"].value < 0.001
    both = dg.score(png, png, "rms", quantity="depth", scale="1/1000")
    assert both["rms@all"].value == 0
    truth = dg.score(METRES, png, "rms", quantity="depth", truth_scale=0.001)
    assert truth["rms@all"].value < 0.001


def test_without_a_unit_both_readings_are_named(png):
    with pytest.raises(UnknownScale) as caught:
        dg.score(png, METRES, quantity="depth")
    assert "say estimate_scale=1/256 (KITTI's code / 256) or estimate_scale=0.001 (milli" in str(
        caught.value
    )
    with pytest.raises(UnknownScale, match=r"the truth: .* truth_scale=0.001 \(millimetres\)"):
        dg.score(METRES, MILLIMETRES, quantity="depth")


def test_arrays_and_files_are_scaled_alike(tmp_path):
    np.save(tmp_path / "a.npy", 256 * METRES)
    options = {"metrics": "mae", "estimate_scale": "1/256", "quantity": "depth"}
    from_file = dg.score(tmp_path / "a.npy", METRES + 1, **options)
    assert from_file == dg.score(256 * METRES, METRES + 1, **options)


@pytest.mark.parametrize(("mark", "side"), [(0, "estimate"), (-1, "truth"), (9999, "estimate")])
def test_marks_are_missing(mark, side):
    maps = {"estimate": METRES + 0.5, "truth": METRES.copy()}
    maps[side] = maps[side].copy()
    maps[side][0] = mark
    found = dg.score(*maps.values(), "mae", **{f"{side}_invalid": mark})["mae@all"]
    assert found.value == pytest.approx(0.5)
    assert (found.count, found.missing) == (108, 12 if side == "estimate" else 0)
    both = dg.score(*maps.values(), "mae", invalid=[mark])["mae@all"]
    assert both == found


def test_marks_are_stored_numbers_before_the_scale():
    stored = 1000 * METRES
    stored[0] = 65535
    found = dg.score(stored, METRES, "density", scale=1, invalid=65535)
    assert found["density@all"].value == 90
    scaled = dg.score(stored, METRES, "density", estimate_scale=0.001, estimate_invalid=65535)
    assert scaled["density@all"].value == 90


def test_reading_is_recorded_and_not_hashed():
    plain = dg.score(METRES, METRES, "mae")
    found = dg.score(2 * METRES, METRES, "mae", estimate_scale=0.5, truth_invalid=0)
    assert found.protocol_hash == plain.protocol_hash
    body = json.loads(json.dumps(found.as_result("a").to_json()))
    assert body["reading"] == {"estimate": {"scale": 0.5}, "truth": {"invalid": [0]}}
    assert "reading" not in plain.as_result("a").to_json()
    assert "reading" not in body["protocol"]


def test_contradictions_and_nonsense_are_refused():
    with pytest.raises(BadScoreId, match="scale is for both maps and truth_scale for one"):
        dg.score(METRES, METRES, "mae", scale=2, truth_scale=1)
    with pytest.raises(Misuse, match="estimate_scale is 'a'; it must be a positive number"):
        dg.score(METRES, METRES, "mae", estimate_scale="a")


def test_a_benchmark_says_how_its_files_are_stored(folders, trial):
    expected = folders.evaluate(trial())
    for name in "abc":
        stored = 16 * np.nan_to_num(folders.estimate[name], nan=-1 / 16)
        folders.write(name, stored)
        folders.write_truth(name, folders.truth[name] / 4)
    made = trial(reading={"estimate": {"scale": "1/16", "invalid": [-1]}, "truth": {"scale": 4}})
    found = folders.evaluate(made)
    assert found.protocol.hash == expected.protocol.hash
    assert found.to_dict() == pytest.approx(expected.to_dict())
    assert found.to_json()["reading"]["truth"] == {"scale": 4}


def test_mistakes_in_reading_are_found(trial):
    with pytest.raises(BadProtocol, match=r"reading.estimate.scale.*positive number"):
        trial(reading={"estimate": {"scale": "-1"}})
    body = trial().model_dump(exclude_unset=True)
    body |= {"dataset": "middlebury-2014", "split": "all", "reading": {"truth": {"scale": 2}}}
    with pytest.raises(BadProtocol, match="'middlebury-2014' says how its truth is stored"):
        make_protocol(body, "test")
