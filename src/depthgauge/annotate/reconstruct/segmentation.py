"""Splits an annotated region into surfaces along the lines that a person drew."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge._once import cached_property
from depthgauge._shorten import first_few
from depthgauge.annotate.reconstruct._gaps import Joints, close_gaps, decide
from depthgauge.annotate.reconstruct._lines import (
    FOLD,
    SHARP,
    SMOOTH,
    Lines,
    Path,
    clean_points,
    trace_stroke,
)
from depthgauge.annotate.reconstruct._scaled import scaled
from depthgauge.annotate.reconstruct._surfaces import SLIVER_PX, parts_of, surfaces_between
from depthgauge.annotate.records.annotation import Annotation, Point, Shape, Stroke
from depthgauge.errors import Misuse
from depthgauge.geometry.polygons import polygon_mask
from depthgauge.types import Mask

__all__ = [
    "FOLD",
    "SHARP",
    "SMOOTH",
    "Segmentation",
    "Topology",
    "decide_topology",
    "pixel_of",
    "region_mask",
    "segment",
]

_NAMED = 8
"""A note names at most this many places and gives the number of the others."""
_GAP_PX, _GAP_SHARE = 4.0, 0.0125
"""The longest gap that is closed: so many pixels of the photograph, in large ones a share of the
longer side. People draw on a picture that fits their screen, whatever its number of pixels."""
_DECIDED_PX = 1280
"""Longer side of the picture in which it is decided which lines meet, at most."""
_CUT_PX = 8
"""A stroke that leaves a drawn region by at most this much crosses its edge on purpose."""


@dataclass(frozen=True)
class Segmentation:
    """Lines and surfaces of one annotated image, all with the image's size."""

    region: Mask
    """Pixels of the region of interest."""
    kind: NDArray[np.uint8]
    """0 no line, 1 fold, 2 sharp occlusion, 3 smooth occlusion. Lines are 1 px thick and
    4-connected."""
    stroke: NDArray[np.int32]
    """For line pixels, the index of their stroke in `tuple(annotation.strokes)`; -1 elsewhere. In a
    closed gap it is the stroke that was extended."""
    toward: NDArray[np.float32]
    """(H, W, 2): for line pixels, the unit vector x, y towards the side that owns the pixel: the
    closer side of an occlusion, the side of a fold that the seed chose; 0 elsewhere."""
    continuous: NDArray[np.int32]
    """0 outside, else 1, 2, ...: surfaces between occlusions; an occlusion belongs to its owner."""
    smooth: NDArray[np.int32]
    """0 outside, else 1, 2, ...: surfaces between lines; each lies in one continuous surface, and
    a line pixel belongs to its owner."""
    shapes: Mapping[int, Shape]
    """Shape of each smooth surface; curved by default."""
    marks: Mapping[str, int]
    """For each surface mark, the number of its smooth surface; 0 if it marks none."""
    notes: tuple[str, ...]
    """Sentences for the annotator: what was closed, cut or left out."""

    @cached_property
    def boxes(self) -> Mapping[int, tuple[slice, slice]]:
        """The smallest rectangle around each smooth surface."""
        from scipy import ndimage

        found = ndimage.find_objects(self.smooth)
        return {number: box for number, box in enumerate(found, 1) if box is not None}

    def smooth_at(self, point_px: Point) -> int:
        """The smooth surface at a point, 0 outside the region."""
        place = pixel_of(point_px, self.smooth.shape)
        return 0 if place is None else int(self.smooth[place])


