"""Makes the picture of docs/geometry-regions.md from a scene in closed form.

`python -m tools.region_picture` writes docs/images/geometry-regions.png.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry import find_edges, find_structures, find_surfaces
from depthgauge.synth.sets.stereo_scenes import make_scene

matplotlib.use("Agg")
TARGET = Path(__file__).resolve().parents[1] / "docs" / "images" / "geometry-regions.png"
_SCENE, _SIZE_PX = "clutter", (480, 320)
_FLAT = 0.0001  # per px; the scene has no noise
_BLUE, _ORANGE, _WHITE = (30, 100, 255), (255, 140, 0), (255, 255, 255)


def main() -> None:
    """Writes the picture."""
    from matplotlib import pyplot

    sample = make_scene(_SCENE, _SIZE_PX)
    assert sample.truth is not None
    truth = sample.truth["disparity"]
    figure, axes = pyplot.subplots(2, 3, figsize=(12, 5.7), layout="constrained")
    for axis, (title, picture) in zip(axes.flat, _panels(truth), strict=True):
        axis.imshow(picture)
        axis.set_title(title, fontsize=10)
        axis.set_axis_off()
    TARGET.parent.mkdir(exist_ok=True)
    # No time and no version, so that the same picture is the same file.
    figure.savefig(TARGET, dpi=90, metadata={"Software": None})


def _panels(truth: NDArray[np.float32]) -> list[tuple[str, NDArray[np.uint8]]]:
    edges, structures = find_edges(truth, truth), find_structures(truth, truth)
    surfaces = find_surfaces(truth, "disparity", flat=_FLAT)
    painted = _coloured(truth, truth)
    dark = painted // 3
    sides = [(edges.foreground, _BLUE), (edges.background, _ORANGE), (edges.edge, _WHITE)]
    fine = [(structures.mask, _BLUE), (structures.surrounding, _ORANGE)]
    kinds = [(surfaces.planar, _BLUE), (surfaces.curved, _ORANGE)]
    ahead = np.where(np.isfinite(edges.foreground_map), edges.foreground_map, truth)
    behind = np.where(np.isfinite(edges.background_map), edges.background_map, truth)
    return [
        ("truth r", painted),
        ("surfaces: planar (blue), curved (orange)", _over(dark, kinds)),
        ("discontinuities: M_d, M_f (blue), M_b (orange)", _over(dark, sides)),
        ("fine structures M_r (blue), M_s (orange)", _over(dark, fine)),
        ("foreground map f", _coloured(ahead, truth)),
        ("background map b", _coloured(behind, truth)),
    ]


def _coloured(values: NDArray[np.float32], truth: NDArray[np.float32]) -> NDArray[np.uint8]:
    low, high = np.nanmin(truth), np.nanmax(truth)
    colours = matplotlib.colormaps["viridis"](np.nan_to_num((values - low) / (high - low)))
    return np.asarray(255 * colours[..., :3], np.uint8)


def _over(picture: NDArray[np.uint8], marks: list[tuple[Any, Any]]) -> NDArray[np.uint8]:
    marked = picture.copy()
    for mask, colour in marks:
        marked[mask] = colour
    return marked


if __name__ == "__main__":
    main()
