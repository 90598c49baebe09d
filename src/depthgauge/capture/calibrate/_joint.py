"""From cameras and pairs that were calibrated one by one to the bundle, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from depthgauge.capture.calibrate._bundle import Bundle, Vector, board_in, refine
from depthgauge.capture.calibrate.boards import Corners
from depthgauge.capture.calibrate.calibration import Pose
from depthgauge.capture.calibrate.camera_pairs import PairFit
from depthgauge.capture.calibrate.single_camera import Single, ViewFit, view_fit
from depthgauge.sessions import Board

_Rigid = Mapping[str, tuple[Vector, Vector]]


def refine_rig(
    singles: Mapping[str, Single], pairs: Mapping[str, PairFit], board: Board
) -> tuple[dict[str, Single], dict[str, PairFit]]:
    """All cameras and pairs refined together, from the views that each of them kept."""
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
    return fitted, {name: _pair(bundle, name, fit, fitted) for name, fit in pairs.items()}


def _kept(single: Single, pair: PairFit | None) -> dict[str, Corners]:
    """A board that moved between two shutters has no single pose: the second view goes."""
    gone = pair.dropped if pair else {}
    return {pose: view.corners for pose, view in single.views.items() if pose not in gone}


def _boards(
    singles: Mapping[str, Single], views: Mapping[str, Mapping[str, Corners]], rigid: _Rigid
) -> dict[str, tuple[Vector, Vector]]:
    """Each board in L's axes, from L's own view where there is one."""
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