def segment(
    annotation: Annotation,
    *,
    seed: int = 0,
    gap_px: float | None = None,
    topology: Topology | None = None,
) -> Segmentation:
    """Splits the region of interest along the strokes.

    Args:
        annotation: What was drawn. Nothing in it is an error: unusable parts are left out, and
            a note says so.
        seed: Chooses the side that owns each fold.
        gap_px: A line that ends this close to another line, to the region's edge or to its own
            other end is extended to it. 0 closes nothing. By default 4 px, and in pictures above
            320 px 1.25 % of the longer side.
        topology: For a picture of another size: what was decided in the photograph.

    Raises:
        Misuse: A negative seed or an impossible gap.
    """
    if seed < 0:
        raise Misuse(f"seed: expected 0 or more, got {seed}; give a non-negative whole number.")
    decided = topology or decide_topology(annotation, seed=seed, gap_px=gap_px)
    region, notes = region_mask(annotation)
    lines = Lines.none(region)
    paths = _painted(lines, annotation, seed, notes)
    factor = max(region.shape) / decided.longer_px
    gap = decided.gap_px * factor
    close_gaps(lines, paths, decided.joints.scaled(factor), gap)
    notes += _gap_notes(decided.joints, tuple(annotation.strokes))
    sliver_px = max(1, math.ceil(decided.sliver_px * factor**2))
    surfaces = surfaces_between(lines, sliver_px)
    if surfaces.slivers:
        notes.append(
            f"{surfaces.slivers} piece(s) of fewer than {sliver_px} pixels between lines were "
            "joined to the surface beside them."
        )
    marks = _marked(annotation, surfaces.smooth, notes)
    shapes = _shapes(annotation, marks, int(surfaces.smooth.max(initial=0)), notes)
    return Segmentation(
        region=region,
        kind=lines.kind,
        stroke=lines.stroke,
        toward=lines.toward,
        continuous=surfaces.continuous,
        smooth=surfaces.smooth,
        shapes=shapes,
        marks=marks,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class Topology:
    """What is connected with what, decided once for all sizes of a picture."""

    joints: Joints
    gap_px: float
    """The longest gap that is closed, in pixels of the photograph, like all that follows."""
    sliver_px: float
    longer_px: int
    """Longer side of the photograph."""


def decide_topology(
    annotation: Annotation, *, seed: int = 0, gap_px: float | None = None
) -> Topology:
    """Which lines meet, in units of the photograph; see `segment` for the arguments."""
    longer = max(annotation.picture.width_px, annotation.picture.height_px)
    gap = max(_GAP_PX, _GAP_SHARE * longer) if gap_px is None else gap_px
    if not 0 <= gap <= max(64, _GAP_SHARE * longer):
        raise Misuse(f"gap_px: expected 0 to 64 pixels, got {gap_px}; most gaps are below 5.")
    factor = min(1.0, _DECIDED_PX / longer)
    small = scaled(annotation, factor)
    lines = Lines.none(region_mask(small)[0])
    paths = _painted(lines, small, seed, [])
    joints = decide(lines, paths, gap * factor, longer / max(lines.region.shape))
    sliver = max(SLIVER_PX, SLIVER_PX * (longer * _GAP_SHARE / _GAP_PX) ** 2)
    return Topology(joints, gap, sliver, longer)


def pixel_of(point_px: Point, shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Row and column of the pixel that contains a point; None outside the image.

    >>> pixel_of((2.4, 0.6), (3, 4))
    (1, 2)
    >>> pixel_of((-0.6, 0.0), (3, 4)) is None
    True
    """
    x, y = point_px
    if not (-0.5 <= x < shape[1] - 0.5 and -0.5 <= y < shape[0] - 0.5):
        return None
    return int(np.floor(y + 0.5)), int(np.floor(x + 0.5))


def region_mask(annotation: Annotation) -> tuple[Mask, list[str]]:
    """The pixels of the region of interest, and notes about them."""
    shape = (annotation.picture.height_px, annotation.picture.width_px)
    whole = np.ones(shape, np.bool_)
    if not annotation.region_px:
        return whole, []
    corners = clean_points(annotation.region_px)
    if len(corners) < 3:
        return whole, [
            "The region has fewer than three different corners, so the whole image was used; "
            "draw it again."
        ]
    mask = polygon_mask(shape, [(x, y) for x, y in corners.tolist()], with_outline=True)
    if not mask.any():
        return whole, [
            "The region encloses no pixel of the image, so the whole image was used; draw it again."
        ]
    return _without_specks(mask)


def _without_specks(mask: Mask) -> tuple[Mask, list[str]]:
    """An outline that crosses itself may enclose a few pixels separate from the rest."""
    parts = parts_of(mask)
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0
    small = (sizes > 0) & (sizes < SLIVER_PX)
    if not small.any() or sizes.max() < SLIVER_PX:
        return mask, []
    note = f"{small.sum()} speck(s) of the region's outline were left out; draw it without loops."
    return mask & ~small[parts], [note]


def _painted(
    lines: Lines, annotation: Annotation, seed: int, notes: list[str]
) -> list[Path | None]:
    paths: list[Path | None] = []
    cut = []
    for index, (name, stroke) in enumerate(annotation.strokes.items()):
        side = _owner_side(stroke, seed, name)
        if stroke.kind == "occlusion" and stroke.closer is None:
            notes.append(
                f"Occlusion '{name}' does not say which side is closer, so one was chosen; "
                "choose it yourself."
            )
        path = trace_stroke(stroke, lines.region.shape, side)
        painted = 0 if path is None else lines.paint(path, index)
        if path is None:
            notes.append(f"Stroke '{name}' has no length and was left out; remove it.")
        elif not painted:
            notes.append(f"Stroke '{name}' lies outside the region and was left out; remove it.")
        elif annotation.region_px and _outside_px(path, lines.region) > _CUT_PX:
            cut.append(f"'{name}'")
        paths.append(path if painted else None)
    if cut:
        notes.append(f"Cut at the region's edge: stroke(s) {first_few(cut, _NAMED)}.")
    return paths


def _outside_px(path: Path, region: Mask) -> int:
    """How many pixels of a line lie in the image but not in the region."""
    x, y = path.pixels.T
    inside = (x >= 0) & (x < region.shape[1]) & (y >= 0) & (y < region.shape[0])
    return int(np.count_nonzero(~region[y[inside], x[inside]]))


def _owner_side(stroke: Stroke, seed: int, name: str) -> int:
    """Depends on the stroke's own name only, so that other strokes do not matter."""
    if stroke.kind == "occlusion" and stroke.closer is not None:
        return 1 if stroke.closer == "right" else -1
    key = zlib.crc32(name.encode("utf-8", "surrogatepass"))
    return 1 if np.random.default_rng([seed, key]).integers(2) else -1


def _gap_notes(joints: Joints, names: tuple[str, ...]) -> list[str]:
    notes = []
    if joints.gaps:
        places = [
            f"{gap.length_px:.1f} px at ({gap.x}, {gap.y}) from '{names[gap.stroke]}' to "
            + ("the region's edge" if gap.at_edge else f"'{names[gap.to]}'")
            for gap in joints.gaps
        ]
        listed = first_few(places, _NAMED)
        notes.append(f"{len(joints.gaps)} gap(s) between lines were closed: {listed}.")
    if joints.open_ends:
        places = [f"'{names[stroke]}' at ({x:.0f}, {y:.0f})" for stroke, x, y in joints.open_ends]
        listed = first_few(places, _NAMED)
        notes.append(
            f"{len(places)} end(s) of lines are open: {listed}; they cut no surface there. Extend "
            "those that should."
        )
    return notes


def _marked(annotation: Annotation, smooth: NDArray[np.int32], notes: list[str]) -> dict[str, int]:
    marks = {}
    for name, mark in annotation.surfaces.items():
        place = pixel_of(mark.at_px, smooth.shape)
        marks[name] = 0 if place is None else int(smooth[place])
        if not marks[name]:
            notes.append(f"Mark '{name}' lies outside the region; move it into a surface.")
    return marks


def _shapes(
    annotation: Annotation, marks: Mapping[str, int], surfaces: int, notes: list[str]
) -> dict[int, Shape]:
    """If two marks disagree, the later one counts."""
    shapes: dict[int, Shape] = {number: "curved" for number in range(1, surfaces + 1)}
    said: dict[int, str] = {}
    for name, number in marks.items():
        shape = annotation.surfaces[name].shape
        if number and said.get(number) and shapes[number] != shape:
            notes.append(
                f"Marks '{said[number]}' and '{name}' are on the same surface and disagree, so "
                f"it is {shape}; remove one of them or draw the line between them."
            )
        if number:
            shapes[number], said[number] = shape, name
    return shapes
