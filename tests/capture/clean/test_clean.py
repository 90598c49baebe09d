"""The cleaning step: each reason takes what it should, and nothing else."""

import json

import numpy as np
import pytest

from depthgauge import io
from depthgauge.capture.clean.filters import smooth_plain
from depthgauge.capture.clean.manual_edits import ManualEdits, Polygon, write_manual_edits
from depthgauge.capture.clean.step import REASONS, CleanOptions, clean, find_removals, smooth
from depthgauge.capture.refine.engine import MeasuredMaps
from depthgauge.capture.steps import StepOutput, do_step
from depthgauge.errors import BadData, Misuse
from depthgauge.geometry.rectified import RectifiedPair, RectifiedView
from depthgauge.report.capture import clean as clean_picture
from depthgauge.sessions import Board, Session
from depthgauge.types import Camera

HEIGHT, WIDTH = 60, 120
CODES = {name: code for code, name in REASONS.items()}


def world():
    """A box 8 px in front of a wall, in both views, with what each sees of the wall beside it."""
    left = np.full((HEIGHT, WIDTH), 10.0, np.float32)
    right = left.copy()
    left[20:40, 50:70] = 18.0
    right[20:40, 32:52] = 18.0
    return left, right


def measured(disparity, sigma_px=0.05, confidence=0.95):
    shape = disparity.shape
    variance = np.full(shape, sigma_px**2, np.float32)
    return MeasuredMaps(disparity, variance, np.full(shape, confidence, np.float32))


def scene():
    left, right = world()
    return {"left": measured(left), "right": measured(right)}


def removals(maps, options=None, hand=None):
    nothing = np.zeros((HEIGHT, WIDTH), bool)
    hand = hand or {"left": nothing, "right": nothing}
    return find_removals(maps, hand, options or CleanOptions())


def test_a_consistent_world_is_kept_with_its_occluded_pixels():
    codes = removals(scene())
    assert not codes["left"].any()
    assert not codes["right"].any()


def test_occluded_pixels_that_are_doubtful_go():
    maps = scene()
    maps["left"].confidence[:] = 0.7
    codes = removals(maps)["left"]
    gone = codes == CODES["left-right disagreement"]
    hidden = np.zeros_like(gone)
    hidden[20:40, 42:50] = True  # the wall that the right view sees behind the box
    outside = np.zeros_like(gone)
    outside[:, :10] = True  # matches left of the right image
    assert np.array_equal(gone, hidden | outside)


def test_a_surface_that_the_other_view_looks_through_goes():
    maps = scene()
    maps["left"].disparity[5:15, 80:100] = 14.0
    gone = removals(maps)["left"] == CODES["left-right disagreement"]
    wanted = np.zeros_like(gone)
    wanted[5:15, 80:100] = True
    assert np.array_equal(gone, wanted)
    assert not removals(maps, CleanOptions(left_right_px=5.0))["left"].any()


def test_variance_confidence_and_missing_values():
    maps = scene()
    maps["left"].variance[3, 20:30] = 1.0
    maps["left"].variance[4, 20:30] = np.nan
    maps["left"].confidence[6, 20:30] = 0.3
    maps["left"].confidence[7, 20:30] = np.nan
    maps["left"].disparity[9, 20:30] = np.nan
    codes = removals(maps)["left"]
    expected = np.zeros_like(codes)
    expected[3, 20:30] = CODES["variance"]
    expected[6:8, 20:30] = CODES["low confidence"]
    expected[9, 20:30] = CODES["no value"]
    assert np.array_equal(codes, expected)
    looser = removals(maps, CleanOptions(sigma_px=1.0, confidence=0.2, doubtful=0.2))["left"]
    assert not looser[3].any()
    assert not looser[6].any()


def test_a_pixel_has_the_first_of_its_reasons():
    maps = scene()
    maps["left"].variance[:] = 9.0
    maps["left"].confidence[:, 20:] = 0.1
    maps["left"].disparity[:5] = np.nan
    hand = np.zeros((HEIGHT, WIDTH), bool)
    hand[:, 60:] = True
    codes = removals(maps, hand={"left": hand, "right": ~hand & False})["left"]
    assert (codes[:5] == CODES["no value"]).all()
    assert (codes[5:, 60:] == CODES["by hand"]).all()
    assert (codes[5:, 20:60] == CODES["low confidence"]).all()
    assert (codes[5:, :20] == CODES["variance"]).all()


def test_small_patches_go_and_larger_ones_stay():
    maps = scene()
    for side in ("left", "right"):
        maps[side].disparity[:] = np.nan
    maps["left"].disparity[5:7, 40:43] = 10.0
    maps["left"].disparity[20:30, 40:50] = 10.0
    codes = removals(maps)["left"]  # at least 8 px
    assert (codes[5:7, 40:43] == CODES["isolated"]).all()
    assert not codes[20:30, 40:50].any()
    assert not removals(maps, CleanOptions(isolated_px=6))["left"][5:7, 40:43].any()
    assert (removals(maps, CleanOptions(isolated_px=101))["left"][20:30, 40:50] == 4).all()


