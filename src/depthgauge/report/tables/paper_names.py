"""What papers call metrics and regions, for tables in LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from depthgauge.analysis.boards.board import Column
from depthgauge.benchmarks.score_ids import format_value
from depthgauge.metrics import METRICS
from depthgauge.report import sanitize

_PLAIN = {
    "absrel": "AbsRel",
    "angular_error": "angular error",
    "bias": "bias",
    "bias_deviation": "bias std.",
    "boundary_ap": "AP",
    "boundary_r50": "R50",
    "d1": "D1",
    "density": "density",
    "epe": "EPE",
    "fl": "Fl",
    "log10": r"$\log_{10}$",
    "lsiv": "LSIV",
    "mae": "MAE",
    "mean_angle": "mean angle",
    "median_angle": "median angle",
    "mse": "MSE",
    "ods": "ODS",
    "ois": "OIS",
    "plane_ap": "AP",
    "rms": "RMSE",
    "rmse_log": r"RMSE$_{\log}$",
    "silog": "SILog",
    "sqrel": "SqRel",
    "wkdr": "WKDR",
}
"""Names of metrics; their parameters follow in brackets, if any are given."""
_WITH_FIRST = {
    "badpix": "bad-{}",
    "npx": "{}px",
    "quantile": "A{}",
    "within": r"${}^\circ$",
    "angular_badpix": r"bad-${}^\circ$",
}
"""Names that have their first parameter in them, given or not."""
_DELTAS = {"1.25": "1", "1.5625": "2", "1.953125": "3"}


def score_names(columns: Sequence[Column]) -> list[str]:
    r"""The heading of each score in LaTeX; the ids of those that would have the same.

    >>> column = Column("badpix:2@visible", "badpix:2", "visible", "%", "lower", name="badpix")
    >>> score_names([column])
    ['bad-2, visible']
    """
    found = [_score_name(column) for column in columns]
    times = Counter(found)
    return [
        name if times[name] == 1 else sanitize.latex(column.id)
        for name, column in zip(found, columns, strict=True)
    ]


def _score_name(column: Column) -> str:
    region = "" if column.region in ("", "all") else f", {region_name(column.region)}"
    return f"{metric_name(column)}{region}"


def region_name(region: str) -> str:
    r"""A region in LaTeX: words instead of an identifier.

    >>> region_name("near_background")
    'near background'
    """
    return sanitize.latex(region.replace("_", " "))


def metric_name(column: Column) -> str:
    """The metric of a score in LaTeX, without its region."""
    part, slash, own = column.metric.rpartition("/")
    name, _, params = own.partition(":")
    before = f"{region_name(part)}: " if slash else ""
    if name not in METRICS or column.name not in ("", name):
        return before + region_name(own)  # a benchmark's or a twin's own name
    given = params.split(",") if params else []
    if name == "delta":
        ratio = (given or [format_value(METRICS[name].params["ratio"])])[0]
        return before + (
            rf"$\delta_{_DELTAS[ratio]}$" if ratio in _DELTAS else rf"$\delta<{ratio}$"
        )
    if name in _WITH_FIRST:
        first, *rest = given or [format_value(next(iter(METRICS[name].params.values())))]
        return before + _WITH_FIRST[name].format(sanitize.latex(first)) + _brackets(rest)
    return before + _PLAIN.get(name, region_name(name)) + _brackets(given)


def _brackets(params: Sequence[str]) -> str:
    return f" ({sanitize.latex(', '.join(params))})" if params else ""
