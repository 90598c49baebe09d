"""One camera from photographs of a board, leaving out photographs that do not fit."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.calibrate.boards import Corners
from depthgauge.errors import BadData
from depthgauge.sessions import Board
from depthgauge.types import Camera

FEWEST_VIEWS = 5
"""With fewer views, the nine numbers of a camera are little more than noise."""
ENOUGH_VIEWS = 15
"""The number used in the paper."""
LEAST_TILT_DEG = 8.0
"""The angle between the two most different boards; parallel boards do not determine the focal
length."""
GOOD_TILT_DEG = 20.0
GOOD_COVER = 0.5
"""The share of an image's width and height that corners should cover; beyond it the lens is a
guess."""
FLOOR_PX = 0.15
"""A view with a smaller error is never an outlier."""
_MOST_FOCAL_ERROR = 0.05
_SOLVING = threading.Lock()

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ViewFit:
    """One photograph of the board and how well the camera explains it."""

    corners: Corners
    residual_px: NDArray[np.float64]
    """(N, 2): found minus expected."""
    rotation: Vector
    """Rotation vector of the board in the camera's axes."""
    translation_m: Vector

    @property
    def rms_px(self) -> float:
        """Root mean square distance of found and expected corners."""
        return float(np.sqrt((self.residual_px**2).sum(axis=1).mean()))


@dataclass(frozen=True, slots=True, eq=False)
class Single:
    """A camera, the views that it was computed from, and those left out with the reason."""

    camera: Camera
    views: Mapping[str, ViewFit]
    dropped: Mapping[str, str]
    focal_error_px: float
    """One standard deviation of the focal length, from the residuals."""

    @property
    def rms_px(self) -> float:
        """Root mean square distance over all corners of the used views."""
        return rms_of(self.views)


def rms_of(views: Mapping[str, ViewFit]) -> float:
    """Root mean square distance over all corners of some views."""
    all_of_them = np.concatenate([view.residual_px for view in views.values()])
    return float(np.sqrt((all_of_them**2).sum(axis=1).mean()))


def calibrate_single(
    name: str,
    views: Mapping[str, Corners],
    board: Board,
    *,
    outlier_factor: float,
    left_out: Mapping[str, str] | None = None,
) -> Single:
    """Focal lengths, principal point and k1 k2 p1 p2 k3 of one camera.

    Args:
        name: Name of the camera, for messages.
        views: Found corners by pose, all with the same image size.
        board: The board.
        outlier_factor: Views whose error is above the median by more than this many robust
            standard deviations are left out, and the camera is calibrated again.
        left_out: Poses that could not be read and why; they count as dropped.

    Raises:
        BadData: Too few views, or the boards do not determine the camera.
    """
    used, dropped = dict(views), dict(left_out or {})
    while True:
        need_views(name, len(used), dropped)
        need_tilt(name, used, board)
        single = _solve(name, used, dropped, board)
        worst = outliers({p: v.rms_px for p, v in single.views.items()}, outlier_factor)
        if not worst:
            break
        for pose in worst:
            dropped[pose] = f"outlier: {single.views[pose].rms_px:.2f} px"
            del used[pose]
    if single.focal_error_px > _MOST_FOCAL_ERROR * single.camera.focal_px[0]:
        raise BadData(
            f"camera {name}: its focal length is known only to {single.focal_error_px:.0f} of "
            f"{single.camera.focal_px[0]:.0f} px; show the board tilted more, nearer, and in all "
            "parts of the image."
        )
    return single


def need_views(name: str, count: int, dropped: Mapping[str, str]) -> None:
    """Rejects too few views.

    Raises:
        BadData: There are too few.
    """
    if count < FEWEST_VIEWS:
        why = f" after leaving out {_listed(dropped)}" if dropped else ""
        raise BadData(
            f"camera {name}: the board was found in {count} photograph(s){why}; at least "
            f"{FEWEST_VIEWS} are needed, {ENOUGH_VIEWS} or more are good. Check that the board is "
            "sharp and complete, and that session.json has its number of inner corners."
        )


def _listed(dropped: Mapping[str, str]) -> str:
    return ", ".join(f"{pose} ({why})" for pose, why in dropped.items())


def need_tilt(name: str, views: Mapping[str, Corners], board: Board) -> None:
    """Rejects boards that are all parallel.

    Raises:
        BadData: They are all parallel.
    """
    tilt = tilt_deg(views, board)
    if tilt < LEAST_TILT_DEG:
        raise BadData(
            f"camera {name}: all boards are nearly parallel (within {tilt:.0f} degrees), which "
            "does not determine the focal length; tilt the board by 20 to 45 degrees in several "
            "directions."
        )


