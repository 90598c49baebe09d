"""Turns what was read into what is compared: sizes, ranges, alignment, regions."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.engine.scoring.aligning import aligned_map
from depthgauge.engine.scoring.layered import LAYERS, SCORED, comparison
from depthgauge.engine.scoring.measure import PreparedSample
from depthgauge.errors import BadEstimate, Unavailable, WrongShape
from depthgauge.geometry.filling import fill
from depthgauge.geometry.layers import pick_layer
from depthgauge.geometry.resizing import pad_border, resize, subsample_truth
from depthgauge.metrics.terms import LARGEST, SMALLEST
from depthgauge.quantities import QUANTITIES, Quantity
from depthgauge.regions import SampleMaps, SampleRegions, compute_regions
from depthgauge.regions.objects import objects_of
from depthgauge.types import Estimate, Map, Mask, is_known, overlaid

FOCAL = "estimate_focal_px"
"""The name under which metrics get an estimate's focal length."""
PART = "estimate_"
"""Before the name of a part of an estimate that metrics need: `estimate_confidence`."""


@dataclass(frozen=True)
class PreparedTruth:
    """Everything that scoring one part of a sample needs and no estimate changes."""

    truth: Map
    """At the size at which it is compared."""
    masks: Mapping[str, Mask]
    regions: SampleRegions
    """Says why some regions are not among the masks."""
    items: Mapping[str, Any]
    low: float
    high: float
    """Estimates outside low..high are missing."""
    factor: int = 1
    """How many of its pixels are one of the plain truth along each axis."""
    part: str = ""
    """Which part of the quantity; empty: the main map."""


def prepare_truth(
    protocol: Protocol,
    truth: Map,
    items: Mapping[str, Any],
    given: Mapping[str, Mask] | None = None,
    declared: Collection[str] = (),
    resolution: str = "",
    factor: int = 1,
    part: str = "",
) -> PreparedTruth:
    """The truth's side of a comparison: made once, used for every estimate of the sample.

    Args:
        protocol: Says what is done.
        truth: As read, full size.
        items: What else the sample has (images, masks, labels, rig), by name.
        given: Masks that came with the call instead of the dataset.
        declared: Masks and labels that other samples have; a region that uses them is left out
            here.
        resolution: The resolution whose regions are computed; empty for the plain truth.
        factor: How many of the truth's pixels are one of the plain truth along each axis.
        part: Which part of the quantity the truth is; empty for the main map.
    """
    quantity = _rules(protocol, part)
    quantity.main.check(truth, part or quantity.name)
    full = limit_truth(protocol, truth, items, factor=factor, part=part)
    things = SampleMaps(full, items, quantity.name, protocol.derived)
    texts = protocol.region_texts_at(resolution, part)
    found = _regions(protocol, quantity.name, texts, full, items, given or {}, declared, things)
    masks = {name: mask for name, mask in found.masks.items() if name in texts}
    if protocol.truth_scale != 1:
        masks = {
            name: subsample_truth(mask, protocol.truth_scale, quantity.name)
            for name, mask in masks.items()
        }
    if protocol.align.kind != "none" and protocol.align.fit_on not in masks:
        where = protocol.align.fit_on
        why = found.unavailable.get(where, "there is no such region")
        raise Unavailable(
            f"the alignment is fitted on '{where}', which cannot be computed here: {why}"
        )
    low, high = estimate_range(protocol, items, part)
    if factor > 1 and protocol.resize_values == "scaled" and quantity.main.resize == "x":
        low, high = max(factor * low, -LARGEST), min(factor * high, LARGEST)
    known = overlaid({"quantity": quantity.name}, things, items)
    compared = scale_truth(protocol, full, part)
    return PreparedTruth(compared, masks, found, known, low, high, factor, part)


def _rules(protocol: Protocol, part: str) -> Quantity:
    """The quantity whose rules apply to a part."""
    return QUANTITIES[protocol.quantity].of_part(part)


