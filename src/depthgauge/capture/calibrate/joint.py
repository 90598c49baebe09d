"""Refines all cameras of a rig and all poses of the board at once.

A board stands still while all cameras photograph it, so it has one pose, not one per camera.
Cameras that are calibrated separately do not use this; together, each number is more accurate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.capture.calibrate.boards import Corners
from depthgauge.capture.calibrate.calibration import (
    INSIDE,
    RIGID,
    Covariance,
    Pose,
    moved_camera,
)
from depthgauge.capture.calibrate.camera_pairs import PairFit
from depthgauge.capture.calibrate.single_camera import Single, ViewFit, view_fit
from depthgauge.sessions import Board
from depthgauge.types import Camera

Vector = NDArray[np.float64]
_INSIDE, _RIGID = len(INSIDE), len(RIGID)
_LENS_SPREAD = (0.5, 0.5, 0.01, 0.01, 0.5)
"""Usual sizes of k1 k2 p1 p2 k3: they keep what the boards do not determine near zero."""
_FAR = 3.0
"""Corners farther off than this many standard deviations count less."""
_ROUNDS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """A rig in L's axes."""

    cameras: Mapping[str, Camera]
    rigid: Mapping[str, tuple[Vector, Vector]]
    """Rotation vector and translation from L to each other camera."""
    boards: Mapping[str, tuple[Vector, Vector]]
    """Rotation vector and translation of the board in L's axes, by pose."""


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    camera: str
    pose: str
    points: NDArray[np.float64]
    pixels: NDArray[np.float64]


def refine(bundle: Bundle, views: Mapping[str, Mapping[str, Corners]], board: Board) -> Bundle:
    """The bundle that explains all corners best (Levenberg-Marquardt, Huber's weights).

    Args:
        bundle: Where to start.
        views: Corners by camera and pose; poses that the bundle does not have are left out.
        board: The board.
    """
    flat = _flat(bundle, views, board)
    for _ in range(2):  # the second time with a better estimate of what is far off
        bundle = _descend(bundle, flat, _sigma_of(bundle, flat))
    return bundle


def _flat(bundle: Bundle, views: Mapping[str, Mapping[str, Corners]], board: Board) -> list[_View]:
    corners = board.corners_m()
    return [
        _View(camera, pose, corners[found.ids], found.pixels)
        for camera, by_pose in views.items()
        for pose, found in by_pose.items()
        if pose in bundle.boards
    ]


def _descend(bundle: Bundle, views: Sequence[_View], sigma: float) -> Bundle:
    damping = 1e-4
    cost, normal, right = _system(bundle, views, sigma)
    for _ in range(_ROUNDS):
        lifted = normal + damping * np.diag(np.diag(normal))
        step = np.asarray(np.linalg.solve(lifted, right), np.float64)
        tried = _moved(bundle, step)
        new_cost, new_normal, new_right = _system(tried, views, sigma)
        if not new_cost < cost:
            damping *= 10
            if damping > 1e8:
                break
            continue
        gain = (cost - new_cost) / cost
        bundle, cost, normal, right = tried, new_cost, new_normal, new_right
        damping = max(damping / 10, 1e-12)
        if gain < 1e-10:
            break
    return bundle


def board_in(bundle: Bundle, camera: str, pose: str) -> tuple[Vector, Vector]:
    """Rotation vector and translation of a board in a camera's axes."""
    import cv2

    if camera == "L":
        return bundle.boards[pose]
    turn, move = cv2.composeRT(*bundle.boards[pose], *bundle.rigid[camera])[:2]
    return turn.ravel(), move.ravel()


def _system(bundle: Bundle, views: Sequence[_View], sigma: float) -> tuple[float, Vector, Vector]:
    """Cost, normal matrix and right-hand side of the step."""
    places = _places(bundle)
    size = sum(n for _, n in places.values())
    normal, right, cost = np.zeros((size, size)), np.zeros(size), 0.0
    for view in views:
        residual, slopes = _linear(bundle, view)
        far = np.abs(residual) / (_FAR * sigma)
        weight = 1 / np.maximum(far, 1.0)
        cost += float((residual**2 * np.where(far > 1, 2 * weight - weight**2, 1.0)).sum())
        columns = np.concatenate([np.arange(*_span(places[key])) for key in slopes])
        jacobian = np.concatenate(list(slopes.values()), axis=1)
        weighted = jacobian * weight[:, None]
        normal[np.ix_(columns, columns)] += weighted.T @ jacobian
        right[columns] += weighted.T @ residual
    return cost + _hold_lenses(bundle, places, normal, right, sigma), normal, right