def test_smoothing_keeps_planes_and_steps():
    left, _ = world()
    assert np.array_equal(smooth(left, CleanOptions(window_px=5)), left)
    assert smooth(left, CleanOptions(filter="none")) is left


def test_the_filter_as_published_is_scaled_to_the_width():
    left, _ = world()
    share = WIDTH / 4112
    found = smooth(left, CleanOptions(filter="plain"))
    assert np.array_equal(found, smooth_plain(left, 3, 5.0 * share, 50.0 * share))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sigma_px": 0}, "sigma_px: is 0 but must be greater than 0"),
        ({"left_right_px": -1}, "left_right_px: is -1 but must be greater than 0"),
        ({"confidence": 2}, "confidence: is 2 but must be less than or equal to 1"),
        ({"filter": "median"}, "filter: is 'median' but must be 'planes', 'plain' or 'none'"),
        ({"isolated_px": -1}, "isolated_px: is -1 but must be greater than or equal to 0"),
        ({"window_px": 4}, "window_px: is 4 but must be odd"),
    ],
)
def test_options_out_of_range(options, said):
    with pytest.raises(Misuse, match=said):
        CleanOptions.checked(options, "clean")


def make_work(folder, maps):
    camera = Camera((100.0, 100.0), (60.0, 30.0), (WIDTH, HEIGHT))
    view = RectifiedView(camera, np.eye(3), camera)
    pair = RectifiedPair(view, view, 0.1)

    def rectify(part):
        (part / "LR.json").write_text(json.dumps(pair.to_json()))
        return StepOutput({})

    def refine(part):
        for side, one in maps.items():
            for name in ("disparity", "variance", "confidence"):
                io.write_map(part / f"{side}_{name}.npy", getattr(one, name))
        return StepOutput({})

    do_step(folder, "rectify", rectify, revision=1, options={})
    do_step(folder, "refine", refine, revision=1, options={})
    return Session(folder / "session", "small", Board()), folder


def test_the_step_from_files_to_files_and_its_picture(tmp_path):
    maps = scene()
    rng = np.random.default_rng(0)
    for one in maps.values():
        one.disparity[:] += rng.normal(0, 0.05, one.disparity.shape)
    maps["left"].variance[50, 10:30] = 4.0
    session, work = make_work(tmp_path, maps)
    hand = tmp_path / "hand.json"
    write_manual_edits(
        hand, ManualEdits((Polygon("right", ((9.5, 4.5), (29.5, 4.5), (29.5, 9.5), (9.5, 9.5))),))
    )
    step = clean(session, work, by_hand=hand, window_px=5)
    left = step.figures["left"]
    assert left["removed"]["variance"] == 20
    assert left["kept"] + sum(left["removed"].values()) == left["pixels"] == HEIGHT * WIDTH
    assert step.figures["right"]["removed"]["by hand"] == 100
    codes = io.read_labels(step.folder / "left_removed.png")
    disparity = io.read_map(step.folder / "left_disparity.npy")
    variance = io.read_map(step.folder / "left_variance.npy")
    assert np.array_equal(np.isfinite(disparity), codes == 0)
    assert np.array_equal(np.isfinite(variance), codes == 0)
    truth = world()[0]
    kept = codes == 0
    assert np.abs(disparity - truth)[kept].mean() < 0.6 * 0.04
    assert np.abs(disparity - truth)[kept].max() < 0.3
    assert (variance[kept] > 0).all()
    assert not clean(session, work, by_hand=hand, window_px=5).fresh
    hand.write_text('{"schema": 1}')
    assert clean(session, work, by_hand=hand, window_px=5).fresh, "the file's content counts"
    picture = io.read_image(clean_picture.picture(work))
    assert picture.shape[1] > 1000


def test_without_the_filter_what_is_kept_is_as_it_was(tmp_path):
    session, work = make_work(tmp_path, scene())
    step = clean(session, work, filter="none")
    assert step.options["filter"] == "none"
    assert np.array_equal(io.read_map(step.folder / "right_disparity.npy"), world()[1])
    assert clean(session, work).options["filter"] == "planes"


def test_a_map_of_which_nothing_is_left(tmp_path):
    maps = scene()
    maps["left"].confidence[:] = 0.1
    session, work = make_work(tmp_path, maps)
    step = clean(session, work)
    assert any("Nothing of the left map was kept" in said for said in step.warnings)
    assert clean_picture.picture(work).is_file()


def test_what_can_be_wrong_with_the_step(tmp_path):
    with pytest.raises(BadData, match="step 'rectify' is not done yet"):
        clean(Session(tmp_path, "s", Board()), tmp_path / "none")
    maps = scene()
    small = measured(np.zeros((4, 5), np.float32))
    session, work = make_work(tmp_path, {**maps, "right": small})
    with pytest.raises(BadData, match="the right map is 5x4 but the rectified image is 120x60"):
        clean(session, work)
    with pytest.raises(Misuse, match=r"by_hand: is .*none\.json' but must be a file that exists"):
        clean(session, work, by_hand=tmp_path / "none.json")
