"""Numbers of the model of error bars, from `python -m tools.fit_error_bars`."""

CONSTANT = -3.2650
"""Logarithm of the standard deviation in px where every line is at its first knot."""
CALIBRATION = 1.093
"""Factor for the variance that the calibration's covariance predicts for pair L-C."""
SLOPES: dict[str, tuple[float, ...]] = {
    "noise": (-0.9506, 0.2093, 0.0626, -0.2100, 0.8098),
    "moved": (0.0764, 0.0852),
    "bend": (0.7701, 0.5290, 1.2411, 1.1797),
    "bend near edges": (-1.2501,),
    "slope": (0.0044, 0.5910, -0.2897, 0.3554),
    "views": (0.0797, 0.2289, 0.0449, -0.3297),
    "unmatched": (2.3530,),
    "unmatched near edges": (-1.2896,),
    "doubt": (0.0258, 0.0724, 0.0384, 2.7278),
    "doubt near edges": (0.1702, 1.0507, -2.4561),
    "step": (-0.2245, -0.3723, 1.3196, -0.6686, -0.3329, 0.7052),
    "edge": (-0.6180, -0.1304, -0.0265, 0.0546, 0.0106, -0.0012),
    "choice": (0.1472, 0.5069),
    "chosen": (0.0901,),
    "middle near edges": (-0.2701,),
    "front near edges": (1.0272,),
    "patterns": (-0.1718, -0.0026, 0.0195, -0.0276),
    "patterns near edges": (-0.4221,),
    "window": (0.2961,),
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
    "kitchen 13, 560 px, 3 patterns",
    "kitchen 13, 560 px, 8 patterns",
    "desk 23, 640 px, 2 patterns",
    "desk 23, 640 px, 12 patterns",
)
"""The simulated sessions that they were fitted on."""
