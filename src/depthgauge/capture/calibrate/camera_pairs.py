"""The pose of a second camera relative to the first, from boards that both saw at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from depthgauge.capture.calibrate.boards import FEWEST_CORNERS, Corners
from depthgauge.capture.calibrate.calibration import Pose
from depthgauge.capture.calibrate.single_camera import FEWEST_VIEWS, on_one_thread, outliers
from depthgauge.errors import BadData
from depthgauge.sessions import Board
from depthgauge.types import Camera

_MOST_RMS_PX = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class PairFit:
    """A pair's pose, the board poses that it was computed from, and those left out."""

    pose: Pose
    used: tuple[str, ...]
    dropped: Mapping[str, str]


def calibrate_pair(
    name: str,
    cameras: tuple[Camera, Camera],
    views: tuple[Mapping[str, Corners], Mapping[str, Corners]],
    board: Board,
    *,
    outlier_factor: float,
) -> PairFit:
    """Rotation and translation from the first to the second camera; the cameras do not change.

    Raises:
        BadData: Too few boards were seen by both, or they contradict each other.
    """
    common = _common(*views)
    dropped: dict[str, str] = {}
    while True:
        if len(common) < FEWEST_VIEWS:
            why = f" after leaving out {', '.join(dropped)}" if dropped else ""
            raise BadData(
                f"pair {name}: both cameras saw the board in {len(common)} poses{why}; at least "
                f"{FEWEST_VIEWS} are needed. Pictures taken at once need the same name."
            )
        pose, errors = _solve(name, cameras, common, board)
        worst = outliers(errors, outlier_factor)
        if not worst:
            break
        for view in worst:
            dropped[view] = f"outlier: {errors[view]:.2f} px in the pair {name}"
            del common[view]
    if pose.rms_px > _MOST_RMS_PX:
        raise BadData(
            f"pair {name}: the two cameras contradict each other by {pose.rms_px:.1f} px; check "
            "that pictures of the same name were taken at once and that the rig stayed rigid."
        )
    return PairFit(pose, tuple(common), dropped)


def _common(
    first: Mapping[str, Corners], second: Mapping[str, Corners]
) -> dict[str, tuple[Corners, Corners]]:
    both = {pose: first[pose].common(second[pose]) for pose in first if pose in second}
    return {pose: pair for pose, pair in both.items() if len(pair[0].ids) >= FEWEST_CORNERS}


def _solve(
    name: str,
    cameras: tuple[Camera, Camera],
    common: Mapping[str, tuple[Corners, Corners]],
    board: Board,
) -> tuple[Pose, dict[str, float]]:
    import cv2

    points = board.corners_m().astype(np.float32)
    objects = [points[a.ids] for a, _ in common.values()]
    left = [pair[0].pixels.astype(np.float32) for pair in common.values()]
    right = [pair[1].pixels.astype(np.float32) for pair in common.values()]
    stop = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 100, 1e-8)
    try:
        with on_one_thread():
            found = cv2.stereoCalibrateExtended(
                objects,
                left,
                right,
                cameras[0].matrix(),
                np.array(cameras[0].distortion),
                cameras[1].matrix(),
                np.array(cameras[1].distortion),
                cameras[0].size_px,
                np.eye(3),
                np.zeros((3, 1)),
                flags=cv2.CALIB_FIX_INTRINSIC,
                criteria=stop,
            )
    except cv2.error as error:
        raise BadData(f"pair {name}: no pose explains its views ({error.err}).") from None
    rms, rotation, translation, errors = found[0], found[5], found[6], found[-1]
    pose = Pose(np.asarray(rotation, float), np.asarray(translation, float).ravel(), float(rms))
    return pose, dict(zip(common, np.asarray(errors).max(axis=1).tolist(), strict=True))
