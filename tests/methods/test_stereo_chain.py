"""`stereo-chain`: each step against a plain reference, and whole chains on known disparities."""

import numpy as np
import pytest
from scipy import ndimage

from depthgauge.errors import Unavailable
from depthgauge.methods import find_method
from depthgauge.methods._chain import kernels
from depthgauge.methods._pair import Pair
from depthgauge.methods._stereo import Search
from depthgauge.methods.stereo_chain import (
    StereoChainOptions,
    aggregated,
    costs,
    optimised,
    refined,
)
from depthgauge.types import Inputs


def pair_of(shift: int, shape=(30, 60), seed=0):
    """A random picture and the same moved by whole pixels."""
    wide = np.random.default_rng(seed).integers(0, 256, (shape[0], shape[1] + shift, 3), np.uint8)
    left, right = wide[:, : shape[1]], wide[:, shift:]
    return np.ascontiguousarray(left), np.ascontiguousarray(right)


def volume_of(rng, shape=(9, 12, 8)):
    return rng.random(shape).astype(np.float32)


def reference_census(grey):
    """Bits of the 24 neighbours, by shifted copies."""
    padded = np.pad(grey, 2, mode="edge")
    h, w = grey.shape
    bits = [
        padded[j : j + h, i : i + w] < grey for j in range(5) for i in range(5) if (j, i) != (2, 2)
    ]
    return np.stack(bits, axis=-1)


def test_census_by_hand():
    """A pixel that is brighter than exactly its three left neighbours in the row above."""
    grey = np.full((5, 5), 9, np.float32)
    grey[1, :2], grey[2, 2] = 3, 5
    codes = np.zeros((5, 5), np.uint32)
    kernels.census(grey, codes)
    assert bin(int(codes[2, 2])) == bin(0b11000 << 14)  # bits 5 and 6 of 24
    assert reference_census(grey)[2, 2].sum() == 2


def test_census_costs_are_shares_of_different_bits():
    left, right = (np.random.default_rng(k).integers(0, 256, (7, 11, 3), np.uint8) for k in (1, 2))
    search = Search(-2, 6)
    pair = Pair(left, right, (11, 7))
    volume = costs(pair, search, StereoChainOptions())
    from depthgauge.methods._images import as_grey

    bits = [reference_census(as_grey(image).astype(np.float32)) for image in (left, right)]
    for x in range(11):
        for d in range(6):
            i = x - (d - 2)
            if 0 <= i < 11:
                share = (bits[0][:, x] != bits[1][:, i]).mean(axis=-1)
                np.testing.assert_allclose(volume[:, x, d], share, atol=1e-6)
            else:
                assert (volume[:, x, d] == 1).all()


def test_absolute_costs_are_cut_off():
    left = np.full((1, 4, 3), 100, np.uint8)
    right = left.copy()
    right[0, 1] = (110, 100, 90)
    right[0, 2] = 255
    options = StereoChainOptions(cost="absolute")
    volume = costs(Pair(left, right, (4, 1)), Search(0, 2), options)
    expected = [[0, 1], [20 / 120, 0], [1, 20 / 120], [0, 1]]
    np.testing.assert_allclose(volume[0], expected, atol=1e-6)


def test_windows_average():
    rng = np.random.default_rng(3)
    volume = volume_of(rng)
    left = rng.integers(0, 256, (9, 12), np.uint8)
    pair = Pair(left, left, (12, 9))
    box = aggregated(volume, pair, StereoChainOptions(aggregation="box", radius=1))
    expected = ndimage.uniform_filter(volume, (3, 3, 1), mode="nearest")
    np.testing.assert_allclose(box, expected, atol=1e-5)
    same = aggregated(volume, pair, StereoChainOptions(aggregation="none"))
    assert same is volume
    flat = Pair(np.full((9, 12), 7, np.uint8), left, (12, 9))
    guided = aggregated(volume, flat, StereoChainOptions(aggregation="guided", radius=1))
    twice = ndimage.uniform_filter(expected, (3, 3, 1), mode="nearest")
    np.testing.assert_allclose(guided, twice, atol=1e-4)  # without edges, a window of a window


def test_guided_windows_keep_edges():
    """A step in the costs at a step in the picture stays; a box blurs it."""
    left = np.zeros((9, 12), np.uint8)
    left[:, 6:] = 200
    volume = np.zeros((9, 12, 1), np.float32)
    volume[:, 6:] = 1
    pair = Pair(left, left, (12, 9))
    found = {
        how: aggregated(volume, pair, StereoChainOptions(aggregation=how))[4, 5, 0]
        for how in ("box", "guided")
    }
    assert found["box"] == pytest.approx(0.4)
    assert found["guided"] < 0.05


