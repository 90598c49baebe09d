"""Parts of the pictures of several steps: panels with maps, classes and photographs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge import io
from depthgauge.errors import CannotWrite
from depthgauge.report.pictures.colours import NO_TRUTH_COLOUR
from depthgauge.report.pictures.shrink import fitting, middle_of_block
from depthgauge.types import Map

WIDE = 900
"""Pixels of a panel at most."""
_DPI = 120
MATERIALS = {
    0: ("0 diffuse", "#d9d9d9"),
    1: ("1 glossy, distorting", "#fdd49e"),
    2: ("2 partly distorting", "#fc8d59"),
    3: ("3 mirror or clear glass", "#b30000"),
}
SURFACES = {
    0: ("neither", "#d9d9d9"),
    1: ("transparent", "#1b9e77"),
    2: ("mirror", "#7570b3"),
}


def new_figure(width_in: float, height_in: float, title: str) -> Any:
    """A figure that lays itself out, without pyplot's state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.08)
    figure = Figure(figsize=(width_in, height_in), dpi=_DPI, layout=layout)
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=13, x=0.01, ha="left", fontweight="bold")
    return figure


def save(figure: Any, path: Path) -> Path:
    """Writes a figure as PNG."""
    try:
        figure.savefig(path)
    except OSError as error:
        raise CannotWrite(f"{path}: cannot be written ({error.strerror}).") from error
    return path


def small(values: NDArray[Any]) -> NDArray[Any]:
    """A map as large as a panel needs it."""
    return middle_of_block(values, fitting(values.shape, WIDE))


def bare(axes: Any, title: str) -> None:
    """No ticks, and a title at the left."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(title, fontsize=10, loc="left")


def show_map(
    axes: Any,
    values: Map,
    title: str,
    unit: str,
    *,
    colours: str = "viridis",
    limits: tuple[float, float] | None = None,
) -> None:
    """A map with its colour bar; grey where there is no value."""
    shown = small(values)
    low, high = limits or spread(values)
    axes.set_facecolor(NO_TRUTH_COLOUR)
    image = axes.imshow(
        np.ma.masked_invalid(shown), cmap=colours, vmin=low, vmax=high, interpolation="nearest"
    )
    bare(axes, title)
    # As high as the map, and no other panel gets narrower for it.
    beside = axes.inset_axes([1.02, 0.0, 0.035, 1.0])
    bar = axes.figure.colorbar(image, cax=beside)
    bar.set_label(unit, fontsize=9)
    bar.ax.tick_params(labelsize=8)


def show_photograph(axes: Any, path: Path, title: str) -> None:
    """A photograph; if there is none, an empty panel that says so."""
    bare(axes, title)
    if path.is_file():
        axes.imshow(small(io.read_image(path)), interpolation="nearest", cmap="gray")
    else:
        axes.set_facecolor("#eeeeee")
        axes.text(0.02, 0.03, "no photograph", fontsize=9, transform=axes.transAxes)


def show_classes(
    axes: Any, numbers: NDArray[Any], classes: Mapping[int, tuple[str, str]], title: str
) -> None:
    """A map of a few classes, each in its colour, with a legend of those that occur."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    shown = small(numbers)
    keys = sorted(classes)
    place = np.searchsorted(keys, shown)
    colours = ListedColormap([classes[key][1] for key in keys])
    axes.imshow(place, cmap=colours, vmin=-0.5, vmax=len(keys) - 0.5, interpolation="nearest")
    bare(axes, title)
    share = {key: float((numbers == key).mean()) for key in keys}
    axes.legend(
        handles=[
            Patch(facecolor=classes[key][1], edgecolor="#555555", label=_share(classes, key, share))
            for key in keys
            if share[key] > 0
        ],
        loc="upper left",
        bbox_to_anchor=(0, -0.01),
        ncols=2 if len(keys) > 3 else 3,
        columnspacing=1.0,
        handlelength=1.2,
        frameon=False,
        fontsize=7.5,
    )


def spread(values: Map) -> tuple[float, float]:
    """Limits of a colour bar: everything except the outermost half percent at each end."""
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0
    low, high = (float(v) for v in np.percentile(known, [0.5, 99.5]))
    return low, high if high > low else low + 1.0


def first_photograph(folder: Path) -> Path:
    """The first picture of a folder, by name; a path that does not exist if there is none."""
    found: Sequence[Path] = sorted(folder.glob("*.png")) if folder.is_dir() else []
    return found[0] if found else folder / "none.png"


def _share(classes: Mapping[int, tuple[str, str]], key: int, share: Mapping[int, float]) -> str:
    return f"{classes[key][0]}: {100 * share[key]:.1f} %"
