"""`lf-cost-volume`, `lf-epi` and `lf-pair` on light fields whose disparity is known."""

from __future__ import annotations

import math
import os
from pathlib import Path

import cv2
import numpy as np
import pytest

from depthgauge.errors import Misuse, Unavailable, WrongShape
from depthgauge.io import read_image, read_map
from depthgauge.methods import find_method
from depthgauge.methods._images import image_size
from depthgauge.methods._light_field.noise import noise_level
from depthgauge.methods._light_field.views import splines_of
from depthgauge.types import Inputs

ANTINOUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "lf-hci-antinous"
DENSE = pytest.mark.parametrize("method", ["lf-cost-volume", "lf-epi"])
ALL = pytest.mark.parametrize("method", ["lf-cost-volume", "lf-epi", "lf-pair"])
SIZE = (56, 64)


def painted(x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Waves of 5 px and longer in three colours, 0..255: exact between pixels, too."""
    rng = np.random.default_rng(seed)
    colours = np.zeros((*x.shape, 3))
    for _ in range(24):
        wave, turn, phase = rng.uniform(5, 16), rng.uniform(0, math.tau), rng.uniform(0, math.tau)
        swing = np.sin((x * math.cos(turn) + y * math.sin(turn)) * math.tau / wave + phase)
        colours += swing[..., np.newaxis] * rng.uniform(0.3, 1, 3)
    return 128 + 22 * colours


def plane_seen(plane, right: int, down: int, size) -> tuple[np.ndarray, np.ndarray]:
    """Where the centre view sees what a view sees: d = a + b x + c y there is a linear system."""
    a, b, c = plane
    y, x = np.indices(size, dtype=float)
    matrix = np.array([[1 - right * b, -right * c], [-down * b, 1 - down * c]])
    found = np.linalg.inv(matrix) @ np.stack([(x + right * a).ravel(), (y + down * a).ravel()])
    return found[0].reshape(size), found[1].reshape(size)


def planes(
    *layers, grid=(5, 5), size=SIZE, span=(-2.0, 2.0), noise=0.0
) -> tuple[Inputs, np.ndarray]:
    """A light field of (plane, inside) from front to back, and the centre view's disparity."""
    views = np.zeros((*grid, *size, 3))
    truth = np.zeros(size)
    for row, column in np.ndindex(*grid):
        right, down = column - grid[1] // 2, row - grid[0] // 2
        for seed, (plane, inside) in reversed(list(enumerate(layers))):
            x, y = plane_seen(plane, right, down, size)
            here = inside(x, y)
            views[row, column][here] = painted(x, y, seed)[here]
            if (right, down) == (0, 0):
                truth[here] = (plane[0] + plane[1] * x + plane[2] * y)[here]
    views += np.random.default_rng(9).normal(0, noise, views.shape) if noise else 0
    bytes_ = np.clip(np.rint(views), 0, 255).astype(np.uint8)
    middle = bytes_[grid[0] // 2, grid[1] // 2]
    return Inputs({"views": bytes_, "centre_image": middle, "disparity_range": span}), truth


def everywhere(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.ones(x.shape, bool)


def estimated(method: str, inputs: Inputs) -> np.ndarray:
    values = find_method(method).estimate(inputs, "disparity").values
    assert values.dtype == np.float32
    assert values.shape == image_size(inputs)
    return values


def inner(values: np.ndarray, border: int = 8) -> np.ndarray:
    return values[border:-border, border:-border]


PLANES = [  # level, slopes along x and y
    (0.6, 0.0, 0.0),
    (-1.3, 0.0, 0.0),
    (0.0, 0.0, 0.0),
    (-1.2, 0.03, 0.01),
    (1.1, -0.02, -0.02),
]


@DENSE
@pytest.mark.parametrize("plane", PLANES)
def test_planes_are_found_to_a_hundredth_of_a_pixel(method, plane):
    inputs, truth = planes((plane, everywhere))
    error = np.abs(inner(estimated(method, inputs) - truth))
    assert np.median(error) < 0.005
    assert np.quantile(error, 0.99) < 0.025


@pytest.mark.parametrize("plane", PLANES)
def test_a_pair_finds_planes_less_exactly(plane):
    inputs, truth = planes((plane, everywhere))
    error = inner(estimated("lf-pair", inputs) - truth, 10)
    assert np.isfinite(error).mean() > 0.9
    assert np.nanmedian(np.abs(error)) < 0.12


GRIDS = [(9, 9), (3, 3), (3, 5), (1, 9), (9, 1), (4, 4), (3, 1)]


@DENSE
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_grids_of_all_shapes(method, grid):
    inputs, truth = planes(((0.7, 0.01, -0.01), everywhere), grid=grid)
    assert np.median(np.abs(inner(estimated(method, inputs) - truth, 10))) < 0.02


@DENSE
def test_many_views_and_few_disparities(method):
    """The farthest shift is much more than the range's own step."""
    inputs, truth = planes(((0.2, 0, 0), everywhere), grid=(1, 17), span=(0.1, 0.4))
    rough = f"{method}:shear_px=1" if method == "lf-epi" else f"{method}:step_px=4"
    for text in (method, rough):
        assert np.median(np.abs(inner(estimated(text, inputs) - truth, 10))) < 0.05


@pytest.mark.parametrize("grid", [(1, 2), (2, 2)], ids=str)
def test_two_columns_leave_only_the_view_to_the_left(grid):
    inputs, _ = planes(((0.75, 0, 0), everywhere), grid=grid)
    for method, bound in (("lf-cost-volume", 0.05), ("lf-pair", 0.15)):
        assert np.nanmedian(inner(estimated(method, inputs))) == pytest.approx(0.75, abs=bound)


def bar(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.abs(x - 30) < 7


@DENSE
def test_edges_of_a_foreground_are_kept(method):
    """Both methods take the half of the views that sees the background beside an occluder."""
    near, far = (1.2, 0, 0), (-0.8, 0, 0)
    inputs, truth = planes((near, bar), (far, everywhere), grid=(5, 5))
    error = np.abs(inner(estimated(method, inputs) - truth))
    assert (error > 0.07).mean() < 0.06
    assert np.median(error) < 0.01


def test_a_gap_that_one_column_of_views_looks_through_is_found():
    near, far = (1.0, 0, 0), (-1.0, 0, 0)
    wall = (near, lambda x, y: np.abs(x - 31.5) > 2)
    inputs, truth = planes(wall, (far, everywhere), grid=(5, 5))
    values = estimated("lf-cost-volume", inputs)
    assert (np.abs(values - truth)[8:-8, 31:33] < 0.1).mean() > 0.9
    assert (np.abs(values - truth)[8:-8, 35:50] < 0.1).all()


@pytest.mark.parametrize(("method", "bound"), [("lf-cost-volume", 0.05), ("lf-epi", 0.05)])
def test_noise_is_smoothed_over(method, bound):
    inputs, truth = planes(((-0.7, 0.01, 0.0), everywhere), noise=40)
    assert np.median(np.abs(inner(estimated(method, inputs) - truth))) < bound


def test_the_level_of_noise_is_measured():
    for noise in (0, 20, 40):
        inputs, _ = planes(((0.5, 0, 0), everywhere), noise=noise)
        views = np.moveaxis(inputs.views, -1, 2).astype(np.float32)
        level = noise_level(splines_of(np.ascontiguousarray(views)), (-2.0, 2.0))
        assert np.median(level) == pytest.approx(0.7 * noise, abs=1 + 0.15 * noise)


@ALL
def test_no_texture_is_survived(method):
    views = np.full((3, 3, 32, 40, 3), 90, np.uint8)
    inputs = Inputs({"views": views, "centre_image": views[1, 1], "disparity_range": (-1, 2)})
    values = estimated(method, inputs)
    known = values[np.isfinite(values)]
    assert ((known >= -1) & (known <= 2)).all()
    assert known.size == values.size or method == "lf-pair"


@ALL
def test_disparities_stay_within_the_range(method):
    inputs, _ = planes(((1.8, 0, 0), everywhere), span=(-1.0, 1.0), noise=5)
    values = estimated(method, inputs)
    assert np.nanmin(values) >= -1
    assert np.nanmax(values) <= 1


@DENSE
def test_the_number_of_threads_changes_no_bit(method, on_threads):
    inputs, _ = planes((((0.9, 0, 0), bar)), ((-0.8, 0.01, 0), everywhere), noise=12)
    before = cv2.getNumThreads()

    def values():
        cv2.setNumThreads(int(os.environ["DEPTHGAUGE_THREADS"]))
        return estimated(method, inputs).tobytes()

    try:
        assert len(set(on_threads(values))) == 1
    finally:
        cv2.setNumThreads(before)


@pytest.mark.long
def test_kernels_just_compiled_and_kernels_from_the_cache_give_the_same_bits(compiled_and_cached):
    code = (
        "import hashlib, test_light_field as t\n"
        "inputs, _ = t.planes(((0.9, 0, 0), t.bar), ((-0.8, 0.01, 0), t.everywhere), noise=12)\n"
        "for method in ('lf-epi', 'lf-cost-volume'):\n"
        "    print(hashlib.sha256(t.estimated(method, inputs).tobytes()).hexdigest())\n"
    )
    first, second = compiled_and_cached(code, Path(__file__).parent)
    assert len(first.split()) == 2
    assert first == second


@ALL
def test_grey_views_with_and_without_channels(method):
    inputs, _ = planes(((0.8, 0, 0), everywhere), grid=(3, 3))
    grey = inputs.views[..., 1]
    kinds = [grey, grey[..., np.newaxis], np.repeat(grey[..., np.newaxis], 3, axis=-1)]
    found = [
        estimated(method, Inputs({**inputs, "views": views, "centre_image": grey[1, 1]}))
        for views in kinds
    ]
    assert np.nanmedian(inner(found[0])) == pytest.approx(0.8, abs=0.15)
    assert np.array_equal(found[0], found[1], equal_nan=True)
    if method != "lf-pair":  # SGBM's penalties grow with the number of channels
        assert np.array_equal(found[0], found[2])


@ALL
def test_float_views_are_as_good_as_bytes(method):
    inputs, _ = planes(((0.8, 0, 0), everywhere), grid=(3, 3))
    real = Inputs({**inputs, "views": inputs.views.astype(np.float32) / 255})
    first, second = estimated(method, inputs), estimated(method, real)
    assert np.nanmax(np.abs(first - second)) < 1e-3


@ALL
def test_without_a_range_the_options_give_it(method):
    inputs, _ = planes(((-0.7, 0, 0), everywhere), grid=(3, 3))
    bare = Inputs({k: v for k, v in inputs.items() if k != "disparity_range"})
    said = estimated(f"{method}:low=-2,high=2", bare)
    assert np.array_equal(said, estimated(method, inputs), equal_nan=True)
    assert np.nanmedian(inner(estimated(method, bare))) == pytest.approx(-0.7, abs=0.15)
    with pytest.raises(Misuse, match="low is 3 but must be less than high, 2"):
        find_method(f"{method}:low=3,high=2")


def test_a_pair_is_what_sgbm_gives_a_step():
    inputs, _ = planes(((0.9, 0.005, 0), everywhere), grid=(3, 9))
    two = {"left_image": inputs.views[1, 4], "right_image": inputs.views[1, 8]}
    pair = Inputs({**two, "disparity_range": (-8, 8)})
    expected = find_method("sgbm:mode=hh").estimate(pair, "disparity").values / 4
    assert np.array_equal(estimated("lf-pair", inputs), expected, equal_nan=True)


def test_epi_gives_its_confidence():
    inputs, _ = planes(((0.5, 0, 0), everywhere), grid=(5, 5))
    flat = inputs.views.copy()
    flat[:, :, :, 40:] = 128
    changed = Inputs({**inputs, "views": flat})
    confidence = find_method("lf-epi").estimate(changed, "disparity").parts["confidence"]
    assert confidence.min() >= 0
    assert confidence.max() <= 1
    assert np.median(confidence[8:-8, 8:30]) > 0.9
    assert confidence[8:-8, 48:].max() < 0.1


@pytest.mark.parametrize(
    "method",
    ["lf-cost-volume:median=0,smoothness=0,p1=0,p2=0,window=0", "lf-epi:median=0,smoothness=0"],
)
def test_without_any_smoothing_single_pixels_are_still_right(method):
    inputs, truth = planes(((0.6, 0.02, 0), everywhere))
    assert np.median(np.abs(inner(estimated(method, inputs) - truth))) < 0.02


WRONG = [
    ((5, 64, 64), "views are (5, 64, 64), expected (rows, columns, H, W, 3)"),
    ((5, 5, 64, 64, 4), "views are (5, 5, 64, 64, 4), expected (rows, columns, H, W, 3)"),
    ((0, 5, 64, 64, 3), "views are (0, 5, 64, 64, 3), expected"),
]


@ALL
@pytest.mark.parametrize(("shape", "message"), WRONG)
def test_views_of_a_wrong_shape(method, shape, message):
    with pytest.raises(WrongShape) as caught:
        find_method(method).estimate(Inputs({"views": np.zeros(shape, np.uint8)}), "disparity")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@ALL
def test_what_cannot_be_estimated_is_one_sentence(method):
    def message(shape, kind=np.uint8, **more):
        given = Inputs({"views": np.zeros(shape, kind), **more})
        with pytest.raises((Unavailable, WrongShape)) as caught:
            find_method(method).estimate(given, "disparity")
        return str(caught.value)

    assert "has 1x1 views of 64x48 px" in message((1, 1, 48, 64, 3))
    assert "has 3x3 views of 64x4 px" in message((3, 3, 4, 64, 3))
    assert "views are of int32, expected uint8" in message((3, 3, 32, 32, 3), np.int32)
    for span in ((1, 1), (2, -2), (math.nan, 1)):
        assert "disparity range is" in message((3, 3, 32, 32, 3), disparity_range=span)
    with pytest.raises(Unavailable, match="needs views; this sample has no views"):
        find_method(method).estimate(Inputs({}), "disparity")


def test_grids_that_one_method_cannot_use():
    two, column = np.zeros((2, 2, 32, 32, 3), np.uint8), np.zeros((9, 1, 32, 32, 3), np.uint8)
    with pytest.raises(Unavailable, match=r"three views in a row or in a column; .* has 2x2"):
        find_method("lf-epi").estimate(Inputs({"views": two}), "disparity")
    with pytest.raises(Unavailable, match="two views in a row; the light field has 9x1"):
        find_method("lf-pair").estimate(Inputs({"views": column}), "disparity")


def test_a_range_that_holds_too_many_disparities():
    views = np.zeros((9, 9, 32, 32, 3), np.uint8)
    inputs = Inputs({"views": views, "disparity_range": (-50, 50)})
    with pytest.raises(Unavailable, match=r"-50\.\.50 px per step has 1601 disparities"):
        find_method("lf-cost-volume").estimate(inputs, "disparity")


@pytest.mark.skipif(not ANTINOUS.is_dir(), reason="the light field 'antinous' is not here")
def test_a_part_of_a_public_light_field():
    part = np.s_[150:290, 180:320]
    files = [ANTINOUS / f"input_Cam{k:03d}.png" for k in range(81)]
    views = np.stack([read_image(file)[part] for file in files]).reshape(9, 9, 140, 140, 3)
    truth = read_map(ANTINOUS / "gt_disp_lowres.pfm")[part]
    inputs = Inputs({"views": views, "centre_image": views[4, 4], "disparity_range": (-3.3, 2.8)})
    for method, most in (("lf-cost-volume", 0.02), ("lf-epi", 0.03)):
        error = np.abs(estimated(method, inputs) - truth)[15:-15, 15:-15]
        assert np.median(error) < most
