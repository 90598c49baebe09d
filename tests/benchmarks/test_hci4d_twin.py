"""The twin against the official toolkit's own numbers, and against hand-made ones.

lightfield-analysis/evaluation-toolkit f070f23; tests/golden/hci4d holds the generator of the inputs
and what the toolkit said of them, at two sizes. The small one is compared here, the full one is a
figure of the evidence.
"""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

import depthgauge as dg
from depthgauge import io
from depthgauge.benchmarks import find_benchmark, make_protocol
from depthgauge.benchmarks.twins import TWINS
from depthgauge.datasets.hci4d import write
from depthgauge.errors import BadProtocol, DepthgaugeError, NothingScored
from depthgauge.types import Inputs, Sample, Truth

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "hci4d"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
RELATIVE = ("mse_100", "background_mse_100")
"""Means that the toolkit takes in float32."""
SIDE = 40
"""Of small scenes: within the border there are 10x10 pixels, 100x100 at the high resolution."""
INNER = slice(15, 25)
HIGH_INNER = slice(150, 250)


@pytest.fixture(scope="session")
def golden(tmp_path_factory):
    """The small inputs that the toolkit was run on."""
    out = tmp_path_factory.mktemp("golden") / "hci4d"
    script = [sys.executable, GOLDEN / "make_inputs.py", out, "--small"]
    subprocess.run(script, check=True)
    return out


def test_the_inputs_are_those_that_the_toolkit_saw(golden):
    lines = [line.split() for line in (golden / "DIGEST.txt").read_text().splitlines()]
    assert {scene: digest for _, scene, digest in lines} == EXPECTED["inputs_digest"]["small_96"]


@pytest.mark.parametrize("kind", ["finite", "mixed"])
def test_agrees_with_the_official_toolkit(golden, kind):
    result = dg.evaluate("hci4d-toolkit", golden / "data", golden / f"submission_{kind}")
    expected = EXPECTED["results"]["small_96"][kind]
    assert set(result.samples) == set(expected)
    assert len(expected) == 6
    for scene, numbers in expected.items():
        found = {name: score.value for name, score in result.samples[scene].items()}
        assert set(found) == set(numbers)
        for name, value in numbers.items():
            relative = 2e-6 if name in RELATIVE else 0
            absolute = 1e-6 if name.startswith(("q_25", "bumpiness", "mae")) else 1e-9
            assert found[name] == pytest.approx(value, rel=relative, abs=absolute), (scene, name)
    assert result.left_out == ()


def test_every_id_of_the_toolkit_is_one_of_ours_and_none_is_more():
    toolkit = set(EXPECTED["notes"]) - {"sizes", "upsampling"}
    ids = find_benchmark("hci4d-toolkit").score_ids
    assert set(ids) == toolkit
    assert len(set(ids)) == len(ids)


def test_summaries_are_plain_means_over_the_scenes_that_have_the_number(golden):
    result = dg.evaluate("hci4d-toolkit", golden / "data", golden / "submission_mixed")
    body = result.to_json()
    expected = EXPECTED["results"]["small_96"]["mixed"]
    for name in ("badpix_0070", "discontinuities_0070", "missed_dots_50_0400", "runtime"):
        values = [numbers[name] for numbers in expected.values() if name in numbers]
        assert body["summary"][name] == pytest.approx(sum(values) / len(values))
        assert body["summary_counts"][name] == [len(values)] * 2
    json.dumps(body, allow_nan=False)


def test_the_number_of_threads_changes_no_bit(golden, on_threads):
    def scores():
        result = dg.evaluate("hci4d-toolkit", golden / "data", golden / "submission_mixed")
        return result.to_json()["samples"]

    one, *more = on_threads(scores)
    assert all(many == one for many in more)


def enlarged(values):
    """As the toolkit has it, by SciPy itself."""
    return ndimage.zoom(values, 10.0, order=0)