def covariance(
    bundle: Bundle, views: Mapping[str, Mapping[str, Corners]], board: Board
) -> Covariance:
    """The covariance of all numbers of the cameras and of their poses relative to L.

    Corners are taken as independent, each as exact as the residuals say; the boards' poses are
    unknowns too, and their share of the uncertainty is included.
    """
    flat = _flat(bundle, views, board)
    sigma = _sigma_of(bundle, flat)
    normal = _system(bundle, flat, sigma)[1]
    places = _places(bundle)
    boards = sum(count for key, (_, count) in places.items() if key.startswith("board "))
    kept = len(normal) - boards
    residual = np.concatenate([_linear(bundle, view)[0] for view in flat])
    size = np.abs(residual)
    # Huber's loss: the variance of the estimate that his weights give.
    clipped = np.minimum(size, _FAR * sigma)
    inside = max(float((size < _FAR * sigma).mean()), 0.5)
    free = max(residual.size - len(normal), 1)
    variance = float((clipped**2).sum()) / free / inside
    matrix = np.linalg.inv(normal)[:kept, :kept] * variance
    names = [f"{name} {what}" for name in bundle.cameras for what in INSIDE]
    names += [f"L{name} {what}" for name in bundle.rigid for what in RIGID]
    return Covariance(tuple(names), (matrix + matrix.T) / 2)


def _sigma_of(bundle: Bundle, views: Sequence[_View]) -> float:
    """Robust standard deviation of one coordinate, never 0."""
    residual = np.concatenate([_linear(bundle, view)[0] for view in views])
    return max(1.4826 * float(np.median(np.abs(residual))), 1e-4)


def _hold_lenses(
    bundle: Bundle,
    places: Mapping[str, tuple[int, int]],
    normal: Vector,
    right: Vector,
    sigma: float,
) -> float:
    cost = 0.0
    for name, camera in bundle.cameras.items():
        start = places[f"camera {name}"][0] + 4
        for k, (value, spread) in enumerate(zip(camera.distortion, _LENS_SPREAD, strict=True)):
            hold = (sigma / spread) ** 2
            normal[start + k, start + k] += hold
            right[start + k] -= hold * value
            cost += hold * value**2
    return cost


def _places(bundle: Bundle) -> dict[str, tuple[int, int]]:
    """First index and number of the unknowns of each camera and board."""
    counts = {f"camera {name}": _INSIDE for name in bundle.cameras}
    counts |= {f"rigid {name}": _RIGID for name in bundle.rigid}
    counts |= {f"board {pose}": _RIGID for pose in bundle.boards}
    places, start = {}, 0
    for key, count in counts.items():
        places[key] = (start, count)
        start += count
    return places


def _span(place: tuple[int, int]) -> tuple[int, int]:
    return place[0], place[0] + place[1]


def _linear(bundle: Bundle, view: _View) -> tuple[Vector, dict[str, Vector]]:
    """Residuals (2N,) of a view and their derivatives by everything that it depends on."""
    import cv2

    camera = bundle.cameras[view.camera]
    turn, move = bundle.boards[view.pose]
    by_board, by_rigid = np.eye(6), None
    if view.camera != "L":
        composed = cv2.composeRT(turn, move, *bundle.rigid[view.camera])
        turn, move = composed[0].ravel(), composed[1].ravel()
        d = composed[2:]  # dr/dr1 dr/dt1 dr/dr2 dr/dt2 dt/dr1 dt/dt1 dt/dr2 dt/dt2
        by_board = np.block([[d[0], d[1]], [d[4], d[5]]])
        by_rigid = np.block([[d[2], d[3]], [d[6], d[7]]])
    lens = np.array(camera.distortion)
    expected, slope = cv2.projectPoints(view.points, turn, move, camera.matrix(), lens)
    slopes = {
        f"camera {view.camera}": slope[:, 6:15],
        f"board {view.pose}": slope[:, :6] @ by_board,
    }
    if by_rigid is not None:
        slopes[f"rigid {view.camera}"] = slope[:, :6] @ by_rigid
    return (view.pixels - expected.reshape(-1, 2)).ravel(), slopes


