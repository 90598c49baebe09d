"""Real files of datasets and tools, where they are on this machine."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from opencv_agreement import agrees

from depthgauge.errors import BadFile
from depthgauge.io import read_image, read_map, read_opencv_calibration

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the real data are not at {DATA}")

STORAGE = sorted(
    path.relative_to(DATA).as_posix()
    for folder in ("calib-*", "middlebury-classic", "opencv-disparityfilter")
    for pattern in ("*.xml", "*.dat", "*/*.xml")
    for path in DATA.glob(f"{folder}/{pattern}")
    if path.read_bytes()[:1] == b"<"
)


@pytest.mark.parametrize("name", STORAGE)
def test_storage_is_read_as_opencv_reads_it(name: str) -> None:
    storage = cv2.FileStorage(str(DATA / name), cv2.FILE_STORAGE_READ)
    assert agrees(read_opencv_calibration(DATA / name), storage.root())


def test_tsukubas_disparity_is_grey_stored_as_rgb() -> None:
    map = read_map(DATA / "middlebury-classic/tsukuba/disp2.png", "disparity", scale=16)
    assert (map.shape, np.nanmin(map), np.nanmax(map)) == ((288, 384), 5, 14)


def test_kittis_samples_are_what_opencv_decodes() -> None:
    folder = DATA / "kitti-devkit-samples"
    codes = cv2.imdecode(np.fromfile(folder / "disp_gt.png", np.uint8), cv2.IMREAD_UNCHANGED)
    map = read_map(folder / "disp_gt.png", "disparity")
    np.testing.assert_array_equal(np.isnan(map), codes == 0)
    np.testing.assert_array_equal(map[codes > 0], codes[codes > 0] / np.float32(256))
    flow = read_map(folder / "flow_gt.png", "flow")
    bgr = cv2.imdecode(np.fromfile(folder / "flow_gt.png", np.uint8), cv2.IMREAD_UNCHANGED)
    valid = bgr[..., 0] > 0
    np.testing.assert_array_equal(flow[valid][:, 0], (bgr[valid][:, 2] - np.float32(32768)) / 64)
    assert np.isnan(flow[~valid]).all()


def test_rubberwhales_unknown_flow_is_missing() -> None:
    flow = read_map(DATA / "flow-rubberwhale/RubberWhale.flo", "flow")
    raw = read_map(DATA / "flow-rubberwhale/RubberWhale.flo", "flow", raw=True)
    assert flow.shape == (388, 584, 2)
    np.testing.assert_array_equal(np.isnan(flow).any(axis=2), (np.abs(raw) > 1e9).any(axis=2))


def test_motorcycles_infinities_are_missing() -> None:
    map = read_map(DATA / "middlebury-motorcycle/motorcycle_disp.npz", "disparity")
    assert map.shape == (500, 741)
    assert np.isnan(map).mean() == pytest.approx(0.0735, abs=1e-4)


@pytest.mark.parametrize(
    "name", ["kitti2015-stereo/000000_10_left.png", "calib-chessboard-stereo/left01.jpg"]
)
def test_pictures_are_what_opencv_decodes(name: str) -> None:
    pixels = cv2.imdecode(np.fromfile(DATA / name, np.uint8), cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(
        read_image(DATA / name), pixels[..., ::-1] if pixels.ndim == 3 else pixels
    )


def test_sintels_disparity_is_read_and_no_other_colour_picture_is() -> None:
    folder = DATA / "opencv-disparityfilter"
    map = read_map(folder / "GT.png", "disparity")
    assert (float(map.min()), float(map.max())) == (2.375, 98.234375)
    # OpenCV's own figure for its matcher's output: the truth is cut off to 1/16 px there.
    box = np.s_[7 : 7 + 422, 166 : 166 + 851]
    error = read_image(folder / "disparity_left_raw.png")[box] - np.floor(map[box] * 16.0) / 16
    assert float((error.astype(np.float64) ** 2).mean()) == pytest.approx(5043.6495, abs=5e-5)
    with pytest.raises(BadFile, match="colour picture"):
        read_map(folder / "left_view.png", "disparity")