def tilt_deg(views: Mapping[str, Corners], board: Board) -> float:
    """Largest angle between two boards' normals.

    Found with a rough camera: parallel boards have the same vanishing line, so they look parallel
    to any camera.
    """
    import cv2

    normals = []
    for corners in views.values():
        width, height = corners.size_px
        rough = Camera((float(width),) * 2, ((width - 1) / 2, (height - 1) / 2), corners.size_px)
        known, rotation, _ = cv2.solvePnP(
            board.corners_m()[corners.ids], corners.pixels, rough.matrix(), np.zeros(5)
        )
        if known:
            normals.append(cv2.Rodrigues(rotation)[0][:, 2])
    cosines = [float(a @ b) for a, b in itertools.combinations(normals, 2)]
    return math.degrees(math.acos(np.clip(min(cosines, default=1.0), -1, 1)))


def single_warnings(
    name: str, single: Single, not_found: Sequence[str], pictures: int, board: Board
) -> list[str]:
    """What a person should know about one camera's calibration.

    Args:
        name: Name of the camera.
        single: The camera.
        not_found: Poses in which the board was not found.
        pictures: The number of pictures of this camera.
        board: The board.
    """
    warnings = []
    if not_found:
        warnings.append(
            f"camera {name}: the board was not found in {len(not_found)} of {pictures} pictures: "
            f"{', '.join(not_found)}"
        )
    if single.dropped:
        warnings.append(f"camera {name}: dropped {_listed(single.dropped)}")
    if len(single.views) < ENOUGH_VIEWS:
        warnings.append(
            f"camera {name}: calibrated from {len(single.views)} views; {ENOUGH_VIEWS} are better"
        )
    views = {pose: view.corners for pose, view in single.views.items()}
    tilt = tilt_deg(views, board)
    if tilt < GOOD_TILT_DEG:
        warnings.append(f"camera {name}: the boards' tilts differ by only {tilt:.0f} degrees")
    across, down = cover(views)
    if min(across, down) < GOOD_COVER:
        warnings.append(
            f"camera {name}: the corners cover only {100 * across:.0f} % of the image's width and "
            f"{100 * down:.0f} % of its height; beyond them the lens is a guess"
        )
    return warnings


def cover(views: Mapping[str, Corners]) -> tuple[float, float]:
    """Shares of the image's width and height that the corners of all views cover."""
    pixels = np.concatenate([corners.pixels for corners in views.values()])
    across, down = np.ptp(pixels, axis=0) / next(iter(views.values())).size_px
    return float(across), float(down)


def outliers(errors_px: Mapping[str, float], factor: float) -> list[str]:
    """Names whose error stands out: above median + factor * 1.4826 MAD, and above a floor.

    >>> outliers({"a": 0.20, "b": 0.21, "c": 0.19, "d": 0.9, "e": 0.22}, 5.0)
    ['d']
    """
    values = np.array(list(errors_px.values()))
    values = values[np.isfinite(values)]
    if not values.size:
        return list(errors_px)
    middle = float(np.median(values))
    spread = 1.4826 * float(np.median(np.abs(values - middle)))
    # An error below twice the median is not an outlier, even if the others are very similar.
    limit = max(middle + factor * spread, 2 * middle, FLOOR_PX)
    return [name for name, value in errors_px.items() if not value <= limit]


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Lets OpenCV solve the same way each time.

    On several threads it adds the views in the order in which they are done, so the last bits
    differ from run to run. The number of threads belongs to the whole process, so one solver waits
    for another.
    """
    import cv2

    with _SOLVING:
        before = cv2.getNumThreads()
        cv2.setNumThreads(1)
        try:
            yield
        finally:
            cv2.setNumThreads(before)


def _solve(
    name: str, views: Mapping[str, Corners], dropped: Mapping[str, str], board: Board
) -> Single:
    import cv2

    size_px = next(iter(views.values())).size_px
    points = board.corners_m().astype(np.float32)
    objects = [points[c.ids] for c in views.values()]
    images = [c.pixels.astype(np.float32) for c in views.values()]
    try:
        with on_one_thread():
            _, matrix, lens, turns, moves, deviations, _, _ = cv2.calibrateCameraExtended(
                objects, images, size_px, None, None
            )
    except cv2.error as error:
        raise BadData(
            f"camera {name}: these views do not determine the camera ({error.err}); show it "
            "tilted in several directions, in all parts of the image."
        ) from None
    focal = (float(matrix[0, 0]), float(matrix[1, 1]))
    centre = (float(matrix[0, 2]), float(matrix[1, 2]))
    camera = Camera(focal, centre, size_px, tuple(float(k) for k in lens.ravel()[:5]))
    fits = {
        pose: view_fit(corners, board, camera, turn.ravel(), move.ravel())
        for (pose, corners), turn, move in zip(views.items(), turns, moves, strict=True)
    }
    return Single(camera, fits, dict(dropped), float(deviations.ravel()[:2].max()))


def view_fit(
    corners: Corners, board: Board, camera: Camera, rotation: Vector, translation_m: Vector
) -> ViewFit:
    """The residuals of a view for a camera."""
    import cv2

    lens = np.array(camera.distortion)
    expected = cv2.projectPoints(
        board.corners_m()[corners.ids], rotation, translation_m, camera.matrix(), lens
    )[0].reshape(-1, 2)
    residual = corners.pixels - expected
    return ViewFit(corners, residual, np.asarray(rotation), np.asarray(translation_m))
