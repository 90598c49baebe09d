"""Numbers of the model of error bars, from `python -m tools.fit_error_bars`."""

CONSTANT = -4.5465
"""Logarithm of the standard deviation in px where every line is at its first knot."""
CALIBRATION = 1.203
"""Factor for the variance that the calibration's covariance predicts for pair L-C."""
SLOPES: dict[str, tuple[float, ...]] = {
    "noise": (0.1266, 0.3482, 0.1550, 0.0312, 0.1809),
    "moved": (0.0291, 0.2383),
    "bend": (0.3365, 0.1664, 0.2834, 0.0000),
    "bend near edges": (-0.1992,),
    "sag": (0.1500, 0.3652, 0.3826, 0.3378, 0.4935),
    "slope": (0.0313, 0.4307, 0.0000, 0.8302),
    "views": (0.0569, 0.0873, 0.2754, 0.2706),
    "unmatched": (0.8653,),
    "unmatched near edges": (-0.4072,),
    "doubt": (0.0173, 0.0668, 0.1232, 0.2748),
    "doubt near edges": (0.0000, 0.0000, 0.2286),
    "step": (-0.1272, -0.5679, 0.6824, -0.7533, 0.6095, -0.0719),
    "rim": (-1.1336, -0.1196, 0.0000),
    "choice": (0.0159, 0.1850),
    "chosen": (0.0401,),
    "middle near edges": (-0.0979,),
    "front near edges": (0.0241,),
    "patterns": (-0.3779, -0.1779, 0.0000, 0.0000),
    "window": (-0.3261, -0.3368, -0.4212, -0.3029),
    "shrunk": (0.6272,),
    "shrunk near edges": (-0.0119,),
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
