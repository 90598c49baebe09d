"""Planes: each instance in its own colour, over the dimmed photograph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.report.pictures.colours import Rgb, fragment_table
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.error_maps import write_picture
from depthgauge.report.pictures.layout import input_pictures, note_of, photo_of
from depthgauge.report.pictures.model import MethodPictures, Picture, SamplePictures
from depthgauge.report.pictures.photo import dimmed, picture_of, shade_outside
from depthgauge.report.pictures.shrink import middle_of_block
from depthgauge.types import Image, Map, Mask

SPEC = Drawing(
    "planes",
    about=(
        "Each plane has its own colour. An estimated plane has the colour of a true one if "
        "the two overlap by at least half (intersection over union), otherwise a colour that no "
        "true plane has; the most confident is on top."
    ),
    meaning="Instances of planes, each with its pixels and a confidence.",
    range_rule="A plane is where its confidence is above 0; estimated planes may overlap.",
)
_SAME = 0.5
"""From this overlap on an estimated plane has the colour of a true one."""
_PAINT = 0.65
_GAP = 6
Numbers = NDArray[np.int64]


def true_planes(truth: Map, image: Image | None) -> Picture:
    """The true planes; each id has its own colour."""
    numbers = _numbers(truth)
    count = len(np.unique(numbers[numbers > 0]))
    return picture_of(_painted(numbers, image, np.isfinite(truth)), f"true planes: {count}")


def estimated_planes(estimate: Map, truth: Map, image: Image | None) -> Picture:
    """The estimated planes, the most confident on top."""
    numbers, same = number_planes(estimate, truth)
    count = len(same)
    caption = f"{count} plane{'' if count == 1 else 's'}, {sum(same)} on a true one"
    return picture_of(_painted(numbers, image, np.isfinite(truth)), caption)


def paint_beside(estimate: Map, truth: Map, image: Image | None) -> Rgb:
    """True planes on the left and estimated ones on the right, in the same colours."""
    known = np.isfinite(truth)
    left = _painted(_numbers(truth), image, known)
    right = _painted(number_planes(estimate, truth)[0], image, known)
    return np.concatenate([left, np.full_like(left[:, :_GAP], 255), right], axis=1)


def number_planes(estimate: Map, truth: Map) -> tuple[Numbers, list[bool]]:
    """The number of the topmost estimated plane at each pixel, and which match a true plane.

    An instance that overlaps a true plane by half has the number of that plane, which is taken
    then; others have numbers after those of all true planes. Confident ones come first, and lie
    on top.

    Args:
        estimate: (H, W, N) or (H, W): confidences above 0 where an instance is.
        truth: (H, W): ids, 0 where there is no plane, NaN where nothing is known.

    Returns:
        (H, W), 0 where there is no estimated plane; and for each instance that has a pixel, the
        most confident first, whether it has the number of a true plane.
    """
    channels = np.nan_to_num(estimate if estimate.ndim == 3 else estimate[..., None])
    true = _numbers(truth)
    inside = np.isfinite(truth)
    confidence = channels.reshape(-1, channels.shape[2]).max(axis=0)
    order = [k for k in np.argsort(-confidence, kind="stable").tolist() if confidence[k] > 0]
    pixels = np.bincount(true[inside])
    taken: set[int] = set()
    chosen: list[int] = []
    for k in order:
        best = _overlapping((channels[..., k] > 0) & inside, true, pixels, taken)
        taken.add(best)
        chosen.append(best)
    free = int(true.max(initial=0))
    same = [number > 0 for number in chosen]
    shown = np.zeros(true.shape, np.int64)
    for k, number in reversed(list(zip(order, chosen, strict=True))):
        free += number == 0
        shown[channels[..., k] > 0] = number or free
    return shown, same


def _overlapping(mask: Mask, true: Numbers, pixels: NDArray[np.intp], taken: set[int]) -> int:
    """The unused true plane that a mask overlaps enough; 0 if there is none."""
    shared = np.bincount(true[mask], minlength=pixels.size).astype(np.float64)
    shared[[0, *taken]] = 0
    overlaps = shared / np.maximum(pixels + mask.sum() - shared, 1)
    best = int(np.argmax(overlaps))
    return best if overlaps[best] >= _SAME else 0


def _numbers(truth: Map) -> Numbers:
    """Ids renumbered as 1, 2 ... in their order; 0 where there is none."""
    ids = np.nan_to_num(truth).astype(np.int64)
    names, places = np.unique(ids, return_inverse=True)
    ranks = np.cumsum(names > 0) * (names > 0)
    return np.asarray(ranks[places.reshape(ids.shape)])


def _painted(numbers: Numbers, image: Image | None, known: Mask) -> Rgb:
    picture = dimmed(image, numbers.shape)
    small = middle_of_block(numbers, picture.shape[:2])
    table = fragment_table()[0]
    colours = table[(small - 1) % len(table)].astype(np.float32)
    mixed = np.rint(_PAINT * colours + (1 - _PAINT) * picture).astype(np.uint8)
    picture[small > 0] = mixed[small > 0]
    shade_outside(picture, known)
    return picture


def draw(sample: SampleMaps) -> SamplePictures:
    """True and estimated planes over the photograph, in colours that say which belong together."""
    image = photo_of(sample)
    return SamplePictures(
        sample=sample.sample,
        why=sample.why,
        inputs=input_pictures(sample),
        truth=true_planes(sample.truth, image),
        methods=tuple(
            MethodPictures(
                label,
                estimate=estimated_planes(sample.estimates[label], sample.truth, image)
                if label in sample.estimates
                else None,
                note=note_of(sample, label),
            )
            for label in sample.results
        ),
    )


def write_error_maps(
    folder: Path, protocol: Protocol, prepared: PreparedSample, sample: str
) -> list[str]:
    """Writes true beside estimated planes: a pixel has no error that could be drawn."""
    image = prepared.items.get("left_image")
    write_picture(folder / "planes.png", paint_beside(prepared.allowed, prepared.truth, image))
    return []
