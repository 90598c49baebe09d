"""Boundaries: true lines over the photograph, probabilities, and what was matched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from depthgauge.analysis.maps.metric_maps import error_map_of
from depthgauge.analysis.maps.sample_maps import SampleMaps
from depthgauge.analysis.precision_recall import (
    FALSE_ALARM,
    HIT,
    MISSED,
    has_classes,
    matched_lines,
)
from depthgauge.benchmarks import Protocol
from depthgauge.benchmarks.score_ids import ScoreSpec
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.report.pictures.colours import Rgb, colour_table, rgb_of
from depthgauge.report.pictures.drawing import Drawing
from depthgauge.report.pictures.encode import picture_of_map, picture_size
from depthgauge.report.pictures.error_maps import write_class_map, write_metric_maps
from depthgauge.report.pictures.layout import input_pictures, note_of, photo_of
from depthgauge.report.pictures.model import ColourBar, MethodPictures, Picture, SamplePictures
from depthgauge.report.pictures.photo import dimmed, draw_masks, picture_of, shade_outside, thick
from depthgauge.report.pictures.shrink import any_of_block, shrink_errors
from depthgauge.types import Image, Map, Mask, is_known

SPEC = Drawing(
    "boundaries",
    about=(
        "True lines are over the dimmed photograph. Below each estimate is what was matched with "
        "them at the one threshold that is best for the method on the whole dataset."
    ),
    meaning="The probability of a boundary at each pixel.",
    range_rule="Probabilities are from 0 to 1; a pixel without one is not a boundary.",
)

OCCLUSION, FOLD = "#ff9f1c", "#4cc9f0"
HITS, FALSE_ALARMS, MISSES = "#4cc9f0", "#ff4d6d", "#ffd166"
KINDS = ColourBar(0, 1, "", "entries", entries=(("occlusion", OCCLUSION), ("fold", FOLD)))
MATCHED = ColourBar(
    0,
    1,
    "",
    "entries",
    entries=(("hit", HITS), ("false alarm", FALSE_ALARMS), ("missed", MISSES)),
)
CODE_COLOURS = {MISSED: MISSES, FALSE_ALARM: FALSE_ALARMS, HIT: HITS}
"""In the order of drawing."""
_WIDE = 240
"""Width of maps of thin lines: a browser would fade them, this shrinks by the largest value."""


def true_lines(truth: Map, image: Image | None, *, classes: bool) -> Picture:
    """The true boundaries over the dimmed photograph; lines of several people are added up."""
    known = is_known(truth)
    picture = dimmed(image, truth.shape)
    shade_outside(picture, known)
    channels = truth[..., None] if truth.ndim == 2 else truth
    marked = (np.nan_to_num(channels) > 0) & known[..., None]
    if classes:
        draw_masks(picture, {FOLD: marked[..., 1], OCCLUSION: marked[..., 0]})
        return picture_of(picture, "true boundaries", KINDS)
    people = marked.sum(axis=-1).astype(np.float32)
    few = _widened(shrink_errors(people, known, picture.shape[:2])[0])
    most = max(1, marked.shape[-1])
    table = colour_table("YlOrRd")[0][::-1]
    steps = np.rint((few - 1) / max(1, most - 1) * (len(table) - 1)).astype(np.intp)
    picture[few > 0] = table[np.clip(steps, 0, len(table) - 1)][few > 0]
    bar = ColourBar(1.0, float(most), "people", "YlOrRd_r") if most > 1 else None
    return picture_of(picture, "true boundaries", bar)


def _widened(values: Map) -> Map:
    """The largest of each pixel and its neighbours, where lines are drawn wider."""
    levels = np.unique(values[values > 0])
    made = np.nan_to_num(values)
    for level in levels:
        made[thick(values >= level)] = level
    return made


def estimated_lines(estimate: Map, *, classes: bool) -> Picture:
    """The probability of a boundary, in the colour of its kind where the protocol has kinds."""
    found = estimate if estimate.ndim == 2 else estimate[..., 0]
    everywhere = np.ones(found.shape, bool)
    if not classes or estimate.ndim == 2:
        bar = ColourBar(0.0, 1.0, "", "magma")
        return picture_of_map(
            found, everywhere, bar, "probability", worst_of_block=True, wide=_WIDE
        )
    size = picture_size(found.shape, _WIDE)
    kind = estimate[..., 1] >= np.float32(0.5)
    found = np.nan_to_num(np.clip(found, 0, 1))
    fold, occlusion = (
        shrink_errors(np.where(mask, found, np.float32(0)), everywhere, size)[0][..., None]
        for mask in (~kind, kind)
    )
    colours = [np.array(rgb_of(colour), np.float32) for colour in (FOLD, OCCLUSION)]
    shown = np.where(fold > occlusion, fold * colours[0], occlusion * colours[1])
    # Few shades, so that the picture stays small without loss.
    picture: Rgb = (np.rint(shown / 8).clip(0, 31) * 8).astype(np.uint8)
    return picture_of(picture, "estimate, bright means probable", KINDS)


def matched_picture(
    codes: NDArray[np.uint8], known: Mask, threshold: float, image: Image | None
) -> Picture:
    """What became of every line at the method's own threshold.

    Args:
        codes: (H, W): `HIT`, `MISSED` and `FALSE_ALARM` on lines.
        known: Where boundaries are judged.
        threshold: From which probability on pixels count as boundaries.
        image: The photograph below.
    """
    picture = dimmed(image, codes.shape)
    shade_outside(picture, known)
    draw_masks(picture, {colour: codes == code for code, colour in CODE_COLOURS.items()})
    # Where lines are so close that they hide each other, errors stay on top.
    for code in (HIT, MISSED, FALSE_ALARM):
        picture[any_of_block(codes == code, picture.shape[:2])] = rgb_of(CODE_COLOURS[code])
    return picture_of(picture, f"matched, from {threshold:.2f} on", MATCHED)


def draw(sample: SampleMaps) -> SamplePictures:
    """True lines over the photograph; of every method its probabilities and what was matched."""
    image = photo_of(sample)
    classes = sample.protocol is not None and has_classes(sample.protocol)
    return SamplePictures(
        sample=sample.sample,
        why=sample.why,
        inputs=input_pictures(sample),
        truth=true_lines(sample.truth, image, classes=classes),
        methods=tuple(_method(sample, label, image, classes) for label in sample.results),
    )


def _method(sample: SampleMaps, label: str, image: Image | None, classes: bool) -> MethodPictures:
    note, prepared = note_of(sample, label), sample.prepared.get(label)
    if prepared is None or sample.protocol is None:
        return MethodPictures(label, note=note)
    curve = sample.curves.get(label)
    codes = matched_lines(prepared, sample.protocol, curve)
    return MethodPictures(
        label,
        estimate=estimated_lines(prepared.allowed, classes=classes),
        error=None
        if codes is None or curve is None
        else matched_picture(codes, prepared.known, curve.thresholds[curve.best], image),
        note=note,
    )


def write_error_maps(
    folder: Path, protocol: Protocol, prepared: PreparedSample, sample: str
) -> list[str]:
    """Writes what became of lines, once for all scores that are made of the same matches."""
    return write_metric_maps(folder, protocol, prepared, sample, write=_write, shown=_matches)


def _matches(spec: ScoreSpec) -> tuple[object, ...]:
    return spec.metric.error_map_with, *spec.params.items()


def _write(path: Path, prepared: PreparedSample, spec: ScoreSpec, title: str) -> None:
    """What became of lines, at the threshold that is best for this sample."""
    codes = error_map_of(prepared, spec)
    masks = {
        name: (codes == code, CODE_COLOURS[code])
        for name, code in (("missed", MISSED), ("false alarm", FALSE_ALARM), ("hit", HIT))
    }
    write_class_map(path, masks, prepared.known, title=f"{title}, at its own best threshold")
