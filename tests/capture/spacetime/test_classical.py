"""The classical engine: its kernels beside plain NumPy, and its accuracy on textured planes."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from depthgauge.capture import _spline_kernels
from depthgauge.capture.spacetime.engine import Pairs
from depthgauge.capture.spacetime.engines import _cost_kernels, _path_kernels, _shift_kernels
from depthgauge.capture.spacetime.engines.classical import Classical, _colours, window_weights
from depthgauge.capture.spacetime.engines.mixing import mixing, share_beyond_jumps
from depthgauge.capture.spacetime.step import Tiles
from depthgauge.geometry._shared_kernels import path_count

HEIGHT, WIDTH = 90, 150
BACK, FRONT = (18.0, -0.03, 0.05), (33.0, 0.02, -0.02)
BOX = (55, 100, 25, 65)
LIMITS = (6, 45)
ENGINE = Classical()


def plane(p, x, y):
    return p[0] + p[1] * (x - WIDTH / 2) + p[2] * (y - HEIGHT / 2)


def left_column(p, x_right, y):
    """Where in the left view the plane shows what the right one has at a column."""
    return (x_right + p[0] - p[1] * WIDTH / 2 + p[2] * (y - HEIGHT / 2)) / (1 - p[1])


def looked_up(rng, places, y):
    """A random smooth texture, twice as fine as the pixels, at exact positions."""
    noise = rng.normal(size=(2 * (HEIGHT + 8), 2 * (WIDTH + 120)))
    noise = ndimage.gaussian_filter(noise, 2.0)
    coefficients = ndimage.spline_filter(noise * (40 / noise.std()) + 100, order=3)
    return [
        ndimage.map_coordinates(
            coefficients, [2 * (y + 4), 2 * (x + 60)], order=3, prefilter=False, mode="nearest"
        )
        for x in places
    ]


@cache
def textured_planes(patterns: int, noise: float = 1.5):
    """A box before a slanted wall under random textures: pairs, both truths, what both views see.

    The right camera is a bit darker, with an offset.
    """
    rng = np.random.default_rng(patterns)
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)

    def inside(column):
        x0, x1, y0, y1 = BOX
        return (column >= x0) & (column <= x1) & (y >= y0) & (y <= y1)

    near, far = left_column(FRONT, x, y), left_column(BACK, x, y)
    boxed = inside(x), inside(near)
    truth = np.where(boxed[0], plane(FRONT, x, y), plane(BACK, x, y))
    right_truth = np.where(boxed[1], near, far) - x
    stacks = np.zeros((2, patterns, HEIGHT, WIDTH, 3), np.uint8)
    for t in range(patterns):
        for c in range(3):
            wall, wall_right = looked_up(rng, (x, far), y)
            box, box_right = looked_up(rng, (x, near), y)
            left = np.where(boxed[0], box, wall)
            right = 0.9 * np.where(boxed[1], box_right, wall_right) + 5
            for side, light in enumerate((left, right)):
                noisy = light + rng.normal(0, noise, light.shape)
                stacks[side, t, ..., c] = np.rint(np.clip(noisy, 0, 255))
    match = np.rint(x - truth).astype(int)
    covered = np.take_along_axis(boxed[1], np.clip(match, 0, WIDTH - 1), axis=1) & ~boxed[0]
    seen = (match >= 0) & ~covered
    known = np.ones((HEIGHT, WIDTH), bool)
    return Pairs(stacks[0], stacks[1], known, known), truth, right_truth, seen


def beside_jumps(truth, reach):
    jumps = ndimage.maximum_filter(truth, 3) - ndimage.minimum_filter(truth, 3) > 2
    return ndimage.binary_dilation(jumps, iterations=reach)


@pytest.mark.parametrize(
    ("patterns", "median_px", "edges"), [(1, 0.04, 0.85), (2, 0.03, 0.9), (10, 0.01, 0.97)]
)
def test_planes_are_exact_to_hundredths_of_a_pixel(patterns, median_px, edges):
    pairs, truth, _, seen = textured_planes(patterns)
    found = ENGINE.match(pairs, LIMITS)
    error = np.abs(found.disparity - truth)
    beside = beside_jumps(truth, 3)
    flat = seen & ~beside
    assert np.mean(np.isfinite(error[flat])) > 0.995
    assert np.nanmedian(error[flat]) < median_px
    assert np.mean(~(error[flat] <= 1)) < 0.005
    assert np.mean(error[seen & beside] <= 1) > edges


def test_more_patterns_give_smaller_errors_and_the_variances_say_so():
    sizes = {}
    for patterns in (2, 5, 10):
        pairs, truth, _, seen = textured_planes(patterns)
        found = ENGINE.match(pairs, LIMITS)
        flat = seen & ~beside_jumps(truth, 3) & (np.abs(found.disparity - truth) < 1)
        error = (found.disparity - truth)[flat]
        sizes[patterns] = np.median(np.abs(error)), np.sqrt(np.nanmedian(found.variance[flat]))
    assert sizes[2][0] > sizes[5][0] > sizes[10][0]
    assert sizes[5][1] > sizes[10][1]
    within = np.abs(error) / np.sqrt(found.variance[flat])
    assert 0.55 < np.mean(within <= 1) < 0.8
    assert 0.85 < np.mean(within <= 2) < 0.99


def test_no_fraction_of_a_pixel_is_preferred():
    """Fractions that interpolation has blurred attract others; here they hardly do."""
    pairs, truth, _, seen = textured_planes(10)
    found = ENGINE.match(pairs, LIMITS)
    flat = seen & ~beside_jumps(truth, 3) & (np.abs(found.disparity - truth) < 1)
    error, fraction = (found.disparity - truth)[flat], truth[flat] % 1
    for start in (0, 0.25, 0.5, 0.75):
        here = (fraction >= start) & (fraction < start + 0.25)
        assert abs(error[here].mean()) < 0.004


def test_the_right_view_by_mirroring():
    pairs, _, right_truth, _ = textured_planes(5)
    found = ENGINE.match(pairs.mirrored(), LIMITS).mirrored()
    x = np.arange(WIDTH)
    flat = (x + right_truth < WIDTH - 2) & ~beside_jumps(right_truth, 3)
    error = np.abs(found.disparity - right_truth)[flat]
    # Some of them are hidden from the left view.
    assert np.nanmedian(error) < 0.02
    assert np.mean(error <= 1) > 0.85


def test_tiles_change_next_to_nothing(tmp_path):
    pairs, *_ = textured_planes(5)
    whole = ENGINE.match(pairs, LIMITS)
    memory_gib = 55 * ENGINE.bytes_per_row(pairs.size, LIMITS) / 2**30
    tiles = Tiles(ENGINE, tmp_path, LIMITS, memory_gib)
    assert len(list(tiles.plan(pairs.size))) > 3
    maps = tiles.match(pairs, range(5))
    difference = np.abs(maps["left_disparity"] - whole.disparity)
    agree = (difference == 0) | (np.isnan(maps["left_disparity"]) & np.isnan(whole.disparity))
    assert agree.mean() > 0.995
    tiles.remove()
    assert not list(tmp_path.iterdir())


def test_what_no_camera_saw_has_no_disparity():
    pairs, *_ = textured_planes(5)
    known = pairs.left_known.copy()
    known[:, :40] = False
    found = ENGINE.match(Pairs(pairs.left, pairs.right, known, pairs.right_known), LIMITS)
    assert np.isnan(found.disparity[:, :40]).all()
    assert np.isfinite(found.disparity[:, 60:]).mean() > 0.95


def test_equal_pictures_have_no_contrast_and_no_match():
    flat = np.full((3, 20, 40, 3), 90, np.uint8)
    known = np.ones((20, 40), bool)
    found = ENGINE.match(Pairs(flat, flat, known, known), (0, 8))
    assert np.isnan(found.disparity).all()


@given(st.integers(0, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_a_whole_shift_is_found_everywhere(shift, seed):
    rng = np.random.default_rng(seed)
    wide = rng.integers(0, 256, (5, 24, 60, 3), dtype=np.uint8)
    known = np.ones((24, 40), bool)
    pairs = Pairs(wide[:, :, :40], wide[:, :, shift : shift + 40], known, known)
    found = ENGINE.match(pairs, (-2, 14))
    inside = found.disparity[2:-2, shift + 3 : -3]
    np.testing.assert_allclose(inside, shift, atol=1e-3)
    np.testing.assert_allclose(found.confidence[2:-2, shift + 3 : -3], 1, atol=0.01)


# Beside plain NumPy.


def random_pairs(seed=0, patterns=3, height=9, width=14):
    rng = np.random.default_rng(seed)
    stacks = rng.integers(0, 256, (2, patterns, height, width, 3), dtype=np.uint8)
    known = rng.random((2, height, width)) > 0.1
    return Pairs(stacks[0], stacks[1], known[0], known[1])


def plain_window(values, weights):
    """Weighted sums over windows of (H, W, ...), borders repeated."""
    r = len(weights) // 2
    pad = [(r, r), (r, r)] + [(0, 0)] * (values.ndim - 2)
    wide = np.pad(values, pad, mode="edge")
    height, width = values.shape[:2]
    return sum(
        a * b * wide[j : j + height, i : i + width]
        for j, a in enumerate(weights)
        for i, b in enumerate(weights)
    )


def plain_census(stack, least):
    grey = stack.astype(int).sum(axis=3)
    wide = np.pad(grey, [(0, 0), (2, 2), (2, 2)], mode="edge")
    height, width = grey.shape[1:]
    bits = [
        wide[:, j : j + height, i : i + width] > grey + least
        for j in range(5)
        for i in range(5)
        if (j, i) != (2, 2)
    ]
    return np.stack(bits, axis=-1)


def plain_costs(pairs, engine, low, count):
    """(H, W, D) of the left view, 0 to 1023."""
    patterns, height, width = pairs.size
    weights = window_weights(patterns).astype(float)
    sides = [s.astype(float).transpose(1, 2, 0, 3) for s in (pairs.left, pairs.right)]
    sides = [s - s.mean(axis=2, keepdims=True) for s in sides]
    known = pairs.left_known, pairs.right_known
    spreads = [
        np.sqrt(plain_window((s * s).sum(axis=(2, 3)) * k, weights))
        for s, k in zip(sides, known, strict=True)
    ]
    bits = [plain_census(s, round(engine.noise_levels * 3)) for s in (pairs.left, pairs.right)]
    floor = engine.noise_levels**2 * patterns * 3
    census_part = engine.census_part if patterns < 5 else 0
    costs = np.full((height, width, count), 1023)
    for d in range(count):
        shift = low + d
        products = np.zeros((height, width))
        x = np.arange(width)
        ok = (x - shift >= 0) & (x - shift < width)
        u = (x - shift)[ok]
        products[:, ok] = (sides[0][:, ok] * sides[1][:, u]).sum(axis=(2, 3))
        shared = plain_window(products, weights)[:, ok]
        likeness = shared / (spreads[0][:, ok] * spreads[1][:, u] + floor)
        differing = (bits[0][:, :, ok] != bits[1][:, :, u]).mean(axis=(0, 3)) * 2
        cost = (1 - census_part) * (1 - np.clip(likeness, 0, 1))
        cost += census_part * np.minimum(differing, 1)
        both = pairs.left_known[:, ok] & pairs.right_known[:, u]
        costs[:, ok, d] = np.where(both, np.floor(1023 * cost + 0.5), 1023)
    return costs


def from_the_right(costs, low):
    """The same costs by right column."""
    _, width, count = costs.shape
    out = np.full(costs.shape, 1023)
    for u in range(width):
        for d in range(count):
            if 0 <= u + low + d < width:
                out[:, u, d] = costs[:, u + low + d, d]
    return out


def least_minima(costs, most):
    """The lowest local minima of one pixel: cost and number; of equal neighbours the last."""
    wide = np.concatenate([[2000], costs, [2000]])
    minima = [
        (int(v), d) for d, v in enumerate(costs) if v < 1023 and wide[d] >= v and wide[d + 2] > v
    ]
    return sorted(minima)[:most]


@pytest.mark.parametrize("low", [0, -4, 3])
@pytest.mark.parametrize("patterns", [3, 6])
def test_candidates_are_the_lowest_minima_of_plain_costs_in_both_views(low, patterns):
    pairs, engine = random_pairs(patterns=patterns), Classical(census_part=0.3, candidates=3)
    colours = [_colours(s)[0] for s in (pairs.left, pairs.right)]
    places, costs = engine._candidates(pairs, colours, low, 7)
    plain = plain_costs(pairs, engine, low, 7)
    for side, expected in enumerate((plain, from_the_right(plain, low))):
        agree = 0
        for y, x in np.ndindex(expected.shape[:2]):
            minima = least_minima(expected[y, x], 3)
            found = [
                (int(c), int(d))
                for c, d in zip(costs[side, y, x], places[side, y, x], strict=True)
                if c < 1023
            ]
            # Rounding may exchange costs that differ by one.
            close = len(found) == len(minima) and all(
                abs(a - b) <= 1 and d == e for (a, d), (b, e) in zip(found, minima, strict=True)
            )
            agree += close
        assert agree >= 0.97 * expected.shape[0] * expected.shape[1]


def plain_paths(places, costs, dx, dy, small, large):
    height, width, most = costs.shape
    out = np.zeros(costs.shape)
    rows = range(height) if dy >= 0 else range(height - 1, -1, -1)
    columns = range(width) if dx >= 0 else range(width - 1, -1, -1)
    for y in rows:
        for x in columns:
            v, u = y - dy, x - dx
            inside = 0 <= v < height and 0 <= u < width
            for j in range(most):
                out[y, x, j] = costs[y, x, j]
                if not inside:
                    out[y, x, j] += large  # the same for all
                    continue
                before, ways = out[v, u], [out[v, u].min() + large]
                for q in range(most):
                    gap = abs(int(places[v, u, q]) - int(places[y, x, j]))
                    ways += [before[q] + gap * small] if gap <= 1 else []
                out[y, x, j] += min(ways) - before.min()
    return out


@pytest.mark.parametrize(("dx", "dy"), [(1, 0), (0, -1), (1, 1), (-1, 1)])
def test_paths_are_those_of_plain_numpy(dx, dy):
    rng = np.random.default_rng(1)
    costs = np.sort(rng.integers(0, 1000, (6, 8, 4)), axis=2).astype(np.uint16)
    places = rng.permuted(np.tile(np.arange(9), (6, 8, 1)), axis=2)[..., :4].astype(np.int16)
    totals = np.zeros_like(costs)
    paths = path_count(6, 8, dx, dy)
    _path_kernels.follow_paths(paths, places, costs, 1023, dx, dy, 20, 110, totals)
    np.testing.assert_array_equal(totals, plain_paths(places, costs.astype(float), dx, dy, 20, 110))


def test_sums_of_eight_paths_fit_into_16_bits():
    engine = Classical()
    assert 8 * (_cost_kernels.WORST + engine.jump_penalty) < 2**16


def test_the_least_total_wins_among_candidates_that_exist():
    places = np.array([[[5, 9, _cost_kernels.NOWHERE]], [[_cost_kernels.NOWHERE] * 3]], np.int16)
    costs = np.array([[[3, 4, 1023]], [[1023] * 3]], np.uint16)
    totals = np.array([[[40, 30, 0]], [[0] * 3]], np.uint16)
    found = np.zeros((2, 1), np.int32)
    _path_kernels.winners(places, costs, totals, _cost_kernels.WORST, -7, found)
    assert found.tolist() == [[9], [-7]]


def test_both_views_are_those_of_one_after_the_other():
    pairs, *_ = textured_planes(5)
    left, right = ENGINE.match_both(pairs, LIMITS)
    alone, mirrored = ENGINE.match(pairs, LIMITS), ENGINE.match(pairs.mirrored(), LIMITS)
    np.testing.assert_array_equal(left.disparity, alone.disparity)
    other = mirrored.mirrored()
    # Windows at the picture's sides are those of one view or of the other.
    inner = np.s_[:, 5:-40]
    sure = other.confidence[inner] > 0.6  # what is hidden from the left view matches by chance
    assert sure.mean() > 0.8
    difference = np.abs(right.disparity - other.disparity)[inner]
    assert np.mean(difference[sure] < 1e-3) > 0.995


def test_splines_go_through_the_pixels_as_those_of_scipy():
    rng = np.random.default_rng(5)
    image = rng.integers(30, 220, (20, 25, 3), dtype=np.uint8)
    values = image.astype(np.float32)
    _spline_kernels.spline_rows(values)
    _spline_kernels.spline_columns(values.reshape(20, -1))
    expected = ndimage.spline_filter(image[..., 1].astype(float), order=3, mode="mirror")
    np.testing.assert_allclose(values[..., 1], expected, atol=0.01)
    ys, xs = (rng.uniform(0, n - 1, (6, 7)).astype(np.float32) for n in (20, 25))
    xs[0, 0] = np.nan
    out = np.zeros((6, 7, 3), np.float32)
    _spline_kernels.sample(values, xs, ys, out)
    inside = np.isfinite(xs)
    looked = ndimage.map_coordinates(
        expected, [ys[inside], xs[inside]], order=3, prefilter=False, mode="mirror"
    )
    np.testing.assert_allclose(out[inside][:, 1], looked, atol=0.01)
    assert (out[0, 0] == 0).all()


def test_the_jackknife_is_that_of_leaving_out_one_pattern_at_a_time():
    """Each pixel's mean over the patterns is that of those which are left."""
    pairs, truth, _, seen = textured_planes(5)
    rows = slice(20, 36)
    whole = np.rint(truth[rows]).astype(np.int32)
    stacks = [s[:, rows] for s in (pairs.left, pairs.right)]
    shifts = [_shift_of(stacks, whole, [t for t in range(5) if t != k]) for k in range(5)]
    found = _shift_of(stacks, whole, range(5))
    expected = 4 * np.var([s[0] for s in shifts], axis=0)
    inside = seen[rows] & np.isfinite(found[1]) & np.isfinite(expected)
    assert inside.mean() > 0.5
    # Beside the box some of the shifts move to another pixel.
    close = np.isclose(found[1][inside], expected[inside], rtol=0.05, atol=1e-6)
    assert close.mean() > 0.95


