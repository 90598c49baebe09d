import json
from dataclasses import replace

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.audit.step import audit, read_audit
from depthgauge.capture.check import check
from depthgauge.capture.exact_truth import exact_truth, scaled_pair
from depthgauge.capture.warp.step import warp
from depthgauge.errors import BadData, Misuse
from depthgauge.report.capture import audit as drawn

SIGMA = 0.1


@pytest.fixture(scope="module")
def labels(world):
    """Noisy labels: a known bias on one object, holes, and a few wild values."""
    exact = world.exact["LR"]
    draw = np.random.default_rng(7)
    left = exact.disparity + SIGMA * draw.standard_normal(exact.disparity.shape)
    left[exact.objects == 2] += 0.3
    possible = np.argwhere(exact.visible & exact.lit & (exact.objects == 0))
    gone, wild = possible[:500], possible[-200:]
    left[tuple(gone.T)] = np.nan
    left[tuple(wild.T)] += 10
    right = world.exact["RL"].disparity + SIGMA * draw.standard_normal(left.shape)
    return left.astype(np.float32), right.astype(np.float32), possible


@pytest.fixture(scope="module")
def work(world, labels, tmp_path_factory):
    work = tmp_path_factory.mktemp("audit")
    world.begin(work)
    small = exact_truth(world.truth, scaled_pair(world.pairs["LR"], 100, 75)).disparity
    world.clean(work, small + 0.25, small, variance=0.01, step="spacetime")
    world.clean(work, *labels[:2], variance=SIGMA**2)
    check(world.session, work)
    warp(world.session, work)
    audit(world.session, work)
    return work


def test_true_errors_are_those_that_were_made(world, labels, work):
    figures = read_audit(work)["simulated"]
    final, exact = figures["final"], world.exact["LR"]
    error = labels[0] - exact.disparity
    error = error[np.isfinite(error)].astype(np.float64)
    assert final["pixels"] == len(error)
    assert final["mean_abs_px"] == pytest.approx(np.abs(error).mean(), rel=1e-6)
    assert final["median_abs_px"] == pytest.approx(np.median(np.abs(error)), rel=1e-6)
    assert final["bad_2_percent"] == pytest.approx(100 * 200 / len(error))
    possible = (exact.visible & exact.lit).sum()
    assert final["kept_percent"] == pytest.approx(100 * (1 - 500 / possible))
    assert figures["materials"]["3"]["bias_px"] == pytest.approx(0.3, abs=0.01)
    assert figures["objects"]["1"]["bias_px"] == pytest.approx(0.0, abs=0.01)
    assert figures["objects"]["2"] == figures["materials"]["3"] == figures["surfaces"]["2"]
    assert sum(m["pixels"] for m in figures["materials"].values()) == final["pixels"]


def test_wild_values_are_not_confirmed(work):
    figures = read_audit(work)["simulated"]
    assert figures["consistent"]["bad_2_percent"] < 0.1 < figures["final"]["bad_2_percent"]
    assert figures["visibility"]["seen_but_refused_percent"] < 3


def test_planar_residuals_need_no_truth(world, work):
    planes = read_audit(work)["planes"]
    assert planes["source"] == "known"
    by_pixels = sorted(region["pixels"] for region in planes["regions"])
    assert len(by_pixels) == 3
    # 0.8 sigma on clean planes; a bias is not seen by a plane, wild values are.
    board = next(r for r in planes["regions"] if abs(r["plane"][0]) > 0.01)
    assert board["mean_abs_px"] == pytest.approx(SIGMA * np.sqrt(2 / np.pi), rel=0.05)
    numbers = io.read_labels(work / "audit" / "planes.png")
    assert sorted(np.bincount(numbers.ravel())[1:])[0] >= by_pixels[0]


def test_error_bars_of_the_unbiased_part_hold(world, work):
    bars = read_audit(work)["simulated"]["error_bars"]
    assert bars["within_1_sigma_percent"] < 60  # the biased board
    error = io.read_map(work / "audit" / "error_00.npy")
    clean = error[(world.exact["LR"].objects == 1) & np.isfinite(error)]
    assert (np.abs(clean) < SIGMA).mean() == pytest.approx(0.683, abs=0.02)


def test_small_maps_are_judged_in_full_pixels(work):
    steps = read_audit(work)["simulated"]["steps"]
    assert list(steps) == ["spacetime", "clean"]
    # 0.25 px of the small image are 0.5 px of the full one.
    assert steps["spacetime"]["mean_abs_px"] == pytest.approx(0.5, abs=1e-3)
    assert steps["spacetime"]["error_bars"]["rms_z"] == pytest.approx(2.5, abs=0.01)
    assert steps["clean"]["pixels"] == read_audit(work)["simulated"]["final"]["pixels"]


def test_depth_and_rows_show_the_calibration(world, work):
    figures = read_audit(work)["simulated"]
    rows = np.abs(world.exact["LR"].row_error_px[world.exact["LR"].visible])
    assert figures["rows"]["mean_abs_px"] == pytest.approx(rows.mean(), rel=1e-5)
    assert 0 < figures["depth"]["within_1cm_percent"] < 100
    assert figures["unbalanced"]["rows"]["most_px"] == pytest.approx(0.05, abs=0.02)
    # The unbalanced labels inherit the noise, scaled, and the calibration's 0.1 px.
    assert 0.05 < figures["unbalanced"]["median_abs_px"] < 0.16
    assert figures["right"]["mean_abs_px"] == pytest.approx(SIGMA * np.sqrt(2 / np.pi), rel=0.03)


