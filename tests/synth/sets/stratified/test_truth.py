"""The truth of stratified scenes: numbers by hand, three dimensions by other formulas."""

import numpy as np
import pytest

from depthgauge.datasets._hci4d.scenes import DISPARITY_RANGES
from depthgauge.synth.sets.stratified import SCENES, make_pair, make_scene, scene
from depthgauge.synth.sets.stratified._grid import Grid
from depthgauge.synth.sets.stratified.gloss import _plane, _reflected

PARAMETERS = {  # baseline mm, focus m, focal mm of the published parameters.cfg
    "backgammon": (30.0, 8.300000190734863, 100.0),
    "dots": (200.0, 42.5, 100.0),
    "pyramids": (350.0, 31.5, 200.0),
    "stripes": (30.0, 10.0, 100.0),
}


@pytest.fixture(scope="module")
def full():
    """A scene of 512 px whose truth is that of pixel centres."""

    def make(name):
        return make_scene(name, scale=1)

    return make


# --- by hand ------------------------------------------------------------------------------------


def test_backgammon_by_hand(full):
    """Foreground 0.3 to 0.55 downwards; background -1.6 to -0.6 rightwards, nearer by 0.15 at y."""
    disparity = full("backgammon").truth.disparity
    # Left rim, upper border: 0.3 + 0.25 (0.5 / 512).
    assert disparity[0, 5] == pytest.approx(0.300244140625, abs=1e-7)
    assert disparity[511, 5] == pytest.approx(0.549755859375, abs=1e-7)
    # Right rim: -1.6 + (501.5 / 512), and 0.3 |y - 256| / 512 nearer.
    assert disparity[0, 501] == pytest.approx(-1.6 + 501.5 / 512 + 0.3 * 255.5 / 512, abs=1e-6)
    assert disparity[255, 501] == pytest.approx(-1.6 + 501.5 / 512 + 0.3 * 0.5 / 512, abs=1e-6)


def test_backgammon_has_peaks_where_they_should_be(full):
    """Pitch 480 / 11.5: peaks at 16 + k 41.74, 0.05 of that wide at the top, 0.95 below."""
    front = full("backgammon").truth.foreground_mask
    middles = 16 + 480 / 11.5 * np.arange(1, 12)
    for row, share in ((10, 0.05 + 0.9 * 10.5 / 512), (500, 0.05 + 0.9 * 500.5 / 512)):
        edges = np.flatnonzero(np.diff(front[row].astype(int)))
        # After the left rim, edges come in pairs around the middles.
        measured = (edges[1::2] + edges[2::2]) / 2 + 1
        np.testing.assert_allclose(measured, middles, atol=1.0)
        np.testing.assert_allclose(edges[2::2] - edges[1::2], share * 480 / 11.5, atol=1.0)


def test_fronto_parallel_scenes_have_two_disparities(full):
    for name, wanted in (("dots", {-0.55, 0.75}), ("stripes", {-0.15, 0.45})):
        disparity = full(name).truth.disparity
        assert set(np.unique(disparity)) == set(np.float32(sorted(wanted)))


def test_depth_by_the_benchmark_s_own_formula(full):
    """1 / (1000 sensor d / (b f W) + 1 / focus), for the wall of Dots: 46.189 m."""
    by_hand = 1 / (1000 * 35 * -0.55 / (200 * 100 * 512) + 1 / 42.5)
    assert by_hand == pytest.approx(46.190, abs=1e-3)
    assert full("dots").truth.depth[0, 0] == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize("name", SCENES)
def test_depth_and_disparity_are_of_one_point(light_field, name):
    sample = light_field(name)
    rig, disparity = sample.inputs.rig, sample.truth.high_disparity.astype(np.float64)
    focal = rig.cameras["centre"].focal_px[0]
    depth = focal * rig.baseline_m / (disparity + rig.principal_offset_px)
    np.testing.assert_allclose(sample.truth.high_depth, depth, rtol=1e-6)


def points(sample):
    """Where in space the centres of pixels are, by the rig and the depth map."""
    camera = sample.inputs.rig.cameras["centre"]
    depth = sample.truth.depth.astype(np.float64)
    y, x = np.mgrid[: depth.shape[0], : depth.shape[1]]
    focal, (cx, cy) = camera.focal_px[0], camera.centre_px
    return (x - cx) * depth / focal, (y - cy) * depth / focal, depth