def test_a_match_that_hangs_on_one_pattern_has_the_largest_variance():
    """Without the only pattern that shows anything there is no shift."""
    pairs, truth, _, seen = textured_planes(5)
    rows = slice(20, 36)
    whole = np.rint(truth[rows]).astype(np.int32)
    stacks = [s[:, rows].copy() for s in (pairs.left, pairs.right)]
    for stack in stacks:
        stack[1:] = 84
    for patterns in (3, 5):
        found = _shift_of(stacks, whole, range(patterns))
        inside = seen[rows] & np.isfinite(found[0])
        assert inside.mean() > 0.5
        # All shifts are within 2 px of the match: half of them at either end is the most.
        assert (found[1][inside] == (patterns - 1) * 2.0**2).all()


def test_one_pattern_has_no_variance():
    pairs, *_ = textured_planes(1)
    found = ENGINE.match(pairs, LIMITS)
    assert np.isfinite(found.disparity).mean() > 0.9
    assert np.isnan(found.variance).all()


@pytest.mark.parametrize("patterns", [2, 3, 6])
def test_every_disparity_of_two_and_more_patterns_has_a_variance(patterns):
    """Also in noise, where most matches are wrong and some replicates diverge."""
    found = ENGINE.match(random_pairs(4, patterns, 40, 60), (0, 12))
    has = np.isfinite(found.disparity)
    assert has.mean() > 0.3
    np.testing.assert_array_equal(np.isfinite(found.variance), has)
    most = (max(patterns, 3) - 1) * 2.0**2  # of two patterns, the three channels are left out
    assert found.variance[has].max() == most
    assert found.variance[has].min() >= 0


