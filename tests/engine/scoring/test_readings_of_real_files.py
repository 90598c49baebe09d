"""Notes on real files: none where they are read as what they are, one where they are not."""

import numpy as np
import pytest

import depthgauge as dg
from depthgauge.io import read_map

PLANES = {"cones": 4, "teddy": 4, "venus": 8, "sawtooth": 8, "bull": 8, "poster": 8, "tsukuba": 16}
"""The pairs of Middlebury, and the scale of their PNGs."""


def matched(left, right):
    """What OpenCV's matcher finds, and what it returns: fixed point, with -16 for nothing."""
    cv2 = pytest.importorskip("cv2")
    matcher = cv2.StereoSGBM_create(0, 128, 5, 600, 2400)
    stored = matcher.compute(cv2.imread(str(left)), cv2.imread(str(right)))
    found = stored.astype(np.float32) / 16
    return np.where(found > 0, found, np.nan).astype(np.float32), stored


@pytest.fixture(scope="module")
def motorcycle(shared):
    folder = shared("data/middlebury-motorcycle")
    truth = np.load(folder / "motorcycle_disp.npz")["arr_0"].astype(np.float32)
    return truth, *matched(folder / "motorcycle_left.png", folder / "motorcycle_right.png")


def codes(*maps, **options):
    """The kinds of notes; warnings are errors here, so they are switched on by hand."""
    with pytest.warns(dg.DepthgaugeWarning):
        scores = dg.score(*maps, "mae", **options)
    return [note.code for note in scores.notes]


@pytest.mark.parametrize("scene", PLANES)
def test_middlebury(shared, scene):
    folder = shared(f"data/middlebury-classic/{scene}")
    images = sorted(path for path in folder.iterdir() if path.name.startswith("im"))
    stored = read_map(min(path for path in folder.iterdir() if "disp" in path.name))
    estimate, _ = matched(images[0], images[-1])
    assert dg.score(estimate, stored / PLANES[scene], "mae").notes == ()
    assert codes(estimate, stored) == ["factor"]


def test_motorcycle(motorcycle):
    truth, estimate, stored = motorcycle
    assert dg.score(estimate, truth, "mae").notes == ()
    assert codes(-estimate, truth) == ["sign"]
    assert codes(np.ascontiguousarray(estimate[:, ::-1]), truth) == ["flipped"]
    assert codes(np.nan_to_num(estimate), truth) == ["holes"]
    assert codes(np.nan_to_num(estimate, nan=-1), truth) == ["holes"]
    assert codes(4000 / estimate, truth) == ["inverse"]
    assert "factor" in codes(stored, truth)
    assert codes(estimate, np.nan_to_num(truth, posinf=0)) == ["holes"]


def test_marks_that_are_declared_give_the_right_score(motorcycle):
    truth, estimate, _ = motorcycle
    right = dg.score(estimate, truth, ["mae", "density"])
    holes = np.nan_to_num(estimate, nan=0)
    assert dg.score(holes, truth, ["mae", "density"], invalid=0).to_dict() == right.to_dict()
    assert dg.score(holes, truth, "mae", check=False)["mae"].value > 4 * right["mae"].value


def test_nyu(shared):
    folder = shared("data/rgbd-nyu-fastdepth")
    estimate, truth = (np.load(folder / f"{name}.npy") for name in ("pred", "depth"))
    assert dg.score(estimate, truth, "mae", quantity="depth").notes == ()
    assert codes(estimate, truth) == ["quantity"]
    assert codes(estimate, 1000 * truth / 256, quantity="depth") == ["factor"]
    assert dg.score(estimate / 7, truth, "absrel", quantity="depth", align="median").notes == ()


def test_kitti(shared):
    folder = shared("data/kitti2015-stereo")
    truth = read_map(folder / "000151_10_aanet_pred.png")
    estimate, _ = matched(folder / "000151_10_left.png", folder / "000151_10_right.png")
    assert dg.score(estimate, truth, "mae").notes == ()
    assert codes(np.ascontiguousarray(estimate[:, ::-1]), truth) == ["flipped"]
