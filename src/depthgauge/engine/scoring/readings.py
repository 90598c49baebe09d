"""Whether maps were read as what they are: does another reading fit the truth clearly better?

Looks at no more than 4,096 pixels, always the same ones for a size. Where the estimate fits as it
is, which costs one mean, no other reading is tried. The scores never change.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.comparison import (
    CLEARLY,
    ENOUGH_PIXELS,
    Circumstances,
    Comparison,
    Values,
    aligned,
    can_judge,
    inverted,
    median,
    only_where,
    sample_places,
    values_at,
)
from depthgauge.engine.scoring.marks import find_marks
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.engine.scoring.prepare import needs_focal
from depthgauge.errors import DepthgaugeWarning
from depthgauge.geometry.alignment import Alignment
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Map, Mask, Note

_NEAR_FACTOR = 0.04
_NEAR_FACTOR_FREE = 0.1
"""How far the ratio of estimate and truth may be from a factor; of a quantity that methods often
know up to a scale only, further."""
_INDOORS_M, _OUTDOORS_M = 20.0, 100.0
_LIKELY_DEPTH_SHARE = 0.15
_TOP_TO_BOTTOM = 1.25


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor between an estimate and its truth that people produce."""

    value: float
    question: str
    of: tuple[str, ...] = ("disparity",)
    """The quantities in which it occurs."""
    name: str = ""
    """How it is written where `%g` would not do."""

    def __str__(self) -> str:
        return self.name or f"{self.value:g}"


FACTORS = (
    Factor(256, "the 16-bit PNG code without the division by 256?", ("disparity", "depth")),
    Factor(64, "the 16-bit PNG code without the division by 64?", ("disparity", "flow")),
    Factor(16, "fixed point of OpenCV, or a PNG of scale 16, without the division by 16?"),
    Factor(2, "values of half size that were multiplied twice?", ("disparity", "flow")),
    Factor(3, "values of a third of the size that were multiplied twice?"),
    Factor(4, "a PNG of scale 4, or values of quarter size that were multiplied twice?"),
    Factor(8, "a PNG of scale 8 without the division by 8?"),
    Factor(0.5, "a half-size map enlarged without scaling its values?", ("disparity", "flow")),
    Factor(1 / 3, "a map of a third of the size, enlarged without scaling its values?", name="1/3"),
    Factor(0.25, "a quarter-size map enlarged without scaling its values, or a truth of scale 4?"),
    Factor(0.125, "a map enlarged 8 times without scaling its values, or a truth of scale 8?"),
    Factor(1 / 16, "divided by 16 twice, or a truth of scale 16?", name="1/16"),
    Factor(1 / 256, "divided by 256 twice?", ("disparity", "depth"), "1/256"),
    Factor(20, "flow that a network was trained on, divided by 20?", ("flow",)),
    Factor(0.05, "flow that a network was trained on, divided by 20?", ("flow",), "1/20"),
    Factor(1000, "millimetres instead of metres?", ("depth",)),
    Factor(100, "centimetres instead of metres?", ("depth",)),
    Factor(5000, "the 16-bit PNG code of TUM without the division by 5000?", ("depth",)),
    Factor(
        1000 / 256, "millimetres in a 16-bit PNG, divided by 256?", ("depth",), "3.906 (1000/256)"
    ),
    Factor(
        5000 / 256, "TUM's 16-bit PNG (scale 5000), divided by 256?", ("depth",), "19.53 (5000/256)"
    ),
    Factor(5, "TUM's 16-bit PNG (scale 5000), taken for millimetres?", ("depth",)),
    Factor(
        0.256,
        "a 16-bit PNG of scale 256 taken for millimetres, or a truth in mm divided by 256?",
        ("depth",),
    ),
    Factor(0.01, "metres divided by 100?", ("depth",)),
    Factor(0.001, "kilometres instead of metres?", ("depth",)),
)
"""One table for `score` and `check`: OpenCV's fixed point, PNG codes of KITTI, Booster, Middlebury
and TUM, sizes, units."""


def find_notes(
    estimate: Map, truth: Map, quantity: str, known: Circumstances | None = None
) -> tuple[Note, ...]:
    """What speaks against the way in which an estimate and its truth were read.

    Args:
        estimate: At the truth's size, before any alignment.
        truth: As it is compared.
        quantity: The assumed quantity of both.
        known: What else is known.
    """
    declared = QUANTITIES[quantity]
    about = known or Circumstances()
    if not can_judge(declared, estimate, truth):
        return ()
    places = sample_places(*truth.shape[:2])
    e, t = values_at(estimate, places), values_at(truth, places)
    if about.mask is not None:
        t = only_where(about.mask.ravel()[places], t)
    notes: list[Note] = []
    if not about.quantity_said and declared.space == "disparity":
        notes += _depth_without_name(t, places, truth.shape[1])
    if e.ndim == 1:
        marks = find_marks(e, t, positive=declared.positive)
        notes += [
            mark.note(about.scales.get(mark.side))
            for mark in marks
            if mark.side == "truth" or about.low <= mark.value <= about.high
        ]
        for mark in marks:
            e = np.where(mark.pixels, np.float32(np.nan), e)
    pairs = Comparison(e, t, about, declared)
    if pairs.count >= ENOUGH_PIXELS and not pairs.fits and pairs.varies:
        found = _best(pairs, _other_readings(pairs, estimate, places))
        notes += [] if found is None else [found]
    return tuple(notes)


