"""The step on a small session whose patterns are painted by exact rays."""

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
import tifffile

from depthgauge import io
from depthgauge.capture.photographs.brackets import linear_light, pattern_files, srgb_codes
from depthgauge.capture.spacetime import step as step_module
from depthgauge.capture.spacetime.engine import Pairs, engine_named
from depthgauge.capture.spacetime.patterns import dark_frames, make_stacks
from depthgauge.capture.spacetime.step import spacetime
from depthgauge.errors import BadData, MissingExtra, Misuse
from depthgauge.geometry.projection import slopes_at
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.geometry.warping import left_right_consistent
from depthgauge.sessions import Session
from depthgauge.types import Camera

PATTERNS = 6
RANGE = (4.0, 20.0)


def points_seen(scene: RayScene, camera: Camera) -> np.ndarray:
    """(H, W, 3) where the rays of the raw pixels end; NaN where they do not."""
    width, height = camera.size_px
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), -1).astype(float)
    slopes = slopes_at(grid, camera).reshape(-1, 2)
    rays = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)
    pose = camera.world_from_camera
    directions = rays @ pose[:3, :3].T
    origins = np.broadcast_to(pose[:3, 3], directions.shape)
    hits = scene.cast(origins, directions)
    reached = origins + directions * hits.distance[:, None]
    return reached.reshape(height, width, 3)


def painted(points: np.ndarray, t: int, rng: np.random.Generator) -> np.ndarray:
    """A colour picture of waves in space, the same for both cameras, with noise."""
    waves = np.random.default_rng(100 + t)
    out = np.zeros(points.shape)
    for c in range(3):
        for _ in range(10):
            direction = waves.normal(size=3)
            length = waves.uniform(0.05, 0.2)
            k = 2 * np.pi * direction / np.linalg.norm(direction) / length
            out[..., c] += np.cos(points @ k + waves.uniform(0, 2 * np.pi))
    levels = 110 + 25 * out + rng.normal(0, 1.0, out.shape)
    return np.rint(np.clip(np.nan_to_num(levels), 0, 255)).astype(np.uint8)


@pytest.fixture(scope="module")
def captured(world, tmp_path_factory) -> tuple[Session, Path]:
    """The session with its pictures, and a work folder in which it is rectified."""
    folder = tmp_path_factory.mktemp("captured")
    shutil.copytree(world.folder, folder / "session")
    scene = RayScene(world.truth.vertices, world.truth.triangles)
    rng = np.random.default_rng(3)
    for name in ("L", "R"):
        points = points_seen(scene, world.truth.cameras[name])
        (folder / "session" / "pattern" / name).mkdir(parents=True)
        for t in range(PATTERNS):
            path = folder / "session" / "pattern" / name / f"{t:03d}.png"
            io.write_image(path, painted(points, t, rng))
    world.begin(folder / "work")
    return replace(world.session, folder=folder / "session"), folder / "work"


@pytest.fixture
def copy(captured, tmp_path) -> tuple[Session, Path]:
    """One that a test may spoil."""
    session, work = captured
    shutil.copytree(session.folder, tmp_path / "session")
    shutil.copytree(work, tmp_path / "work", ignore=shutil.ignore_patterns("spacetime", ".space*"))
    return replace(session, folder=tmp_path / "session"), tmp_path / "work"


@pytest.fixture(scope="module")
def done(captured):
    return spacetime(*captured)


def truth_of(world, side):
    exact = world.exact["LR" if side == "left" else "RL"]
    return exact.disparity, exact.visible


@pytest.mark.parametrize("side", ["left", "right"])
def test_both_views_are_right_to_a_few_hundredths_of_a_pixel(world, captured, done, side):
    truth, visible = truth_of(world, side)
    found = io.read_map(done.folder / f"{side}_disparity.npy")
    error = np.abs(found - truth)[visible & np.isfinite(truth)]
    assert found.shape == truth.shape
    assert np.mean(np.isfinite(error)) > 0.97
    assert np.nanmedian(error) < 0.03
    assert np.mean(~(error <= 1)) < 0.05
    variance = io.read_map(done.folder / f"{side}_variance.npy")
    inside = np.isfinite(variance) & visible & (np.abs(found - truth) < 1)
    sigmas = (np.abs(found - truth) / np.sqrt(variance))[inside]
    assert 0.4 < np.mean(sigmas <= 1) < 0.85
    assert np.mean(sigmas <= 2) > 0.7
    confidence = io.read_map(done.folder / f"{side}_confidence.npy")
    assert np.nanmin(confidence) >= 0
    assert np.nanmax(confidence) <= 1
    assert np.nanmedian(confidence[visible]) > 0.9


