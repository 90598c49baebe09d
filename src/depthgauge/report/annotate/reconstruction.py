"""The picture of a reconstruction: what was drawn, the surfaces, their normals and depth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.reconstruction import Reconstruction
from depthgauge.annotate.reconstruct.segmentation import Segmentation
from depthgauge.annotate.records.annotation import Annotation
from depthgauge.geometry.resizing import resize_labels
from depthgauge.report.capture import _panels as panels
from depthgauge.report.pictures.colours import paint_fragments, paint_normals
from depthgauge.types import Image

_LINES = {
    1: ("fold", "#ffd21f"),
    2: ("occlusion", "#e31a1c"),
    3: ("smooth occlusion", "#1fb4ff"),
}


def draw_reconstruction(
    path: Path, annotation: Annotation, made: Reconstruction, image: Image | None = None
) -> Path:
    """Writes a PNG with four panels: lines and normals on the photograph, surfaces, normals, depth.

    Args:
        path: The PNG.
        annotation: What was drawn.
        made: Its reconstruction.
        image: The photograph, (H, W, 3); grey without it.
    """
    width, height = made.camera.size_px
    wide = 12.0
    figure = panels.new_figure(wide, wide * height / width + 1.4, annotation.picture.id)
    axes = figure.subplots(2, 2).ravel()
    _draw_lines(axes[0], annotation, made, image)
    region = made.segmentation.region
    surfaces = made.segmentation.smooth.astype(np.float32)
    count = len(np.unique(surfaces[surfaces > 0]))
    _picture(
        axes[1], paint_fragments(surfaces, region), f"{count} smooth surface" + "s" * (count != 1)
    )
    _picture(axes[2], paint_normals(made.normals, region), "Normals")
    panels.show_map(axes[3], made.depth, "Depth", "up to scale", colours="viridis_r")
    path.parent.mkdir(parents=True, exist_ok=True)
    return panels.save(figure, path)


def _picture(axes: Any, picture: NDArray[np.uint8], title: str) -> None:
    axes.imshow(panels.small(picture), interpolation="nearest")
    panels.bare(axes, title)


def _draw_lines(
    axes: Any, annotation: Annotation, made: Reconstruction, image: Image | None
) -> None:
    from matplotlib.lines import Line2D

    height, width = made.depth.shape
    axes.imshow(_ground(image, (height, width)), interpolation="nearest")
    scale = width / annotation.picture.width_px
    _draw_region(axes, made.segmentation)
    kinds = _draw_strokes(axes, annotation, scale)
    marks = [(mark.at_px, mark.normal) for mark in annotation.normals.values()]
    if marks:
        at = (np.array([place for place, _ in marks]) + 0.5) * scale - 0.5
        to = _units(np.array([normal for _, normal in marks], np.float64))[:, :2] * 0.05 * width
        axes.quiver(
            *at.T, *to.T, angles="xy", scale_units="xy", scale=1, width=0.004, color="#2ee66b"
        )
        axes.plot(*at.T, "o", color="#2ee66b", markersize=2.5, markeredgewidth=0)
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    panels.bare(axes, "What was drawn")
    handles = [Line2D([], [], color=_LINES[k][1], lw=2, label=_LINES[k][0]) for k in kinds]
    if marks:
        handles.append(Line2D([], [], color="#2ee66b", lw=2, label="normal"))
    if handles:
        axes.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(0, -0.01),
            ncols=4,
            frameon=False,
            fontsize=8,
        )


def _units(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors of length 1, from any given length; 0 if there is no direction."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)  # squares of 1e308 are infinite
    safe = np.where(np.isfinite(largest) & (largest > 0), largest, np.inf)
    scaled = np.nan_to_num(vectors, posinf=0.0, neginf=0.0) / safe
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(length > 0, length, 1.0))


def _ground(image: Image | None, shape: tuple[int, int]) -> NDArray[np.uint8]:
    """The photograph, darkened so that lines stand out."""
    if image is None:
        return np.full((*shape, 3), 90, np.uint8)
    values = np.asarray(image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2))
    scaled = values.astype(np.float32) * (255.0 if values.dtype.kind == "f" else 1.0)
    return np.asarray(resize_labels((0.75 * scaled[..., :3]).astype(np.uint8), shape, "nearest"))


def _draw_region(axes: Any, parts: Segmentation) -> None:
    if not parts.region.all():
        axes.contour(parts.region, [0.5], colors="white", linewidths=1, linestyles="dashed")


def _draw_strokes(axes: Any, annotation: Annotation, scale: float) -> list[int]:
    """Draws the strokes, with a tick on the closer side of occlusions; returns their kinds."""
    kinds = set()
    for stroke in annotation.strokes.values():
        points = (np.asarray(stroke.points_px, np.float64).reshape(-1, 2) + 0.5) * scale - 0.5
        if len(points) < 2:
            continue
        kind = 1 if stroke.kind == "fold" else 3 if stroke.smooth else 2
        kinds.add(kind)
        axes.plot(*points.T, color=_LINES[kind][1], lw=1.6, solid_capstyle="round")
        if stroke.closer is not None:
            tick = _tick(points, 1.0 if stroke.closer == "right" else -1.0)
            axes.plot(*tick.T, color=_LINES[kind][1], lw=1.2)
    return sorted(kinds)


def _tick(points: NDArray[np.float64], side: float, length_px: float = 4.0) -> NDArray[np.float64]:
    """A short line from the middle of the longest segment to the closer side."""
    steps = np.diff(points, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    longest = int(lengths.argmax())
    x, y = steps[longest] / max(lengths[longest], 1e-9)
    middle = points[longest] + steps[longest] / 2
    # Walking to the right in an image, the right hand is below.
    return np.stack([middle, middle + side * length_px * np.array([-y, x])])