def test_its_picture(work):
    picture = io.read_image(drawn.picture(work))
    assert picture.shape[1] > 1200
    assert len(np.unique(picture.astype(np.uint32) @ [1, 256, 65536])) > 200


def test_a_real_session_has_planes_only(world, labels, work, tmp_path):
    session = replace(world.session, simulated=False)
    world.begin(tmp_path)
    world.clean(tmp_path, *labels[:2])
    check(session, tmp_path)
    polygon = [[75, 45], [105, 45], [105, 95], [75, 95]]
    path = tmp_path / "planes.json"
    path.write_text(json.dumps({"schema": 1, "regions": [{"name": "board", "points_px": polygon}]}))
    step = audit(session, tmp_path, planes=path)
    report = read_audit(tmp_path)
    assert "simulated" not in report
    assert report["planes"]["source"] == "given"
    assert step.figures["planar_residual_px"] == pytest.approx(SIGMA * np.sqrt(2 / np.pi), rel=0.1)
    assert not audit(session, tmp_path, planes=path).fresh
    assert io.read_image(drawn.picture(tmp_path)).ndim == 3
    found = audit(session, tmp_path)
    assert found.fresh
    assert read_audit(tmp_path)["planes"]["source"] == "found"
    assert found.figures["planar_regions"] >= 2


def test_a_second_source_is_compared(world, work, tmp_path):
    from depthgauge.geometry.disparity import depth_from_disparity

    pair = world.pairs["LR"]
    camera = pair.left.camera
    disparity = io.read_map(work / "check" / "disp_00.npy")
    depth = depth_from_disparity(
        disparity, camera.focal_px[0], pair.baseline_m, pair.rig().principal_offset_px
    )
    io.write_map(tmp_path / "depth.npy", depth + np.float32(0.002), quantity="depth")
    lens = {"focal_px": camera.focal_px, "centre_px": camera.centre_px, "size_px": camera.size_px}
    (tmp_path / "camera.json").write_text(json.dumps(lens))
    (tmp_path / "pose.json").write_text(json.dumps({"second_from_left": np.eye(4).tolist()}))
    files = {n: tmp_path / f for n, f in (("second_depth", "depth.npy"),
             ("second_camera", "camera.json"), ("second_pose", "pose.json"))}  # fmt: skip
    step = audit(replace(world.session, simulated=False), work, **files)
    assert step.figures["second_source"]["within_1cm_percent"] > 99.9
    assert step.figures["second_source"]["median_mm"] == pytest.approx(-2.0, abs=1e-3)
    drawn.picture(work)
    del files["second_pose"]
    step = audit(replace(world.session, simulated=False), work, **files)
    pose = read_audit(work)["second_source"]["pose"]
    # All depths are 2 mm larger, which a camera 2 mm farther back sees, too.
    assert np.allclose(pose["second_from_left"], np.eye(4), atol=0.02)
    assert any("was found from 3 common planes" in text for text in step.warnings)
    drawn.picture(work)
    audit(world.session, work)  # as the other tests expect it


def test_bad_input_is_one_sentence(world, work, tmp_path):
    with pytest.raises(Misuse, match="needs its depth map and its camera"):
        audit(world.session, work, second_depth=world.folder / "session.json")
    with pytest.raises(BadData, match="not done yet"):
        audit(world.session, tmp_path)
    with pytest.raises(Misuse, match=r"planes: is .*none\.json' but must be a file that exists"):
        audit(world.session, work, planes=tmp_path / "none.json")


def test_no_planes_is_a_warning(world, tmp_path):
    session = replace(world.session, simulated=False)
    world.begin(tmp_path)
    rough = np.random.default_rng(0).uniform(4, 12, (150, 200)).astype(np.float32)
    world.clean(tmp_path, rough, rough)
    check(session, tmp_path)
    step = audit(session, tmp_path)
    assert step.figures["planar_residual_px"] is None
    assert any("no planar region" in warning for warning in step.warnings)
    drawn.picture(tmp_path)


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (30.0, 60.0, "too small: 30 and 60 %"),
        (68.0, 95.0, None),
        (68.0, 80.0, "too small: 68 and 80 %"),
        (95.0, 99.0, "too large: 95 and 99 %"),
    ],
)
@pytest.mark.parametrize("pair", ["balanced", "unbalanced"])
def test_error_bars_that_are_off_are_said(one, two, said, pair):
    from depthgauge.capture.audit.step import _worries

    bars = {"error_bars": {"within_1_sigma_percent": one, "within_2_sigma_percent": two}}
    true = bars if pair == "balanced" else {"unbalanced": bars}
    kept = {"error_bars": {"outside": []}, "planes": {"regions": [1]}}
    found = _worries({**kept, "simulated": true})
    assert [said in text for text in found] == ([True] if said else [])
    assert all(("unbalanced" in text) == (pair == "unbalanced") for text in found)
    assert not _worries(kept)
    outside = {"outside": ["1 pattern"], "statement": "the error bars cannot be promised"}
    assert _worries({**kept, "error_bars": outside}) == ["the error bars cannot be promised."]
