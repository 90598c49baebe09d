"""The model of error bars: its shape is here, its fitted numbers are in `fitted_bars`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

from depthgauge.capture.clean import fitted_bars


@dataclass(frozen=True, slots=True)
class Line:
    """A broken line: what one covariate adds to the logarithm of the standard deviation."""

    covariate: str
    knots: tuple[float, ...]
    """Values of the covariate at which the line bends; level outside of the first and the last."""
    near_edges: bool = False
    """Whether it counts near edges only, with a weight that falls with the distance."""
    turns: int = 0
    """1 for a line that never falls, -1 for one that never rises, 0 for any."""
    slopes: tuple[float, ...] = ()
    """One for each piece between two knots."""

    @property
    def name(self) -> str:
        """The key of its fitted values."""
        return self.covariate + (" near edges" if self.near_edges else "")


def _logs(*values: float) -> tuple[float, ...]:
    return tuple(math.log(value) for value in values)


SHAPE = (
    Line("noise", _logs(0.002, 0.007, 0.02, 0.06, 0.2, 0.7), turns=1),
    Line("moved", _logs(0.003, 0.03, 0.3), turns=1),
    Line("bend", _logs(0.003, 0.01, 0.03, 0.1, 0.4), turns=1),
    Line("bend", _logs(0.03, 0.4), near_edges=True),
    Line("slope", _logs(0.003, 0.03, 0.1, 0.3, 1.0), turns=1),
    Line("views", _logs(0.003, 0.03, 0.1, 0.4, 1.5), turns=1),
    Line("unmatched", (0.0, 1.0), turns=1),
    Line("unmatched", (0.0, 1.0), near_edges=True),
    Line("doubt", _logs(0.003, 0.02, 0.06, 0.2, 0.5), turns=1),
    Line("step", _logs(0.05, 0.2, 0.4, 0.8, 1.6, 4.0, 10.0)),
    Line("rim", (0.0, 0.5, 1.0, 2.0), turns=-1),
    Line("choice", _logs(0.003, 0.05, 0.5), turns=1),
    Line("chosen", (0.0, 1.0)),
    Line("middle", (0.0, 1.0), near_edges=True),
    Line("front", (-0.5, 0.5), near_edges=True),
    Line("patterns", _logs(2, 3, 5, 10, 20), turns=-1),
    Line("window", _logs(1, 2, 4, 8, 17)),
    Line("window", _logs(1, 2, 4, 8, 17), near_edges=True),
    Line("shrunk", _logs(1, 2), turns=1),
    Line("shrunk", _logs(1, 2), near_edges=True),
)
"""The lines without their slopes."""


@dataclass(frozen=True, slots=True)
class BarModel:
    """The fitted model, and what it was fitted on."""

    constant: float
    """Logarithm of the standard deviation in px where every line is at its first knot."""
    lines: tuple[Line, ...]
    flattened: float
    """Share of a surface's sag that is added to the sum of the lines, as an independent error."""
    calibration: float
    """Factor for the variance that the calibration's covariance predicts."""
    sessions: tuple[str, ...]
    """The simulated sessions that it was fitted on: scene, seed, width, patterns."""


@cache
def bar_model() -> BarModel:
    """The model with the numbers that `python -m tools.fit_error_bars` found."""
    lines = tuple(replace(line, slopes=fitted_bars.SLOPES[line.name]) for line in SHAPE)
    numbers = (fitted_bars.FLATTENED, fitted_bars.CALIBRATION, fitted_bars.SESSIONS)
    return BarModel(fitted_bars.CONSTANT, lines, *numbers)
