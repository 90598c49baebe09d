"""Refinement: exact on planes, sharp at steps, nothing between two surfaces."""

import json
from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from depthgauge import io
from depthgauge.capture.refine.engine import (
    REFINERS,
    MeasuredMaps,
    RefineOptions,
    Refiner,
    RefinerSpec,
)
from depthgauge.capture.refine.engines.classical import guide_sigma
from depthgauge.capture.refine.engines.classical import refine as refine_classical
from depthgauge.capture.refine.step import refine
from depthgauge.capture.steps import StepOutput, do_step
from depthgauge.errors import BadData, Misuse, UnknownName, WrongShape
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.report.capture import refine as refine_picture
from depthgauge.sessions import Board, Session, open_session, write_session
from depthgauge.types import Camera

HEIGHT, WIDTH = 96, 160


def grid(height, width, scale):
    """Positions in the full image of the pixels of one `scale` times as large."""
    y = (np.arange(round(height * scale)) + 0.5) / scale - 0.5
    x = (np.arange(round(width * scale)) + 0.5) / scale - 0.5
    return np.meshgrid(x, y)


def measured_of(scene, scale=0.5, noise_px=0.0, height=HEIGHT, width=WIDTH, seed=0):
    x, y = grid(height, width, scale)
    disparity = scene(x, y)[0] * scale
    noisy = disparity + np.random.default_rng(seed).normal(0, noise_px * scale, x.shape)
    variance = np.full(x.shape, max((noise_px * scale) ** 2, 1e-6), np.float32)
    return MeasuredMaps(noisy.astype(np.float32), variance, np.full(x.shape, 0.95, np.float32))


def guide_of(scene, noise=0.01, height=HEIGHT, width=WIDTH):
    """Each pixel the mean colour of what it covers."""
    x, y = grid(height, width, 4)
    fine = scene(x, y)[1].astype(float)
    mean = fine.reshape(height, 4, width, 4).mean(axis=(1, 3))[..., None] * [0.9, 0.7, 0.5]
    noisy = mean + np.random.default_rng(1).normal(0, noise, mean.shape)
    return np.clip(noisy, 0, 1).astype(np.float32)


def truth_of(scene, height=HEIGHT, width=WIDTH):
    return scene(*grid(height, width, 1))[0]


def plane(x, y):
    return 20 + 0.21 * x - 0.13 * y, np.full(x.shape, 0.5)


def make_step(edge, tilt=0.0, height=12.0):
    """A slanted front surface left of an edge that is tilted by so many px a row."""

    def scene(x, y):
        front = x < edge + tilt * y
        behind = 20 + 0.05 * x + 0.02 * y
        return np.where(front, behind + height - 0.08 * x, behind), np.where(front, 0.8, 0.4)

    return scene


def bars(x, y):
    """Bars that are 3 px wide, at all positions against the small map's pixels."""
    on = np.zeros(x.shape, bool)
    for k in range(7):
        on |= np.abs(x - (12.3 + 20.25 * k)) < 1.5
    return np.where(on, 40.0, 20 + 0.05 * x), np.where(on, 0.8, 0.4)


@pytest.mark.parametrize("scale", [0.5, 0.25, 1.0])
def test_a_slanted_plane_stays_exactly_a_plane(scale):
    refined = refine_classical(measured_of(plane, scale), guide_of(plane), RefineOptions())
    assert np.abs(refined.disparity - truth_of(plane)).max() < 1e-4


@given(slope_x=st.floats(-0.7, 0.7), slope_y=st.floats(-0.7, 0.7), seed=st.integers(0, 9))
def test_planes_of_any_slope_stay_planes_also_around_holes(slope_x, slope_y, seed):
    def scene(x, y):
        return 300 + slope_x * x + slope_y * y, np.full(x.shape, 0.5)

    measured = measured_of(scene, 0.5, height=24, width=32)
    holes = np.random.default_rng(seed).random(measured.disparity.shape) < 0.2
    measured.disparity[holes] = np.nan
    refined = refine_classical(measured, guide_of(scene, height=24, width=32), RefineOptions())
    known = np.isfinite(refined.disparity)
    assert np.array_equal(known, ~np.kron(holes, np.ones((2, 2), bool)))
    error = np.abs(refined.disparity - truth_of(scene, 24, 32))[known]
    # A plane is exact where its pixels spread in both directions; a lone pixel gives its own value.
    assert np.median(error) < 1e-3
    assert error.max() <= 2 * (abs(slope_x) + abs(slope_y)) + 1e-3