@pytest.mark.parametrize("side", ["out", "in"])
def test_half_balls_are_round(full, side):
    """All their points are equally far from a point in the base plane."""
    sample = full("pyramids")
    mask = sample.truth[f"sphere_{side}_mask"]
    x, y, z = (part[mask] for part in points(sample))
    base = float(sample.truth.depth[256, 256])
    quarter = 128 * base / sample.inputs.rig.cameras["centre"].focal_px[0]
    radius = np.sqrt(
        (x + quarter) ** 2 + (y + (1 if side == "out" else -1) * quarter) ** 2 + (z - base) ** 2
    )
    # Heights are half of what lies between disparities -1.55 and 1.05: 1.28 m.
    near, far = (1 / (d * 35000 / (350 * 200 * 512) + 1 / 31.5) for d in (1.05, -1.55))
    np.testing.assert_allclose(radius, (far - near) / 2, atol=2e-5)
    assert mask.sum() == pytest.approx(np.pi * 117.9**2, rel=0.01)


def test_pyramids_are_planes_up_to_their_tips(full):
    disparity = full("pyramids").truth.disparity.astype(np.float64)
    base, half = disparity[256, 256], 117.9
    for row, tip in ((128, 1.05), (384, -1.55)):
        assert disparity[row, 384] == pytest.approx(tip, abs=0.02)
        # Half of the way from tip to base, on each of the four faces.
        for down, right in ((0, 59), (0, -59), (59, 0), (-59, 0)):
            x = abs(384 + right + 0.5 - 384) if right else abs(row + down + 0.5 - row)
            wanted = tip + (base - tip) * x / half
            assert disparity[row + down, 384 + right] == pytest.approx(wanted, abs=1e-3)
        face = disparity[row - 10 : row + 10, 420:460]
        np.testing.assert_allclose(np.diff(face, 2, axis=1), 0, atol=1e-6)
        np.testing.assert_allclose(np.diff(face, axis=0), 0, atol=1e-6)


