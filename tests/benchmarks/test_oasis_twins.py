"""Three twins of OASIS against the authors' own code, and against hand-made numbers.

princeton-vl/oasis 5835d24; tests/golden/oasis holds the generator of the inputs and what the code
said of them. The tolerances are those of its README.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import depthgauge as dg
from depthgauge.benchmarks import find_benchmark
from depthgauge.benchmarks.twins import TWINS, oasis_depth
from depthgauge.datasets.oasis import write, write_estimate
from depthgauge.engine.running.run import score_folder
from depthgauge.engine.scoring.check import check_estimates
from depthgauge.errors import BadProtocol, NothingScored
from depthgauge.types import Camera, Estimate, Inputs, Sample, Truth

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "oasis"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
DEPTH, NORMALS = "oasis-depth-toolkit", "oasis-normals-toolkit"
RELATIVE = "oasis-relative-normals-toolkit"
NAMES = {"lsiv": "LSIV_mean_of_squares", "lsiv_root": "LSIV_sqrt", "wkdr": "WKDR"}
ANGLES = {
    "mean": "mean",
    "median": "median",
    "within:11.25": "below_11_25",
    "within:22.5": "below_22_5",
    "within:30": "below_30",
}


@pytest.fixture(scope="session")
def golden(tmp_path_factory) -> Path:
    """The inputs that the authors' code was run on; the plain depth as a submission of its own."""
    out = tmp_path_factory.mktemp("golden") / "oasis"
    subprocess.run([sys.executable, GOLDEN / "make_inputs.py", out], check=True)
    shutil.copytree(out / "pred/depth_plain", out / "plain/depth")
    return out


def with_options(name, **changed):
    protocol = find_benchmark(name)
    return protocol.model_copy(update={"options": {**protocol.options, **changed}})


def test_the_inputs_are_those_that_the_code_saw(golden):
    assert (golden / "DIGEST.txt").read_text().strip() == EXPECTED["inputs_digest"]


# --- depth ----------------------------------------------------------------------------------------


def agrees(found, numbers, *, rel, pairs):
    assert found["lsiv"].value == pytest.approx(numbers["LSIV_mean_of_squares"], rel=rel)
    assert found["lsiv_root"].value == pytest.approx(numbers["LSIV_sqrt"], rel=rel)
    # Up to one pair, where the resampling rounds differently.
    assert found["wkdr"].value == pytest.approx(numbers["WKDR"], abs=100 / pairs if pairs else 1e-6)


def test_depth_with_its_own_focal_length(golden):
    result = dg.evaluate(DEPTH, golden, golden / "pred")
    expected = EXPECTED["depth"]["val_pred_focal"]
    agrees(result.summary, expected, rel=1e-4, pairs=expected["n_pairs"])
    assert list(result.samples) == ["0031", "0032", "0033"]
    for image, numbers in expected["per_image"].items():
        found = result.samples[image]
        agrees(found, numbers, rel=1e-4, pairs=numbers["n_pairs"])
        assert found["lsiv"].count == numbers["n_pixel"]
        assert found["wkdr"].count == numbers["n_pairs"]
        assert found["lsiv"].total == pytest.approx(numbers["loss_sum"], rel=1e-4)
    assert any(text.startswith("0034: has no depth file") for text in result.left_out)
    assert result.failed == {}
    json.dumps(result.to_json(), allow_nan=False)


def test_plain_depth_with_one_focal_length(golden):
    result = dg.evaluate(with_options(DEPTH, focal_px=500.0), golden, golden / "plain")
    agrees(result.summary, EXPECTED["depth"]["val_plain_fixed_focal_500"], rel=1e-5, pairs=0)


