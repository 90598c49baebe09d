"""Makes the pictures of docs/geometry-regions.md from scenes in closed form.

`python -m tools.region_picture` writes docs/images/geometry-regions.png and geometry-gaps.png.
`python -m tools.region_picture --data DIR --out DIR` draws the regions of real truth instead:
Middlebury's Motorcycle, Teddy, Cones and Reindeer, which are not part of the repository.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

from depthgauge.geometry import Edges, Structures, find_edges, find_structures, find_surfaces
from depthgauge.synth.sets.stereo_scenes import make_scene
from depthgauge.types import Map
from tools._occluded_scenes import occluded_scene
from tools._real_truths import real_truths

matplotlib.use("Agg")
IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
_SCENE, _SIZE_PX = "clutter", (480, 320)
_GAPS_SEED = 3
_FLAT = 0.0001  # per px; the scene has no noise
_BLUE, _ORANGE, _WHITE, _MISSING = (30, 100, 255), (255, 140, 0), (255, 255, 255), (110, 0, 110)
Picture = NDArray[np.uint8]
Panels = list[tuple[str, Picture]]


def main() -> None:
    """Writes the pictures."""
    parser = argparse.ArgumentParser(prog="python -m tools.region_picture")
    parser.add_argument("--data", type=Path, help="the folder with Middlebury's scenes")
    parser.add_argument("--out", type=Path, help="where their pictures go")
    options = parser.parse_args()
    if (options.data is None) != (options.out is None):
        parser.error("--data and --out belong together")
    if options.data is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, truth in real_truths(options.data).items():
            _draw(_real_panels(truth), (2, 2), options.out / f"regions-{name.lower()}.png")
        return
    sample = make_scene(_SCENE, _SIZE_PX)
    assert sample.truth is not None
    _draw(_panels(sample.truth["disparity"]), (2, 3), IMAGES / "geometry-regions.png")
    _draw(_gap_panels(), (2, 3), IMAGES / "geometry-gaps.png")


def _draw(panels: Panels, shape: tuple[int, int], target: Path) -> None:
    from matplotlib import pyplot

    height, width = panels[0][1].shape[:2]
    size = (4 * shape[1], shape[0] * (4 * height / width + 0.2))
    figure, axes = pyplot.subplots(*shape, figsize=size, layout="constrained")
    for axis, (title, picture) in zip(axes.flat, panels, strict=True):
        axis.imshow(picture, interpolation="nearest" if shape[1] == 2 else None)
        axis.set_title(title, fontsize=10)
        axis.set_axis_off()
    target.parent.mkdir(exist_ok=True)
    # No time and no version, so that the same picture is the same file.
    figure.savefig(target, dpi=90 if shape[1] == 3 else 180, metadata={"Software": None})
    pyplot.close(figure)


def _panels(truth: Map) -> Panels:
    edges, structures = find_edges(truth, truth), find_structures(truth, truth)
    surfaces = find_surfaces(truth, "disparity", flat=_FLAT, wide=9)
    painted = _coloured(truth, truth)
    kinds = [(surfaces.planar, _BLUE), (surfaces.curved, _ORANGE)]
    ahead = np.where(np.isfinite(edges.foreground_map), edges.foreground_map, truth)
    behind = np.where(np.isfinite(edges.background_map), edges.background_map, truth)
    return [
        ("truth r", painted),
        ("surfaces: planar (blue), curved (orange)", _over(painted // 3, kinds)),
        ("discontinuities: M_d, M_f (blue), M_b (orange)", _sides(painted, edges)),
        ("fine structures M_r (blue), M_s (orange)", _fine(painted, structures)),
        ("foreground map f", _coloured(ahead, truth)),
        ("background map b", _coloured(behind, truth)),
    ]


def _gap_panels() -> Panels:
    """A truth without what the right camera does not see, with gaps open and closed."""
    whole, hidden, _ = occluded_scene(_GAPS_SEED, _SIZE_PX)
    truth = np.where(hidden, np.float32(np.nan), whole)
    painted = _coloured(truth, whole)
    found = [("gaps open", "open"), ("gaps closed with what is behind", "background")]
    fine = [
        (f"M_r, M_s: {says}", _fine(painted, find_structures(truth, truth, gaps=gaps)))
        for says, gaps in found
    ]
    sides = [
        (f"M_d, M_f, M_b: {says}", _sides(painted, find_edges(truth, truth, gaps=gaps)))
        for says, gaps in found
    ]
    first = ("whole truth", _coloured(whole, whole))
    return [first, *fine, ("missing where hidden (purple)", painted), *sides]


def _real_panels(truth: Map) -> Panels:
    painted = _coloured(truth, truth)
    surfaces = find_surfaces(truth, "disparity")
    kinds = [(surfaces.planar, _BLUE), (surfaces.curved, _ORANGE)]
    return [
        ("truth, missing (purple)", painted),
        ("fine structures M_r (blue), M_s (orange)", _fine(painted, find_structures(truth, truth))),
        ("M_d (white), M_f (blue), M_b (orange)", _sides(painted, find_edges(truth, truth))),
        ("surfaces: planar (blue), curved (orange)", _over(painted // 3, kinds)),
    ]


def _fine(painted: Picture, found: Structures) -> Picture:
    return _over(painted // 3, [(found.surrounding, _ORANGE), (found.mask, _BLUE)])


def _sides(painted: Picture, found: Edges) -> Picture:
    marks = [(found.foreground, _BLUE), (found.background, _ORANGE), (found.edge, _WHITE)]
    return _over(painted // 3, marks)


def _coloured(values: Map, truth: Map) -> Picture:
    low, high = np.nanmin(truth), np.nanmax(truth)
    colours = matplotlib.colormaps["viridis"](np.nan_to_num((values - low) / (high - low)))
    picture = np.asarray(255 * colours[..., :3], np.uint8)
    picture[~np.isfinite(values)] = _MISSING
    return picture


def _over(picture: Picture, marks: list[tuple[Any, Any]]) -> Picture:
    marked = picture.copy()
    for mask, colour in marks:
        marked[mask] = colour
    return marked


if __name__ == "__main__":
    main()