def test_folds_of_slant_have_their_gradients(full):
    """Ten bins of four folds of 12.8 px: the last ridges are 0.24 x 6.4 above -0.4."""
    disparity = full("slant").truth.disparity.astype(np.float64)
    np.testing.assert_array_equal(disparity, np.broadcast_to(disparity[:1], disparity.shape))
    for fold in range(40):
        gradient, left = np.linspace(0, 0.24, 10)[fold // 4], 12.8 * fold
        rises = np.diff(disparity[0, int(left) + 1 : int(left) + 6])
        falls = np.diff(disparity[0, int(left) + 8 : int(left) + 12])
        np.testing.assert_allclose(rises, gradient, atol=1e-6)
        np.testing.assert_allclose(falls, -gradient, atol=1e-6)
    assert disparity.max() == pytest.approx(-0.4 + 0.24 * 6.4, abs=0.15)


def test_a_pair_s_folds_are_twice_as_wide_and_half_as_steep():
    """Eight steps of half the gradient: ten bins of two folds of 25.6 px."""
    pair = make_pair("slant")
    disparity = pair.truth.disparity[0].astype(np.float64)
    for fold in range(20):
        gradient, left = 4 * np.linspace(0, 0.24, 10)[fold // 2], int(25.6 * fold)
        np.testing.assert_allclose(np.diff(disparity[left + 1 : left + 12]), gradient, atol=1e-5)
        np.testing.assert_allclose(np.diff(disparity[left + 14 : left + 24]), -gradient, atol=1e-5)
    assert pair.truth.visible_mask[:, 20:].all()


def test_gloss_is_tilted_by_fifteen_degrees(full):
    x, y, z = points(full("gloss"))
    down = np.stack([part[400] - part[100] for part in (x, y, z)], axis=-1)[256]
    assert np.degrees(np.arctan2(-down[2], down[1])) == pytest.approx(15, abs=1e-3)


def test_a_mirror_image_is_one_bounce():
    """Rays reflected in space meet the wall behind the cameras where the mirror image is."""
    grid = Grid(scene("gloss", {}).optics, 512)
    mirror, image = _plane(grid), _reflected(_plane(grid), grid)
    focal, baseline, offset = grid.focal_px, grid.baseline_m, grid.offset_px

    def meet(plane, s, t, x, y):
        d = plane.level + plane.slope_x * x + plane.slope_y * y
        return d / (1 - plane.slope_x * s - plane.slope_y * t)

    normal = np.array([mirror.slope_x * focal, mirror.slope_y * focal, mirror.level + offset])
    normal /= np.linalg.norm(normal)
    for s, t, x, y in ((0, 0, 10.0, -30.0), (4, 0, -200.0, 150.0), (-3, 4, 77.0, 200.0)):
        eye = np.array([s * baseline, t * baseline, 0.0])
        ray = np.array([(x - s * offset) / focal, (y - t * offset) / focal, 1.0])
        hit = eye + ray * focal * baseline / (meet(mirror, s, t, x, y) + offset)
        back = ray - 2 * (ray @ normal) * normal
        wall = hit + back * (-3.0 - hit[2]) / back[2]
        assert wall[2] == pytest.approx(-3.0)
        mirrored = wall - 2 * ((wall - hit) @ normal) * normal
        seen = eye + ray * focal * baseline / (meet(image, s, t, x, y) + offset)
        np.testing.assert_allclose(seen, mirrored, atol=1e-9)


# --- sizes and resolutions ----------------------------------------------------------------------


def upper_median(values, scale):
    height, width = (length // scale for length in values.shape)
    tiles = values.reshape(height, scale, width, scale).swapaxes(1, 2)
    return np.sort(tiles.reshape(height, width, -1), axis=2)[:, :, scale * scale // 2]


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("quantity", ["disparity", "depth"])
def test_the_low_resolution_is_an_upper_median(light_field, name, quantity):
    truth = light_field(name).truth
    wanted = upper_median(truth[f"high_{quantity}"], 4)
    np.testing.assert_array_equal(truth[quantity], wanted)
    assert truth[quantity].dtype == np.float32


def test_the_median_of_odd_scales_and_random_values():
    from depthgauge.synth.sets.stratified._render import upper_median as ours

    rng = np.random.default_rng(5)
    for scale in (2, 3, 10):
        values = np.round(rng.normal(size=(5 * scale, 7 * scale)), 1).astype(np.float32)
        found, places = ours(values, scale)
        np.testing.assert_array_equal(found, upper_median(values, scale))
        np.testing.assert_array_equal(values.ravel()[places], found)


@pytest.mark.parametrize("name", SCENES)
def test_fine_pixels_are_where_they_should_be(name):
    """The middle one of 3 x 3 parts has the pixel's own centre."""
    whole, parts = (make_scene(name, size_px=64, views=1, scale=scale) for scale in (1, 3))
    np.testing.assert_array_equal(whole.truth.disparity, parts.truth.high_disparity[1::3, 1::3])
    np.testing.assert_array_equal(whole.truth.disparity, whole.truth.high_disparity)


@pytest.mark.parametrize("name", sorted(set(SCENES) - {"slant"}))
def test_disparities_do_not_depend_on_the_size(light_field, name):
    """The same scene with more pixels; only the folds of Slant, of given gradients, get higher."""
    small, large = (light_field(name, size_px=size, scale=1).truth.disparity for size in (96, 192))
    # Backgammon's rim has a width in px, so a little less of its far background is seen.
    assert small.min() == pytest.approx(large.min(), abs=0.1)
    assert small.max() == pytest.approx(large.max(), abs=0.1)


@pytest.mark.parametrize("name", SCENES)
def test_the_range_holds_the_truth(light_field, name):
    sample = light_field(name)
    low, high = sample.inputs.disparity_range
    disparity = sample.truth.high_disparity
    assert low + 0.09 < disparity.min()
    assert disparity.max() < high - 0.09
    parameters = sample.inputs.parameters
    assert parameters.disparity_range == (low, high)
    assert np.isfinite(disparity).all()


@pytest.mark.parametrize("name", PARAMETERS)
def test_cameras_and_ranges_are_the_benchmark_s(name):
    parameters = make_scene(name).inputs.parameters
    baseline, focus, focal = PARAMETERS[name]
    assert parameters.disparity_range == DISPARITY_RANGES[name]
    assert parameters.baseline_mm == pytest.approx(baseline, rel=1e-12)
    assert (parameters.focus_distance_m, parameters.focal_length_mm) == (focus, focal)
    assert (parameters.grid, parameters.size_px) == ((9, 9), (512, 512))
    assert (parameters.sensor_size_mm, parameters.depth_map_scale) == (35.0, 10.0)


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_whole_range_is_used(name):
    """By the rule of the benchmark's own generator the published range would come out again."""
    disparity = make_scene(name, scale=4).truth.high_disparity.astype(np.float64)
    low, high = disparity.min(), disparity.max()
    found = np.floor(low * 10) / 10 - 0.1, np.ceil(high * 10) / 10 + 0.1
    np.testing.assert_allclose(found, DISPARITY_RANGES[name], atol=1e-6)
