"""Which normal or stroke would help most, ranked before anybody corrects one.

A normal is worth the variance of log depth that its own tilt causes, in copies of the annotation in
which every normal is tilted independently. A stroke is worth what the depth would change if the
stroke were wrong, if there is a sign that it is: a fold along which planes do not fit together may
be an occlusion, and an order that contradicts others may be reversed. How far a consistent fold is
opened changes nothing, so the change itself is the sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct.reconstruction import Reconstruction
from depthgauge.annotate.reconstruct.segmentation import pixel_of
from depthgauge.annotate.records.annotation import Annotation, Point, Side, Stroke

Array = NDArray[np.float64]

SIDES: tuple[Side, Side] = ("left", "right")
_SMALLEST = 0.01
"""A smaller gain is not worth anybody's time."""
_MOST_STROKES = 40
"""So many folds are tried, the longest first."""


@dataclass(frozen=True)
class Advice:
    """What would make the depth more certain."""

    text: str
    """A sentence for the annotator."""
    at_px: Point
    """In pixels of the photograph."""
    gain: float
    """Share of the mean square of log depth that it decides: of a normal, of the variance; of a
    stroke, of the variance and of the change by this stroke together. 0 to 1."""
    id: str = ""
    """The normal or stroke to check; empty for a new normal."""
    kind: str = "normal"
    """`normal` or `stroke`."""


@dataclass(frozen=True)
class Tilts:
    """How the normals of the copies were tilted."""

    sides: Mapping[str, Array]
    """For each normal (copies, 2): to two sides, as multiples of the standard deviation."""
    places: Mapping[str, Point]
    """In pixels of the photograph. A name that the annotation lacks is of a surface without one."""


def normal_advice(
    annotation: Annotation, base: Reconstruction, tilts: Tilts, logs: Array
) -> list[Advice]:
    """One for each normal that was given or is missing; the most helpful of each surface first.

    Args:
        annotation: What was drawn.
        base: Its reconstruction.
        tilts: Of the copies.
        logs: (copies, H, W) their log depths, less the mean.
    """
    count = len(logs)
    flat = logs.reshape(count, -1)
    labels = base.segmentation.continuous.ravel()
    total = float((flat**2).sum()) / count
    if not total > 0:
        return []
    found = []
    for name, sides in tilts.sides.items():
        at = tilts.places[name]
        place = pixel_of(in_pixels(at, base), base.depth.shape)
        if place is None or not base.segmentation.smooth[place]:
            continue
        inside = flat[:, labels == base.segmentation.continuous[place]]
        moved = sides.T @ inside / count
        # Two directions explain 2 / n of anything by chance.
        caused = float((moved**2).sum()) - 2 / count * float((inside**2).sum()) / count
        gain = max(0.0, caused / total)
        given = name in annotation.normals
        said = f"Check the normal '{name}' at" if given else "Give a normal at"
        text = (
            f"{said} ({at[0]:.0f}, {at[1]:.0f}): it decides {100 * gain:.0f} % of the uncertainty."
        )
        found.append(Advice(text, at, min(gain, 1.0), name if given else ""))
    best: dict[int, Advice] = {}
    for one in sorted(found, key=lambda one: -one.gain):
        best.setdefault(base.segmentation.smooth_at(in_pixels(one.at_px, base)), one)
    return [one for one in best.values() if one.gain > _SMALLEST]


def stroke_advice(
    annotation: Annotation,
    base: Reconstruction,
    again: Callable[[Annotation], Reconstruction],
    variance: float,
) -> list[Advice]:
    """One for each stroke that may be wrong, the most helpful first.

    Args:
        annotation: What was drawn.
        base: Its reconstruction.
        again: Reconstructs another annotation in the same way.
        variance: Mean variance of log depth, for comparison with normals.
    """
    found = []
    for name, others, said in _doubtful(annotation, base):
        changes = [
            _change(base, again(replace(annotation, strokes={**annotation.strokes, name: other})))
            for other in others
        ]
        change = max(changes)
        gain = change / (change + variance) if change > 0 else 0.0
        if gain > _SMALLEST:
            stroke = annotation.strokes[name]
            at = stroke.points_px[len(stroke.points_px) // 2]
            text = f"Check the stroke '{name}' at ({at[0]:.0f}, {at[1]:.0f}): {said}?"
            found.append(Advice(text, at, gain, name, "stroke"))
    return sorted(found, key=lambda one: -one.gain)


def _doubtful(annotation: Annotation, base: Reconstruction) -> list[tuple[str, list[Stroke], str]]:
    """Strokes, what else they may be, and what to look at."""
    doubts = []
    for name in base.violated:
        stroke = annotation.strokes[name]
        if stroke.kind == "occlusion" and stroke.closer is not None:
            closer: Side = "left" if stroke.closer == "right" else "right"
            doubts.append((name, [replace(stroke, closer=closer)], "which side is closer"))
    folds = {n: s for n, s in annotation.strokes.items() if s.kind == "fold"}
    longest = sorted(folds, key=lambda n: (-_length_px(folds[n]), n))[:_MOST_STROKES]
    shapes = _shapes_beside(base)
    for name in longest:
        points = folds[name].points_px
        others = [Stroke("occlusion", points, "right")]
        if "curved" in shapes.get(name, set()):
            others += [Stroke("occlusion", points, side, smooth=True) for side in SIDES]
        doubts.append((name, others, "do the surfaces meet there, or is one in front"))
    return doubts


def _shapes_beside(base: Reconstruction) -> dict[str, set[str]]:
    """Shapes of the surfaces on both sides of each stroke."""
    parts = base.segmentation
    ys, xs = np.nonzero(parts.kind > 0)
    height, width = parts.kind.shape
    found: dict[str, set[str]] = {}
    for way in (1.5, -1.5):
        x = np.clip(np.floor(xs + way * parts.toward[ys, xs, 0] + 0.5), 0, width - 1).astype(int)
        y = np.clip(np.floor(ys + way * parts.toward[ys, xs, 1] + 0.5), 0, height - 1).astype(int)
        both = np.stack([parts.stroke[ys, xs], parts.smooth[y, x]], axis=1)
        for stroke, surface in np.unique(both, axis=0).tolist():
            if stroke >= 0 and surface in parts.shapes:
                found.setdefault(base.strokes[stroke], set()).add(parts.shapes[surface])
    return found


def _change(base: Reconstruction, made: Reconstruction) -> float:
    """Mean square of the change of log depth, each surface between all lines up to its scale."""
    labels = np.minimum(base.segmentation.continuous, 1).astype(np.int64)
    both = labels.astype(bool) & np.isfinite(base.depth + made.depth)
    pieces = made.segmentation.continuous.astype(np.int64)
    both &= pieces > 0
    change = (np.log(made.depth[both]) - np.log(base.depth[both])).astype(np.float64)
    names = base.segmentation.continuous.astype(np.int64)[both]
    counts = np.maximum(np.bincount(names), 1)
    means = np.bincount(names, change) / counts
    return float(np.mean((change - means[names]) ** 2)) if change.size else 0.0


def _length_px(stroke: Stroke) -> float:
    points = np.array(stroke.points_px, np.float64)
    return float(np.hypot(*np.diff(points, axis=0).T).sum()) if len(points) > 1 else 0.0


def in_pixels(point_px: Point, base: Reconstruction) -> Point:
    """A point of the photograph in pixels of the picture that was worked on."""
    width, height = base.picture_px
    rows, columns = base.depth.shape
    return (point_px[0] + 0.5) * columns / width - 0.5, (point_px[1] + 0.5) * rows / height - 0.5