@pytest.mark.parametrize("tilt", [0.0, 0.3, -0.7])
@pytest.mark.parametrize("edge", [80.0, 80.6, 81.3])
def test_a_step_is_within_a_pixel_of_its_place_and_sharp(edge, tilt):
    scene = make_step(edge, tilt)
    refined = refine_classical(measured_of(scene), guide_of(scene), RefineOptions())
    truth = truth_of(scene)
    x, y = grid(HEIGHT, WIDTH, 1)
    wrong = np.abs(refined.disparity - truth) > 0.05
    away = np.abs(x - edge - tilt * y) / np.hypot(1, tilt)
    assert away[wrong].max(initial=0) <= 1.0
    # What is wrong is on the other surface, not between the two.
    behind = 20 + 0.05 * x + 0.02 * y
    front = behind + 12 - 0.08 * x
    nearest = np.minimum(np.abs(refined.disparity - behind), np.abs(refined.disparity - front))
    assert nearest.max() < 0.05


def test_interpolation_alone_would_fail_that_test():
    scene = make_step(80.0)
    small = measured_of(scene).disparity
    smooth = cv2.resize(small, (WIDTH, HEIGHT), interpolation=cv2.INTER_LINEAR) * 2
    assert (np.abs(smooth - truth_of(scene)) > 1).sum() > HEIGHT


def test_thin_bars_survive_when_the_guide_shows_them():
    refined = refine_classical(measured_of(bars, noise_px=0.02), guide_of(bars), RefineOptions())
    truth = truth_of(bars)
    on = truth == 40.0
    assert (np.abs(refined.disparity - truth)[on] < 0.2).mean() > 0.93
    assert (np.abs(refined.disparity - truth)[~on] > 1).mean() < 0.05


def test_a_bar_is_found_by_its_colour_not_by_its_place():
    """The small map has the bars' background one pixel too far in: the guide corrects it."""
    plain = np.full((HEIGHT, WIDTH, 3), 0.5, np.float32)
    truth = truth_of(bars)
    measured = measured_of(bars, noise_px=0.02)
    wrong = {}
    for name, guide in (("guide", guide_of(bars)), ("none", plain)):
        refined = refine_classical(measured, guide, RefineOptions())
        wrong[name] = (np.abs(refined.disparity - truth) > 1).mean()
    assert wrong["guide"] < 0.4 * wrong["none"]


def test_mixed_pixels_go_to_one_of_the_surfaces():
    def ramp(x, y):
        share = np.clip((x - 78) / 6, 0, 1)  # an over-smooth edge, 6 px wide
        return 20 + 15 * share, np.where(x > 81, 0.8, 0.4)

    measured = measured_of(ramp)
    refined = refine_classical(measured, guide_of(ramp), RefineOptions(radius=3))
    middle = (refined.disparity > 21) & (refined.disparity < 34)
    before = (2 * measured.disparity > 21) & (2 * measured.disparity < 34)
    assert middle.sum() < 0.35 * 4 * before.sum()


def test_at_full_scale_confident_values_are_kept_as_they_are():
    scene = make_step(80.3, 0.4)
    measured = measured_of(scene, 1.0, noise_px=0.05)
    refined = refine_classical(measured, guide_of(scene), RefineOptions())
    assert (refined.disparity == measured.disparity).mean() > 0.995
    moved = refined.disparity != measured.disparity
    assert np.abs(refined.disparity - measured.disparity)[moved].min(initial=9) > 1


def test_a_doubtful_pixel_on_the_wrong_surface_is_corrected():
    scene = make_step(79.5)
    measured = measured_of(scene, 1.0, noise_px=0.02)
    truth = truth_of(scene)
    measured.disparity[:, 80] = measured.disparity[:, 79]  # one column too fat
    measured.confidence[:, 80] = 0.6
    refined = refine_classical(measured, guide_of(scene), RefineOptions())
    assert (np.abs(refined.disparity - truth)[:, 80] < 0.2).mean() > 0.95


