"""Error maps as pictures with a colour bar."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from depthgauge.errors import BadFile
from depthgauge.types import Map, Mask

# Chosen to be told apart from every colour of the maps, and by people who cannot see red or green.
MISSING_COLOUR = "#2fbf71"
NO_TRUTH_COLOUR = "#a6a6a6"


def write_error_map(path: Path, values: Map, known: Mask, *, title: str, unit: str) -> None:
    """Draws one value a pixel; where values have a sign, the colours diverge from zero.

    Args:
        path: The PNG to write; its folder is made.
        values: (H, W) in the unit, NaN where there is no estimate.
        known: Where there is truth.
        title: What is shown.
        unit: Unit of the values, beside the colour bar.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    here = values[known & np.isfinite(values)]
    signed = bool((here < 0).any())
    low, high = _limits(here, signed)
    height, width = values.shape
    shown_width = 7.0
    figure = Figure(
        figsize=(shown_width + 1.6, max(2.2, shown_width * height / width) + 1.0), dpi=130
    )
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    colours = mpl.colormaps["RdBu_r" if signed else "magma"]
    shown = axes.imshow(
        np.where(known, values, np.nan), cmap=colours, vmin=low, vmax=high, interpolation="nearest"
    )
    for mask, colour in ((~known, NO_TRUTH_COLOUR), (known & np.isnan(values), MISSING_COLOUR)):
        layer = np.ma.masked_where(~mask, np.ones(mask.shape))
        axes.imshow(layer, cmap=ListedColormap([colour]), interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title, fontsize=11, loc="left")
    bar = figure.colorbar(shown, ax=axes, fraction=0.046, pad=0.02, extend=_extend(here, low, high))
    bar.set_label(unit or "ratio")
    axes.legend(
        handles=[
            Patch(color=MISSING_COLOUR, label="no estimate"),
            Patch(color=NO_TRUTH_COLOUR, label="no truth"),
        ],
        loc="upper left",
        bbox_to_anchor=(0, -0.01),
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, bbox_inches="tight")
    except OSError as error:
        raise BadFile(f"{path}: cannot be written ({error.strerror}).") from error


def _limits(values: np.ndarray, signed: bool) -> tuple[float, float]:
    """The colour range: up to the 99th percentile, so that one outlier does not hide the rest."""
    if not values.size:
        return (-1.0, 1.0) if signed else (0.0, 1.0)
    largest = float(np.percentile(np.abs(values), 99)) or float(np.abs(values).max()) or 1.0
    return (-largest if signed else 0.0, largest)


def _extend(values: np.ndarray, low: float, high: float) -> str:
    below, above = bool((values < low).any()), bool((values > high).any())
    return {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