def test_ties_of_the_stand_alone_module(golden):
    module = with_options(DEPTH, focal_px=500.0, ties="closer")
    result = dg.evaluate(module, golden, golden / "plain")
    expected = EXPECTED["depth"]["val_plain_eval_relative_depth_module"]
    assert result.summary["wkdr"].value == pytest.approx(expected["WKDR"], abs=1e-6)
    depth = np.full((16, 12), 3, np.float32)
    depth[2, 3], depth[7, 1] = 4, 1
    pairs = np.int32(
        [[3, 2, 9, 9, 1], [1, 7, 0, 0, -1], [4, 4, 5, 5, 1], [6, 6, 8, 8, -1], [3, 2, 1, 7, -1]]
    )
    five = EXPECTED["depth"]["five_pairs"]
    published = oasis_depth.ordered_pairs(depth, pairs, {"ties": "wrong"})
    assert published == (five["valid2_correct"], five["n"])
    alone = oasis_depth.ordered_pairs(depth, pairs, {"ties": "closer"})
    assert alone == (five["module_correct"], five["n"])


def test_more_surfaces_than_8_bits_hold(golden, tmp_path):
    shutil.copytree(golden / "OASIS_trainval", tmp_path / "OASIS_trainval")
    shutil.copy(golden / "OASIS_many.csv", tmp_path / "OASIS_val.csv")
    result = dg.evaluate(DEPTH, tmp_path, golden / "pred")
    expected = EXPECTED["depth"]["many_components"]
    assert result.summary["lsiv"].value == pytest.approx(expected["LSIV_mean_of_squares"], rel=1e-5)
    assert result.samples["0088"]["lsiv"].count == expected["n_pixel"] == 299 * 20
    assert "0088@relative_depth" in result.left_out
    clean = dg.evaluate(with_options(DEPTH, surface_ids="32 bits"), tmp_path, golden / "pred")
    assert clean.samples["0088"]["lsiv"].count == 300 * 20
    assert clean.summary["lsiv"].value < 0.6 * result.summary["lsiv"].value


def test_plain_depth_without_a_focal_length_names_the_file(golden):
    with pytest.raises(NothingScored, match=r"depth/0031\.npy: holds depth without a focal length"):
        dg.evaluate(DEPTH, golden, golden / "plain")


def test_a_focal_length_from_the_command_line(golden, tmp_path):
    arguments = ["score", DEPTH, "--data", golden, "--estimates", golden / "plain", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "depthgauge", *map(str, arguments), "--focal", "500"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    value = json.loads(done.stdout)["summary"]["lsiv_root"]
    assert value == pytest.approx(EXPECTED["depth"]["val_plain_fixed_focal_500"]["LSIV_sqrt"])


def test_a_kept_run_has_the_same_numbers(golden, tmp_path):
    for name, folder in ((DEPTH, "pred"), (NORMALS, "pred"), (RELATIVE, "pred")):
        run = score_folder(name, golden, golden / folder, tmp_path / name, workers=0)
        (result,) = run.results.values()
        direct = dg.evaluate(name, golden, golden / folder)
        assert result.to_json()["summary"] == direct.to_json()["summary"]


# --- normals --------------------------------------------------------------------------------------


def test_normals(golden):
    result = dg.evaluate(NORMALS, golden, golden / "pred")
    expected = EXPECTED["normals"]
    for score, name in ANGLES.items():
        tolerance = 1e-9 if score.startswith("within") else 1e-4
        found = result.summary[score].value
        assert found == pytest.approx(expected[name], abs=tolerance), score
        for image, numbers in expected["per_image"].items():
            value = result.samples[image][score].value
            assert value == pytest.approx(numbers[name], abs=tolerance), (image, score)
    assert list(result.samples) == ["0031", "0033", "0034"]
    assert sum(found["mean"].count for found in result.samples.values()) == expected["n_pixels"]
    assert any(text.startswith("0032: has no normals file") for text in result.left_out)


def test_relative_normals(golden):
    result = dg.evaluate(RELATIVE, golden, golden / "pred")
    expected = EXPECTED["relative_normals"]
    assert result.summary["ap_parallel"].value == pytest.approx(expected["AP_parallel"], abs=1e-6)
    orthogonal = result.summary["ap_orthogonal"].value
    assert orthogonal == pytest.approx(expected["AP_perpendicular"], abs=1e-6)
    counts = expected["counts"]
    used = {
        name: sum(found[name].count for found in result.samples.values())
        for name in ("ap_parallel", "ap_orthogonal")
    }
    assert used["ap_parallel"] == counts["parallel"] + counts["neither"]
    assert used["ap_orthogonal"] == counts["perpendicular"] + counts["neither"]
    assert len(result.samples) == 4


def test_our_own_axes_give_the_same(golden, tmp_path):
    for path in (golden / "pred/normals").glob("*.npy"):
        (tmp_path / path.stem).mkdir()
        np.save(tmp_path / path.stem / "normals.npy", np.load(path) * np.float32([1, 1, -1]))
    for name in (NORMALS, RELATIVE):
        ours, theirs = (dg.evaluate(name, golden, e) for e in (tmp_path, golden / "pred"))
        assert ours.to_json()["summary"] == theirs.to_json()["summary"]


# --- what the benchmarks say ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "twin", "ids"),
    [
        (DEPTH, "oasis_depth", ("lsiv", "lsiv_root", "wkdr")),
        (NORMALS, "oasis_normals", tuple(ANGLES)),
        (RELATIVE, "oasis_relative_normals", ("ap_parallel", "ap_orthogonal")),
    ],
)
def test_ids_directions_and_options(name, twin, ids):
    protocol = find_benchmark(name)
    assert tuple(protocol.score_ids) == ids
    assert protocol.better(ids[0]) == ("higher" if name == RELATIVE else "lower")
    if name == NORMALS:
        assert protocol.better("within:11.25") == "higher"
    assert TWINS[twin].options({}) == protocol.options
    assert protocol.main_score in ids
    with pytest.raises(BadProtocol, match="no option 'focal'"):
        with_options(name, focal=3)