@pytest.fixture
def score(tmp_path):
    """Scores of one small scene whose truth and estimate are given."""

    def scores(estimate, name="mine", runtime=None, factor=10, options=None, **truth):
        size = (SIDE, SIDE)
        low = truth.pop("disparity", np.zeros(size, np.float32))
        high = truth.pop("high_disparity", np.kron(low, np.ones((factor, factor), np.float32)))
        inputs = {"parameters": io.LightFieldParameters(100.0, SIDE, SIDE, 35.0, 9, 9, 25.0, 4.25)}
        items = {"disparity": low, **truth}
        if high is not None:
            items["high_disparity"] = high
        data, estimates = tmp_path / "data", tmp_path / "estimates"
        write(data, [Sample(name, Inputs(inputs), Truth(items))], overwrite=True)
        (estimates / "disp_maps").mkdir(parents=True, exist_ok=True)
        with (estimates / "disp_maps" / f"{name}.pfm").open("wb") as file:
            file.write(b"Pf\n%d %d\n-1\n" % (SIDE, SIDE))
            file.write(np.ascontiguousarray(estimate[::-1], "<f4").tobytes())
        if runtime is not None:
            (estimates / "runtimes").mkdir(exist_ok=True)
            (estimates / "runtimes" / f"{name}.txt").write_text(runtime)
        protocol = find_benchmark("hci4d-toolkit")
        if options:
            protocol = protocol.model_copy(update={"options": options})
        result = dg.evaluate(protocol, data, estimates)
        scores.left_out = {text.partition("@")[2] for text in result.left_out}
        return result.samples[name]

    return scores


def test_hand_numbers_at_the_low_resolution(score):
    estimate = np.full((SIDE, SIDE), 0.0, np.float32)
    estimate[:15] = 7.0  # in the border: nobody looks
    inner = estimate[INNER, INNER]
    inner[0, :4] = 0.02
    inner[1, :3] = -0.05
    inner[2, :2] = 0.5
    inner[3, 0] = np.nan
    inner[4, 0], inner[5, 0] = np.inf, -np.inf
    found = score(estimate)
    # Bad: 0.02 (4 above 0.01), 0.05 (3 above 0.03), 0.5 (2) and two infinities; NaN is right.
    assert found["badpix_0010"].value == 11
    assert found["badpix_0030"].value == 7
    assert found["badpix_0070"].value == 4
    assert (found["badpix_0070"].count, found["badpix_0070"].missing) == (97, 3)
    squares = 4 * 0.02**2 + 3 * 0.05**2 + 2 * 0.5**2
    assert found["mse_100"].value == pytest.approx(100 * squares / 97, rel=1e-6)
    assert found["mse_100"].count == 97
    assert found["q_25_100"].value == 0
    assert list(found) == ["mse_100", "badpix_0010", "badpix_0030", "badpix_0070", "q_25_100"]
    assert score.left_out == {
        "planes",
        "smooth_surfaces",
        "discontinuities",
        "fine_surrounding",
        "fine",
        "runtime",
    }


def test_the_quantile_is_an_element_and_exact(score):
    rng = np.random.default_rng(0)
    estimate = rng.normal(0, 0.3, (SIDE, SIDE)).astype(np.float32)
    estimate[INNER, INNER][0, :7] = np.nan
    errors = np.abs(estimate[INNER, INNER])
    errors = np.sort(errors[np.isfinite(errors)])
    assert errors.size == 93
    found = score(estimate)["q_25_100"]
    assert found.value == np.float32(100) * errors[23]  # int(93 * 0.25)


def test_thresholds_are_strict_and_float32(score):
    estimate = np.zeros((SIDE, SIDE), np.float32)
    estimate[INNER, INNER][0, 0] = np.float32(0.07)  # more than the float64 0.07
    estimate[INNER, INNER][0, 1] = np.nextafter(np.float32(0.07), np.float32(1))
    assert score(estimate)["badpix_0070"].value == 1


def test_masks_at_the_high_resolution_against_scipys_zoom(score):
    rng = np.random.default_rng(1)
    estimate = rng.normal(0, 0.2, (SIDE, SIDE)).astype(np.float32)
    estimate[20, 18:22] = np.nan, np.inf, -np.inf, 0.1
    truth = rng.normal(0, 0.05, (10 * SIDE, 10 * SIDE)).astype(np.float32)
    masks = {
        f"high_{name}_mask": rng.random(truth.shape) < 0.3
        for name in ("discontinuities", "fine", "fine_surrounding")
    }
    found = score(estimate, high_disparity=truth, **masks)
    inner = (HIGH_INNER, HIGH_INNER)
    with np.errstate(invalid="ignore"):
        error = truth[inner] - enlarged(estimate)[inner]
    hits = {
        "discontinuities": ("discontinuities_0070", np.abs(error) > np.float32(0.07)),
        "fine": ("fine_thinning_0150", error > np.float32(0.15)),
        "fine_surrounding": ("fine_fattening_0150", error < np.float32(-0.15)),
    }
    for mask, (name, hit) in hits.items():
        inside = masks[f"high_{mask}_mask"][inner]
        assert found[name].value == 100 * hit[inside].sum() / inside.sum()
        assert found[name].count + found[name].missing == inside.sum()
        assert found[name].missing > 0
    # Blocks give other numbers, and say so in the hash.
    blocks = score(estimate, options={"resize": "block"}, high_disparity=truth, **masks)
    assert blocks["discontinuities_0070"].value != found["discontinuities_0070"].value


