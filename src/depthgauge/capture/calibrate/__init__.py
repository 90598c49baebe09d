"""Step `calibrate`: lenses and poses of the cameras from photographs of a board."""

from depthgauge.capture.calibrate.calibration import Calibration, Pose, read_calibration
from depthgauge.capture.calibrate.images import RigCalibration, calibrate_images, calibrate_views
from depthgauge.capture.calibrate.step import SPEC, calibrate, plan, read_views

__all__ = [
    "SPEC",
    "Calibration",
    "Pose",
    "RigCalibration",
    "calibrate",
    "calibrate_images",
    "calibrate_views",
    "plan",
    "read_calibration",
    "read_views",
]
