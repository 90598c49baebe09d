"""The best focal length: found in closed form, and the same as trying them one after the other."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from depthgauge.benchmarks import find_benchmark
from depthgauge.datasets import oasis
from depthgauge.engine.scoring.best_focal import BestFocal, best_focal, surface_sums
from depthgauge.engine.scoring.evaluate import evaluate
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.errors import Misuse, NothingScored
from depthgauge.io import write_map
from depthgauge.metrics import METRICS
from depthgauge.types import Camera, Estimate, Inputs, Sample, Truth

H, W = 24, 32
FOCAL = 37.0


def bumpy(seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:H, :W]
    waves = np.sin(x / 5 + rng.uniform(0, 6)) + np.cos(y / 4 + rng.uniform(0, 6))
    depth = 3 + 0.4 * waves + 0.05 * x
    labels = np.where(x < 14, 1, 2).astype(np.int32)
    labels[:3, :2] = 3  # too small to be judged
    depth[:, 20] = np.nan
    return depth.astype(np.float32), labels


@pytest.fixture
def data(tmp_path):
    def sample(n):
        depth, labels = bumpy(n)
        camera = Camera((FOCAL, FOCAL), (W / 2, H / 2), (W, H))
        truth = {"depth": depth, "continuous_labels": labels, "camera": camera}
        truth["roi_mask"] = np.ones((H, W), bool)
        image = np.zeros((H, W, 3), np.uint8)
        return Sample(f"s{n}", Inputs({"left_image": image}), Truth(truth))

    oasis.write(tmp_path / "data", [sample(n) for n in range(3)])
    return tmp_path / "data"


def estimates(folder, change=lambda depth, n: depth):
    (folder / "depth").mkdir(parents=True)
    for n in range(3):
        depth = np.nan_to_num(bumpy(n)[0], nan=2.0)
        write_map(folder / "depth" / f"s{n}.npy", change(depth, n), quantity="depth")
    return folder


def noisy(depth, n):
    noise = np.random.default_rng(n + 9).normal(0, 0.15, depth.shape)
    return (2 * depth + noise).astype(np.float32)


def with_focal(focal_px):
    return find_benchmark("oasis-depth").with_settings(focal_px=focal_px)


def test_the_true_focal_length_is_found(data, tmp_path):
    found = best_focal("oasis-depth", data, estimates(tmp_path / "net"))
    assert found.focal_px == pytest.approx(FOCAL, rel=1e-3)
    assert found.lsiv < 1e-6
    assert (found.samples, found.own, found.undecided) == (3, 0, False)
    assert not found.flat


def test_it_is_what_the_benchmark_gives_and_no_other_is_better(data, tmp_path):
    folder = estimates(tmp_path / "net", noisy)
    found = best_focal("oasis-depth", data, folder)

    def lsiv(focal):
        return evaluate(with_focal(focal), data, folder).summary["lsiv"].value

    assert found.lsiv == pytest.approx(lsiv(found.focal_px), rel=1e-6)
    for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2.0):
        assert lsiv(found.focal_px * factor) > found.lsiv
    for focal, error in found.curve[10::15]:
        assert error == pytest.approx(lsiv(focal), rel=1e-6)


@pytest.mark.parametrize("least_px", [0, 10, 400])
def test_what_is_judged_is_what_lsiv_judges(least_px):
    """Labels of any size, with gaps; a region; pixels without an estimate; surfaces too small."""
    truth, labels = bumpy(4)
    labels = np.where(labels == 2, 1 << 40, labels.astype(np.int64))
    estimate = noisy(truth, 4)
    estimate[5:9, 3:20] = np.nan
    region = np.arange(H)[:, None] + np.zeros((H, W)) < 20
    camera = Camera((FOCAL, FOCAL), (W / 2, H / 2), (W, H))
    items = {"camera": camera, "continuous_labels": labels}
    prepared = PreparedSample(estimate, truth, {"part": region}, items=items)
    spec = SimpleNamespace(region="part", params={"least_px": least_px})
    pixels, sums = surface_sums(prepared, spec)
    for focal in (10.0, FOCAL, 90.0):
        state = METRICS["lsiv"].measure(
            estimate, truth, region, estimate_focal_px=focal, least_px=least_px, **items
        )
        c, p, q, x, z = sums.T
        gained = (p / focal + q) ** 2 / np.maximum(x / focal**2 + z, 1e-300)
        assert pixels == state.count
        assert (c - gained).sum() == pytest.approx(state.sums[0], rel=1e-6)


def test_estimates_with_their_own_are_left_out(data, tmp_path):
    folder = estimates(tmp_path / "net", noisy)
    before = best_focal("oasis-depth", data, folder)
    depth = noisy(np.nan_to_num(bumpy(0)[0], nan=2.0), 0)
    told = Estimate(depth, "depth", parts={"focal_px": 99.0})
    oasis.write_estimate(folder, "s0", told)
    found = best_focal("oasis-depth", data, folder)
    assert (found.samples, found.own) == (2, 1)
    assert found.focal_px != pytest.approx(before.focal_px, rel=1e-6)
    for n in (1, 2):
        oasis.write_estimate(folder, f"s{n}", told)
    with pytest.raises(NothingScored, match="all 3 have"):
        best_focal("oasis-depth", data, folder)


def test_a_flat_estimate_hardly_depends_on_it(data, tmp_path):
    flat = estimates(tmp_path / "flat", lambda depth, n: np.ones_like(depth))
    found = best_focal("oasis-depth", data, flat)
    # A plane in front of the camera has a scale of its own: any focal length is as good.
    assert found.curve[0][1] == pytest.approx(found.curve[-1][1], rel=1e-9)
    assert found.undecided
    assert found.flat
    assert found.focal_px == pytest.approx(W)


def test_wrong_calls(data, tmp_path):
    folder = estimates(tmp_path / "net")
    with pytest.raises(Misuse, match="lsiv"):
        best_focal("oasis-normals", data, folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingScored, match="none can be scored"):
        best_focal("oasis-depth", data, tmp_path / "empty")
    body = best_focal("oasis-depth", data, folder, progress=lambda *step: None).to_json()
    assert json.loads(json.dumps(body, allow_nan=False)) == body


def test_an_error_that_falls_to_the_end_is_not_flat():
    curve = ((10.0, 0.2), (100.0, 0.3), (1000.0, 1.2))
    assert not BestFocal(10.0, 0.2, 3, 0, True, curve).flat
