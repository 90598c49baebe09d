"""Boundaries of one sample: true lines over the photograph, probabilities, and what was matched."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from depthgauge.analysis.precision_recall import PrecisionRecall, boundary_spec, counts_of
from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.measure import Prepared
from depthgauge.metrics._boundary_curves import rates
from depthgauge.metrics.boundaries import FALSE_ALARM, HIT, MISSED, boundary_map
from depthgauge.report.page.model import ColourBar, MethodPictures, Picture
from depthgauge.report.pictures.colours import Rgb, colour_table, rgb_of
from depthgauge.report.pictures.encode import picture_of_map, picture_size
from depthgauge.report.pictures.photo import dimmed, draw_masks, picture_of, shade_outside, thick
from depthgauge.report.pictures.shrink import any_of_block, shrink_errors
from depthgauge.types import Image, Map, Score, is_known

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
"""Of maps of thin lines: shrunk by a page they would fade, shrunk here a block is its largest."""


def has_classes(protocol: Protocol) -> bool:
    """Whether occlusions and folds are told apart."""
    spec = boundary_spec(protocol)
    return spec is not None and spec.params.get("classes") == "occlusion_fold"


def true_lines(truth: Map, image: Image | None, *, classes: bool) -> Picture:
    """The true boundaries over the dimmed photograph; those of several people are added up."""
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
    """The probability of a boundary; where kinds are told apart, in the colour of its kind."""
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
    return picture_of(picture, "estimate, bright is probable", KINDS)


def matched_lines(
    prepared: Prepared, protocol: Protocol, curve: PrecisionRecall | None, image: Image | None
) -> Picture | None:
    """What became of every line at the method's own threshold; None where nothing is matched."""
    spec = boundary_spec(protocol)
    if spec is None or curve is None:
        return None
    codes = boundary_map(prepared.allowed, prepared.truth, **spec.params, threshold=curve.best)
    picture = dimmed(image, codes.shape)
    shade_outside(picture, prepared.known)
    draw_masks(picture, {colour: codes == code for code, colour in CODE_COLOURS.items()})
    # Where lines are so near that they hide each other, errors are on top of their own pixels.
    for code in (HIT, MISSED, FALSE_ALARM):
        picture[any_of_block(codes == code, picture.shape[:2])] = rgb_of(CODE_COLOURS[code])
    caption = f"matched, from {curve.thresholds[curve.best]:.2f} on"
    return picture_of(picture, caption, MATCHED)


def draw_methods(
    found: Mapping[str, Prepared],
    protocol: Protocol,
    curves: Mapping[str, PrecisionRecall],
    image: Image | None,
    notes: Mapping[str, str],
) -> tuple[MethodPictures, ...]:
    """Estimate and matches of every method, in the order of the notes."""
    classes = has_classes(protocol)
    made = []
    for label in notes:
        prepared = found.get(label)
        if prepared is None:
            made.append(MethodPictures(label, note=notes[label]))
            continue
        made.append(
            MethodPictures(
                label,
                estimate=estimated_lines(prepared.allowed, classes=classes),
                error=matched_lines(prepared, protocol, curves.get(label), image),
                note=notes[label],
            )
        )
    return tuple(made)


def f_words(score: Score | None, curve: PrecisionRecall | None) -> str:
    """F of one sample at the threshold that is best for the dataset."""
    counts = None if score is None else counts_of(score)
    if counts is None or curve is None:
        return ""
    recall, precision, f = (float(each[curve.best]) for each in rates(counts))
    return f"F {f:.2f}, precision {precision:.2f}, recall {recall:.2f}"
