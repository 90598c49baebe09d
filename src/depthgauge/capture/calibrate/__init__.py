"""Step `calibrate`: lenses and poses of the cameras from photographs of a board."""

from depthgauge.capture.calibrate.step import (
    Calibration,
    Pose,
    calibrate,
    read_calibration,
    read_views,
)

__all__ = ["Calibration", "Pose", "calibrate", "read_calibration", "read_views"]
