"""Error maps as PNG files (`score --map`): which there are, what they show, how they look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.maps.metric_maps import error_map_of, judged_by
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec, file_name
from depthgauge.engine.scoring.measure import PreparedSample, lacking
from depthgauge.errors import BadFile
from depthgauge.io import write_image
from depthgauge.metrics import Order, Recipe
from depthgauge.metrics.terms import ABS, Term
from depthgauge.quantities import QUANTITIES
from depthgauge.report.pictures.colours import ASIDE_COLOUR, MISSING_COLOURS, NO_TRUTH_COLOUR
from depthgauge.report.pictures.drawing import drawing_of
from depthgauge.report.pictures.encode import error_limits
from depthgauge.report.pictures.shrink import any_of_block, fitting, shrink_errors
from depthgauge.types import Map, Mask

_WIDTH_IN, _DPI = 7.0, 130
_LABELS = {
    "abs": "|e| in {}",
    "signed": "e in {}",
    "log": "ln(estimate / truth)",
    "relative": "|e| / |truth|",
}


def write_error_maps(
    folder: Path, protocol: Protocol, prepared: PreparedSample, sample: str
) -> list[str]:
    """Draws what was scored, in the way of its quantity.

    Returns:
        The metrics that have no error map, or lack what they need on this sample.
    """
    write = drawing_of(protocol.quantity).write_error_maps or write_metric_maps
    return write(folder, protocol, prepared, sample)


def write_metric_maps(
    folder: Path,
    protocol: Protocol,
    prepared: PreparedSample,
    sample: str,
    *,
    write: Callable[[Path, PreparedSample, ScoreSpec, str], None] | None = None,
    shown: Callable[[ScoreSpec], tuple[object, ...] | None] | None = None,
) -> list[str]:
    """Draws one map per metric, once where several metrics show the same.

    Args:
        folder: Where the files go.
        protocol: Whose metrics are drawn.
        prepared: An estimate beside the truth.
        sample: Its name, for titles.
        write: Draws one map; by default the errors in colours.
        shown: What the map of a score shows, to be drawn once; None if it belongs to that score
            alone.

    Returns:
        The metrics that have no error map, or lack what they need on this sample.
    """
    write = write or partial(_write_errors, protocol.quantity)
    without: list[str] = []
    drawn: set[object] = set()
    for metric_id, spec in {s.id.partition("@")[0]: s for s in protocol.specs}.items():
        own = spec.metric.error_map_with is not None
        if (spec.metric.recipe(**spec.params) is None and not own) or lacking(prepared, spec):
            without.append(metric_id)
            continue
        what = (shown or _shown)(spec)
        if what is not None and what in drawn:
            continue
        drawn.add(what)
        write(folder / f"{file_name(metric_id)}.png", prepared, spec, f"{sample}: {metric_id}")
    return without


def _write_errors(
    quantity: str, path: Path, prepared: PreparedSample, spec: ScoreSpec, title: str
) -> None:
    own = spec.metric.error_map_with is not None
    write_error_map(
        path,
        error_map_of(prepared, spec),
        prepared.known,
        title=title,
        unit=_label(spec, quantity),
        aside=prepared.known & ~judged_by(prepared, spec) if own else None,
    )


def _shown(spec: ScoreSpec) -> tuple[object, ...] | None:
    """What the map of a metric shows, to be drawn once; None if it belongs to that score alone."""
    recipe = spec.metric.recipe(**spec.params)
    if isinstance(recipe, Order):
        return ABS, None, False
    if not isinstance(recipe, Recipe) or recipe.from_counts:
        return None
    term = recipe.shown or recipe.terms[0]
    # A plain mean of |e| and everything else that shows |e| are one picture.
    factor = None if recipe.factor in (None, 1.0) else recipe.factor
    return term, factor, recipe.flipped


def _label(spec: ScoreSpec, quantity: str) -> str:
    shown = _shown(spec)
    unit = spec.metric.unit.of(quantity)
    if QUANTITIES[quantity].error == "angle" and unit != "%":
        return f"angle in {unit}"
    if shown is None or shown[1] is not None or not isinstance(shown[0], Term):
        return unit
    return _LABELS.get(shown[0].name, "{}").format(unit) or "ratio"


def write_error_map(
    path: Path,
    values: Map,
    known: Mask,
    *,
    title: str,
    unit: str,
    aside: Mask | None = None,
) -> None:
    """Draws one value per pixel; where values have a sign, the colours diverge from zero.

    Colours go up to the 99th percentile, so that one outlier does not hide the rest; the colour bar
    shows by an arrow that there is more. A map that is larger than the picture is shrunk by the
    largest error of each block, so that thin errors do not vanish.

    Args:
        path: The PNG to write; its folder is created.
        values: (H, W) in the unit, NaN where there is no estimate.
        known: Where there is truth.
        title: What is shown.
        unit: Unit of the values, beside the colour bar.
        aside: Pixels that the metric does not judge; they have no value, but lack no estimate.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    here = values[known & np.isfinite(values)]
    colours = "RdBu_r" if (here < 0).any() else "magma"
    low, high = error_limits(here)
    # Fewer pixels than the axes have beside the colour bar, so that none is lost in drawing.
    size = fitting(values.shape, int(0.8 * _WIDTH_IN * _DPI))
    small, small_known = shrink_errors(np.where(known, values, np.nan), known, size)
    unjudged = np.isnan(small) & any_of_block(_none(known) if aside is None else aside, size)
    height, width = small.shape
    figure = Figure(figsize=(_WIDTH_IN + 1.6, _WIDTH_IN * height / width + 1.0), dpi=_DPI)
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    shown = axes.imshow(
        small, cmap=mpl.colormaps[colours], vmin=low, vmax=high, interpolation="nearest"
    )
    _paint(
        axes,
        {
            "no truth": (~small_known, NO_TRUTH_COLOUR),
            "no estimate": (small_known & np.isnan(small) & ~unjudged, MISSING_COLOURS[colours]),
            "not measured": (unjudged, ASIDE_COLOUR),
        },
    )
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title, fontsize=11, loc="left")
    beside = make_axes_locatable(axes).append_axes("right", size="4%", pad=0.1)
    bar = figure.colorbar(shown, cax=beside, extend=_extend(here, low, high))
    bar.set_label(unit or "ratio")
    _save(figure, path)