@pytest.mark.parametrize("focal", [-1, math.nan, math.inf, "wide", True])
def test_focal_lengths_that_are_none(focal):
    with pytest.raises(BadProtocol, match=r"option 'focal_px' is .* must be a number of px"):
        with_options(DEPTH, focal_px=focal)


def test_another_focal_length_is_another_protocol():
    assert with_options(DEPTH, focal_px=500).hash != find_benchmark(DEPTH).hash
    assert with_options(DEPTH, focal_px=0).hash == find_benchmark(DEPTH).hash


# --- by hand --------------------------------------------------------------------------------------

SIZE = (9, 12)
FOCAL = 20.0


def points(depth, focal_px=FOCAL):
    """As the convention has it."""
    y, x = np.mgrid[0 : SIZE[0], 0 : SIZE[1]].astype(np.float64)
    return np.stack([(x - 6) / focal_px * depth, (y - 4.5) / focal_px * depth, depth], axis=2)


def fitted(one, other):
    """What is left after the best scale and shift along z, by general least squares."""
    n = len(one)
    shift = np.zeros((n, 3))
    shift[:, 2] = 1
    system = np.stack([one.ravel(), shift.ravel()], axis=1)
    solution = np.linalg.lstsq(system, other.ravel(), rcond=None)[0]
    return float(((system @ solution - other.ravel()) ** 2).sum())


@pytest.fixture
def score(tmp_path):
    """Scores of one image of which truth and estimate are given."""

    def scores(name, truth, estimate, **options):
        quantity = "depth" if name == DEPTH else "normals"
        given_truth = {"camera": Camera((FOCAL, FOCAL), (6.0, 4.5), SIZE[::-1]), **truth}
        image = np.zeros((*SIZE, 3), np.uint8)
        sample = Sample("x", Inputs({"left_image": image}), Truth(given_truth))
        write(tmp_path, [sample], overwrite=True)
        shutil.rmtree(tmp_path / "estimates", ignore_errors=True)
        parts = {"focal_px": options.pop("own_px", FOCAL)}
        write_estimate(tmp_path / "estimates", "x", Estimate(estimate, quantity, parts))
        return dg.evaluate(with_options(name, **options), tmp_path, tmp_path / "estimates")

    return scores