def _shift_of(stacks, whole, patterns):
    patterns = list(patterns)
    colours = [_colours(np.ascontiguousarray(stack[patterns]))[0] for stack in stacks]
    found = np.full((_shift_kernels.FOUND, *whole.shape), np.nan, np.float32)
    weights = window_weights(5, shift=True)
    count = len(patterns)
    counts = (count, 3, count / (count - 1), 1.0)
    _shift_kernels.shifts(*colours, whole, -(2**31), weights, counts, found)
    return found


# Pixels that show two surfaces.


def test_a_pixel_with_two_surfaces_loses_confidence_and_its_neighbours_do_not():
    """A bar of 0.4 px in front of a wall: it is never found, and its columns are not trusted."""
    pairs, *_ = textured_planes(10)
    left, right = pairs.left.copy(), pairs.right.copy()
    column, disparity = 30, 30
    for side, x in ((left, column), (right, column - disparity)):
        rng = np.random.default_rng(3)  # both cameras see the same light on the bar
        light = rng.uniform(20, 230, (10, HEIGHT, 3))
        side[:, :, x] = np.rint(0.6 * side[:, :, x] + 0.4 * light)
    found = ENGINE.match(Pairs(left, right, pairs.left_known, pairs.right_known), LIMITS)
    wall = plane(BACK, *np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT)))
    wrong = np.abs(found.disparity[:, column] - disparity) > 2
    assert wrong.mean() > 0.9  # the wall has the larger share
    assert np.mean(found.confidence[:, column] < 0.5) > 0.9
    for beside in (column - 2, column + 2):
        assert np.median(np.abs(found.disparity - wall)[:, beside]) < 0.05
        assert np.mean(found.confidence[:, beside] > 0.7) > 0.9


