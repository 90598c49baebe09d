"""Numbers of the model of error bars, from `python -m tools.fit_error_bars`."""

CONSTANT = -4.4577
"""Logarithm of the standard deviation in px where every line is at its first knot."""
FLATTENED = 0.456
"""Share of a surface's sag that is added to the sum of the lines, as an independent error."""
CALIBRATION = 1.203
"""Factor for the variance that the calibration's covariance predicts for pair L-C."""
SLOPES: dict[str, tuple[float, ...]] = {
    "noise": (0.0000, 0.3476, 0.1846, 0.0006, 0.1413),
    "moved": (0.0909, 0.2810),
    "bend": (0.6846, 0.4377, 0.6641, 0.0000),
    "bend near edges": (-0.2302,),
    "slope": (0.0213, 0.4033, 0.0000, 0.8354),
    "views": (0.0646, 0.0907, 0.2255, 0.4147),
    "unmatched": (0.9704,),
    "unmatched near edges": (-0.5999,),
    "doubt": (0.0000, 0.0933, 0.1116, 0.3902),
    "step": (-0.0329, -0.6251, 0.6848, -0.6880, 0.4518, 0.0232),
    "rim": (-0.7755, -0.3977, -0.0328),
    "choice": (0.0058, 0.1465),
    "chosen": (0.0111,),
    "middle near edges": (-0.2605,),
    "front near edges": (-0.0162,),
    "patterns": (-0.4598, -0.0851, 0.0000, 0.0000),
    "window": (0.1675, -0.2241, -0.5414, -0.2704),
    "window near edges": (-0.1288, 0.4579, 0.6172, 0.1819),
    "shrunk": (0.7805,),
    "shrunk near edges": (0.1820,),
}
"""Slopes of the lines' pieces."""
SESSIONS = (
    "kitchen 11, 320 px, 2 patterns",
    "kitchen 11, 320 px, 20 patterns",
    "desk 1, 320 px, 3 patterns",
    "desk 1, 320 px, 6 patterns",
    "desk 22, 360 px, 2 patterns",
    "desk 22, 360 px, 10 patterns",
    "kitchen 15, 360 px, 2 patterns",
    "kitchen 15, 360 px, 5 patterns",
    "kitchen 12, 440 px, 4 patterns",
    "kitchen 12, 440 px, 12 patterns",
    "desk 21, 480 px, 2 patterns",
    "desk 21, 480 px, 8 patterns",
    "desk 21, 480 px, 16 patterns",
    "desk 23, 640 px, 12 patterns",
    "kitchen 41, 1168 px, 8 patterns",
    "kitchen 41, 1168 px, 8 patterns at 0.5",
    "desk 42, 1000 px, 12 patterns",
    "desk 42, 1000 px, 12 patterns at 0.5",
    "kitchen 43, 2056 px, 10 patterns",
    "kitchen 43, 2056 px, 10 patterns at 0.5",
    "desk 44, 2056 px, 6 patterns",
    "desk 44, 2056 px, 6 patterns at 0.5",
    "desk 45, 4112 px, 6 patterns at 0.5",
)
"""The simulated sessions that they were fitted on."""