def surfaces():
    """Two surfaces with a gap, and an island that is too small."""
    depth = np.random.default_rng(4).uniform(1, 3, SIZE).astype(np.float32)
    depth[:, 5] = np.nan
    depth[:, 8:] = np.nan
    depth[2:5, 9:12] = 2
    return depth, np.ones(SIZE, np.int32)


def reference(truth, estimate, estimate_px=FOCAL):
    known = np.isfinite(truth)
    known[:, 8:] = False  # 9 px, fewer than 10
    true, other = points(truth), points(estimate, estimate_px)
    true = true / np.std(true[known][:, 0], ddof=1)
    parts = [np.isfinite(truth) & (np.arange(12) < 5), known & (np.arange(12) > 5)]
    total = sum(fitted(other[part], true[part]) for part in parts)
    return total / known.sum(), int(known.sum())


@pytest.mark.parametrize("own_px", [20.0, 47.5])
def test_lsiv_is_the_best_fit_of_each_surface(score, own_px):
    truth, labels = surfaces()
    estimate = np.random.default_rng(5).uniform(1, 3, SIZE).astype(np.float32)
    result = score(DEPTH, {"depth": truth, "continuous_labels": labels}, estimate, own_px=own_px)
    value, count = reference(truth, estimate, own_px)
    found = result.samples["x"]
    assert found["lsiv"].count == count == 63
    assert found["lsiv"].value == pytest.approx(value, rel=1e-6)
    assert found["lsiv_root"].value == pytest.approx(math.sqrt(value), rel=1e-6)
    assert "x@relative_depth" in result.left_out
    assert "wkdr" not in result.summary


@given(st.floats(0.2, 5), st.floats(0.1, 9))
def test_a_scale_of_each_surface_costs_nothing(first, second):
    truth, _ = surfaces()
    estimate = truth * np.where(np.arange(12) < 5, first, second).astype(np.float32)
    given_truth = np.where(np.isfinite(truth), truth, -1).astype(np.float32)
    options = TWINS["oasis_depth"].options({})
    found = oasis_depth.SizedDepth(np.nan_to_num(estimate, nan=1.0), FOCAL)
    total, count = oasis_depth.surface_squares(found, given_truth, FOCAL, options)
    assert count == 63
    assert total == pytest.approx(0, abs=1e-9)


def test_an_orthographic_estimate_is_not_divided(score):
    truth, labels = surfaces()
    estimate = np.random.default_rng(5).uniform(1, 3, SIZE).astype(np.float32)
    result = score(DEPTH, {"depth": truth, "continuous_labels": labels}, estimate, own_px=2e8)
    y, x = np.mgrid[0 : SIZE[0], 0 : SIZE[1]].astype(np.float64)
    known = np.isfinite(truth)
    known[:, 8:] = False
    other = np.stack([x - 6, y - 4.5, estimate], axis=2)
    true = points(truth) / np.std(points(truth)[known][:, 0], ddof=1)
    parts = [known & (np.arange(12) < 5), known & (np.arange(12) > 5)]
    value = sum(fitted(other[part], true[part]) for part in parts) / known.sum()
    assert result.summary["lsiv"].value == pytest.approx(value, rel=1e-6)


def test_a_smaller_estimate_has_a_longer_focal_length(score):
    truth, labels = surfaces()
    small = np.full((3, 6), 2, np.float32)
    result = score(DEPTH, {"depth": truth, "continuous_labels": labels}, small, own_px=10.0)
    # A flat estimate of mean(9 / 3, 12 / 6) * 10 = 25 px.
    value, _ = reference(truth, np.full(SIZE, 2.0), 25.0)
    assert result.summary["lsiv"].value == pytest.approx(value, rel=1e-6)
    fixed = score(
        DEPTH, {"depth": truth, "continuous_labels": labels}, small, own_px=10.0, focal_px=17.0
    )
    value, _ = reference(truth, np.full(SIZE, 2.0), 17.0)
    assert fixed.summary["lsiv"].value == pytest.approx(value, rel=1e-6)


