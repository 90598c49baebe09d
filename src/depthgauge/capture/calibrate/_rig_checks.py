"""Whether what was found can be a trinocular rig."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from depthgauge.capture.calibrate.calibration import Pose
from depthgauge.capture.calibrate.single_camera import Single
from depthgauge.errors import BadData
from depthgauge.types import Camera

_MOST_TURN_DEG = 20.0
_BASELINES_M = (0.005, 2.0)


def check_rig(
    cameras: Mapping[str, Camera], pairs: Mapping[str, Pose], singles: Mapping[str, Single]
) -> list[str]:
    """Refuses cameras that do not stand side by side; the rest is warned about.

    Raises:
        BadData: Left and right are swapped, or a pair is not side by side.
    """
    if cameras["L"].size_px != cameras["R"].size_px:
        left, right = ("x".join(map(str, cameras[n].size_px)) for n in "LR")
        raise BadData(
            f"cameras L and R take pictures of different sizes, {left} and {right}; the balanced "
            "pair needs two equal ones. Is one of the folders that of camera C?"
        )
    warnings = []
    for name, pose in pairs.items():
        _need_right_of_left(name, pose)
        warnings += _pair_warnings(name, pose, singles)
    if "LC" in pairs and not pairs["LC"].place_m[0] < pairs["LR"].place_m[0]:
        warnings.append(
            f"camera C stands {pairs['LC'].place_m[0]:.3f} m right of L, beyond R at "
            f"{pairs['LR'].place_m[0]:.3f} m; it is expected between them"
        )
    return warnings


def _need_right_of_left(name: str, pose: Pose) -> None:
    x, y, z = (float(v) for v in pose.place_m)
    if x < 0 and abs(x) >= max(abs(y), abs(z)):
        raise BadData(
            f"camera {name[1]} stands {-x:.3f} m to the left of L; left and right seem to be "
            f"swapped: exchange the folders of {name[0]} and {name[1]}."
        )
    if x < max(abs(y), abs(z)):
        raise BadData(
            f"camera {name[1]} stands at {x:.3f} {y:.3f} {z:.3f} m (right, down, forward) of L; "
            "the cameras of a rig stand side by side. Were the pictures turned?"
        )


def _pair_warnings(name: str, pose: Pose, singles: Mapping[str, Single]) -> list[str]:
    warnings = []
    turn = math.degrees(math.acos(np.clip((np.trace(pose.rotation) - 1) / 2, -1, 1)))
    if turn > _MOST_TURN_DEG:
        warnings.append(f"pair {name}: its cameras are turned by {turn:.0f} degrees to each other")
    low, high = _BASELINES_M
    if not low <= pose.baseline_m <= high:
        warnings.append(
            f"pair {name}: its baseline of {pose.baseline_m:.4g} m is unusual; is square_m the "
            "side of a square in metres?"
        )
    alone = max(singles[camera].rms_px for camera in name)
    if pose.rms_px > 3 * alone and pose.rms_px > 0.3:
        warnings.append(
            f"pair {name}: its error is {pose.rms_px:.2f} px where each camera alone has "
            f"{alone:.2f} px; were pictures of one name taken at once?"
        )
    return warnings