def test_truth_of_another_factor_is_zoomed_as_the_toolkit_does(score):
    rng = np.random.default_rng(2)
    estimate = rng.normal(0, 0.2, (SIDE, SIDE)).astype(np.float32)
    truth = rng.normal(0, 0.05, (4 * SIDE, 4 * SIDE)).astype(np.float32)
    mask = rng.random(truth.shape) < 0.4
    few = score(estimate, high_disparity=truth, high_fine_mask=mask)["fine_thinning_0150"]
    many = score(
        estimate,
        high_disparity=ndimage.zoom(truth, 2.5, order=0),
        high_fine_mask=ndimage.zoom(mask.astype(np.uint8), 2.5, order=0).astype(bool),
    )["fine_thinning_0150"]
    assert few == many
    assert (
        few.count == ndimage.zoom(mask.astype(np.uint8), 2.5, order=0)[HIGH_INNER, HIGH_INNER].sum()
    )


def test_backgammon_by_hand(score):
    truth = np.full((10 * SIDE, 10 * SIDE), -1.0, np.float32)
    truth[:, 140] = 1.0  # the foreground of every row
    truth[:, -11] = -3.0  # and its background
    estimate = np.full((SIDE, SIDE), -1.0, np.float32)
    estimate[:, :20] = 0.5  # above the middle of -1 and 1
    estimate[20, :] = -2.5  # below the middle of -1 and -3
    estimate[21, :] = np.nan
    everywhere = np.ones(truth.shape, bool)
    found = score(
        estimate,
        "backgammon",
        high_disparity=truth,
        high_foreground_fattening_mask=everywhere,
        high_foreground_thinning_mask=everywhere,
    )
    inner = enlarged(estimate)[HIGH_INNER, HIGH_INNER]
    assert found["backgammon_fattening_0070"].value == 100 * (inner == 0.5).mean()
    assert found["backgammon_thinning_0070"].value == 100 * (inner == -2.5).mean()
    # The general numbers of this scene are at the high resolution.
    assert found["badpix_0070"].count + found["badpix_0070"].missing == 100 * 100


def test_dots_by_hand(score):
    truth = np.zeros((10 * SIDE, 10 * SIDE), np.float32)
    boxes, dots = np.zeros(truth.shape, np.int32), np.zeros(truth.shape, np.int32)
    boxes[:200], boxes[200:] = 3, 7
    boxes[0, 0] = 0
    dots[20:40, 20:40] = 1  # in the border, which does not matter
    dots[20:40, 220:240] = 2
    dots[220:240, 20:40] = 1
    dots[380, 380] = 9  # one too many: never looked at
    estimate = np.zeros((SIDE, SIDE), np.float32)
    estimate[:20, 20:] = 0.41
    estimate[20:, :20] = np.nan
    items = {
        "high_boxes_labels": boxes,
        "high_dots_by_size_labels": dots,
        "high_background_mask": dots == 0,
    }
    found = score(estimate, "dots", high_disparity=truth, **items)
    # Labels 1 and 2 in two boxes are four dots: found, missed, found (NaN is right), not there.
    assert found["missed_dots_50_0400"].value == 50
    assert found["missed_dots_50_0400"].count == 4
    inner = enlarged(estimate)[HIGH_INNER, HIGH_INNER]
    expected = 100 * np.square(inner[np.isfinite(inner)], dtype=np.float64).mean()
    assert found["background_mse_100"].value == pytest.approx(expected, rel=1e-6)


