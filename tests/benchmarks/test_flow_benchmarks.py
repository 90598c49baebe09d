"""Sintel, Middlebury flow and the older Middlebury stereo: tiny data, numbers by hand."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.datasets import DATASETS
from depthgauge.io import read_map, write_map
from depthgauge.types import Inputs, Sample, Truth


def sintel(name, flow, matched):
    truth = Truth({"flow": np.asarray(flow, np.float32), "matched_mask": np.asarray(matched)})
    return Sample(name, Inputs({}), truth)


def test_sintel_pools_pixels_and_divides_by_speed_and_distance(tmp_path):
    """One frame of 24 x 40 with an occluded band, one small frame whose errors are larger."""
    flow = np.zeros((24, 40, 2), np.float32)
    flow[:, :10, 0], flow[:, 10:20, 0], flow[:, 20:, 1] = 5, 20, 50
    matched = np.ones((24, 40), bool)
    matched[:, :4] = False
    flow[0, 0] = np.nan  # an invalid pixel, in the occluded band
    frames = [sintel("clean/alley_1/frame_0001", flow, matched)]
    small = np.full((4, 6, 2), 3, np.float32)
    frames.append(sintel("clean/bamboo_2/frame_0007", small, np.ones((4, 6), bool)))
    DATASETS["sintel"].write(tmp_path / "training", frames)
    for frame, error in zip(frames, (1.0, 4.0), strict=True):
        path = tmp_path / "sent" / f"{frame.id}.flo"
        path.parent.mkdir(parents=True)
        estimate = np.nan_to_num(frame.truth.flow) + np.float32([error, 0])
        if error == 1:
            estimate[:, :10, 0] += 2  # slow pixels are off by 3 px
        write_map(path, estimate, quantity="flow")
    found = dg.evaluate("sintel", tmp_path, tmp_path / "sent", check=False).summary
    big, slow = 24 * 40 - 1, 24 * 10 - 1
    total = 3 * slow + (big - slow) + 4 * 24
    assert found["epe@all"].value == pytest.approx(total / (big + 24))
    assert found["epe@unmatched"].value == 3
    assert found["epe@s0_10"].value == pytest.approx((3 * slow + 4 * 24) / (slow + 24))
    assert found["epe@s10_40"].value == 1
    assert found["epe@s40"].value == 1
    # Columns 3 and 4 are at the boundary; column 14 is ten pixels from it.
    assert found["epe@d0_10"].value == pytest.approx((3 * slow + 24 * 4) / (slow + 24 * 4))
    assert found["epe@d10_60"].value == 1
    assert found["npx:1@all"].value == pytest.approx(100 * (slow + 24) / (big + 24))
    with pytest.raises(dg.errors.BadData, match="'sintel'"):
        dg.evaluate("sintel-final", tmp_path / "sent", tmp_path / "sent")


def test_middlebury_flow_averages_over_sequences(tmp_path):
    made = {"Venus": (4, 6), "Dimetrodon": (8, 6)}
    samples = []
    for name, shape in made.items():
        truth = Truth({"flow": np.zeros((*shape, 2), np.float32)})
        samples.append(Sample(name, Inputs({}), truth))
    DATASETS["middlebury-flow"].write(tmp_path, samples)
    for (name, shape), error in zip(made.items(), (0.75, 3.0), strict=True):
        (tmp_path / "sent" / name).mkdir(parents=True)
        estimate = np.zeros((*shape, 2), np.float32)
        estimate[..., 1] = error
        write_map(tmp_path / "sent" / name / "flow10.flo", estimate, quantity="flow")
    found = dg.evaluate("middlebury-flow", tmp_path, tmp_path / "sent", check=False).summary
    assert found["epe@all"].value == pytest.approx((0.75 + 3) / 2)
    assert found["npx:0.5@all"].value == 100
    assert found["npx:1@all"].value == 50
    angle = np.degrees(np.arctan([0.75, 3.0])).mean()
    assert found["flow_angle@all"].value == pytest.approx(angle, rel=1e-6)


def test_real_flow_scores_as_when_it_was_checked(shared, tmp_path):
    """Zero flow on RubberWhale: 1.256 px."""
    source = shared("data/flow-rubberwhale")
    (tmp_path / "other-gt-flow/RubberWhale").mkdir(parents=True)
    target = tmp_path / "other-gt-flow/RubberWhale/flow10.flo"
    target.symlink_to(source / "RubberWhale.flo")
    zero = np.zeros_like(read_map(target, "flow"))
    write_map(tmp_path / "RubberWhale.flo", zero, quantity="flow")
    found = dg.evaluate("middlebury-flow", tmp_path, tmp_path, check=False).summary
    assert found["epe@all"].value == pytest.approx(1.256, abs=5e-4)


def test_the_older_stereo_scenes_of_both_generations(shared, tmp_path):
    """2003 and 2005/2006 in one folder; the truth itself is right everywhere."""
    for folder in ("middlebury-2005-2006", "middlebury-classic"):
        source = shared(f"data/{folder}")
        for scene in sorted(p for p in source.iterdir() if p.is_dir()):
            (tmp_path / "data").mkdir(exist_ok=True)
            (tmp_path / "data" / scene.name).symlink_to(scene)
    names = []
    for sample in DATASETS["middlebury-2001"].samples(tmp_path / "data"):
        if sample.truth is not None:
            names.append(sample.id)
            write_map(tmp_path / f"{sample.id}.pfm", sample.truth.disparity)
    assert {"Reindeer", "Cloth3", "Wood2"} < set(names)
    result = dg.evaluate("middlebury-2001-2006", tmp_path / "data", tmp_path, check=False)
    assert result.summary["badpix:0.5@all"].value == 0
    assert result.summary["mae@visible"].value == 0
    assert not result.failed


def test_sceneflow_leaves_out_what_networks_cannot_give(tmp_path):
    truth = np.full((4, 8), 20, np.float32)
    truth[:, 6:] = 250
    sample = Sample("TEST/A/0000/0006", Inputs({}), Truth({"disparity": truth}))
    DATASETS["sceneflow"].write(tmp_path / "data", [sample])
    (tmp_path / "sent/TEST/A/0000").mkdir(parents=True)
    write_map(tmp_path / "sent/TEST/A/0000/0006.pfm", np.minimum(truth, 192) + 1)
    found = dg.evaluate("sceneflow", tmp_path / "data", tmp_path / "sent", check=False).summary
    assert found["mae@within_192"].value == 1
    assert found["mae@all"].value == pytest.approx((24 + 8 * 57) / 32)
    assert found["badpix:3@all"].value == 25