def prepare(
    protocol: Protocol, given: Map | Estimate | None, ready: PreparedTruth
) -> PreparedSample:
    """Estimate and truth as the protocol compares them; no estimate counts as all missing."""
    truth, masks = ready.truth, ready.masks
    quantity = _rules(protocol, ready.part)
    items = _with_estimate(protocol, given, ready)
    found = _map_of(protocol, given, ready)
    estimate = fitted = fit_size(protocol, found, truth, ready.factor, ready.part)
    if quantity.positive and protocol.align.kind in ("median", "scale"):
        # A depth that is not positive is not valid; only a shift can make it so.
        estimate = np.where(estimate > 0, estimate, np.float32(np.nan))
    estimate, alignment = aligned_map(protocol, quantity, estimate, truth, masks)
    if protocol.estimate.clip is not None:
        least, most = (np.float32(value) for value in protocol.estimate.clip)
        estimate = np.clip(estimate, least, most)
    declared = quantity.error
    error = None if declared == "matched" else declared
    prepared = PreparedSample(
        estimate, truth, masks, ready.low, ready.high, alignment, items, error, fitted
    )
    if protocol.interpolate is not None and is_known(prepared.allowed).any():
        # If there is no estimate at all, nothing is filled in; otherwise leaving one out could
        # help.
        # Filled values are not checked against the allowed range, which is a rule for methods.
        filled = fill(prepared.allowed, protocol.interpolate, protocol.interpolate_constant)
        prepared = PreparedSample(
            filled, truth, masks, alignment=alignment, items=items, error=error, given=fitted
        )
    return prepared


def _map_of(protocol: Protocol, given: Map | Estimate | None, ready: PreparedTruth) -> Map | None:
    """The map of a part; None where there is no estimate of it."""
    part = ready.part
    if not isinstance(given, Estimate):
        return None if part else given
    declared = QUANTITIES[given.quantity]
    items = {declared.main.name: given.values, **given.parts}
    if not part and declared.main.is_stack and SCORED in ready.items:
        scored = subsample_truth(ready.items[SCORED], protocol.truth_scale, protocol.quantity)
        return pick_layer(_sized_layers(protocol, given, ready), scored)
    if part and declared.part(part).name not in items:
        return None
    return declared.map_of(items, part)


def needs_focal(protocol: Protocol) -> bool:
    """Whether a score needs the focal length of the estimate's camera."""
    return any(FOCAL in spec.metric.needs for spec in protocol.specs)


def _with_estimate(
    protocol: Protocol, given: Map | Estimate | None, ready: PreparedTruth
) -> Mapping[str, Any]:
    """What metrics may need, including the other parts of the estimate."""
    if QUANTITIES[protocol.quantity].main.is_stack:
        layers = comparison(
            protocol,
            partial(_sized_layers, protocol, given, ready) if isinstance(given, Estimate) else None,
            ready.items,
            (ready.low, ready.high),
        )
        return overlaid({LAYERS: layers}, ready.items)
    found: dict[str, Any] = {}
    if needs_focal(protocol):
        found[FOCAL] = math.nan if given is None else _focal_px(protocol, given, ready.truth)
    declared = QUANTITIES[protocol.quantity]
    parts: Mapping[str, Any] = {}
    if isinstance(given, Estimate):
        parts = {declared.main.name: given.values, **given.parts}
    for part in parts_needed(protocol):
        lost = part not in parts and declared.part(part).required
        if given is None or lost:  # a failed sample counts
            found[f"{PART}{part}"] = np.full(ready.truth.shape[:2], np.nan, np.float32)
        elif part in parts:
            found[f"{PART}{part}"] = _sized_part(protocol, part, parts[part], ready)
    return overlaid(found, ready.items) if found else ready.items


def parts_needed(protocol: Protocol) -> tuple[str, ...]:
    """The maps besides the main one that scores need of an estimate, such as its confidence."""
    needs = dict.fromkeys(need for spec in protocol.specs for need in spec.metric.needs)
    return tuple(n.removeprefix(PART) for n in needs if n.startswith(PART) and n != FOCAL)