def test_values_variance_and_confidence_are_scaled_and_carried():
    measured = measured_of(plane)
    measured.variance[:] = 0.01
    measured.variance[:, :10] = np.nan
    refined = refine_classical(measured, guide_of(plane), RefineOptions())
    assert refined.variance[1:-1, 40:-1] == pytest.approx(0.04)
    assert (refined.variance[:, -1] > 0.05).all(), "beyond the last pixel it is a guess"
    assert np.isnan(refined.variance[:, :18]).all()
    assert refined.confidence == pytest.approx(0.95)
    assert np.isnan(refined.choice).all(), "one surface, nothing to choose"


def test_the_choice_is_the_density_of_two_laplacians():
    """Two constant surfaces and no guide: weights by distance alone, by hand as in eq. (8)."""
    disparity = np.full((9, 9), 10.0, np.float32)
    disparity[:, 5:] = 20.0
    ones = np.ones((9, 9), np.float32)
    measured = MeasuredMaps(disparity, 0 * ones, ones)
    refined = refine_classical(measured, np.full((9, 9), 0.5, np.float32), RefineOptions(radius=1))
    left = sum(np.exp(-np.hypot(dy, dx) / 0.6) for dy in (-1, 0, 1) for dx in (-1, 0))
    right = sum(np.exp(-np.hypot(dy, 1) / 0.6) for dy in (-1, 0, 1))
    share, scale = left / (left + right), 0.25
    far = np.exp(-10 / scale)
    one = share / (2 * scale) + (1 - share) / (2 * scale) * far
    two = (1 - share) / (2 * scale) + share / (2 * scale) * far
    assert refined.choice[4, 4] == pytest.approx(one / (one + two), rel=1e-5)
    assert refined.disparity[4, 4] == 10.0


def test_holes_stay_unless_asked_and_then_say_that_they_are_guesses():
    measured = measured_of(plane)
    measured.disparity[20:23, 30:33] = np.nan
    kept = refine_classical(measured, guide_of(plane), RefineOptions())
    filled = refine_classical(measured, guide_of(plane), RefineOptions(fill_px=4.0))
    hole = np.isnan(kept.disparity)
    assert hole.sum() == 36
    assert np.abs(filled.disparity - truth_of(plane))[hole].max() < 1e-3
    assert (filled.variance[hole] > 0.25).all()
    assert (filled.confidence[hole] < 0.5).all()
    assert np.array_equal(filled.disparity[~hole], kept.disparity[~hole])


def test_sigma_of_the_guide_follows_its_noise():
    rng = np.random.default_rng(0)
    sigmas = [guide_sigma(0.5 + rng.normal(0, s, (64, 64, 3))) for s in (0.0, 0.01, 0.02, 1.0)]
    assert sigmas[0] == 0.01
    assert sigmas[3] == 0.1
    assert sigmas[2] == pytest.approx(2 * sigmas[1], rel=0.1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"jump_px": 0}, "jump_px: is 0 but must be greater than 0"),
        ({"radius": 0}, "radius: is 0 but must be greater than or equal to 1"),
        ({"fill_px": -1}, "fill_px: is -1 but must be greater than or equal to 0"),
    ],
)
def test_options_out_of_range(options, said):
    with pytest.raises(Misuse, match=said):
        RefineOptions.checked(options, "refine")


def test_sizes_that_do_not_go_together():
    measured = measured_of(plane)
    with pytest.raises(WrongShape, match="the same size"):
        refine_classical(
            replace(measured, variance=measured.variance[1:]), guide_of(plane), RefineOptions()
        )
    with pytest.raises(WrongShape, match="at most as large as the image"):
        refine_classical(measured, np.zeros((20, 20), np.float32), RefineOptions())