def test_the_record_says_what_was_done(world, done):
    record = json.loads((done.folder / "patterns.json").read_text())
    truth = world.exact["LR"].disparity
    low, high = record["disparities"]
    assert record["used"] == [f"{t:03d}" for t in range(PATTERNS)]
    assert record["dropped"] == {}
    assert record["scale"] == 1.0
    assert record["uncertainty"] == "jackknife over patterns"
    assert low <= np.nanmin(truth)
    assert np.nanmax(truth) <= high < np.nanmax(truth) + 20
    assert min(record["agreement"].values()) > 0.8
    assert done.warnings == ()
    assert done.figures["share_with_value"]["left"] > 0.8
    assert 0 < done.figures["median_sigma_px"]["left"] < 0.1
    names = {path.name for path in done.folder.iterdir()}
    assert not [name for name in names if "tile" in name or "stack" in name]


def test_a_second_call_does_nothing(captured, done):
    again = spacetime(*captured)
    assert not again.fresh
    assert again.key == done.key


def test_half_the_size_gives_half_the_disparities(world, copy):
    step = spacetime(*copy, scale=0.5, disparities=RANGE)
    truth, visible = truth_of(world, "left")
    found = io.read_map(step.folder / "left_disparity.npy")
    assert found.shape == (75, 100)
    blocks = truth.reshape(75, 2, 100, 2)
    flat = np.ptp(blocks, axis=(1, 3)) < 0.5
    flat &= visible.reshape(75, 2, 100, 2).all(axis=(1, 3))
    error = np.abs(found - blocks.mean(axis=(1, 3)) / 2)[flat]
    assert np.nanmedian(error) < 0.03