def notes_of(
    protocol: Protocol,
    prepared: PreparedSample,
    *,
    quantity_said: bool = True,
    mask: Mask | None = None,
    scales: Mapping[str, float] | None = None,
) -> tuple[Note, ...]:
    """What speaks against the way in which the maps of a prepared sample were read.

    A twin's maps are not judged: they are read as its public program reads them.
    """
    if protocol.twin is not None or prepared.given is None:
        return ()
    align = protocol.align.kind
    if align == "none" and needs_focal(protocol):
        align = "median"  # scored up to a scale
    about = Circumstances(
        quantity_said,
        align,
        protocol.align.space,
        mask,
        prepared.items,
        scales or {},
        prepared.low,
        prepared.high,
    )
    found = find_notes(prepared.given, prepared.truth, protocol.quantity, about)
    return (*note_of_alignment(prepared.alignment), *found)


def warn_of(notes: Iterable[Note], stacklevel: int = 2) -> None:
    """Emits one `DepthgaugeWarning` for each kind of note, at the line that called our caller."""
    for note in {note.code: note for note in notes}.values():
        warnings.warn(note.sentences(), DepthgaugeWarning, stacklevel=stacklevel + 1)


def note_of_alignment(alignment: Alignment | None) -> tuple[Note, ...]:
    """A note where the fitted scale is negative."""
    if alignment is None or not alignment.scale < 0:
        return ()
    return (
        Note(
            "negative-scale",
            "The fitted scale is negative: the estimate grows where the truth shrinks, and the "
            "aligned scores say little.",
            "Is it inverse depth given as depth, or is its sign turned? Score 1 / estimate, or "
            "-estimate.",
            numbers={"scale": alignment.scale, "shift": alignment.shift},
        ),
    )


_Reading = tuple[Note, Values]


def _best(pairs: Comparison, readings: Iterator[_Reading]) -> Note | None:
    """The reading that fits best, where it fits clearly better than the present one."""
    best: Note | None = None
    least = math.inf
    for note, e in readings:
        errors = pairs.errors_of(e)
        # What comes later must be better to be preferred.
        if sum(errors) < 0.8 * least and pairs.is_beaten_by(errors):
            least = sum(errors)
            measured = {"error": pairs.present.median, "error_otherwise": errors.median}
            best = replace(note, numbers={**measured, **note.numbers})
    return best


def _other_readings(
    pairs: Comparison, estimate: Map, places: NDArray[np.intp]
) -> Iterator[_Reading]:
    """The readings that are tried, the most usual first."""
    e, _ = pairs.sampled
    yield from _turned(pairs, e)
    if pairs.kind == "none":
        yield from _scaled(pairs, e, estimate.shape[1])
    yield from _moved(estimate, places)
    if pairs.declared.space is not None:
        yield from _inverses(pairs, e)
    elif e.ndim == 2:
        text = (
            "The estimate fits the truth clearly better with its channels exchanged: is it (v, u)?"
        )
        yield Note("channels", text, "Give (u, v): right, then down."), e[:, ::-1]


def _turned(pairs: Comparison, e: Values) -> Iterator[_Reading]:
    if pairs.kind == "scale_shift":
        return  # the sign of the fitted scale tells
    rule = pairs.declared.value_rule
    text = "The estimate fits the truth clearly better with its sign turned."
    yield Note("sign", text, f"Turn its sign{f': {rule}' if rule else ''}."), -e


def _scaled(pairs: Comparison, e: Values, width: int) -> Iterator[_Reading]:
    ratio = pairs.ratio()
    name = pairs.declared.name
    near = _NEAR_FACTOR_FREE if pairs.declared.scale_free else _NEAR_FACTOR
    found = [f for f in FACTORS if name in f.of]
    if pairs.declared.main.resize == "x":
        found.append(
            Factor(1 / width, "shares of the image's width instead of pixels?", (name,), "1/width")
        )
    for factor in found:
        if abs(abs(ratio) / factor.value - 1) < near:
            turned = " and its sign is turned" if ratio < 0 else ""
            text = f"The estimate is about {factor} times the truth{turned}: {factor.question}"
            yield _with_scale(pairs, factor, text, ratio), e / math.copysign(factor.value, ratio)


def _with_scale(pairs: Comparison, factor: Factor, text: str, ratio: float) -> Note:
    stored = pairs.about.scales.get("estimate")
    arguments = {}
    truth = pairs.about.scales.get("truth")
    if stored is not None and ratio > 0:
        arguments["estimate_scale"] = shown_scale(stored / factor.value)
        if truth is not None and ratio < 1:  # the truth is the larger one
            arguments["truth_scale"] = shown_scale(truth * factor.value)
    advice = "" if arguments else "Correct the estimate, or the way in which it is read."
    return Note("factor", text, advice, arguments, {"ratio": ratio})