def make_work(folder, scene, scale=0.5):
    """A session with three patterns, and a work folder with `rectify` and `spacetime` done."""
    session = Session(folder / "session", "small", Board())
    session.folder.mkdir()
    write_session(session)
    guide = guide_of(scene)
    for camera in "LR":
        (session.folder / "pattern" / camera).mkdir(parents=True)
        for t, light in enumerate((0.6, 1.0, 0.0)):
            io.write_image(
                session.folder / "pattern" / camera / f"{t}.png",
                np.rint(255 * light * guide).astype(np.uint8),
            )
    camera = Camera((200.0, 200.0), ((WIDTH - 1) / 2, (HEIGHT - 1) / 2), (WIDTH, HEIGHT))
    view = RectifiedView(camera, np.eye(3), camera)
    pair = RectifiedPair(view, view, 0.1)
    work = folder / "work"

    def rectify(part):
        (part / "LR.json").write_text(json.dumps(pair.to_json()))
        return StepOutput({})

    def spacetime(part):
        measured = measured_of(scene, scale)
        for side in ("left", "right"):
            for name in ("disparity", "variance", "confidence"):
                io.write_map(part / f"{side}_{name}.npy", getattr(measured, name))
        (part / "patterns.json").write_text(json.dumps({"used": ["0", "1"]}))
        return StepOutput({})

    do_step(work, "rectify", rectify, revision=1, options={})
    do_step(work, "spacetime", spacetime, revision=1, options={})
    return open_session(session.folder), work


def test_the_step_from_files_to_files_and_its_picture(tmp_path):
    scene = make_step(80.6, 0.3)
    session, work = make_work(tmp_path, scene)
    told = []
    step = refine(session, work, progress=lambda *what: told.append(what))
    assert step.figures["left"]["scale"] == 0.5
    assert step.figures["right"]["known"] == 1.0
    assert told[-1] == ("refining", 2, 2)
    truth = truth_of(scene)
    for side in ("left", "right"):
        disparity = io.read_map(step.folder / f"{side}_disparity.npy")
        assert disparity.shape == (HEIGHT, WIDTH)
        assert (np.abs(disparity - truth) > 1).mean() < 0.005
    # The guide is the mean of the patterns that were used: (0.6 + 1) / 2 of the scene's colours.
    guide = io.read_image(step.folder / "left_guide.png") / 255
    assert np.abs(guide - 0.8 * guide_of(scene))[2:-2, 2:-2].max() < 0.02
    assert not refine(session, work).fresh, "nothing has changed"
    assert refine(session, work, radius=3).fresh
    picture = io.read_image(refine_picture.picture(work))
    assert picture.shape[1] > 1000


def test_what_can_be_wrong_with_the_step(tmp_path):
    session, work = make_work(tmp_path, plane)
    with pytest.raises(UnknownName, match="no engine of `capture refine` 'learned'"):
        refine(session, work, engine="learned")
    with pytest.raises(Misuse, match="guide: is 'colours' but must be 'patterns' or 'passive'"):
        refine(session, work, guide="colours")
    with pytest.raises(BadData, match="there are no passive images of camera L"):
        refine(session, work, guide="passive")
    with pytest.raises(BadData, match="step 'rectify' is not done yet"):
        refine(session, tmp_path / "other")
    (work / "spacetime" / "right_variance.npy").unlink()
    with pytest.raises(BadData, match="step 'spacetime' is not done yet"):
        refine(session, work)


@pytest.mark.parametrize("revision", [1, 2])
def test_another_engine_is_one_plug_in(tmp_path, monkeypatch, revision):
    def doubled(maps, guide, options):
        return refine_classical(replace(maps, disparity=2 * maps.disparity), guide, options)

    assert "classical" in REFINERS
    engine = Refiner(RefinerSpec("doubled", "Twice as much.", revision=revision), doubled)
    monkeypatch.setitem(REFINERS._things, "doubled", engine)
    session, work = make_work(tmp_path, plane)
    step = refine(session, work, engine="doubled")
    found = io.read_map(step.folder / "left_disparity.npy")
    assert np.abs(found - 2 * truth_of(plane)).max() < 1e-3
    newer = replace(engine, spec=replace(engine.spec, revision=revision + 1))
    monkeypatch.setitem(REFINERS._things, "doubled", newer)
    assert refine(session, work, engine="doubled").fresh, "its revision is part of the key"


def test_patterns_of_mixed_sizes_are_named(tmp_path):
    session, work = make_work(tmp_path, plane)
    io.write_image(session.folder / "pattern" / "L" / "1.png", np.zeros((8, 9, 3), np.uint8))
    with pytest.raises(BadData, match=r"1\.png: is 9x8, expected the size of 0\.png, 160x96"):
        refine(session, work)