def test_bad_pictures_are_dropped_and_named(copy):
    session, work = copy
    pictures = session.folder / "pattern"
    dark = io.read_image(pictures / "L" / "000.png") // 40
    io.write_image(pictures / "L" / "000.png", dark)
    (pictures / "R" / "001.png").unlink()
    shutil.copy(pictures / "R" / "003.png", pictures / "R" / "002.png")
    (pictures / "L" / "005.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    step = spacetime(session, work)
    assert step.figures["used"] == ["003", "004"]
    why = step.figures["dropped"]
    assert "dark" in why["000"] or "uniform" in why["000"]
    assert why["001"] == "camera R has no picture of it"
    assert "do not match" in why["002"]
    assert "cannot be read" in why["005"]
    assert [w.split(":")[0] for w in step.warnings] == [f"pattern {n} is not used" for n in why]


def test_one_pattern_has_no_variances(copy):
    step = spacetime(*copy, patterns=1, disparities=RANGE)
    assert np.isnan(io.read_map(step.folder / "left_variance.npy")).all()
    assert np.isfinite(io.read_map(step.folder / "left_disparity.npy")).mean() > 0.5
    assert step.figures["median_sigma_px"] == {"left": None, "right": None}
    assert step.warnings == (
        "with one pattern there are no variances; use at least two, better ten.",
    )


def test_swapped_cameras_are_told(copy):
    session, work = copy
    pictures = session.folder / "pattern"
    (pictures / "L").rename(pictures / "X")
    (pictures / "R").rename(pictures / "L")
    (pictures / "X").rename(pictures / "R")
    with pytest.raises(BadData, match="left and right are swapped"):
        spacetime(session, work)


def test_pictures_of_other_times_do_not_match(copy):
    session, work = copy
    names = [session.folder / "pattern" / "R" / f"{t:03d}.png" for t in range(PATTERNS)]
    names[0].rename(session.folder / "first.png")
    for before, after in itertools.pairwise(names):
        after.rename(before)
    (session.folder / "first.png").rename(names[-1])
    with pytest.raises(BadData, match=r"do not match: only .* % of the pixels find a partner"):
        spacetime(session, work)


def test_without_pictures_there_is_one_sentence(copy):
    session, work = copy
    shutil.rmtree(session.folder / "pattern" / "R")
    with pytest.raises(BadData, match=r"no pattern has a picture in both L and R \(L has 6, R"):
        spacetime(session, work)


def test_dark_pictures_only(copy):
    session, work = copy
    for path in (session.folder / "pattern").rglob("*.png"):
        io.write_image(path, np.full((150, 200, 3), 3, np.uint8))
    with pytest.raises(BadData, match=r"no usable pattern remains \(000: .* uniform"):
        spacetime(session, work)


def lit_stack(rng, dark, light=1.0, noise=1.0):
    """Pictures of random stripes in a room that is lit a little; those in `dark` lack stripes."""
    room = rng.uniform(5, 60, (40, 50, 3))
    stripes = rng.integers(0, 2, (len(dark), 40, 50, 3)) * 120 * light
    stripes[np.array(dark)] = 0
    pictures = room + stripes + rng.normal(0, noise, stripes.shape)
    return np.rint(np.clip(pictures, 0, 255)).astype(np.uint8)


def stack_pairs(left, right):
    known = np.ones(left.shape[1:3], bool)
    return Pairs(left, right, known, known)


@pytest.mark.parametrize(
    ("count", "dark"),
    [(6, {2}), (6, {0, 2, 5}), (6, {0, 1, 2, 4, 5}), (3, {0, 1}), (20, set(range(19))), (6, set())],
)
@pytest.mark.parametrize("side", ["L", "R"])
@pytest.mark.parametrize("light", [1.0, 0.3])
def test_dark_frames_are_found_however_many_they_are(count, dark, side, light):
    rng = np.random.default_rng(count)
    bad = lit_stack(rng, [t in dark for t in range(count)], light)
    good = lit_stack(rng, [False] * count, light)
    pairs = stack_pairs(bad, good) if side == "L" else stack_pairs(good, bad)
    found = dark_frames(pairs, {f"{t:03d}": t for t in range(count)})
    assert set(found) == {f"{t:03d}" for t in dark}
    assert all(why.startswith(f"camera {side}'s picture is") for why in found.values())


def test_one_far_too_bright_frame_makes_no_others_dark():
    rng = np.random.default_rng(0)
    left, right = (lit_stack(rng, [False] * 8, 0.2) for _ in range(2))
    left[3] = np.minimum(left[3] + 190.0, 255)
    assert dark_frames(stack_pairs(left, right), {f"{t}": t for t in range(8)}) == {}


def test_a_picture_that_is_not_looked_at_hides_no_dark_one():
    rng = np.random.default_rng(1)
    stacks = [lit_stack(rng, [False, True, False, False, False]) for _ in range(2)]
    for stack in stacks:
        stack[4] = 0  # unreadable: never filled in
    assert set(dark_frames(stack_pairs(*stacks), {"a": 0, "b": 1, "c": 2, "d": 3})) == {"b"}


def test_dark_pictures_are_most_of_them(copy):
    session, work = copy
    dark = range(5)
    for t in dark:
        path = session.folder / "pattern" / "L" / f"{t:03d}.png"
        io.write_image(path, io.read_image(path) // 16)
    step = spacetime(session, work, disparities=RANGE)
    assert set(step.figures["dropped"]) == {f"{t:03d}" for t in dark}
    assert "is dark" in step.figures["dropped"]["000"]
    assert np.isfinite(io.read_map(step.folder / "left_disparity.npy")).mean() > 0.5


def test_the_room_s_light_alone_is_no_pattern(copy):
    session, work = copy
    rng = np.random.default_rng(0)
    for camera in ("L", "R"):
        room = io.read_image(session.folder / "pattern" / camera / "000.png") / 3.0
        for path in (session.folder / "pattern" / camera).iterdir():
            noisy = room + rng.normal(0, 1, room.shape)
            io.write_image(path, np.rint(np.clip(noisy, 0, 255)).astype(np.uint8))
    with pytest.raises(BadData, match=r"no usable pattern remains .*000: .* dark except for room"):
        spacetime(session, work)


def test_a_picture_of_another_size_is_dropped(copy):
    session, work = copy
    for camera, name in (("R", "004"), ("L", "002")):
        path = session.folder / "pattern" / camera / f"{name}.png"
        io.write_image(path, np.zeros((100, 120, 3), np.uint8))
    step = spacetime(session, work, disparities=RANGE)
    assert step.figures["used"] == ["000", "001", "003", "005"]
    assert step.figures["dropped"] == {
        name: f"camera {camera}'s picture is 120x100 but the camera was calibrated at 200x150"
        for camera, name in (("L", "002"), ("R", "004"))
    }


@pytest.mark.parametrize(("cameras", "count"), [("L", 4), ("R", PATTERNS), ("LR", PATTERNS)])
def test_most_pictures_are_of_another_size(copy, cameras, count):
    session, work = copy
    for camera in cameras:
        for t in range(count):
            path = session.folder / "pattern" / camera / f"{t:03d}.png"
            io.write_image(path, np.zeros((100, 120, 3), np.uint8))
    text = (
        r"more than half of the 6 patterns have another size than the calibration "
        rf"\(pattern 000: camera {cameras[0]}'s picture is 120x100 but the camera was calibrated "
    )
    for _ in range(2):  # an attempt that went on where the last one ended would say the same
        with pytest.raises(BadData, match=text):
            spacetime(session, work)


@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("ending", ["png", "tif"])
def test_sixteen_bits_are_kept(world, copy, tmp_path, scale, ending):
    """Beside the wave itself: a quarter of a level off on average where it is rounded to 8 bits."""
    session, pair = copy[0], world.pairs["LR"]

    def wave(x, y):
        return 0.2 + 0.02 * np.sin(0.11 * x + 0.07 * y)

    y, x = np.mgrid[:150, :200]
    for camera in ("L", "R"):
        path = session.folder / "pattern" / camera / "000.png"
        codes = np.rint(65535 * np.repeat(wave(x, y)[..., None], 3, axis=2)).astype(np.uint16)
        if ending == "tif":
            path.unlink()
            tifffile.imwrite(path.with_suffix(".tif"), codes, photometric="rgb")
        else:
            io.write_image(path, codes)
    size = (200 // scale, 150 // scale)
    pairs, unusable = make_stacks(session, pair, ["000"], size, tmp_path)
    assert unusable == {}
    xs, ys = pair.left.raw_grid()
    blocks = (size[1], scale, size[0], scale)
    exact = 255 * wave(xs, ys).reshape(blocks).mean(axis=(1, 3))
    # The splines mirror the picture at its rims, the wave goes on.
    inside = (np.abs(xs - 99.5) < 95) & (np.abs(ys - 74.5) < 70)
    off = np.abs(pairs.left[0, ..., 1] - exact)[inside.reshape(blocks).all(axis=(1, 3))]
    assert off.size > 0.8 * size[0] * size[1]
    assert off.max() < 0.02
    assert off.mean() < 0.002


def test_one_deep_picture_is_enough_to_keep_fractions(world, copy, tmp_path):
    session, pair = copy[0], world.pairs["LR"]
    assert make_stacks(session, pair, ["000"], (200, 150), tmp_path)[0].left.dtype == np.uint8
    path = session.folder / "pattern" / "R" / "001.png"
    io.write_image(path, np.asarray(io.read_image(path), np.uint16) * 257)
    deep = make_stacks(session, pair, ["000", "001"], (200, 150), tmp_path)[0]
    assert deep.left.dtype == deep.right.dtype == np.float32


def test_strong_compression_and_varying_exposure_are_said(copy):
    session, work = copy
    for number, path in enumerate(session.pattern_images("L").values()):
        pixels = io.read_image(path).astype(np.float64) * (1.0 if number % 2 else 0.7)
        path.unlink()
        bgr = np.rint(pixels)[..., ::-1].astype(np.uint8)
        cv2.imwrite(str(path.with_suffix(".jpg")), bgr, [cv2.IMWRITE_JPEG_QUALITY, 80])
    said = [text for text in spacetime(session, work, disparities=RANGE).warnings if "/L" in text]
    assert any("6 photographs are JPEG of a quality down to 80" in text for text in said)
    assert any("the mean brightness varies between patterns" in text for text in said)
    assert len(said) == 2


def test_a_session_of_deep_pictures(world, copy):
    """TIFF of 16 bits from the pictures to the disparities."""
    session, work = copy
    for camera, path in itertools.product("LR", session.pattern_images("L").values()):
        path = session.folder / "pattern" / camera / path.name
        codes = np.asarray(io.read_image(path), np.uint16) * 257
        path.unlink()
        tifffile.imwrite(path.with_suffix(".tif"), codes, photometric="rgb")
    step = spacetime(session, work, disparities=RANGE)
    assert step.figures["used"] == list(session.pattern_images("L"))
    off = io.read_map(step.folder / "left_disparity.npy") - world.exact["LR"].disparity
    assert np.median(np.abs(off[np.isfinite(off)])) < 0.05
    assert io.read_image(step.folder / "left_pattern.png").std() > 10


def exposed(session: Session, gains) -> None:
    """Photographs again with other exposures: gain(camera, number)."""
    for camera in "LR":
        for t, path in enumerate(sorted((session.folder / "pattern" / camera).iterdir())):
            levels = np.rint(io.read_image(path) * gains(camera, t))
            io.write_image(path, np.clip(levels, 0, 255).astype(np.uint8))


def test_saturated_patterns_give_finite_numbers_only(world, copy):
    exposed(copy[0], lambda camera, t: 4.5)
    image = io.read_image(copy[0].folder / "pattern/L/000.png")
    assert (image == 255).any(axis=2).mean() > 0.88
    done = spacetime(*copy, disparities=RANGE)
    found = {
        name: io.read_map(done.folder / f"left_{name}.npy") for name in ("disparity", "variance")
    }
    known = np.isfinite(found["disparity"])
    assert 0.2 < known.mean() < 1
    assert np.isfinite(found["variance"][known]).all()
    assert (found["variance"][known] >= 0).all()
    sure = known & (found["variance"] < 0.01)
    error = np.abs(found["disparity"] - world.exact["LR"].disparity)
    assert np.nanmedian(error[sure]) < 0.2


def test_exposures_of_each_camera_are_evened_out(world, copy):
    factors = {"L": (1.0, 0.7, 1.1, 0.5, 0.9, 0.6), "R": (0.6, 1.0, 0.5, 1.1, 0.7, 0.9)}
    exposed(copy[0], lambda camera, t: factors[camera][t])
    done = spacetime(*copy, disparities=RANGE)
    assert any("changes by up to" in said for said in done.warnings)
    assert done.figures["uneven_exposure"] > 0.3
    truth, visible = truth_of(world, "left")
    error = np.abs(io.read_map(done.folder / "left_disparity.npy") - truth)[visible]
    assert np.nanmedian(error) < 0.05  # as it is 0.4


def test_brackets_resolve_what_no_exposure_does(world, copy, tmp_path):
    session = copy[0]
    pair = world.pairs["LR"]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plain, _ = make_stacks(session, pair, ["000"], (200, 150), tmp_path / "a")
    for camera in "LR":
        path = session.folder / "pattern" / camera / "000.png"
        light = linear_light(io.read_image(path).astype(np.float32) / 255)
        path.unlink()
        for exposure in (1, 4, 16):
            codes = srgb_codes(np.clip(light * exposure, 0, 1))
            name = f"000@{exposure / 60:.5f}.png"
            io.write_image(path.with_name(name), np.rint(255 * codes).astype(np.uint8))
    merged, unusable = make_stacks(session, pair, ["000"], (200, 150), tmp_path / "b")
    assert unusable == {}
    assert merged.left.dtype == np.float32
    off = np.abs(merged.left[0] - plain.left[0].astype(np.float32))[merged.left_known]
    assert np.median(off) < 0.4  # of the rounding to 8 bits
    assert np.percentile(off, 99.9) < 2.0


def test_only_the_luminance_of_jpeg_is_matched(world, copy, tmp_path):
    session = copy[0]
    path = session.folder / "pattern" / "L" / "000.png"
    image = io.read_image(path)
    path.unlink()
    cv2.imwrite(str(path.with_suffix(".jpg")), image[..., ::-1])
    for camera in "LR":  # one JPEG is enough: both cameras must show the same
        assert pattern_files(session, camera)["000"].to_match().ndim == 2
    (tmp_path / "stacks").mkdir()
    pairs, _ = make_stacks(session, world.pairs["LR"], ["000"], (200, 150), tmp_path / "stacks")
    assert np.ptp(pairs.left, axis=3).max() == 0
    assert np.ptp(pairs.right, axis=3).max() == 0


def test_nothing_is_rectified_yet(captured, tmp_path):
    with pytest.raises(BadData, match="step 'rectify' is not done yet"):
        spacetime(captured[0], tmp_path)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"scale": 0.0}, "scale: is 0.0 but must be greater than or equal to 0.125"),
        ({"scale": 1.5}, "scale: is 1.5 but must be less than or equal to 1"),
        ({"disparities": (9.0, 3.0)}, "the smaller one first"),
        ({"disparities": (0.0, float("nan"))}, "disparities: is nan but must be a finite number"),
        ({"patterns": 0}, "patterns: is 0 but must be greater than or equal to 1"),
        ({"memory_gib": 0.0}, "memory_gib: is 0.0 but must be greater than 0"),
    ],
)
def test_options_that_make_no_sense(captured, options, text):
    with pytest.raises(Misuse, match=text):
        spacetime(*captured, **options)