def test_wkdr_by_hand(score):
    truth, labels = surfaces()
    pairs = np.int32([[0, 0, 1, 0, 1], [0, 0, 2, 0, 1], [0, 0, 3, 0, 1], [0, 0, 4, 0, -1]])
    estimate = np.full(SIZE, 2, np.float32)
    estimate[0, :5] = 3, 1, 5, 3, np.nan  # right, wrong, a tie, missing
    items = {"depth": truth, "continuous_labels": labels, "relative_depth": pairs}
    result = score(DEPTH, items, estimate)
    assert result.summary["wkdr"].value == pytest.approx(75, abs=1e-5)
    assert result.samples["x"]["wkdr"].count == 4
    # The same NaN is in a surface, and spreads.
    assert math.isnan(result.summary["lsiv"].value)


def test_a_sample_that_fails_leaves_no_summary(golden, tmp_path):
    shutil.copytree(golden / "pred/depth", tmp_path / "depth")
    (tmp_path / "depth/0032.npy").write_bytes(b"damaged")
    result = dg.evaluate(DEPTH, golden, tmp_path)
    assert list(result.failed) == ["0032"]
    assert math.isnan(result.summary["lsiv"].value)
    assert result.samples["0031"]["lsiv"].value > 0


def tilted(degrees):
    """Normals that are turned away from the viewer's direction."""
    angle = np.radians(np.asarray(degrees, np.float64))
    return np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=-1).astype(np.float32)


def test_angles_by_hand(score):
    angles = np.zeros(SIZE)
    angles[0, :6] = 5, 11.24, 22.51, 29, 31, 180
    truth = np.full((*SIZE, 3), np.nan, np.float32)
    truth[0, :6] = (0, 0, -1)
    result = score(NORMALS, {"normals": truth}, 3 * tilted(angles))
    found = {name: summary.value for name, summary in result.summary.items()}
    assert found["mean"] == pytest.approx((5 + 11.24 + 22.51 + 29 + 31 + 180) / 6, abs=1e-4)
    assert found["median"] == pytest.approx((22.51 + 29) / 2, abs=1e-4)
    assert [found[f"within:{t}"] for t in ("11.25", "22.5", "30")] == pytest.approx(
        [100 / 3, 100 / 3, 400 / 6]
    )


def test_an_estimate_without_a_normal_is_refused(score):
    truth = np.full((*SIZE, 3), np.nan, np.float32)
    truth[0, :6] = (0, 0, -1)
    estimate = tilted(np.zeros(SIZE))
    estimate[0, 1] = 0
    estimate[5, 5] = 0  # outside of the region
    with pytest.raises(NothingScored, match="1 pixels of the region have no normal"):
        score(NORMALS, {"normals": truth}, estimate)


def average(scores, right):
    """Average precision, written as the sum over the positives with ties taken together."""
    total = 0.0
    for positive in scores[right]:
        above = scores >= positive
        total += (above & right).sum() / above.sum()
    return total / right.sum()


def test_relations_by_hand(score):
    rng = np.random.default_rng(6)
    estimate = tilted(rng.integers(0, 36, SIZE) * 10)
    pairs = np.stack([rng.integers(0, n, 80) for n in (12, 9, 12, 9)], axis=1)
    relation = rng.integers(0, 3, 80)
    items = {"relative_normals": np.c_[pairs, relation].astype(np.int32)}
    result = score(RELATIVE, items, estimate)
    xa, ya, xb, yb = pairs.T
    cosine = np.clip((estimate[ya, xa] * estimate[yb, xb]).sum(axis=1).astype(np.float64), -1, 1)
    angle = np.round(np.degrees(np.arccos(cosine)), 3)
    for name, error, of in (
        ("ap_parallel", np.minimum(angle, 180 - angle), 1),
        ("ap_orthogonal", abs(angle - 90), 2),
    ):
        taken = (relation == of) | (relation == 0)
        expected = average(-error[taken], relation[taken] == of)
        # Ties in whole degrees are no ties in floats: that may move a few places.
        assert result.summary[name].value == pytest.approx(expected, abs=0.08)
    assert math.isnan(result.samples["x"]["ap_parallel"].value)
    assert result.samples["x"]["ap_parallel"].level == "dataset"


