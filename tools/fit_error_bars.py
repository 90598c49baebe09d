"""Fits the model of error bars on simulated sessions: `python -m tools.fit_error_bars`.

Writes src/depthgauge/capture/clean/fitted_bars.py. The logarithm of the standard deviation is a
sum of broken lines, to which a share of the sag is added in quadrature. Slopes and share minimise
the sum of two quantile losses of the logarithm of the error, of 68.3 % at one standard deviation
and of 95.4 % at two. Where errors have heavier tails than a normal distribution and the two cannot
both hold, the fit misses them by about the same, one above and one below.

Every session counts the same, and labels near edges of the labels three times.

Sessions and everything up to refinement are kept in out/evidence, so a stopped fit goes on where it
was. A trial on the smallest sessions takes minutes; it writes elsewhere and leaves the model alone:

    python -m tools.fit_error_bars --most-px 320 --out trial.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.capture.calibrate.calibration import read_calibration
from depthgauge.capture.clean import bar_model
from depthgauge.capture.clean.error_bars import Labels, columns_of, covariates, with_sag
from depthgauge.capture.clean.filters import scaled_window
from depthgauge.capture.exact_truth import exact_truth
from depthgauge.capture.rectify.calibration_error import unbalanced_variance
from depthgauge.capture.rectify.step import read_pair
from depthgauge.capture.warp.step import warp_disparity
from depthgauge.geometry.ray_scene import RayScene
from depthgauge.sessions import read_simulated
from tools.evidence._bar_sessions import (
    FITTED,
    ONLY_BOARDS,
    Choice,
    calibrated,
    edge_distance,
    labelled,
)

TARGET = Path(bar_model.__file__).with_name("fitted_bars.py")
LEVELS = ((0.682689, 0.0), (0.954500, float(np.log(2))))
"""Share of the errors, and the logarithm of the multiple of the standard deviation."""
NEAR_EDGES = 3.0
"""How many times labels within 4 px of an edge count."""
SAMPLES = 20_000
"""Labels of each session."""
_SOFTNESS = (0.5, 0.1)
_HOLD = 1e-6
_ROUNDS = 300
_LOG_SHARES = (float(np.log(0.02)), float(np.log(2.0)))
Vector = NDArray[np.float64]


@click.command()
@click.option("--most-px", type=int, help="Only sessions of images up to this width: a trial.")
@click.option("--out", type=click.Path(path_type=Path), default=TARGET, help="The module to write.")
def main(most_px: int | None, out: Path) -> None:
    """Fit the model of error bars and write its numbers."""
    if most_px is not None and out.resolve() == TARGET.resolve():
        raise click.UsageError("a fit on fewer sessions is a trial; give it another file (--out).")
    fitted, boards = (_up_to(most_px, choices) for choices in (FITTED, ONLY_BOARDS))
    if not fitted:
        raise click.UsageError(f"no session has images of at most {most_px} px.")
    parts = [_sample(choice) for choice in fitted]
    columns, sizes, weights, sag = (np.concatenate(part) for part in zip(*parts, strict=True))
    turns = [line.turns for line in bar_model.SHAPE for _ in line.knots[1:]]
    slopes, flattened = fit(columns, sizes, weights, turns, sag)
    calibration = _calibration_factor((*fitted, *boards))
    io.write_text(out, module_text(slopes, flattened, calibration, fitted))
    click.echo(f"{out}: fitted on {len(fitted)} sessions, {len(sizes)} labels.")


def _up_to(most_px: int | None, choices: Sequence[Choice]) -> list[Choice]:
    return [choice for choice in choices if most_px is None or choice.width_px <= most_px]


def design(found: dict[str, NDArray[np.float32]]) -> Vector:
    """(labels, columns): a column of ones, then the pieces of all lines."""
    pieces = [np.ones(found["edge"].shape)]
    for line in bar_model.SHAPE:
        pieces += columns_of(line, found)
    return np.stack(pieces, axis=-1)


def fit(
    columns: Vector,
    sizes: Vector,
    weights: Vector,
    turns: Sequence[int] | None = None,
    sag: Vector | None = None,
) -> tuple[Vector, float]:
    """The constant and the slopes that minimise the quantile losses, and the share of the sag.

    Args:
        columns: (labels, columns), the first of ones.
        sizes: Absolute errors in px.
        weights: How much each label counts.
        turns: For each column but the first: 1 if its slope must not be negative, -1 if it must
            not be positive.
        sag: Logarithm of what smoothing may flatten, in px; by default nothing.
    """
    from scipy.optimize import minimize

    middle, spread = columns[:, 1:].mean(axis=0), np.maximum(columns[:, 1:].std(axis=0), 1e-3)
    scaled = np.concatenate([columns[:, :1], (columns[:, 1:] - middle) / spread], axis=1)
    nothing = np.full(len(sizes), -np.inf)
    data = _Data(
        scaled,
        np.log(np.maximum(sizes, 1e-5)),
        weights / weights.sum(),
        nothing if sag is None else sag,
    )
    ends = {1: (0.0, None), -1: (None, 0.0), 0: (None, None)}
    bounds = [ends[0], *(ends[turn] for turn in turns or [0] * len(spread)), _LOG_SHARES]
    found = np.zeros(columns.shape[1] + 1)
    found[0], found[-1] = np.percentile(data.logs, 68), np.mean(_LOG_SHARES)
    for softness in _SOFTNESS:  # soft losses first: they lead near the sharp ones' minimum
        found = minimize(
            lambda x, soft=softness: _loss(x, data, soft),
            found,
            jac=True,
            bounds=bounds,
            method="L-BFGS-B",
            options={"maxiter": _ROUNDS, "maxcor": 30, "ftol": 1e-11, "gtol": 1e-7},
        ).x
    slopes = found[1:-1] / spread
    return np.concatenate([[found[0] - slopes @ middle], slopes]), float(np.exp(found[-1]))


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
    columns: Vector
    logs: Vector
    shares: Vector
    sag: Vector


def _loss(values: Vector, data: _Data, softness: float) -> tuple[float, Vector]:
    """The loss and its derivatives; the last value is the logarithm of the share of the sag."""
    sum_of_lines = data.columns @ values[:-1]
    predicted = with_sag(sum_of_lines, data.sag + values[-1])
    by_lines = np.exp(2 * (sum_of_lines - predicted))
    total, slope = 0.0, np.zeros(len(data.logs))
    for level, times in LEVELS:
        above = (data.logs - predicted - times) / softness
        total += float(data.shares @ (softness * (level * above + np.logaddexp(0, -above))))
        slope += data.shares * (1 / (1 + np.exp(np.clip(above, -60, 60))) - level)
    hold = np.full(len(values), 2 * _HOLD)
    hold[[0, -1]] = 0.0
    slopes = np.append(data.columns.T @ (slope * by_lines), slope @ (1 - by_lines))
    return total + float(hold @ values**2) / 2, slopes + hold * values


def _sample(choice: Choice) -> tuple[Vector, Vector, Vector, Vector]:
    """Columns, sizes of errors, weights and sag of some labels of a session.

    The weights add up to 1.
    """
    session, work = labelled(choice)
    click.echo(choice.name, err=True)
    truth = read_simulated(session.truth_folder)
    exact = exact_truth(truth, read_pair(work, "LR"))
    labels = _labels(work, choice)
    found = covariates(labels)
    error = np.abs(labels.disparity - exact.disparity)
    known = np.isfinite(error)
    near = np.where(found["edge"][known] < 4, NEAR_EDGES, 1.0)
    random = np.random.default_rng(choice.seed)
    count = min(SAMPLES, len(near))
    chosen = random.choice(len(near), count, replace=False, p=near / near.sum())
    found = {name: values[known][chosen] for name, values in found.items()}
    sizes, weights = error[known][chosen].astype(np.float64), np.full(count, 1 / count)
    return design(found), sizes, weights, found["sag"].astype(np.float64)


def _labels(work: Path, choice: Choice) -> Labels:
    """What `clean` knew about the labels of the left view."""
    disparity = io.read_map(work / "clean" / "left_disparity.npy")
    known = np.isfinite(disparity)
    maps = {
        name: io.read_map(work / "refine" / f"left_{name}.npy")
        for name in ("disparity", "variance", "confidence", "choice")
    }
    before, variance = (
        np.where(known, maps[name], np.float32(np.nan)) for name in ("disparity", "variance")
    )
    other = io.read_map(work / "clean" / "right_disparity.npy")
    window = scaled_window(disparity.shape[1])
    known_by = (maps["confidence"], maps["choice"], other, "left", choice.used, window)
    return Labels(disparity, before, variance, *known_by, scale=choice.scale)


def _calibration_factor(choices: Sequence[Choice]) -> float:
    """How much larger than predicted the variance is that the calibration adds to pair L-C.

    Exact disparities of L-R are warped, so that nothing else is wrong.
    """
    sizes, weights = [], []
    for choice in {c.session_name: c for c in choices}.values():
        session, work = calibrated(choice)
        truth = read_simulated(session.truth_folder)
        scene = RayScene(truth.vertices, truth.triangles)
        balanced, unbalanced = read_pair(work, "LR"), read_pair(work, "LC")
        exact = {
            name: exact_truth(truth, pair, name, scene=scene).disparity
            for name, pair in (("LR", balanced), ("LC", unbalanced))
        }
        warped = warp_disparity(exact["LR"], np.zeros_like(exact["LR"]), balanced, unbalanced)
        calibration = read_calibration(work)
        variance = unbalanced_variance(calibration, balanced, unbalanced, exact["LC"])
        size = np.abs(warped.disparity - exact["LC"]) / np.sqrt(variance)
        inside = np.isfinite(size) & (edge_distance(exact["LC"]) > 3)
        sizes.append(size[inside])
        weights.append(np.full(inside.sum(), 1 / inside.sum()))
        click.echo(f"{choice.session_name}: {np.percentile(size[inside], 68.27):.2f}", err=True)
    found, shares = np.concatenate(sizes), np.concatenate(weights)
    order = np.argsort(found)
    reached = np.cumsum(shares[order]) / shares.sum()
    quantiles = [found[order][np.searchsorted(reached, level)] for level, _ in LEVELS]
    # As in the fit: neither of the two levels is preferred.
    return float(quantiles[0] * quantiles[1] / 2)


def module_text(
    slopes: Vector, flattened: float, calibration: float, fitted: Sequence[Choice]
) -> str:
    """The module `fitted_bars`.

    Args:
        slopes: The constant, then the slopes of all lines.
        flattened: The share of the sag.
        calibration: The factor of the calibration's variance.
        fitted: The sessions of the fit.
    """
    place, lines = 1, []
    for line in bar_model.SHAPE:
        count = len(line.knots) - 1
        values = "".join(f"{value:.4f}, " for value in slopes[place : place + count]).strip()
        values = values[:-1] if count > 1 else values
        lines.append(f'    "{line.name}": ({values}),')
        place += count
    names = "\n".join(f'    "{choice.name}",' for choice in fitted)
    return f'''"""Numbers of the model of error bars, from `python -m tools.fit_error_bars`."""

CONSTANT = {slopes[0]:.4f}
"""Logarithm of the standard deviation in px where every line is at its first knot."""
FLATTENED = {flattened:.3f}
"""Share of a surface's sag that is added to the sum of the lines, as an independent error."""
CALIBRATION = {calibration:.3f}
"""Factor for the variance that the calibration's covariance predicts for pair L-C."""
SLOPES: dict[str, tuple[float, ...]] = {{
{chr(10).join(lines)}
}}
"""Slopes of the lines' pieces."""
SESSIONS = (
{names}
)
"""The simulated sessions that they were fitted on."""
'''


if __name__ == "__main__":
    main(prog_name="python -m tools.fit_error_bars")