def test_semi_global_costs_are_sums_over_eight_directions():
    """Without penalties nothing is exchanged: each direction adds the cost itself."""
    rng = np.random.default_rng(5)
    volume = volume_of(rng)
    left = rng.integers(0, 256, (9, 12), np.uint8)
    pair = Pair(left, left, (12, 9))
    free = optimised(volume, pair, StereoChainOptions(p1=0, p2=0))
    assert (free.argmin(axis=2) == volume.argmin(axis=2)).all()
    np.testing.assert_allclose(free, 8 * volume, atol=1e-4)
    volume[:, :, 3] -= 0.3  # a wall, in noise
    flat = Pair(np.full_like(left, 9), left, (12, 9))  # at its edges, jumps would be cheaper
    smooth = optimised(volume, flat, StereoChainOptions(p1=0.3, p2=1)).argmin(axis=2)
    alone, together = ((each == 3).mean() for each in (volume.argmin(axis=2), smooth))
    assert together > 1.3 * alone


def test_a_check_drops_what_the_other_picture_contradicts():
    volume = np.ones((1, 6, 3), np.float32)
    volume[0, np.arange(6), [0, 0, 0, 2, 2, 0]] = 0  # pixels 3 and 4 claim 1 and 2 of the right
    volume[0, 1, 0] = 0.5  # ... as do pixels 1 and 2, less surely of pixel 1
    options = StereoChainOptions(refinement="checked")
    values = refined(volume, Search(0, 3), options)
    assert np.isnan(values[0, 1])
    np.testing.assert_array_equal(values[0, [0, 3, 5]], [0, 2, 0])
    np.testing.assert_array_equal(
        refined(volume, Search(0, 3), StereoChainOptions(refinement="none"))[0], [0, 0, 0, 2, 2, 0]
    )


def test_the_median_leaves_missing_pixels_out():
    rng = np.random.default_rng(7)
    values = rng.random((8, 9)).astype(np.float32)
    values[rng.random(values.shape) < 0.3] = np.nan
    out = np.full_like(values, np.nan)
    kernels.median(values, out)
    padded = np.pad(values, 1, constant_values=np.nan)
    for y in range(8):
        for x in range(9):
            if np.isnan(values[y, x]):
                assert np.isnan(out[y, x])
            else:
                window = padded[y : y + 3, x : x + 3]
                assert out[y, x] == pytest.approx(np.nanmedian(window))


CHAINS = [
    f"stereo-chain:cost={cost},aggregation={aggregation},optimisation={optimisation}"
    for cost in ("census", "absolute")
    for aggregation in ("none", "box", "guided")
    for optimisation in ("winner", "semi-global")
]


@pytest.mark.parametrize("method", CHAINS)
def test_every_chain_finds_a_known_shift(method):
    left, right = pair_of(6)
    inputs = Inputs({"left_image": left, "right_image": right, "disparity_range": (0, 15)})
    found = find_method(method).estimate(inputs, "disparity").values
    inner = found[3:-3, 10:-4]
    assert np.isfinite(inner).mean() > 0.97
    assert (np.abs(inner - 6) < 0.5).mean() > 0.97
    assert (found[np.isfinite(found)] >= 0).all()


def test_ranges_that_do_not_begin_at_zero():
    left, right = pair_of(9)
    inputs = Inputs({"left_image": left, "right_image": right, "disparity_range": (5, 12)})
    found = find_method("stereo-chain:filling=background").estimate(inputs, "disparity").values
    assert np.isfinite(found).all()
    assert np.median(found[:, 12:]) == pytest.approx(9, abs=0.3)
    assert found.min() >= 5
    assert found.max() <= 12


def test_threads_change_nothing(on_threads):
    left, right = pair_of(4)
    inputs = Inputs({"left_image": left, "right_image": right, "disparity_range": (0, 15)})
    method = find_method("stereo-chain")
    first, *others = on_threads(lambda: method.estimate(inputs, "disparity").values)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_too_much_memory_is_said():
    left, right = pair_of(4)
    inputs = Inputs({"left_image": left, "right_image": right})
    with pytest.raises(Unavailable, match="use a smaller input_scale"):
        find_method("stereo-chain:memory_limit_gib=0.0001").estimate(inputs, "disparity")