def test_facing_the_viewer_everywhere_ranks_nothing(score):
    items = {"relative_normals": np.int32([[0, 0, i % 12, 1, i % 3] for i in range(30)])}
    result = score(RELATIVE, items, tilted(np.zeros(SIZE)))
    assert result.summary["ap_parallel"].value == pytest.approx(0.5)
    assert result.summary["ap_orthogonal"].value == pytest.approx(0.5)


# --- checking before scoring ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [DEPTH, NORMALS, RELATIVE])
def test_a_good_folder_has_no_findings(golden, name):
    assert check_estimates(name, golden, golden / "pred") == []
    assert check_estimates(name, None, golden / "pred") == []


def test_what_is_wrong_with_depth(golden, tmp_path):
    shutil.copytree(golden / "pred/depth", tmp_path / "depth")
    np.save(tmp_path / "depth/0031.npy", np.float32([[1, np.nan], [0, 2]]))
    (tmp_path / "depth/0032.npy").unlink()
    found = check_estimates(DEPTH, golden, tmp_path)
    assert [f.problem for f in found if f.sample == "0031"] == [
        "0031.npy has no focal length.",
        "1 pixels of 0031.npy are NaN or infinite.",
    ]
    assert [f.problem for f in found if f.sample == "0032"] == ["there is no estimate."]
    assert {f.sample for f in found} == {"0031", "0032"}
    wrong = {"pred_depth": np.ones((2, 2), np.float32), "focal": 3.0}
    np.save(tmp_path / "depth/0031.npy", np.array(wrong, dtype=object))
    np.save(tmp_path / "depth/0032.npy", np.ones((2, 2, 3), np.float32))
    np.save(tmp_path / "0033.npy", np.ones((2, 2), np.float32))
    found = {f.sample: f.problem for f in check_estimates(DEPTH, golden, tmp_path)}
    assert "expected a dict with pred_depth, pred_focal, found pred_depth, focal" in found["0031"]
    assert "is it another quantity" in found["0032"]
    assert "has 2 estimates" in found["0033"]
    negative = {"pred_depth": -np.ones((2, 2), np.float32), "pred_focal": 3.0}
    np.save(tmp_path / "depth/0031.npy", np.array(negative, dtype=object))
    (first, *_) = check_estimates(DEPTH, golden, tmp_path)
    assert "not positive" in first.problem
    assert not first.serious


def test_what_is_wrong_with_normals(golden, tmp_path):
    shutil.copytree(golden / "pred/normals", tmp_path / "normals")
    values = np.load(tmp_path / "normals/0031.npy")
    values[3, 4] = 0
    values[5, 6] = np.nan
    np.save(tmp_path / "normals/0031.npy", values)
    away = np.load(tmp_path / "normals/0033.npy") * np.float32([1, 1, -1])
    np.save(tmp_path / "normals/0033.npy", away)
    np.save(tmp_path / "normals/0034.npy", values[..., :2])
    found = {f.sample: f for f in check_estimates(NORMALS, golden, tmp_path)}
    assert found["0031"].problem.startswith("2 pixels of 0031.npy have no normal")
    assert "point away from the viewer" in found["0033"].problem
    assert not found["0033"].serious
    assert "(270, 360, 2)" in found["0034"].problem
    assert set(found) == {"0031", "0033", "0034"}


def test_an_empty_folder(tmp_path, golden):
    (only,) = check_estimates(DEPTH, None, tmp_path)
    assert only.problem == "there is no depth/<id>.npy in it."
    assert len(check_estimates(RELATIVE, golden, tmp_path)) == 4
