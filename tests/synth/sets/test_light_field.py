"""Light fields: views that belong to the truth, truth by hand, masks that mean what they say."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge.datasets import DATASETS
from depthgauge.errors import CannotWrite, Misuse, UnknownName
from depthgauge.geometry.disparity import depth_from_lightfield_disparity
from depthgauge.geometry.warping import warp_backward
from depthgauge.synth.library.still_lifes import scene
from depthgauge.synth.render.closed_form import pictures
from depthgauge.synth.sets import light_field
from depthgauge.synth.sets.light_field import make_light_field, write_light_fields
from depthgauge.synth.sets.light_field._grid import grid
from depthgauge.synth.sets.light_field._truth import JUMP_PX, REACH_PX, coarse
from depthgauge.synth.sets.stereo_scenes import SCENES

SMALL = {"size_px": 40, "views": 3, "scale": 2, "range_px": 1.8}
MASKS = ("discontinuities", "planes", "smooth_surfaces", "fine", "fine_surrounding")
PROMISED = {
    "boxes": {"discontinuities", "planes"},
    "clutter": set(MASKS),
    "curved": set(MASKS) - {"fine", "fine_surrounding"},
    "fence": set(MASKS),
    "slanted": {"discontinuities", "planes"},
    "spheres": set(MASKS) - {"fine", "fine_surrounding"},
    "staircase": set(MASKS),
    "textureless": set(MASKS) - {"fine", "fine_surrounding"},
}


def keeper(**patches):
    """Makes light fields of one size, each once, with parts of the module replaced."""
    kept = {}

    def get(name):
        if name not in kept:
            with pytest.MonkeyPatch.context() as patch:
                for what, value in patches.items():
                    patch.setattr(light_field, what, value)
                kept[name] = make_light_field(name, size_px=160, views=3, scale=3, range_px=1.8)
        return kept[name]

    return get


@pytest.fixture(scope="module")
def made():
    """Light fields without noise."""
    return keeper(NOISE_LEVELS=0.0)


@pytest.fixture(scope="module")
def dark():
    """Light fields of which no picture is taken: truth and masks only."""
    return keeper(_take=lambda *view: None)


def masks_of(truth):
    """All masks of the fine truth, empty where the scene has none of it."""
    none = np.zeros(truth.high_disparity.shape, bool)
    return {name: truth.get(f"high_{name}_mask", none) for name in MASKS}


def around(mask, by):
    """Everything within a circle of `by` pixels around the mask."""
    from scipy.ndimage import distance_transform_edt

    return distance_transform_edt(~mask) <= by if mask.any() else mask


# --- the views ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["clutter", "slanted", "spheres"])
def test_views_belong_to_the_truth(made, name):
    """A view, fetched by the true disparity, is the centre view; and no other disparity does it.

    Away from discontinuities: what a step of 1.8 px hides is nearer to one than their masks reach.
    """
    views, truth = made(name).inputs.views.astype(np.float32), made(name).truth
    inside = ~truth.discontinuities_mask
    inside[:4] = inside[-4:] = inside[:, :4] = inside[:, -4:] = False

    def error(row, column, disparity):
        flow = np.stack([-disparity * (column - 1), -disparity * (row - 1)], axis=-1)
        return np.abs(warp_backward(views[row, column], flow) - views[1, 1])[inside].mean()

    for at in [(0, 0), (0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]:
        right = error(*at, truth.disparity)
        assert right < 5, "grey levels, by the blur of fetching from a small image"
        assert min(error(*at, truth.disparity + offset) for offset in (-0.1, 0.1)) > right
        assert min(error(*at, truth.disparity + offset) for offset in (-0.3, 0.3)) > 1.3 * right
        assert error(*at, -truth.disparity) > 2.5 * right


def test_points_on_the_focus_plane_do_not_move():
    rigged = grid(scene("boxes"), 512, 5)
    focus_m = rigged.parameters.focus_distance_m
    for row, column in np.ndindex(5, 5):
        for x, y in [(0.0, 0.0), (100.0, 400.0), (511.0, 17.5)]:
            assert project(rigged, (row, column), (x, y), focus_m) == pytest.approx((x, y))


@pytest.mark.parametrize("depth_m", [0.9, 2.0, 7.0])
def test_points_move_by_their_disparity_at_each_step(depth_m):
    rigged = grid(scene("boxes"), 512, 5, baseline_m=0.02, focus_m=2.5)
    # 512 px of focal length and 20 mm of baseline: 10.24 px per step at one metre.
    disparity = 10.24 / depth_m - 10.24 / 2.5
    assert rigged.disparity(np.array(depth_m)) == pytest.approx(disparity)
    assert (disparity > 0) == (depth_m < 2.5), "positive in front of the focus plane"
    for row, column in np.ndindex(5, 5):
        wanted = 300 - disparity * (column - 2), 200 - disparity * (row - 2)
        assert project(rigged, (row, column), (300, 200), depth_m) == pytest.approx(wanted)


def project(rigged, at, pixel, depth_m):
    """Where a view has the point that the centre view has at a pixel and a depth."""
    centre, view = rigged.centre, rigged.view(*at)
    ray = [(p - c) / centre.focal_px for p, c in zip(pixel, centre.centre_px, strict=True)]
    point = np.array(centre.frame.centre) + depth_m * np.array([*ray, 1]) @ centre.frame.axes
    x, y, z = np.array(view.frame.axes) @ (point - view.frame.centre)
    assert z == pytest.approx(depth_m), "all cameras are in one plane"
    (cx, cy), f = view.centre_px, view.focal_px
    return cx + f * x / z, cy + f * y / z


def test_parallel_cameras_have_no_shift():
    rigged = grid(scene("boxes"), 64, 3, baseline_m=0.02, focus_m=np.inf)
    assert rigged.view(0, 2).centre_px == rigged.centre.centre_px
    assert rigged.disparity(np.array(2.0)) == pytest.approx(64 * 0.02 / 2)


def test_the_centre_image_is_the_one_in_the_middle(made):
    inputs = made("clutter").inputs
    assert inputs.views.shape == (3, 3, 160, 160, 3)
    assert inputs.views.dtype == np.uint8
    np.testing.assert_array_equal(inputs.centre_image, inputs.views[1, 1])


# --- what is chosen -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_disparities_go_about_as_far_to_both_sides(name):
    rigged = grid(scene(name), 512, 9)
    seen = rigged.disparity(pictures.centre_hits(scene(name), rigged.centre).depth_m)
    assert seen.min() == pytest.approx(-1.8, rel=0.03)
    assert seen.max() == pytest.approx(1.8, rel=0.03)
    small = grid(scene(name), 64, 9).parameters
    for key in ("baseline_mm", "focus_distance_m", "focal_length_mm"):
        assert getattr(small, key) == getattr(rigged.parameters, key), "the same cameras"
    assert len(str(rigged.parameters.baseline_mm)) <= 4, "a round number"


def test_what_is_given_is_kept_and_the_rest_follows():
    clutter = scene("clutter")
    both = grid(clutter, 128, 5, baseline_m=0.0125, focus_m=3.0).parameters
    assert (both.baseline_mm, both.focus_distance_m) == (12.5, 3.0)
    near = grid(clutter, 128, 5, focus_m=2.0, range_px=3.0)
    seen = near.disparity(pictures.centre_hits(clutter, near.centre).depth_m)
    assert np.abs(seen).max() == pytest.approx(3.0, rel=0.03)
    assert near.parameters.focus_distance_m == 2.0
    assert grid(clutter, 128, 5, range_px=1e-5).parameters.baseline_mm > 0


def test_the_range_is_that_of_the_benchmark(dark):
    """A tenth beyond the next tenth."""
    disparity = dark("curved").truth.high_disparity
    low, high = dark("curved").inputs.disparity_range
    assert 0.1 <= disparity.min() - low < 0.2 + 1e-6
    assert 0.1 <= high - disparity.max() < 0.2 + 1e-6
    assert (low, high) == (round(low, 1), round(high, 1))


# --- the truth ----------------------------------------------------------------------------------


def test_a_wall_by_hand(dark):
    """The staircase's left wall is 0.9 m beside the cameras: z = 0.9 f / (centre - x)."""
    truth, parameters = dark("staircase").truth, dark("staircase").inputs.parameters
    baseline_m, focus_m = parameters.baseline_mm / 1000, parameters.focus_distance_m
    x = (np.arange(480) + 0.5) / 3 - 0.5
    disparity = baseline_m * (79.5 - x) / 0.9 - 160 * baseline_m / focus_m
    # The upper left corner, above the floor and before the far wall.
    part = np.s_[:240, :90]
    np.testing.assert_allclose(
        truth.high_disparity[part], np.broadcast_to(disparity, (480, 480))[part], atol=1e-6
    )
    depth = 0.9 * 160 / (79.5 - x)
    np.testing.assert_allclose(
        truth.high_depth[part], np.broadcast_to(depth, (480, 480))[part], rtol=1e-6
    )


