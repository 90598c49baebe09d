"""The twins of monocular depth against the public programs, and rules by hand.

tests/golden/mono_depth holds the generator of the inputs, what each program (BTS, monodepth2,
Marigold, MiDaS' class, DIODE's kit, ZoeDepth, Depth Anything V2, Metric3D, Depth Pro, iBims) said
of them, and the commits.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.benchmarks import find_benchmark
from depthgauge.benchmarks.twins import TWINS
from depthgauge.benchmarks.twins.monocular import fit
from depthgauge.datasets.monocular.mattes import read_matte
from depthgauge.engine.catalogue import describe
from depthgauge.engine.scoring.check import check_estimates
from depthgauge.errors import BadProtocol, NothingScored
from depthgauge.io import write_map
from depthgauge.types import Inputs, Sample, Truth

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "mono_depth"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
RESULTS = EXPECTED["results"]
DISPARITY = {"align": "least_squares_disparity"}
NYU, KITTI, INDOOR = ("nyu/gt", "nyu/"), ("kitti/gt", "kitti/"), ("indoor/gt", "indoor/")

RUNS = {
    "bts_nyu_eigen_crop": ("nyu-bts-toolkit", NYU, "metric", {}),
    "bts_nyu_no_crop": ("nyu-bts-toolkit", NYU, "metric", {"crop": "none"}),
    "bts_kitti_garg_crop": ("kitti-eigen-bts-toolkit", KITTI, "kb", {}),
    "bts_kitti_eigen_crop": ("kitti-eigen-bts-toolkit", KITTI, "kb", {"crop": "eigen"}),
    "monodepth2_disp_small_median": ("kitti-eigen-monodepth2-toolkit", KITTI, "disp_small", {}),
    "monodepth2_disp_full_median": ("kitti-eigen-monodepth2-toolkit", KITTI, "disp_full", {}),
    "monodepth2_disp_full_stereo": (
        "kitti-eigen-monodepth2-toolkit",
        KITTI,
        "disp_full",
        {"align": "factor", "align_factor": 5.4},
    ),
    "monodepth2_disp_full_benchmark_split": (
        "kitti-eigen-monodepth2-toolkit",
        KITTI,
        "disp_full",
        {"truth_valid": "positive", "crop": "none"},
    ),
    "marigold_nyu_least_square": ("nyu-marigold-toolkit", NYU, "affine", {}),
    "marigold_kitti_least_square_eigen": ("kitti-eigen-marigold-toolkit", KITTI, "kb", {}),
    "marigold_kitti_least_square_garg": (
        "kitti-eigen-marigold-toolkit",
        KITTI,
        "kb",
        {"crop": "garg"},
    ),
    "marigold_indoor_none": ("scannet-marigold-toolkit", INDOOR, "metric", {"align": "none"}),
    "marigold_indoor_least_square": ("scannet-marigold-toolkit", INDOOR, "affine", {}),
    "marigold_indoor_least_square_max_res_64": (
        "scannet-marigold-toolkit",
        INDOOR,
        "affine",
        {"align_max_res": 64},
    ),
    "marigold_indoor_least_square_disparity": (
        "scannet-marigold-toolkit",
        INDOOR,
        "disparity",
        DISPARITY,
    ),
    "marigold_diode_least_square": ("diode-marigold-toolkit", ("diode", ""), "diode:affine", {}),
    "marigold_diode_none": (
        "diode-marigold-toolkit",
        ("diode", ""),
        "diode:metric",
        {"align": "none"},
    ),
    "midas_bad_pixel_indoor_disparity": ("nyu-midas-toolkit", INDOOR, "disparity", {}),
    "diode_devkit_metric": ("diode-toolkit", ("diode", ""), "diode:metric", {}),
    "zoedepth_nyu_half_size": ("nyu-zoedepth-toolkit", NYU, "half", {}),
    "zoedepth_nyu_odd_values": ("nyu-zoedepth-toolkit", NYU, "odd", {}),
    "depth_anything_v2_eval_depth": ("nyu-depth-anything-v2-toolkit", NYU, "metric", {}),
    "metric3d_functions": ("nyu-metric3d-toolkit", NYU, "metric", {"crop": "none"}),
    "ibims_estimate": ("ibims-toolkit", ("ibims", "ibims/"), "estimate", {}),
    "ibims_smooth": ("ibims-toolkit", ("ibims", "ibims/"), "smooth", {}),
}
ELSEWHERE = {"marigold_alignment", "depth_pro_boundary"}


@pytest.fixture(scope="session")
def golden(tmp_path_factory):
    """The inputs that the programs were run on."""
    out = tmp_path_factory.mktemp("golden") / "mono_depth"
    subprocess.run([sys.executable, GOLDEN / "make_inputs.py", out], check=True)
    return out


def changed(name, **options):
    protocol = find_benchmark(name)
    return protocol.model_copy(update={"options": {**protocol.options, **options}})


def score(golden, run, **more):
    name, (data, base), place, options = RUNS[run]
    protocol = changed(name, **options)
    if run.startswith("midas"):  # the class was run on pictures of other sizes
        protocol = protocol.model_copy(update={"dataset": "scannet", "split": "all"})
    folder, _, method = place.partition(":")
    only = list(map(sample_of, RESULTS[run]["per_image"]))
    estimates = golden / f"{base}{folder}"
    return dg.evaluate(protocol, golden / data, estimates, name=method or None, only=only, **more)


def sample_of(image):
    return image.removesuffix(".png").replace("_rgb_", "_")


def test_the_inputs_are_those_that_the_programs_saw(golden):
    assert (golden / "DIGEST.txt").read_text().strip() == EXPECTED["inputs_digest"]


def test_every_run_of_a_program_is_compared():
    assert {*RUNS, *ELSEWHERE} == set(RESULTS)


@pytest.mark.parametrize("run", RUNS)
def test_agrees_with_the_program(golden, run):
    result = score(golden, run, check=False)
    expected = RESULTS[run]
    assert set(map(sample_of, expected["per_image"])) == set(result.samples)
    for image, numbers in expected["per_image"].items():
        found = result.samples[sample_of(image)]
        for column, value in numbers.items():
            if column == "valid_pixels":
                assert {score.count for score in found.values()} == {value}
            elif not column.startswith("pe_"):
                agrees(run, column, found[column].value, float(value), found[column].count)
    for column, value in expected["mean"].items():
        agrees(run, column, result.summary[column].value, value, 1e5)
    if run == "ibims_estimate":
        planes_are_one_mean(result)


def agrees(run, column, mine, theirs, pixels):
    """The tolerances of tests/golden/mono_depth/README.md."""
    if math.isnan(theirs):
        assert math.isnan(mine), column
    elif column.startswith(("delta", "bad_delta")):
        few = 3 if run == "zoedepth_nyu_half_size" else 1
        unit = 100 if column.startswith("bad") else 1
        assert mine == pytest.approx(theirs, abs=unit * (few / pixels + 1e-7)), column
    else:
        rel = 1e-6 if run.startswith("ibims") else 1e-5
        assert mine == pytest.approx(theirs, rel=rel), column


def planes_are_one_mean(result):
    """pe_*: not the mean over pictures."""
    for column in ("pe_fla", "pe_ori"):
        planes = [
            float(value)
            for image in RESULTS["ibims_estimate"]["per_image"].values()
            for name, values in image.items()
            if name.startswith(column)
            for value in values
            if value != "NaN"
        ]
        assert result.summary[column].value == pytest.approx(np.mean(planes), rel=1e-6)
        by_picture = np.mean([found[column].value for found in result.samples.values()])
        assert result.summary[column].value != pytest.approx(by_picture, rel=1e-3)


def test_marigolds_scale_and_shift(golden):
    for name, expected in RESULTS["marigold_alignment"].items():
        sample, _, kind = name.partition("_")
        options = {"max_res_64": {"align_max_res": 64}, "disparity": DISPARITY}.get(kind, {})
        options = changed("scannet-marigold-toolkit", **options).resolved()["options"]
        folder = "disparity" if kind == "disparity" else "affine"
        values = np.load(golden / "indoor" / folder / f"{sample}.npy").astype(float)
        truth = dg.read_map(golden / "indoor" / "gt" / f"{sample}.png", "depth", scale=1000)
        truth = np.nan_to_num(truth)
        scale, shift = fit(values, truth, (truth > 1e-3) & (truth < 10), options)
        assert scale == pytest.approx(expected["scale"], rel=1e-5)
        assert shift == pytest.approx(expected["shift"], rel=1e-5)


@pytest.mark.parametrize("image", ["0", "1"])
def test_depth_pros_boundaries(golden, image):
    twin = TWINS["depth_pro"]
    depth = np.load(golden / "boundary" / f"{image}_gt.npy")
    matte = read_matte(golden / "boundary" / f"{image}_mask.png")
    sample = Sample(image, Inputs({}), Truth({"depth": depth, "matte_mask": matte}))
    path = golden / "boundary" / f"{image}_estimate.npy"
    found = {}
    for kind in ("f1", "recall"):
        found |= twin.evaluate(sample, path, twin.options({"score": kind})).scores
    expected = RESULTS["depth_pro_boundary"]["per_image"][image]
    assert {name: s.value for name, s in found.items()} == pytest.approx(expected, abs=1e-9)


def test_two_of_our_benchmarks_agree_with_two_programs(golden):
    """Without missing pixels, zero-shot scores are Marigold's and MiDaS' own."""
    ours = dg.evaluate("mono-zero-shot-nyu", golden / "nyu/gt", golden / "nyu/affine")
    theirs = RESULTS["marigold_nyu_least_square"]["mean"]
    assert ours.summary["absrel@all"].value == pytest.approx(theirs["abs_rel"], rel=1e-5)
    assert ours.summary["delta:1.25@all"].value == pytest.approx(100 * theirs["delta1"], abs=1e-3)
    ours = dg.evaluate("mono-zero-shot-kitti", golden / "kitti/gt", golden / "kitti/kb")
    theirs = RESULTS["marigold_kitti_least_square_eigen"]["mean"]
    assert ours.summary["absrel@all"].value == pytest.approx(theirs["abs_rel"], rel=1e-5)
    inverse = find_benchmark("mono-zero-shot-scannet")
    estimate = {**inverse.estimate.model_dump(exclude_unset=True), "inverse": True}
    inverse = inverse.model_copy(update={"estimate": estimate})
    ours = dg.evaluate(inverse, golden / "indoor/gt", golden / "indoor/disparity")
    bad = RESULTS["midas_bad_pixel_indoor_disparity"]["mean"]["bad_delta1"]
    assert ours.summary["delta:1.25@all"].value == pytest.approx(100 - bad, abs=0.01)


# --- by hand ------------------------------------------------------------------------------------


def by_hand(tmp_path, mine, truth, name="nyu-bts-toolkit", **options):
    path = tmp_path / "a.npy"
    np.save(path, np.asarray(mine, np.float32))
    sample = Sample("a", Inputs({}), Truth({"depth": np.asarray(truth, np.float32)}))
    twin = TWINS["monocular"]
    chosen = twin.options({**find_benchmark(name).options, "crop": "none", **options})
    return {k: s.value for k, s in twin.evaluate(sample, path, chosen).scores.items()}


def test_limits_are_open_and_only_estimates_are_clipped(tmp_path):
    found = by_hand(tmp_path, [[0, 20, 5, 1]], [[10, 9, 5, np.nan]])
    # 10 m is out and so is NaN; 20 m becomes 10 m, which is within 1.25 of 9 m.
    assert found["delta1"] == 1
    assert found["abs_rel"] == pytest.approx((1 / 9) / 2)
    closed = by_hand(tmp_path, [[0, 20, 5, 1]], [[10, 9, 5, np.nan]], limits="closed")
    assert closed["delta1"] == pytest.approx(2 / 3)  # a missing estimate is 1 mm


def test_metric3d_counts_what_it_left_out_as_good(tmp_path):
    name = "nyu-metric3d-toolkit"
    found = by_hand(tmp_path, [[2, 9, 0, 0]], [[2, 2, 2, np.nan]], name)
    assert found["delta1"] == (1 + 2) / 2  # two valid pixels, one of them good, two zeros
    plain = by_hand(tmp_path, [[2, 9, 0, 0]], [[2, 2, 2, 2]], name, zero_estimates="plain")
    assert plain["delta1"] == 0.5


def test_a_ratio_of_exactly_the_limit_is_neither_good_nor_bad(tmp_path):
    name = "nyu-midas-toolkit"
    options = {"align": "none", "columns": ["bad_delta1", "delta1"], "estimate": "depth"}
    found = by_hand(tmp_path, [[5, 4, 6]], [[4, 4, 4]], name, **options)
    assert found == {"bad_delta1": pytest.approx(100 / 3), "delta1": pytest.approx(1 / 3)}


def test_a_constant_estimate_is_the_cap_in_midas_and_the_mean_in_marigold(tmp_path):
    truth = [[2.0, 4.0, 8.0]]
    found = by_hand(tmp_path, [[3, 3, 3]], truth, "nyu-midas-toolkit", columns=["mae"])
    assert found["mae"] == pytest.approx(np.mean(10 - np.array(truth)))
    found = by_hand(tmp_path, [[3, 3, 3]], truth, "nyu-marigold-toolkit", columns=["mae"])
    mean = np.mean(truth)
    assert found["mae"] == pytest.approx(np.abs(np.array(truth) - mean).mean())


def test_max_res_thins_columns_and_keeps_rows(tmp_path):
    rng = np.random.default_rng(1)
    truth = rng.uniform(1, 9, (40, 60)).astype(np.float32)
    values = rng.uniform(0, 1, (40, 60))
    options = TWINS["monocular"].options({"align": "least_squares", "align_max_res": 30})
    used = (np.arange(30) / 0.5).astype(int)
    expected = np.polyfit(values[:, used].ravel(), truth[:, used].ravel(), 1)
    assert fit(values, truth, truth > 0, options) == pytest.approx(tuple(expected))


def test_options_are_named_and_strict():
    assert changed("nyu-bts-toolkit", crop="none").hash != find_benchmark("nyu-bts-toolkit").hash
    with pytest.raises(BadProtocol, match="option 'crop' is 'gargle' but must be one of"):
        changed("nyu-bts-toolkit", crop="gargle")
    with pytest.raises(BadProtocol, match=r"no option 'cropp'\. Did you mean 'crop'"):
        changed("nyu-bts-toolkit", cropp="none")
    with pytest.raises(BadProtocol, match="'max_depth_m' is '-1' but must be a number"):
        changed("nyu-bts-toolkit", max_depth_m=-1)
    with pytest.raises(BadProtocol, match="'columns' has 'epe'; known: abs_rel"):
        changed("nyu-bts-toolkit", columns=["epe"])
    protocol = find_benchmark("nyu-bts-toolkit")
    assert protocol.better("delta1") == "higher"
    assert protocol.better("abs_rel") == "lower"


MONOCULAR = [
    name
    for name in dg.benchmarks.BENCHMARKS
    if name.endswith("-toolkit")
    and find_benchmark(name).twin in ("monocular", "ibims", "depth_pro")
]


@pytest.mark.parametrize("name", MONOCULAR)
def test_a_twin_says_whether_it_was_verified(name):
    (found,) = (each for each in describe(name) if each.kind == "benchmark")
    words = " ".join(found.text.split()).lower()
    said = ("verified against the", "from the documentation, not verified against the program")
    assert any(text in words for text in said), words


# --- folders ------------------------------------------------------------------------------------


def test_check_names_sizes_missing_files_and_the_wrong_level(golden):
    assert check_estimates("nyu-bts-toolkit", golden / "nyu/gt", golden / "nyu/metric") == []
    found = check_estimates(
        "kitti-eigen-bts-toolkit", golden / "kitti/gt", golden / "kitti/disp_small"
    )
    assert [finding.sample for finding in found] == sorted(
        map(sample_of, RESULTS["bts_kitti_garg_crop"]["per_image"])
    )
    assert "is 320x96 but must be 1216x352, or 1242x375" in found[0].problem
    found = check_estimates("nyu-marigold-toolkit", golden / "nyu/gt", golden / "nyu/odd")
    assert ["no estimate" in finding.problem for finding in found] == [True, True, False]
    assert "NaN or infinite" in found[2].problem
    (finding,) = check_estimates("nyu-bts-toolkit", golden / "nyu/gt", golden / "nyu")
    assert finding.problem.endswith(
        f"nyu has none of the 3 estimates, but {golden / 'nyu/affine'} has."
    )
    (finding,) = check_estimates("kitti-eigen", golden / "kitti/gt", golden / "kitti")
    assert "has none of the 3 estimates" in finding.problem
    (finding,) = check_estimates(
        "diode", golden / "diode", golden / "diode" / "indoors", name="metric"
    )
    assert finding.problem.endswith(f"but {golden / 'diode'} has.")
    with pytest.raises(NothingScored, match=r"at this level, but .*affine has one; give that"):
        dg.evaluate("nyu-depth", golden / "nyu/gt", golden / "nyu")


def test_a_picture_without_valid_truth_is_left_out(tmp_path):
    for name, value in (("a", 5.0), ("b", 20.0)):
        (tmp_path / "rooms" / name).mkdir(parents=True)
        depth = np.full((480, 640), value, np.float32)
        write_map(tmp_path / "rooms" / name / "depth_1.png", depth, "depth", scale=1000)
        (tmp_path / "mine").mkdir(exist_ok=True)
        np.save(tmp_path / "mine" / f"{name}_1.npy", np.full((480, 640), 5.0, np.float32))
    result = dg.evaluate("nyu-bts-toolkit", tmp_path / "rooms", tmp_path / "mine", check=False)
    assert list(result.samples) == ["a_1"]
    assert "too few pixels of the truth" in result.left_out[0]