def _moved(bundle: Bundle, step: Vector) -> Bundle:
    places = _places(bundle)

    def part(key: str) -> Vector:
        return step[slice(*_span(places[key]))]

    def rigid(key: str, now: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        change = part(key)
        return now[0] + change[:3], now[1] + change[3:]

    return Bundle(
        {name: moved_camera(c, part(f"camera {name}")) for name, c in bundle.cameras.items()},
        {name: rigid(f"rigid {name}", now) for name, now in bundle.rigid.items()},
        {pose: rigid(f"board {pose}", now) for pose, now in bundle.boards.items()},
    )


_Rigid = Mapping[str, tuple[Vector, Vector]]


def refine_rig(
    singles: Mapping[str, Single], pairs: Mapping[str, PairFit], board: Board
) -> tuple[dict[str, Single], dict[str, PairFit], Covariance]:
    """All cameras and pairs refined together, from the views that each of them kept.

    Returns:
        Cameras, pairs, and the covariance of all their numbers.
    """
    import cv2

    rigid = {
        name[1]: (cv2.Rodrigues(fit.pose.rotation)[0].ravel(), fit.pose.translation_m)
        for name, fit in pairs.items()
    }
    views = {name: _kept(single, pairs.get(f"L{name}")) for name, single in singles.items()}
    boards = _boards(singles, views, rigid)
    start = Bundle({name: s.camera for name, s in singles.items()}, rigid, boards)
    bundle = refine(start, views, board)
    fitted = {name: _single(bundle, name, s, views[name], board) for name, s in singles.items()}
    found = {name: _pair(bundle, name, fit, fitted) for name, fit in pairs.items()}
    return fitted, found, covariance(bundle, views, board)


def _kept(single: Single, pair: PairFit | None) -> dict[str, Corners]:
    """A board that moved between two shutters has no single pose, so the second view is dropped."""
    gone = pair.dropped if pair else {}
    return {pose: view.corners for pose, view in single.views.items() if pose not in gone}


def _boards(
    singles: Mapping[str, Single], views: Mapping[str, Mapping[str, Corners]], rigid: _Rigid
) -> dict[str, tuple[Vector, Vector]]:
    """Each board in L's axes, from L's own view if there is one."""
    import cv2

    boards: dict[str, tuple[Vector, Vector]] = {}
    for name in ("L", *(n for n in singles if n != "L")):
        for pose in views[name]:
            fit = singles[name].views[pose]
            place = (fit.rotation, fit.translation_m)
            if name != "L":
                turn = cv2.Rodrigues(rigid[name][0])[0].T
                back = (-rigid[name][0], -turn @ rigid[name][1])
                turned, moved = cv2.composeRT(*place, *back)[:2]
                place = (turned.ravel(), moved.ravel())
            boards.setdefault(pose, place)
    return boards


def _single(
    bundle: Bundle, name: str, single: Single, views: Mapping[str, Corners], board: Board
) -> Single:
    camera = bundle.cameras[name]
    fits: dict[str, ViewFit] = {
        pose: view_fit(corners, board, camera, *board_in(bundle, name, pose))
        for pose, corners in views.items()
    }
    return replace(single, camera=camera, views=fits)


def _pair(bundle: Bundle, name: str, fit: PairFit, singles: Mapping[str, Single]) -> PairFit:
    import cv2

    turn, move = bundle.rigid[name[1]]
    left, right = singles["L"].views, singles[name[1]].views
    squares = [
        (view.residual_px**2).sum(axis=1)
        for views in (left, right)
        for pose, view in views.items()
        if pose in fit.used
    ]
    rms_px = float(np.sqrt(np.concatenate(squares).mean()))
    pose = Pose(np.asarray(cv2.Rodrigues(turn)[0], float), np.asarray(move), rms_px)
    return replace(fit, pose=pose)