def test_an_engine_that_is_not_installed(captured):
    with pytest.raises(
        MissingExtra, match=r"no engine 'clasical' is installed\. Did you mean 'cla"
    ):
        spacetime(*captured, engine="clasical")
    with pytest.raises(MissingExtra, match=r"entry-point group 'depthgauge\.plugins'"):
        engine_named("raft")


class Interrupted(Exception):
    pass


@pytest.mark.long
def test_a_killed_step_goes_on_where_it_was(copy, monkeypatch):
    session, work = copy
    engine = engine_named("classical")
    options = {"disparities": RANGE, "patterns": 3, "memory_gib": 0.0065}
    calls = []

    def match(self, pairs, places, progress=None, *, real=step_module.Tiles.match):
        assert len(list(self.plan((len(places), *pairs.size[1:])))) > 2
        return real(self, pairs, places, progress)

    def stop(what, now, of):
        calls.append((what, now))
        if what == "matching" and now == 2:
            raise Interrupted

    monkeypatch.setattr(step_module.Tiles, "match", match)
    with pytest.raises(Interrupted):
        spacetime(session, work, progress=stop, **options)
    assert calls.count(("rectifying patterns", 3)) == 1
    counted = []
    real_match = type(engine).match_both
    monkeypatch.setattr(type(engine), "match_both", lambda *a: counted.append(1) or real_match(*a))
    later = []
    resumed = spacetime(session, work, progress=lambda *a: later.append(a), **options)
    tiles = later[-1][2]
    assert not [call for call in later if call[0] == "rectifying patterns"]
    # One for the first look; of the tiles, those that were not done.
    assert len(counted) == 1 + tiles - 2
    whole = spacetime(session, work, again=True, **options)
    for name in ("left_disparity.npy", "right_variance.npy"):
        a, b = io.read_map(resumed.folder / name), io.read_map(whole.folder / name)
        np.testing.assert_array_equal(a, b)


def test_left_and_right_confirm_each_other(done):
    maps = [io.read_map(done.folder / f"{side}_disparity.npy") for side in ("left", "right")]
    assert left_right_consistent(*maps).mean() > 0.75


@pytest.mark.long
def test_the_picture(done):
    from depthgauge.report.capture.spacetime import picture

    drawn = io.read_image(picture(done.folder.parent))
    assert drawn.shape[2] == 3
    assert len(np.unique(drawn.reshape(-1, 3), axis=0)) > 1000
