"""Booster's benchmarks against plain NumPy: regions, sizes, missing pixels, alignment, pooling."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import depthgauge as dg
from depthgauge import io
from depthgauge.benchmarks import BENCHMARKS, find_benchmark
from depthgauge.datasets import booster, booster_unbalanced
from depthgauge.engine.running.run import score_folder
from depthgauge.engine.scoring.check import check_estimates
from depthgauge.errors import BadData, NothingScored
from depthgauge.types import Camera, Inputs, Rig, Sample, Truth

SIZE = (24, 32)
FOCAL, BASELINE = 500.0, 0.08
STEREO = ("badpix:2", "badpix:4", "badpix:6", "badpix:8", "mae", "rms", "density")
MONO = (*(f"delta:{r}" for r in ("1.05", "1.1", "1.15", "1.2", "1.25")), "absrel", "mae", "rms")


def truth(seed: int, most: int = 4, surfaces: bool = True) -> Truth:
    rng = np.random.default_rng(seed)
    disparity = rng.uniform(20, 90, SIZE).astype(np.float32)
    disparity[rng.random(SIZE) < 0.1] = np.nan
    items = {
        "disparity": disparity,
        "visible_mask": rng.random(SIZE) < 0.7,
        "material_labels": rng.integers(0, most, SIZE, dtype=np.int32),
    }
    if surfaces:
        items["surface_labels"] = rng.integers(0, 3, SIZE, dtype=np.int32)
    return Truth(items)


def scene(name: str, count: int, items: Truth, right: tuple[int, int] = SIZE) -> list[Sample]:
    camera = Camera((FOCAL, FOCAL), (16.0, 12.0), SIZE[::-1])
    inputs = {
        "left_image": np.zeros((*SIZE, 3), np.uint8),
        "right_image": np.zeros((*right, 3), np.uint8),
        "rig": Rig({"left": camera}, BASELINE),
    }
    return [Sample(f"{name}/im{i}", Inputs(inputs), items, scene=name) for i in range(count)]


def regions(items: Truth) -> dict[str, np.ndarray]:
    known = np.isfinite(items["disparity"])
    material = items["material_labels"]
    found = {
        "all": known,
        "visible": known & items["visible_mask"],
        "tom": known & (material >= 2),
        "other": known & (material < 2),
        **{f"material_{k}": known & (material == k) for k in range(4)},
    }
    if "surface_labels" in items:
        found["transparent"] = known & (items["surface_labels"] == 1)
        found["mirror"] = known & (items["surface_labels"] == 2)
    return found


def by_hand(values: np.ndarray, target: np.ndarray) -> dict[str, float]:
    """All scores of one region from its pixels; NaN where there is no estimate."""
    if not target.size:
        return {}
    known = np.isfinite(values)
    error = np.abs(values[known] - target[known])
    ratio = np.maximum(values[known] / target[known], target[known] / values[known])
    lost = int((~known).sum())
    found = {f"badpix:{t}": 100 * ((error > t).sum() + lost) / target.size for t in (2, 4, 6, 8)}
    found |= {
        f"delta:{t:g}": 100 * (ratio < np.float32(t)).sum() / target.size
        for t in (1.05, 1.1, 1.15, 1.2, 1.25)
    }
    found["density"] = 100 * known.mean()
    if known.any():
        found |= {"mae": error.mean(), "rms": math.sqrt((error**2).mean())}
        found["absrel"] = (error / target[known]).mean()
    return found


def agrees(result, cases, metrics):
    """Every sample and the plain mean over those whose region has a pixel."""
    values: dict[str, list[float]] = {}
    for sample, pairs in cases.items():
        for region, (estimate, target) in pairs.items():
            expected = by_hand(estimate.astype(np.float64), target.astype(np.float64))
            for metric in metrics if expected else ():
                name = f"{metric}@{region}"
                found = result.samples[sample][name].value
                assert found == pytest.approx(expected[metric], rel=2e-5), (sample, name)
                values.setdefault(name, []).append(expected[metric])
    assert values
    for name, some in values.items():
        assert result.summary[name].value == pytest.approx(np.mean(some), rel=2e-5), name
        assert result.summary[name].used == len(some)
    assert set(values) == set(result.summary)


@pytest.fixture
def data(tmp_path):
    """Two scenes, of which one has neither hard materials nor a map of surfaces."""
    scenes = {"Bath": truth(1), "Case": truth(2, most=2, surfaces=False)}
    made = [*scene("Bath", 2, scenes["Bath"]), *scene("Case", 1, scenes["Case"])]
    booster.write(tmp_path, made, split="test-stereo")
    booster.write(tmp_path, made, split="test-mono")
    return tmp_path, {sample.id: sample.truth for sample in made}


def estimates(truths, seed: int = 9) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    made = {}
    for name, items in truths.items():
        values = np.nan_to_num(items["disparity"], nan=50) + rng.normal(0, 4, SIZE)
        values[rng.random(SIZE) < 0.05] = np.nan
        made[name] = values.astype(np.float32)
    return made


@pytest.mark.parametrize(("ending", "step"), [("", 1), ("-half", 2), ("-quarter", 4)])
def test_balanced(data, tmp_path, ending, step):
    root, truths = data
    made = estimates(truths)
    booster.write_submission(tmp_path / "e", made, style="npy")
    result = dg.evaluate(f"booster-balanced{ending}", root, tmp_path / "e")
    cases = {}
    for name, items in truths.items():
        target = items["disparity"][::step, ::step] / step
        # INTER_NEAREST at 1 / step: rows and columns 0, step, 2 step ...
        values = made[name][::step, ::step] / step
        masks = {n: mask[::step, ::step] for n, mask in regions(items).items()}
        cases[name] = {n: (values[mask], target[mask]) for n, mask in masks.items()}
    agrees(result, cases, STEREO)
    # Nothing is named as lacking: not all scenes have a map of surfaces.
    assert result.left_out == ()
    assert result.failed == {}


def test_a_smaller_estimate_is_enlarged_with_its_values(data, tmp_path):
    root, truths = data
    made = {name: values[::2, ::2] / 2 for name, values in estimates(truths).items()}
    booster.write_submission(tmp_path / "e", made, style="npy")
    result = dg.evaluate("booster-balanced", root, tmp_path / "e")
    cases = {}
    for name, items in truths.items():
        large = np.kron(made[name], np.ones((2, 2), np.float32)) * 2
        masks = regions(items)
        cases[name] = {n: (large[mask], items["disparity"][mask]) for n, mask in masks.items()}
    agrees(result, cases, STEREO)


def test_unbalanced(tmp_path):
    items = truth(3)
    made = scene("Door", 2, items, right=(8, 10))
    booster_unbalanced.write(tmp_path, made, split="test-stereo")
    values = estimates({sample.id: items for sample in made})
    booster.write_submission(tmp_path / "e", values, setup="unbalanced")
    # The other half of a submission is none of this benchmark's.
    booster.write_submission(tmp_path / "e", values, setup="balanced")
    result = dg.evaluate("booster-unbalanced", tmp_path, tmp_path / "e")
    cases = {}
    for sample in made:
        masks = regions(items)
        stored = np.rint(values[sample.id] * 64) / 64
        cases[sample.id] = {
            n: (stored[mask], items["disparity"][mask]) for n, mask in masks.items()
        }
    agrees(result, cases, STEREO)
    (tmp_path / "e/balanced/Door/im0.png").unlink()
    assert dg.evaluate("booster-unbalanced", tmp_path, tmp_path / "e").failed == {}


@pytest.mark.parametrize("name", ["booster-mono", "booster-mono-metric"])
def test_mono(data, tmp_path, name):
    root, truths = data
    rng = np.random.default_rng(4)
    cases = {}
    for sample, items in truths.items():
        depth = FOCAL * BASELINE / items["disparity"].astype(np.float64)
        guess = np.nan_to_num(depth, nan=1.0) * rng.uniform(0.9, 1.1, SIZE)
        values = (guess if name.endswith("metric") else 3 * guess + 7).astype(np.float32)
        values[rng.random(SIZE) < 0.05] = np.nan
        path = tmp_path / f"e/{sample}/depth.npy"
        path.parent.mkdir(parents=True)
        np.save(path, values)
        both = np.isfinite(values) & np.isfinite(depth)
        line = np.polyfit(values[both].astype(np.float64), depth[both], 1)
        fitted = values if name.endswith("metric") else np.polyval(line, values)
        assert np.nanmin(fitted) > 0
        masks = regions(items)
        cases[sample] = {n: (fitted[mask], depth[mask]) for n, mask in masks.items()}
    result = dg.evaluate(name, root, tmp_path / "e")
    agrees(result, cases, (*MONO, "density"))
    assert result.left_out == ()
    units = {found.unit for score, found in result.summary.items() if score.startswith("mae")}
    assert units == {"m"}


def test_a_shift_that_leads_behind_the_camera_costs_the_pixel(tmp_path):
    disparity = np.array([[50, 50, 50, 5]], np.float32)  # 0.8, 0.8, 0.8 and 8 m
    camera = Camera((FOCAL, FOCAL), (1.0, 1.0), (4, 1))
    inputs = {"left_image": np.zeros((1, 4), np.uint8), "rig": Rig({"left": camera}, BASELINE)}
    made = Sample("Sink/im0", Inputs(inputs), Truth({"disparity": disparity}))
    booster.write(tmp_path, [made], split="test-mono")
    values = np.array([[0.0, 4, 4, 9]], np.float32)
    (tmp_path / "e/Sink").mkdir(parents=True)
    np.save(tmp_path / "e/Sink/im0.npy", values)
    fitted = np.polyval(np.polyfit(values[0], [0.8, 0.8, 0.8, 8], 1), values[0])
    assert fitted[0] < 0 < fitted[1]
    found = dg.evaluate("booster-mono", tmp_path, tmp_path / "e").samples["Sink/im0"]
    assert found["delta:1.25@all"].missing == 1
    assert found["density@all"].value == 75
    expected = np.abs(fitted[1:] - [0.8, 0.8, 8]).mean()
    assert found["mae@all"].value == pytest.approx(expected, rel=1e-5)


def test_a_submission_is_scored_the_same_in_every_way(data, tmp_path):
    root, truths = data
    made = estimates(truths)
    made = {name: np.rint(values * 64) / np.float32(64) for name, values in made.items()}
    booster.write_submission(tmp_path / "npy", made, style="npy")
    for name, values in made.items():  # as another program writes it
        path = tmp_path / f"png/balanced/{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        io.write_image(path, np.nan_to_num(values * 64).astype(np.uint16))
    plain = dg.evaluate("booster-balanced", root, tmp_path / "npy").to_json()
    coded = dg.evaluate("booster-balanced", root, tmp_path / "png").to_json()
    inner = dg.evaluate("booster-balanced", root, tmp_path / "png/balanced").to_json()
    assert plain["samples"] == coded["samples"] == inner["samples"]
    run = score_folder("booster-balanced", root, tmp_path / "png", tmp_path / "run", workers=0)
    (kept,) = run.results.values()
    assert kept.to_json()["summary"] == plain["summary"]
    assert run.scenes == {"Bath/im0": "Bath", "Bath/im1": "Bath", "Case/im0": "Case"}
    json.dumps(plain, allow_nan=False)


def test_the_training_scenes(data, tmp_path):
    root, truths = data
    (root / "test/balanced").rename(root / "balanced")
    (root / "train").mkdir()
    (root / "balanced").rename(root / "train/balanced")
    booster.write_submission(tmp_path / "e", estimates(truths))
    with pytest.raises(BadData, match=r"only of test-mono, train; .* BENCHMARK@"):
        dg.evaluate("booster-balanced", root, tmp_path / "e")
    found = dg.evaluate("booster-balanced@train", root, tmp_path / "e")
    assert found.protocol.split == "train"
    assert len(found.samples) == 3


def test_a_hidden_truth_is_named(data, tmp_path):
    root, truths = data
    booster.write_submission(tmp_path / "e", estimates(truths))
    (root / "test/balanced/Case/disp_00.npy").unlink()
    assert dg.evaluate("booster-balanced", root, tmp_path / "e").left_out == ("Case/im0",)
    (root / "test/balanced/Bath/disp_00.npy").unlink()
    with pytest.raises(NothingScored, match=r"'booster' \(test-stereo\) has disparity as truth"):
        dg.evaluate("booster-balanced", root, tmp_path / "e")


def test_a_scene_without_any_masks(data, tmp_path):
    root, truths = data
    booster.write_submission(tmp_path / "e", estimates(truths))
    for path in (*root.rglob("mask_*.png"), *root.rglob("disp_02.npy")):
        path.unlink()
    result = dg.evaluate("booster-balanced", root, tmp_path / "e")
    assert {score.partition("@")[2] for score in result.summary} == {"all"}
    assert result.left_out == tuple(f"{name}@visible" for name in truths)


@pytest.fixture
def few_masks(data, tmp_path):
    """Single pictures of which one has no mask of visible pixels; an unbalanced pair without."""
    root, truths = data
    booster.write_submission(tmp_path / "e", estimates(truths), style="npy")
    (root / "test/mono/Case/mask_00.png").unlink()
    items = Truth({"disparity": truth(3)["disparity"]})
    booster_unbalanced.write(tmp_path / "u", scene("Door", 1, items, (8, 10)), split="test-stereo")
    values = estimates({"Door/im0": items})
    booster.write_submission(tmp_path / "v", values, setup="unbalanced")
    mono = dg.evaluate("booster-mono", root, tmp_path / "e", check=False)
    ends = ("", "-half", "-quarter")
    call = (tmp_path / "u", tmp_path / "v")
    return mono, [dg.evaluate(f"booster-unbalanced{end}", *call) for end in ends]


def test_visible_pixels_of_unbalanced_pairs_and_single_pictures(few_masks):
    mono, unbalanced = few_masks
    assert mono.summary["delta:1.05@visible"].used == 2  # of the three, those of Bath
    assert mono.summary["delta:1.05@all"].used == 3
    for each in unbalanced:
        assert {score.partition("@")[2] for score in each.summary} == {"all"}
        assert each.failed == {}


def test_masks_of_visible_pixels_may_be_absent(few_masks):
    mono, unbalanced = few_masks
    assert [each.left_out for each in (mono, *unbalanced)] == [()] * 4


# --- checking before sending --------------------------------------------------------------------


@pytest.fixture
def check(data, tmp_path):
    root, truths = data

    def findings(change, with_data=True) -> list:
        made = estimates(truths)
        folder = tmp_path / "sub"
        booster.write_submission(folder, made)
        change(folder, made)
        return check_estimates("booster-balanced", root if with_data else None, folder)

    return findings


def test_a_good_submission_has_no_findings(check):
    assert check(lambda folder, made: None) == []
    assert check(lambda folder, made: None, with_data=False) == []


def _as(path: Path, codes: np.ndarray) -> None:
    path.unlink()
    io.write_image(path, codes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f, m: (f / "balanced/Case/im0.png").unlink(), "no estimate for 'Case/im0'"),
        (lambda f, m: (f / "balanced/Case/im0.png").write_bytes(b"x"), "Write the estimate again"),
        (
            lambda f, m: _as(
                f / "balanced/Case/im0.png",
                np.nan_to_num(m["Case/im0"] * 256).astype(np.uint16),
            ),
            "values of quarter size that were multiplied twice",
        ),
        (
            lambda f, m: _as(
                f / "balanced/Case/im0.png", np.nan_to_num(m["Case/im0"]).astype(np.uint8)
            ),
            r"Write a 16-bit PNG \(value \* 64\)",
        ),
        (
            lambda f, m: _as(f / "balanced/Case/im0.png", np.zeros(SIZE, np.uint16)),
            "has no finite value",
        ),
        (
            lambda f, m: booster.write_submission(f, {"Case/im0": m["Case/im0"]}, style="npy"),
            "has 2 estimates",
        ),
    ],
)
def test_what_is_wrong_with_a_submission(check, change, words):
    findings = check(change)
    assert {finding.sample for finding in findings} == {"Case/im0"}
    (text,) = (f"{finding.problem} {finding.advice}" for finding in findings)
    assert re.search(words, text), text


# --- what the files say -------------------------------------------------------------------------


def test_all_of_them_say_what_they_should():
    ids = [name for name in BENCHMARKS if name.startswith("booster") and "normals" not in name]
    assert len({BENCHMARKS[name].hash for name in ids}) == len(ids) == 9
    scales = {name: BENCHMARKS[name].truth_scale for name in ids}
    assert {name for name, scale in scales.items() if scale == 0.5} == {
        "booster-balanced-half",
        "booster-unbalanced-half",
    }
    for name in ids:
        protocol = find_benchmark(name)
        assert (protocol.pool, protocol.missing) == ("image", "bad")
        assert protocol.split == ("all" if protocol.twin else protocol.split)
        if protocol.twin is None:
            assert protocol.estimate_resize == "nearest"
            assert "visible" in protocol.region_texts
            assert ("visible_mask" in protocol.may_have) != name.startswith("booster-balanced")
            assert set(protocol.regions) == {"tom", "other", "transparent", "mirror"}
    mono = find_benchmark("booster-mono")
    assert (mono.align.kind, mono.align.space, mono.truth_scale) == ("scale_shift", "depth", 1)
    assert find_benchmark("booster-mono-metric").align.kind == "none"
