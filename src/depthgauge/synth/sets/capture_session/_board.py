"""Views of the calibration board: poses that cover the images, and their pictures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import Misuse
from depthgauge.geometry.projection import inverse_pose, project, slopes_at
from depthgauge.sessions import Board
from depthgauge.synth.scene.mesh import rotation
from depthgauge.synth.sets.capture_session._sensor import developed, footprint
from depthgauge.types import Camera

MARGIN = 0.6
"""White rim around the squares, in squares."""
_EDGE_PX = 1.5
"""The board keeps this distance from the images' edges."""
_SIDE = 8
"""Samples of a pixel along each side, where it shows an edge."""
_ROWS = 256
_TRIALS = 1000
_SEEN_BY_ALL = 15
"""Number of poses seen by all cameras; further ones fill the sides of the outer images."""
_LEAST_SQUARE_PX = 11.0
"""Squares are at least this large in the wide camera, where its image allows."""
Pose = NDArray[np.float64]
"""4x4, world from board; the board's z points away from the cameras."""

# Where the middle of the board should be in the left image, in half widths and half heights.
_TARGETS = (
    *((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (0.0, 0.0)),
    *((-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)),
)


def board_poses(board: Board, cameras: Mapping[str, Camera], count: int, seed: int) -> list[Pose]:
    """Poses in which cameras see the whole board; together they cover all corners.

    In the first 15 all three cameras see the whole board, in the others the wide camera and one
    more.

    Raises:
        Misuse: No pose fits: the board is too large or too small.
    """
    rng = np.random.default_rng([seed, 75])
    return [_best_pose(board, cameras, number, rng) for number in range(count)]


def _best_pose(
    board: Board, cameras: Mapping[str, Camera], number: int, rng: np.random.Generator
) -> Pose:
    """The one of many random poses that is nearest to its target."""
    left = cameras["L"]
    size = np.array(left.size_px)
    target = size * (0.5 + 0.5 * np.array(_target(number)))
    outline, middle = _outline(board)
    poses = _trials(board, left, target, rng)
    seen = {name: _images(outline, poses, camera) for name, camera in cameras.items()}
    needed = _needed(number)
    whole = np.all([_whole(seen[name], cameras[name]) for name in needed], axis=0)
    if not whole.any():
        raise Misuse(
            f"a board of {board.columns}x{board.rows} squares of {board.square_m} m does not fit "
            "into all three images; choose other squares"
        )
    miss = np.linalg.norm(_images(middle, poses, left)[:, 0] - target, axis=1)
    miss -= 0.25 * size[0] * _size(seen["C"], board)
    return np.asarray(poses[int(np.argmin(np.where(whole, miss, np.inf)))])


def _target(number: int) -> tuple[float, float]:
    """Where the board should be; after the first poses, beside the area that both L and R see."""
    if number < _SEEN_BY_ALL:
        return _TARGETS[number % len(_TARGETS)]
    return -1.0 if number % 2 else 1.0, (-0.8, 0.0, 0.8)[number % 3]


def _needed(number: int) -> tuple[str, ...]:
    """The cameras that see the whole board: all, or the wide one and one of the others."""
    if number < _SEEN_BY_ALL:
        return "L", "C", "R"
    return ("L", "C") if number % 2 else ("C", "R")


def _images(points: NDArray[np.float64], poses: Pose, camera: Camera) -> NDArray[np.float64]:
    """Where the points (P, 3) of boards in poses (N, 4, 4) are in an image, (N, P, 2)."""
    axes = inverse_pose(camera.world_from_camera) @ poses
    placed = np.einsum("nij,pj->npi", axes[:, :3, :3], points) + axes[:, None, :3, 3]
    return np.asarray(project(placed, camera), np.float64)


def _size(seen: NDArray[np.float64], board: Board) -> NDArray[np.float64]:
    """1 for poses whose squares are large enough in the wide camera, less for others."""
    edges = np.linalg.norm(np.diff(seen[:, :4], axis=1), axis=2)
    squares = np.array([board.columns, board.rows, board.columns]) + 1 + 2 * MARGIN
    return np.asarray(np.minimum(1.0, (edges / squares).min(axis=1) / _LEAST_SQUARE_PX))


def _trials(
    board: Board, left: Camera, target: NDArray[np.float64], rng: np.random.Generator
) -> Pose:
    """Random poses (N, 4, 4) whose middles lie between the image's centre and the target."""
    width_m = (board.columns + 1 + 2 * MARGIN) * board.square_m
    near_m = width_m * left.focal_px[0] / left.size_px[0]
    depth = near_m * rng.uniform(1.05, 1.7, (_TRIALS, 1))
    centre = np.array(left.centre_px)
    pixel = centre + rng.uniform(0, 0.9, (_TRIALS, 1)) ** 0.5 * (target - centre)
    pixel += rng.normal(0, 0.04, (_TRIALS, 2)) * left.size_px
    slopes = (pixel - centre) / left.focal_px
    tilts = rng.uniform(-40, 40, (_TRIALS, 2)) * rng.uniform(0.35, 1.0, (_TRIALS, 1))
    turn = _turns(tilts[:, 0], "x") @ _turns(tilts[:, 1], "y")
    turn = turn @ _turns(rng.normal(0, 12, _TRIALS), "z")
    poses = np.tile(np.eye(4), (_TRIALS, 1, 1))
    poses[:, :3, :3] = turn
    poses[:, :3, 3] = depth * np.concatenate([slopes, np.ones((_TRIALS, 1))], axis=1)
    poses[:, :3, 3] -= turn @ _outline(board)[1][0]
    return np.asarray(left.world_from_camera @ poses)


def _turns(degrees: NDArray[np.float64], axis: str) -> NDArray[np.float64]:
    """Rotations (N, 3, 3) about one axis."""
    quarter, angle = rotation(90.0, axis), np.radians(degrees)[:, None, None]
    along = np.diag(np.isclose(np.diag(quarter), 1.0).astype(np.float64))
    return np.asarray(
        along + np.cos(angle) * (np.eye(3) - along) + np.sin(angle) * (quarter - along)
    )


def _outline(board: Board) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The rim's corners and edge middles (8, 3), corners first, and the board's middle (1, 3)."""
    low, rim = -(1 + MARGIN), MARGIN
    x0, x1, y0, y1 = low, board.columns + rim, low, board.rows + rim
    xm, ym = (x0 + x1) / 2, (y0 + y1) / 2
    around = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (xm, y0), (x1, ym), (xm, y1), (x0, ym)]
    outline = np.array([(x, y, 0.0) for x, y in around]) * board.square_m
    return outline, np.array([[xm, ym, 0.0]]) * board.square_m


def _whole(seen: NDArray[np.float64], camera: Camera) -> NDArray[np.bool_]:
    """Whether all points (N, P, 2) of each pose are inside the image."""
    limit = np.array(camera.size_px) - 1 - _EDGE_PX
    return np.asarray(((seen >= _EDGE_PX) & (seen <= limit)).all(axis=(1, 2)))


def lens_slopes(camera: Camera) -> NDArray[np.float64]:
    """Slopes (H + 2, W + 2, 2) of the rays of all pixels and of one more on each side."""
    width, height = camera.size_px
    slopes = np.full((height + 2, width + 2, 2), np.nan)
    for first in range(0, height + 2, _ROWS):
        y, x = np.mgrid[first - 1 : min(first + _ROWS, height + 2) - 1, -1 : width + 1]
        slopes[first : first + _ROWS] = slopes_at(np.stack([x, y], -1).astype(np.float64), camera)
    return slopes


def board_picture(
    board: Board, pose: Pose, camera: Camera, slopes: NDArray[np.float64], noise_key: int
) -> NDArray[np.uint8]:
    """The board as a camera photographs it, (H, W, 3).

    Args:
        board: Its squares; the one before the first inner corner is dark.
        pose: World from board.
        camera: Exact, with its distortion.
        slopes: The result of `lens_slopes`, the same for all poses.
        noise_key: Determines the lamp's position and the sensor's noise.
    """
    from depthgauge.synth.sets.capture_session._board_kernels import board_light

    rng = np.random.default_rng(noise_key)
    width, height = camera.size_px
    axes = inverse_pose(camera.world_from_camera) @ pose
    plane = np.concatenate([axes[:3, :3].T, axes[:3, 3][None]])
    squares = np.array([board.columns, board.rows, board.square_m, MARGIN], np.float64)
    lamp = np.array([*rng.uniform((-0.5, -0.7, -0.3), (0.5, -0.2, 0.1)), 0.0])
    lamp[3] = float(np.sum((axes[:3, 3] - lamp[:3]) ** 2))  # full light at the first corner
    shade = np.array([rng.uniform(0.10, 0.25), *rng.uniform(-0.08, 0.08, 2)])
    light = np.zeros((height, width))
    board_light(slopes, footprint(_SIDE), plane, squares, lamp, shade, light)
    exposure = 0.75 / float(np.percentile(light, 99))
    grey = np.repeat((light * exposure).reshape(-1, 1).astype(np.float32), 3, axis=1)
    return developed(grey, noise_key).reshape(height, width, 3)