@pytest.mark.parametrize("name", ["clutter", "spheres"])
def test_depth_and_disparity_are_of_one_scene(dark, name):
    p, truth = dark(name).inputs.parameters, dark(name).truth
    depth = depth_from_lightfield_disparity(
        truth.high_disparity,
        p.focal_length_mm,
        p.sensor_size_mm,
        p.baseline_mm / 1000,
        p.focus_distance_m,
        160,
    )
    np.testing.assert_allclose(depth, truth.high_depth, rtol=1e-4)
    rig = dark(name).inputs.rig
    offset = 160 * rig.baseline_m / p.focus_distance_m
    assert rig.principal_offset_px == pytest.approx(offset)


def test_coarse_truth_is_the_upper_median_of_the_fine_one(dark):
    truth = dark("clutter").truth
    for name in ("disparity", "depth", "planes_mask", "fine_mask"):
        tiles = truth[f"high_{name}"].reshape(160, 3, 160, 3).transpose(0, 2, 1, 3)
        wanted = np.sort(tiles.reshape(160, 160, 9), axis=-1)[..., 4]
        np.testing.assert_array_equal(truth[name], wanted, strict=True)


@given(
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from([bool, np.float32]),
    st.integers(0, 2**32),
)
def test_the_upper_median_of_any_map(scale, height, width, kind, seed):
    values = np.random.default_rng(seed).integers(0, 5, (height * scale, width * scale))
    values = values.astype(kind)
    found = coarse(values, scale)
    for y, x in np.ndindex(height, width):
        tile = values[y * scale : (y + 1) * scale, x * scale : (x + 1) * scale]
        assert found[y, x] == sorted(tile.ravel())[scale * scale // 2]
    assert found.dtype == kind


def test_the_fine_truth_is_that_of_finer_views(dark):
    """Three times as many pixels on the same sensor: their rays are those of a larger image."""
    large = grid(scene("clutter"), 480, 3, baseline_m=0.01)
    depth = pictures.centre_hits(scene("clutter"), large.centre).depth_m
    np.testing.assert_allclose(dark("clutter").truth.high_depth, depth, rtol=1e-6)


def test_the_rig_stands_on_the_floor(dark):
    """In the file's world, z is up: the lowest middle pixel looks at z = 0."""
    camera = dark("boxes").inputs.rig.cameras["centre"]
    assert camera.world_from_camera[:3, 3] == pytest.approx([0, 0, scene("boxes").eye_m])
    depth = dark("boxes").truth.high_depth[-1, 240]
    x, y = (241 - 0.5) / 3 - 0.5 - 79.5, (479 + 0.5) / 3 - 0.5 - 79.5
    point = depth * np.array([x / 160, y / 160, 1.0])
    world = camera.world_from_camera[:3, :3] @ point + camera.world_from_camera[:3, 3]
    assert abs(world[2]) < 1e-6
    assert world[1] > 1, "and is ahead"


# --- the masks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_masks_are_what_is_promised(dark, name):
    truth = dark(name).truth
    assert {mask for mask in MASKS if f"high_{mask}_mask" in truth} == PROMISED[name]
    for mask in PROMISED[name]:
        assert truth[f"{mask}_mask"].shape == (160, 160)
        assert truth[f"high_{mask}_mask"].shape == (480, 480)
        assert truth[f"high_{mask}_mask"].dtype == bool
    found = masks_of(truth)
    for one, other in [
        ("planes", "smooth_surfaces"),
        ("planes", "discontinuities"),
        ("smooth_surfaces", "discontinuities"),
        ("fine", "fine_surrounding"),
        ("fine", "planes"),
    ]:
        assert not (found[one] & found[other]).any(), f"{one} and {other}"
    assert np.isfinite(truth.high_disparity).all()


@pytest.mark.parametrize("name", ["boxes", "clutter", "staircase"])
def test_disparities_of_planes_are_linear_and_of_curved_surfaces_are_not(dark, name):
    """A box's faces and a floor that meets a wall would show as kinks."""
    truth = dark(name).truth
    disparity, found = truth.high_disparity.astype(np.float64), masks_of(truth)
    bend = np.zeros_like(disparity)
    bend[1:-1] += np.abs(np.diff(disparity, 2, axis=0))
    bend[:, 1:-1] += np.abs(np.diff(disparity, 2, axis=1))
    bend[[0, -1]] = bend[:, [0, -1]] = 0
    assert found["planes"].mean() > 0.2
    assert bend[found["planes"]].max() < 2e-6
    if found["smooth_surfaces"].any():
        assert np.median(bend[found["smooth_surfaces"]]) > 1e-5


@pytest.mark.parametrize("name", ["clutter", "fence", "spheres"])
def test_discontinuities_are_around_jumps(dark, name):
    """Where neighbours differ by much there is an edge; where all are alike there is none."""
    truth = dark(name).truth
    disparity, edges = truth.high_disparity, masks_of(truth)["discontinuities"]
    across = np.abs(np.diff(disparity, axis=1, prepend=disparity[:, :1]))
    down = np.abs(np.diff(disparity, axis=0, prepend=disparity[:1]))
    steep, any_jump = np.maximum(across, down) > 0.3, np.maximum(across, down) >= JUMP_PX
    assert edges[around(steep, REACH_PX * 3 - 1)].all()
    assert not edges[~around(any_jump, REACH_PX * 3 + 1)].any()
    assert 0.05 < edges.mean() < 0.7


@pytest.mark.parametrize("name", ["clutter", "fence", "staircase"])
def test_bars_and_what_is_behind_them(dark, name):
    from scipy.ndimage import distance_transform_edt

    truth, found = dark(name).truth, masks_of(dark(name).truth)
    bars, behind = found["fine"], found["fine_surrounding"]
    thin = replace(scene(name), things=tuple(t for t in scene(name).things if t.thin))
    alone = grid(scene(name), 160, 3, range_px=1.8).finer(3)
    seen = pictures.centre_hits(thin, alone).depth_m
    np.testing.assert_array_equal(
        bars, np.isclose(seen, truth.high_depth, rtol=1e-6), "bars are seen or hidden"
    )
    away, (y, x) = distance_transform_edt(~bars, return_indices=True)
    assert away[behind].max() <= REACH_PX * 3
    gap = truth.high_disparity[y, x] - truth.high_disparity
    # Where two bars are equally near, either may be taken.
    assert (gap[behind] >= JUMP_PX).mean() > 0.99
    assert (behind | bars)[(away < REACH_PX * 3) & (gap > 2 * JUMP_PX)].mean() > 0.98


# --- noise, threads, progress -------------------------------------------------------------------


@pytest.mark.long
def test_the_seed_is_the_noises_only_and_threads_change_nothing(monkeypatch):
    first = make_light_field("clutter", **SMALL, seed=3)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    again, other = (make_light_field("clutter", **SMALL, seed=seed) for seed in (3, 4))
    np.testing.assert_array_equal(first.inputs.views, again.inputs.views)
    for name, thing in first.truth.items():
        assert thing.tobytes() == again.truth[name].tobytes() == other.truth[name].tobytes()
    noise = first.inputs.views.astype(int) - other.inputs.views
    assert 1.2 < noise.std() < 1.7, "of two images, one level each, and rounding"
    parts = noise.reshape(9, -1)
    assert np.abs(np.corrcoef(parts) - np.eye(9)).max() < 0.1, "each view has its own"


def test_a_changed_generator_raises_its_revision():
    assert light_field.REVISION == 1
    sample = make_light_field("staircase", **SMALL, seed=5)
    assert sample.truth.high_disparity.mean() == pytest.approx(-0.42545, rel=1e-4)
    assert sample.truth.depth.mean() == pytest.approx(3.23815, rel=1e-4)
    assert sample.inputs.views.mean() == pytest.approx(146.424, rel=1e-4)
    assert sample.truth.high_discontinuities_mask.mean() == pytest.approx(0.72281, abs=2e-3)
    assert sample.truth.high_planes_mask.mean() == pytest.approx(0.22891, abs=2e-3)


# --- folders ------------------------------------------------------------------------------------


def test_the_folder_holds_what_was_made(tmp_path):
    told = []
    write_light_fields(
        tmp_path, ["fence", "boxes"], **SMALL, progress=lambda *what: told.append(what)
    )
    folder = tmp_path / "other" / "fence"
    assert sorted(path.name for path in folder.iterdir() if path.suffix != ".png") == [
        *("gt_depth_highres.pfm", "gt_depth_lowres.pfm"),
        *("gt_disp_highres.pfm", "gt_disp_lowres.pfm", "parameters.cfg"),
    ]
    assert (folder / "input_Cam008.png").is_file()
    assert not (tmp_path / "other" / "boxes" / "mask_fine_highres.png").exists()
    read = {sample.id: sample for sample in DATASETS["hci4d"].samples(tmp_path)}
    assert list(read) == ["boxes", "fence"]
    made = make_light_field("fence", **SMALL)
    for side in ("inputs", "truth"):
        wanted, found = getattr(made, side), getattr(read["fence"], side)
        for name, thing in wanted.items():
            if isinstance(thing, np.ndarray):
                np.testing.assert_array_equal(found[name], thing, strict=True)
            else:
                assert found[name] == thing
    dones = [done for _, done, _ in told]
    assert dones == list(range(1, told[0][2] + 1))
    assert [told[0][0], told[-1][0]] == ["fence", "boxes"]


def test_nothing_is_overwritten_unasked(tmp_path):
    tiny = {"size_px": 16, "views": 3, "scale": 1}
    write_light_fields(tmp_path, ["boxes"], **tiny)
    told = []
    with pytest.raises(CannotWrite, match="other/boxes: holds a scene already"):
        write_light_fields(
            tmp_path, ["slanted", "boxes"], **tiny, progress=lambda *what: told.append(what)
        )
    assert told == [], "it is said before any work"
    write_light_fields(tmp_path, ["boxes"], **tiny, seed=1, overwrite=True)


@pytest.mark.parametrize(
    "options",
    [
        {"size_px": 4},
        {"views": 4},
        {"views": 1},
        {"scale": 0},
        {"seed": -1},
        {"baseline_m": 0.0},
        {"baseline_m": np.inf},
        {"focus_m": -2.0},
        {"focus_m": np.nan},
        {"range_px": 0.0},
        {"baseline_m": 0.01, "range_px": 2.0},
    ],
)
def test_numbers_that_make_no_sense_are_refused(options):
    with pytest.raises(Misuse):
        make_light_field("boxes", **options)


def test_cameras_keep_clear_of_the_scene():
    with pytest.raises(Misuse, match=r"9 views per side, 300 mm apart, reach 1\.20 m"):
        make_light_field("boxes", baseline_m=0.3)
    with pytest.raises(UnknownName, match="Did you mean 'spheres'"):
        make_light_field("sphere")