def test_bumpiness_by_hand(score):
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    tilted = (0.3 * x - 0.2 * y).astype(np.float32)
    everywhere = {"planes_mask": np.ones((SIDE, SIDE), bool), "high_disparity": None}
    assert score(tilted, **everywhere)["bumpiness_planes_100_0050"].value < 1e-4
    bent = (0.001 * x * x).astype(np.float32)  # second derivative 0.002, four times that here
    found = score(bent, **everywhere)["bumpiness_planes_100_0050"]
    assert found.value == pytest.approx(100 * 4 * 0.002, rel=1e-3)
    rough = np.where((x + y) % 2, 1.0, -1.0).astype(np.float32)
    rough[18, 18] = np.inf
    found = score(np.kron(np.eye(20), np.ones((2, 2))).astype(np.float32), **everywhere)
    assert found["bumpiness_planes_100_0050"].value <= 5


def test_normals_of_equal_maps_agree_and_without_parameters_there_are_none(score, tmp_path):
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    truth = (0.3 + 0.01 * x - 0.02 * y).astype(np.float32)
    mask = np.ones((SIDE, SIDE), bool)
    found = score(truth, disparity=truth, planes_mask=mask, high_disparity=None)
    assert found["mae_planes"].value < 1e-3
    found = score(truth[::-1], disparity=truth, planes_mask=mask, high_disparity=None)
    assert found["mae_planes"].value > 1
    assert "highres" in score.left_out
    (tmp_path / "data/other/mine/parameters.cfg").unlink()
    result = dg.evaluate("hci4d-toolkit", tmp_path / "data", tmp_path / "estimates")
    assert "mae_planes" not in result.samples["mine"]
    assert "mine@normals" in result.left_out


def test_empty_regions_have_no_number(score):
    nothing = {"high_discontinuities_mask": np.zeros((10 * SIDE, 10 * SIDE), bool)}
    nothing["planes_mask"] = np.zeros((SIDE, SIDE), bool)
    found = score(np.zeros((SIDE, SIDE), np.float32), **nothing)
    for name in ("discontinuities_0070", "bumpiness_planes_100_0050", "mae_planes"):
        assert math.isnan(found[name].value)
        assert found[name].why == "empty"


def test_an_estimate_without_a_number(score):
    found = score(
        np.full((SIDE, SIDE), np.nan, np.float32), planes_mask=np.ones((SIDE, SIDE), bool)
    )
    assert found["badpix_0070"].value == 0  # the toolkit's most famous quirk
    assert found["mse_100"].why == found["q_25_100"].why == found["mae_planes"].why == "missing"
    found = score(np.full((SIDE, SIDE), np.inf, np.float32))
    assert found["badpix_0070"].value == 100


def test_our_own_methods_mark_missing_pixels_as_wrong():
    assert math.isinf(TWINS["hci4d"].missing)


@pytest.mark.parametrize(
    ("text", "seconds", "logarithm"),
    [("10.0\n", 10, 1), (" 1e-2", 0.01, -2), ("0\nsecond line", 0, -math.inf), ("-1", -1, None)],
)
def test_runtimes_are_taken_as_they_are(score, text, seconds, logarithm):
    found = score(np.zeros((SIDE, SIDE), np.float32), runtime=text)
    assert found["runtime"].value == seconds
    assert "runtime" not in score.left_out
    if logarithm is None:
        assert math.isnan(found["runtime_log"].value)
    else:
        assert found["runtime_log"].value == pytest.approx(logarithm)


def test_the_scale_of_a_pfm_multiplies(score, tmp_path):
    estimate = np.full((SIDE, SIDE), 100.0, np.float32)
    score(estimate)
    path = tmp_path / "estimates/disp_maps/mine.pfm"
    body = path.read_bytes()
    # Also this one, which other readers take for a hint to viewers.
    path.write_bytes(body.replace(b"\n-1\n", b"\n-0.003922\n"))
    result = dg.evaluate("hci4d-toolkit", tmp_path / "data", tmp_path / "estimates")
    expected = 100 * np.float32(0.3922) ** 2
    assert result.samples["mine"]["mse_100"].value == pytest.approx(expected, rel=1e-5)


def test_other_formats_are_read_too(score, tmp_path):
    estimate = np.full((SIDE, SIDE), 0.5, np.float32)
    before = score(estimate, runtime="1")
    shutil.rmtree(tmp_path / "estimates")
    (tmp_path / "estimates/mine").mkdir(parents=True)
    np.save(tmp_path / "estimates/mine/disparity.npy", estimate)
    result = dg.evaluate("hci4d-toolkit", tmp_path / "data", tmp_path / "estimates")
    assert result.samples["mine"]["mse_100"] == before["mse_100"]
    assert "mine@runtime" in result.left_out


