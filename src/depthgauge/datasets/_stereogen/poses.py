"""Poses of `trajectory.json`, in each of the rotations that may be recorded."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Poses = NDArray[np.float64]
"""(frame, camera, 4, 4) world-from-camera in metres; x right, y down, z forward."""
MATRIX = "matrix"
"""What we write: 3x3, its columns are the camera's axes in the world."""
UNITS = {"cm": 0.01, "centimeter": 0.01, "centimeters": 0.01, "m": 1.0, "meter": 1.0, "meters": 1.0}
"""Metres per unit of a location."""
_TOLERANCE = 1e-4
# Unreal has x forward, y right, z up, which is left-handed.
_FROM_UNREAL = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


def camera_index(name: Any) -> int:
    """The number of a camera that is given by its number or by a name such as `Rig_Cam_03`.

    Raises:
        ValueError: It is neither.

    >>> camera_index("BP_Rig_Cam_03"), camera_index(4)
    (3, 4)
    """
    if isinstance(name, int) and not isinstance(name, bool) and name >= 0:
        return name
    found = re.search(r"[Cc]am_?(\d{1,3})$", name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"{name!r} is not a camera's number, nor a name that ends in Cam_00")
    return int(found[1])


def parse_pose(body: Mapping[str, Any], representation: str, metres: float) -> NDArray[np.float64]:
    """The 4x4 pose of one camera.

    Args:
        body: With `location` (or `position`) and `rotation`.
        representation: `matrix`, `quaternion_xyzw`, `quaternion_wxyz`, or `unreal_euler_degrees`
            (roll, pitch, yaw, with Unreal's axes for location and rotation).
        metres: Metres per unit of the location.

    Raises:
        KeyError, TypeError, ValueError: Something is missing or makes no sense.
    """
    if representation not in ROTATIONS:
        raise ValueError(
            f"the rotation representation '{representation}' is none of {', '.join(ROTATIONS)}"
        )
    place = _numbers(body.get("location", body.get("position")), ("x", "y", "z"), "location")
    given = next(
        (body[name] for name in ("rotation", "quaternion", "rotation_matrix") if name in body), None
    )
    if given is None:
        raise ValueError("a camera has no rotation")
    turn = ROTATIONS[representation](given)
    if not np.allclose(turn @ turn.T, np.eye(3), atol=_TOLERANCE) or np.linalg.det(turn) < 0:
        raise ValueError("the rotation of a camera is not one: its axes are not at right angles")
    pose = np.eye(4)
    pose[:3, :3] = turn
    pose[:3, 3] = place * metres
    if representation in _UNREAL:
        pose[:3, :3] = _FROM_UNREAL @ turn @ _FROM_UNREAL.T
        pose[:3, 3] = _FROM_UNREAL @ pose[:3, 3]
    return pose


def rig_poses(base: NDArray[np.float64], adjacent_cm: Sequence[float]) -> Poses:
    """The poses of a rigid row of cameras along the x axis of the first one.

    Args:
        base: (frame, 4, 4) poses of camera 00.
        adjacent_cm: Gaps between neighbouring cameras.

    >>> rig_poses(np.eye(4)[None], [6.0, 7.0])[0, :, 0, 3].round(9).tolist()
    [0.0, 0.06, 0.13]
    """
    base = np.asarray(base, np.float64)
    offsets = np.concatenate([[0.0], np.cumsum(np.asarray(adjacent_cm, np.float64))]) / 100
    poses = np.repeat(base[:, None], len(offsets), axis=1)
    poses[..., :3, 3] += offsets[None, :, None] * base[:, None, :3, 0]
    return poses


def _matrix(given: Any) -> NDArray[np.float64]:
    turn = np.array(given, np.float64)
    if turn.shape != (3, 3) or not np.isfinite(turn).all():
        raise ValueError("a rotation matrix is 3x3 and finite")
    return turn


def _xyzw(given: Any) -> NDArray[np.float64]:
    x, y, z, w = _numbers(given, ("x", "y", "z", "w"), "quaternion")
    length = math.sqrt(x * x + y * y + z * z + w * w)
    if not length > 0:
        raise ValueError("a quaternion has length 0")
    x, y, z, w = x / length, y / length, z / length, w / length
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _wxyz(given: Any) -> NDArray[np.float64]:
    w, x, y, z = _numbers(given, ("w", "x", "y", "z"), "quaternion")
    return _xyzw([x, y, z, w])


def _unreal(given: Any) -> NDArray[np.float64]:
    """Unreal's rotator: yaw about z, then pitch upwards, then roll."""
    angles = np.radians(_numbers(given, ("roll", "pitch", "yaw"), "rotation"))
    (sr, sp, sy), (cr, cp, cy) = np.sin(angles), np.cos(angles)
    forward = [cp * cy, cp * sy, sp]
    right = [sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, -sr * cp]
    up = [-(cr * sp * cy + sr * sy), cy * sr - cr * sp * sy, cr * cp]
    return np.array([forward, right, up]).T


ROTATIONS: dict[str, Callable[[Any], NDArray[np.float64]]] = {
    MATRIX: _matrix,
    "quaternion_xyzw": _xyzw,
    "quaternion_wxyz": _wxyz,
    "unreal_euler_degrees": _unreal,
}
"""By the name of the representation."""
_UNREAL = ("unreal_euler_degrees",)


def _numbers(given: Any, names: tuple[str, ...], what: str) -> NDArray[np.float64]:
    """A list of numbers, or a table with these names."""
    if isinstance(given, Mapping):
        given = [given[name] for name in names]
    found = np.array(given, np.float64)
    if found.shape != (len(names),) or not np.isfinite(found).all():
        raise ValueError(f"a {what} has the {len(names)} finite numbers {', '.join(names)}")
    return found