def shown_scale(scale: float) -> str:
    """A scale as people write it.

    >>> shown_scale(1 / 256), shown_scale(0.001), shown_scale(0.256), shown_scale(4.0)
    ('1/256', '0.001', '0.256', '4')
    """
    short = f"{scale:g}"
    whole = round(1 / scale)
    is_part = whole > 1 and math.isclose(whole * scale, 1, rel_tol=1e-9)
    return f"1/{whole}" if is_part and len(short) > 5 else short


def _moved(estimate: Map, places: NDArray[np.intp]) -> Iterator[_Reading]:
    """The estimate flipped or transposed."""
    height, width = estimate.shape[:2]
    y, x = np.divmod(places, width)
    ways = {
        "flipped left to right": (y, width - 1 - x),
        "flipped upside down": (height - 1 - y, x),
        "turned by 180 degrees": (height - 1 - y, width - 1 - x),
    }
    if height == width:
        ways["transposed"] = (x, y)
    for how, (row, column) in ways.items():
        code = "transposed" if how == "transposed" else "flipped"
        text = f"The estimate fits the truth clearly better {how}."
        advice = "Turn it back, or correct the way in which it was written."
        yield Note(code, text, advice), estimate[row, column]


def _inverses(pairs: Comparison, e: Values) -> Iterator[_Reading]:
    """Depth given as disparity, or the other way round."""
    if pairs.declared.space == "disparity":
        text = "The estimate fits the truth clearly better inverted: was depth given as disparity?"
        advice = "Give focal_px * baseline_m / depth_m, or score both as depth."
    else:
        text = (
            "The estimate fits the truth clearly better inverted: was disparity or inverse depth "
            "given as depth?"
        )
        advice = "Give 1 / estimate, times focal_px * baseline_m if it is disparity."
    note = Note("inverse", text, advice)
    if pairs.kind == "none":
        yield from ((note, exact) for exact in _by_rig(pairs, e))
    if not _is_better_inverted(pairs):
        return
    with np.errstate(invalid="ignore"):
        products = e * pairs.sampled[1]
    product = median(products[np.isfinite(products) & (products > 0)])
    yield note, (np.float32(product) * inverted(e)).astype(np.float32)


def _by_rig(pairs: Comparison, e: Values) -> Iterator[Values]:
    """The estimate converted by the cameras, where the sample has them."""
    rig = pairs.about.items.get("rig")
    if rig is None or "left" not in rig.cameras or not math.isfinite(rig.baseline_m):
        return
    product = np.float32(rig.cameras["left"].focal_px[0] * rig.baseline_m)
    offset = np.float32(rig.principal_offset_px)
    if pairs.declared.space == "disparity":
        yield product * inverted(e) - offset
    else:
        yield product * inverted(e + offset)


def _is_better_inverted(pairs: Comparison) -> bool:
    """Whether the inverse, at any scale, fits clearly better than the estimate at any scale."""
    positive = (pairs.e > 0) & (pairs.t > 0)
    if np.count_nonzero(positive) < max(ENOUGH_PIXELS, pairs.count // 2):
        return False
    e, t = pairs.e[positive], pairs.t[positive]
    kind = pairs.kind if pairs.kind != "none" else "median"
    plain = median(np.abs(aligned(e, t, kind) - t))
    inverse = median(np.abs(aligned(inverted(e), t, kind) - t))
    return inverse * CLEARLY <= plain


def note_of_quantity(truth: Map) -> tuple[Note, ...]:
    """A note if maps are scored as disparity and the truth looks like depth in metres."""
    if truth.ndim != 2:
        return ()
    places = sample_places(*truth.shape)
    return tuple(_depth_without_name(values_at(truth, places), places, truth.shape[1]))


def likely_depth_m(width: int) -> float:
    """What almost all depths of a map are below, and disparities of a map of this width not."""
    return min(_OUTDOORS_M, max(_INDOORS_M, _LIKELY_DEPTH_SHARE * width))


def _depth_without_name(t: Values, places: NDArray[np.intp], width: int) -> Iterator[Note]:
    """A note if the truth looks like depth in metres.

    Scenes are nearer at the bottom of a picture, so depth decreases downwards and disparity grows;
    and disparity up to 100 px is a larger share of the width than depth up to 100 m.
    """
    known = np.isfinite(t)
    if np.count_nonzero(known) < ENOUGH_PIXELS:
        return
    values = t[known]
    if not values.min() > 0:
        return
    most = float(np.partition(values, (99 * values.size) // 100)[(99 * values.size) // 100])
    if most > likely_depth_m(width):
        return
    rows = (places // width)[known]
    third = (places[-1] // width + 1) / 3
    top, bottom = values[rows < third], values[rows >= 2 * third]
    few = min(top.size, bottom.size) < ENOUGH_PIXELS // 2
    if not few and median(top) > _TOP_TO_BOTTOM * median(bottom):
        yield Note(
            "quantity",
            "No quantity was said, so the maps are scored as disparity in px; they look like depth "
            "in metres.",
            arguments={"quantity": "depth"},
            numbers={"largest": most, "top": median(top), "bottom": median(bottom)},
        )