def test_mixing_by_hand():
    """One pixel of a wall has 40 % of another light, another one is dark by half."""
    rng = np.random.default_rng(0)
    right = rng.normal(0, 30, (40, 50, 36))
    left = 1.2 * right + rng.normal(0, 1, right.shape)
    other = rng.normal(0, 36, 36)
    left[20, 20] = 0.6 * left[20, 20] + 0.4 * other
    left[30, 30] *= 0.5
    sums = np.stack([(a * b).sum(axis=2) for a, b in ((left, left), (right, right), (left, right))])
    shares = mixing(sums.astype(np.float32), np.full((40, 50), 90, np.float32), None)
    assert np.median(shares) < 0.03
    assert 0.3 < shares[20, 20] < 0.6
    assert shares[30, 30] == pytest.approx(np.log(2), abs=0.05)
    shares[20, 20] = shares[30, 30] = 0
    assert shares.max() < 0.15


def test_a_dark_frame_takes_its_share_of_a_pixels_colour():
    """A black bar before a white wall: the pixel at its edge is grey, whatever it is labelled."""
    disparity = np.full((5, 12), 4, np.float32)
    disparity[:, 6:] = 9
    means = np.full((5, 12, 3), 100, np.float32)
    means[:, 6:] = 20
    means[:, 5] = 60
    shares = share_beyond_jumps(disparity, means)
    np.testing.assert_allclose(shares[:, 5], 0.5)
    assert (np.delete(shares, 5, axis=1) == 0).all()
    assert (share_beyond_jumps(disparity, np.full_like(means, 50)) == 0).all()
    assert (share_beyond_jumps(np.full_like(disparity, np.nan), means) == 0).all()


def test_mixing_of_nothing():
    nothing = np.full((3, 4, 5), np.nan, np.float32)
    assert np.isnan(mixing(nothing, np.zeros((4, 5), np.float32), None)).all()
    dark = np.zeros((3, 4, 5), np.float32)
    dark[:, 0, 0] = 9
    found = mixing(dark, np.zeros((4, 5), np.float32), None)
    assert found[0, 0] < 1e-3
    assert (found.ravel()[1:] == 1).all()


@pytest.mark.long
def test_kernels_just_compiled_and_kernels_from_the_cache_give_the_same_bits(compiled_and_cached):
    code = (
        "import hashlib, test_classical as t\n"
        "from depthgauge.capture.clean.filters import smooth_plain, smooth_planes\n"
        "found = t.ENGINE.match(t.textured_planes(5)[0], t.LIMITS)\n"
        "smooth = [smooth(found.disparity, 21, 0.5) for smooth in (smooth_plain, smooth_planes)]\n"
        "for values in (found.disparity, found.variance, *smooth):\n"
        "    print(hashlib.sha256(values.tobytes()).hexdigest())\n"
    )
    first, second = compiled_and_cached(code, Path(__file__).parent)
    assert len(first.split()) == 4
    assert first == second