def _sized_part(protocol: Protocol, name: str, values: Map, ready: PreparedTruth) -> Map:
    """A map of an estimate at the truth's size; a cropped one gets its border back."""
    part = QUANTITIES[protocol.quantity].part(name)
    part.check(values, name)
    n = protocol.border.within(*ready.truth.shape[:2])
    if n and tuple(size + 2 * n for size in values.shape[:2]) == ready.truth.shape[:2]:
        values = pad_border(values, n)
    if values.shape[:2] == ready.truth.shape[:2]:
        return values
    scaled = protocol.resize_values == "scaled" and part.resize != "keep"
    like = part.like or protocol.quantity
    size = ready.truth.shape[:2]
    return resize(values, size, protocol.estimate_resize, quantity=like, scale_values=scaled)


def _sized_layers(protocol: Protocol, given: Estimate, ready: PreparedTruth) -> Map:
    """All layers of an estimate at the truth's size."""
    stack = given.values
    if stack.shape[1:3] == ready.truth.shape[:2]:
        return stack
    return np.stack([fit_size(protocol, layer, ready.truth, ready.factor) for layer in stack])


def _focal_px(protocol: Protocol, given: Map | Estimate, truth: Map) -> float:
    """The estimate's focal length in pixels of the truth, or the one that the protocol gives."""
    parts: Mapping[str, Any] = given.parts if isinstance(given, Estimate) else {}
    if "focal_px" in parts:
        height, width = (given.values if isinstance(given, Estimate) else given).shape[:2]
        enlarged = (truth.shape[0] / height + truth.shape[1] / width) / 2
        return float(float(parts["focal_px"]) * enlarged)
    if protocol.estimate.focal_px is None:
        extras = given.extras if isinstance(given, Estimate) else {}
        where = extras.get("path", "the estimate")
        raise BadEstimate(
            f"{where}: has no focal length, which {protocol.id} needs; store one with the depth, "
            "or give one for all with --focal."
        )
    return float(protocol.estimate.focal_px)


def _regions(
    protocol: Protocol,
    quantity: str,
    wanted: Mapping[str, str],
    truth: Map,
    items: Mapping[str, Any],
    given: Mapping[str, Mask],
    declared: Collection[str],
    things: SampleMaps,
) -> SampleRegions:
    """The masks of the wanted regions at the truth's full size, and why some are missing."""
    texts = {name: text for name, text in wanted.items() if name not in given}
    found = compute_regions(
        {**protocol.regions, **texts},
        truth,
        overlaid({f"{name}_mask": mask for name, mask in given.items()}, items),
        quantity=quantity,
        declared=declared,
        things=things,
    )
    why = {name: text for name, text in found.unavailable.items() if name in wanted}
    return SampleRegions({**given, **found.masks}, why, found.needs)


def estimate_range(
    protocol: Protocol, items: Mapping[str, Any], part: str = ""
) -> tuple[float, float]:
    """The range outside which an estimate counts as missing."""
    quantity = _rules(protocol, part)
    low = SMALLEST if quantity.positive else -LARGEST
    allowed = protocol.estimate.range
    if allowed == "inputs" and quantity.range_input in items:
        allowed = items[quantity.range_input]
    if isinstance(allowed, str):
        return low, LARGEST
    # The range of methods is given in pixels of the full size; a smaller truth has smaller values.
    scale = protocol.truth_scale if protocol.estimate.range == "inputs" else 1
    return max(low, float(allowed[0]) * scale), min(LARGEST, float(allowed[1]) * scale)


