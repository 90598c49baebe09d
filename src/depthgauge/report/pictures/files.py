"""Error maps as pictures with a colour bar."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.errors import BadFile
from depthgauge.io import write_image
from depthgauge.report.pictures.shrink import any_of_block, fitting, shrink_errors
from depthgauge.types import Map, Mask

# For each colour map one that does not occur in it, also for people who cannot see red or green.
MISSING_COLOURS = {
    "magma": "#00b7eb",
    "RdBu_r": "#2fbf71",
    "viridis": "#ff6fd8",
    "viridis_r": "#ff6fd8",
    "YlOrRd": "#3f7fd8",
    "wheel": "#000000",
    "normals": "#000000",
    "fragments": "#1c1c1c",
    "YlOrRd_r": "#3f7fd8",
    "entries": "#1c1c1c",
}
NO_TRUTH_COLOUR = "#a6a6a6"
ASIDE_COLOUR = "#707070"
"""Of pixels with truth and estimate that a picture is not about."""
_WIDTH_IN, _DPI = 7.0, 130


def write_error_map(
    path: Path,
    values: Map,
    known: Mask,
    *,
    title: str,
    unit: str,
    aside: Mask | None = None,
) -> None:
    """Draws one value a pixel; where values have a sign, the colours diverge from zero.

    Colours go up to the 99th percentile, so that one outlier does not hide the rest; the colour bar
    shows by an arrow that there is more. A map that is larger than the picture is shrunk by the
    largest error of each block, so that thin errors do not vanish.

    Args:
        path: The PNG to write; its folder is made.
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
    # Fewer than the axes have pixels beside the colour bar, so that none is dropped in drawing.
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
    """Draws pixels of a few kinds in plain colours on black.

    Args:
        path: The PNG to write; its folder is made.
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
    """Writes an RGB picture as PNG; its folder is made."""
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


def error_limits(values: NDArray[np.float32], percent: float = 99) -> tuple[float, float]:
    """From what to what the colours go: to that percentile, both ways where there are signs."""
    if not values.size:
        return 0.0, 1.0
    largest = float(np.percentile(np.abs(values), percent)) or float(np.abs(values).max()) or 1.0
    return (-largest if (values < 0).any() else 0.0), largest


def _extend(values: NDArray[np.float32], low: float, high: float) -> str:
    below, above = bool((values < low).any()), bool((values > high).any())
    return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
