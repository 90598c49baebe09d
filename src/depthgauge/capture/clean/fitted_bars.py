"""Numbers of the model of error bars, from `python -m tools.fit_error_bars`."""

CONSTANT = -4.2904
"""Logarithm of the standard deviation in px where every line is at its first knot."""
CALIBRATION = 1.093
"""Factor for the variance that the calibration's covariance predicts for pair L-C."""
SLOPES: dict[str, tuple[float, ...]] = {
    "noise": (0.0000, 0.1982, 0.0324, 0.0000, 0.2264),
    "moved": (0.0773, 0.0800),
    "bend": (0.7656, 0.5236, 1.2489, 1.3029),
    "bend near edges": (-1.3138,),
    "slope": (0.0000, 0.5630, 0.0000, 0.1317),
    "views": (0.0745, 0.2404, 0.0000, 0.0000),
    "unmatched": (2.3549,),
    "unmatched near edges": (-1.3135,),
    "doubt": (0.0255, 0.0810, 0.0703, 0.3994),
    "doubt near edges": (0.1188, 1.0012, 0.0000),
    "step": (-0.2029, -0.5877, 1.1189, -0.3734, -0.3538, 0.7060),
    "edge": (-0.6169, -0.1705, 0.0000, 0.0000, 0.0000, 0.0000),
    "choice": (0.1415, 0.5239),
    "chosen": (0.0620,),
    "middle near edges": (-0.4020,),
    "front near edges": (1.0041,),
    "patterns": (-0.1539, 0.0000, 0.0000, -0.0191),
    "patterns near edges": (-0.4670,),
    "window": (0.2933,),
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