def write_class_map(
    path: Path, masks: Mapping[str, tuple[Mask, str]], known: Mask, *, title: str
) -> None:
    """Draws a few classes of pixels in plain colours on black.

    Args:
        path: The PNG to write; its folder is created.
        masks: By what they are: the pixels and their colour (`#rrggbb`); later ones are on top.
        known: Where there is truth.
        title: What is shown.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = fitting(known.shape, int(0.8 * _WIDTH_IN * _DPI))
    figure = Figure(figsize=(_WIDTH_IN, _WIDTH_IN * size[0] / size[1] + 1.0), dpi=_DPI)
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.imshow(np.zeros((*size, 3)), interpolation="nearest")
    layers = {name: (any_of_block(mask, size), colour) for name, (mask, colour) in masks.items()}
    _paint(axes, {**layers, "no truth": (~any_of_block(known, size), NO_TRUTH_COLOUR)})
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title, fontsize=11, loc="left")
    _save(figure, path)


def write_picture(path: Path, picture: NDArray[np.uint8]) -> None:
    """Writes an RGB picture as PNG; its folder is created."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"{path}: cannot be written ({error.strerror}).") from error
    write_image(path, picture)


def _save(figure: Any, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, bbox_inches="tight")
    except OSError as error:
        raise BadFile(f"{path}: cannot be written ({error.strerror}).") from error


def _none(mask: Mask) -> Mask:
    return np.zeros(mask.shape, bool)


def _paint(axes: Any, layers: dict[str, tuple[Mask, str]]) -> None:
    """Paints masks in plain colours, with a legend of those that occur."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    handles = []
    for label, (mask, colour) in layers.items():
        if mask.any():
            layer = np.ma.masked_where(~mask, np.ones(mask.shape))
            axes.imshow(layer, cmap=ListedColormap([colour]), interpolation="nearest")
            handles.append(Patch(color=colour, label=label))
    if handles:
        axes.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0, -0.01),
            ncols=4,
            frameon=False,
            fontsize=9,
        )


def _extend(values: NDArray[np.float32], low: float, high: float) -> str:
    below, above = bool((values < low).any()), bool((values > high).any())
    return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
