"""Numbers of the model of error bars, from `python -m tools.fit_error_bars`."""

CONSTANT = -4.4503
"""Logarithm of the standard deviation in px where every line is at its first knot."""
CALIBRATION = 1.093
"""Factor for the variance that the calibration's covariance predicts for pair L-C."""
SLOPES: dict[str, tuple[float, ...]] = {
    "noise": (0.0000, 0.2695, 0.1206, 0.0836, 0.2039),
    "moved": (0.1017, 0.1278),
    "bend": (0.6673, 0.5107, 0.6898, 0.0000),
    "bend near edges": (-0.1917,),
    "slope": (0.0000, 0.5211, 0.0000, 0.9977),
    "views": (0.0506, 0.1107, 0.2522, 0.3499),
    "unmatched": (0.5693,),
    "unmatched near edges": (-0.1420,),
    "doubt": (0.0039, 0.0695, 0.0908, 0.4467),
    "doubt near edges": (0.0000, 0.0769, 0.0000),
    "step": (-0.1863, -0.4867, 0.5589, -0.4262, 0.3334, 0.0906),
    "edge": (-0.1902, -0.2286, -0.0437, 0.0000, 0.0000, 0.0000),
    "choice": (0.0389, 0.1567),
    "chosen": (0.0005,),
    "middle near edges": (-0.1658,),
    "front near edges": (0.0868,),
    "patterns": (-0.4521, -0.1422, 0.0000, 0.0000),
    "patterns near edges": (0.0000,),
    "window": (0.2265,),
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
)
"""The simulated sessions that they were fitted on."""