def limit_truth(
    protocol: Protocol,
    truth: Map,
    items: Mapping[str, Any],
    *,
    factor: int = 1,
    part: str = "",
) -> Map:
    """The truth without the values and the border that the protocol leaves out."""
    limits = protocol.truth
    if limits.cardboard:
        truth = _with_cardboard(truth, limits.cardboard, items)
    limited = limits.min_depth_m is not None or limits.max_depth_m is not None
    positive = _rules(protocol, part).positive
    if protocol.crop or limited or positive:
        truth = np.array(truth, np.float32)  # a copy: the sample's own map stays as it is
    if positive:
        low = max(limits.min_depth_m or 0.0, SMALLEST)
        high = LARGEST if limits.max_depth_m is None else limits.max_depth_m
        truth[~_between(truth, np.float32(low), np.float32(high), limits.limits)] = np.nan
    elif limited:
        truth[~_depth_between(truth, protocol, items)] = np.nan
    if protocol.crop:
        _crop(protocol, truth, factor)
    return truth


def _crop(protocol: Protocol, truth: Map, factor: int) -> None:
    """Makes the truth outside of the crop unknown, in place."""
    height, width = truth.shape[:2]
    if protocol.box is not None:
        rows, columns = protocol.box.within(height // factor, width // factor)
        top, bottom = rows.start * factor, rows.stop * factor
        left, right = columns.start * factor, columns.stop * factor
    else:
        n = protocol.border.within(height // factor, width // factor) * factor
        if 2 * n >= min(height, width):
            size = f"{width}x{height}"
            raise WrongShape(f"crop = {n} leaves nothing of a truth of {size}; crop less.")
        top, bottom, left, right = n, height - n, n, width - n
    truth[:top] = truth[bottom:] = np.nan
    truth[:, :left] = truth[:, right:] = np.nan


def _with_cardboard(truth: Map, name: str, items: Mapping[str, Any]) -> Map:
    """The truth with one value for each object of that name that has none."""
    from depthgauge.geometry.cardboard import fill_cardboard

    return fill_cardboard(truth, objects_of(items, name, truth, pieces=True))


def _between(values: Map, low: Any, high: Any, limits: str) -> Mask:
    """Which values are inside the limits; NaN is not."""
    if limits == "open":
        return np.asarray((values > low) & (values < high))
    return np.asarray((values >= low) & (values <= high))


def _depth_between(disparity: Map, protocol: Protocol, items: Mapping[str, Any]) -> Mask:
    from depthgauge.geometry.disparity import depth_from_disparity

    if "rig" not in items or "left" not in items["rig"].cameras:
        raise Unavailable("a depth range on disparity needs a left camera, which is missing here.")
    rig = items["rig"]
    focal = rig.cameras["left"].focal_px[0]
    depth = depth_from_disparity(disparity, focal, rig.baseline_m, rig.principal_offset_px)
    said = protocol.truth
    high = np.inf if said.max_depth_m is None else said.max_depth_m
    return _between(depth, said.min_depth_m or 0.0, high, said.limits)


def scale_truth(protocol: Protocol, truth: Map, part: str = "") -> Map:
    """The truth at the size at which it is compared."""
    return subsample_truth(truth, protocol.truth_scale, _rules(protocol, part).name)


def fit_size(
    protocol: Protocol, estimate: Map | None, truth: Map, factor: int = 1, part: str = ""
) -> Map:
    """The estimate at the truth's size; a cropped one gets its border back, as missing."""
    if estimate is None:
        return np.full(truth.shape, np.nan, np.float32)
    quantity = _rules(protocol, part)
    quantity.main.check(estimate, part or quantity.name)
    plain = tuple(size // factor for size in truth.shape[:2])
    n = protocol.border.within(*plain)
    inner = tuple(size - 2 * n for size in plain)
    if n and estimate.shape[:2] == inner:
        estimate = pad_border(estimate, n)
    elif len(protocol.resolutions) > 1 and estimate.shape[:2] != plain:
        # It is enlarged to the finer truth; maps of any other size are still wrong.
        hint = f", or {inner[1]}x{inner[0]} without its border" if n else ""
        size = f"{estimate.shape[1]}x{estimate.shape[0]}"
        raise WrongShape(f"the estimate is {size} but must be {plain[1]}x{plain[0]}{hint}.")
    return resize(
        estimate,
        truth.shape[:2],
        protocol.estimate_resize,
        quantity=quantity.name,
        scale_values=protocol.resize_values == "scaled",
    )