COLOUR = b"PF\n40 40\n-1\n" + bytes(40 * 40 * 3 * 4)


def failure(tmp_path):
    """What is said where the only sample cannot be scored, or its truth cannot be read."""
    with pytest.raises(DepthgaugeError) as caught:
        dg.evaluate("hci4d-toolkit", tmp_path / "data", tmp_path / "estimates")
    return str(caught.value)


def test_a_cropped_estimate_is_refused_with_advice(score, tmp_path):
    score(np.zeros((SIDE, SIDE), np.float32))
    io.write_map(tmp_path / "estimates/disp_maps/mine.pfm", np.zeros((30, 30)))
    said = failure(tmp_path)
    assert "is 30x30 but must be 40x40" in said
    assert "a border of 5 px is cut off" in said
    io.write_map(tmp_path / "estimates/disp_maps/mine.pfm", np.zeros((20, 30)))
    assert "is 30x20 but must be 40x40" in failure(tmp_path)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda e, d: (e / "disp_maps/mine.pfm").write_bytes(b"Pf\n40 40\n-1\n12"), "truncated"),
        (
            lambda e, d: (e / "disp_maps/mine.pfm").write_bytes(COLOUR),
            "one channel",
        ),
        (
            lambda e, d: (e / "runtimes/mine.txt").write_bytes(b""),
            "runtime in seconds on the first",
        ),
        (lambda e, d: (e / "runtimes/mine.txt").write_bytes(b"\xff\n1"), "runtime in seconds"),
        (lambda e, d: (e / "runtimes/mine.txt").write_text("1_0"), "runtime in seconds"),
        (lambda e, d: (d / "gt_disp_highres.pfm").write_bytes(b"Pf\n400 400\n-1\n12"), "truncated"),
        (lambda e, d: (d / "gt_disp_highres.pfm").write_bytes(COLOUR), "gt_disp_highres.pfm: "),
        (
            lambda e, d: io.write_image(d / "mask_fine_highres.png", np.ones((40, 40), bool)),
            "is 40x40",
        ),
        (lambda e, d: (d / "mask_fine_highres.png").write_bytes(b"\x89PNG\r\n\x1a\n"), "PNG"),
        (lambda e, d: (d / "parameters.cfg").write_text("[intrinsics]"), "not in section"),
    ],
)
def test_damaged_files_are_named(score, tmp_path, damage, words):
    score(
        np.zeros((SIDE, SIDE), np.float32),
        runtime="1",
        high_fine_mask=np.ones((10 * SIDE, 10 * SIDE), bool),
        planes_mask=np.ones((SIDE, SIDE), bool),
    )
    damage(tmp_path / "estimates", tmp_path / "data/other/mine")
    assert words in failure(tmp_path)


def test_scenes_that_are_scored_at_the_high_resolution_need_it(score, tmp_path):
    score(np.zeros((SIDE, SIDE), np.float32), "stripes")
    for path in (tmp_path / "data/stratified/stripes").glob("*highres*"):
        path.unlink()
    with pytest.raises(NothingScored):
        dg.evaluate("hci4d-toolkit", tmp_path / "data", tmp_path / "estimates")


def test_images_that_are_all_border(tmp_path):
    values = np.zeros((20, 20), np.float32)
    write(tmp_path / "data", [Sample("tiny", Inputs({}), Truth({"disparity": values}))])
    (tmp_path / "estimates").mkdir()
    io.write_map(tmp_path / "estimates/tiny.pfm", values)
    found = dg.evaluate("hci4d-toolkit", tmp_path / "data", tmp_path / "estimates")
    assert {score.why for score in found.samples["tiny"].values()} == {"empty"}


def test_quirks_are_named_and_checked():
    protocol = find_benchmark("hci4d-toolkit")
    assert protocol.resolved()["options"]["nan"] == "good"
    body = {**protocol.model_dump(exclude_unset=True), "options": {"nan": "bad"}}
    with pytest.raises(BadProtocol, match="option 'nan' is 'bad' but must be one of: good"):
        make_protocol(body, "trial")
