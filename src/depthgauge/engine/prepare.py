"""From what was read to what is compared: sizes, ranges, alignment, regions."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np

from depthgauge.benchmarks import Protocol
from depthgauge.engine.measure import Prepared
from depthgauge.errors import Unavailable, WrongShape
from depthgauge.geometry.alignment import apply_alignment, fit_alignment
from depthgauge.geometry.filling import fill
from depthgauge.geometry.resizing import pad_border, resize, subsample_truth
from depthgauge.metrics.moments import LARGEST
from depthgauge.metrics.terms import SMALLEST
from depthgauge.regions import compute_regions
from depthgauge.types import Map, Mask


def prepare(
    protocol: Protocol,
    estimate: Map | None,
    truth: Map,
    items: Mapping[str, Any],
    given: Mapping[str, Mask] | None = None,
    declared: Collection[str] = (),
) -> tuple[Prepared, dict[str, str]]:
    """Everything that the metrics need, and why some regions are not to be had here.

    Args:
        protocol: Says what is done.
        estimate: As read; None where there is none, which counts as all missing.
        truth: As read, full size.
        items: What else the sample has (images, masks, labels, rig), by name.
        given: Masks that came with the call instead of the dataset.
        declared: Masks and labels that other samples have; a region of them is left out here.

    Returns:
        The prepared maps, and region -> reason for those that this sample cannot give.
    """
    given = given or {}
    truth = limit_truth(protocol, truth, items)
    texts = {n: t for n, t in protocol.region_texts.items() if n not in given}
    resolved = compute_regions(
        {**protocol.regions, **texts},
        truth,
        ChainMap({f"{name}_mask": mask for name, mask in given.items()}, items),  # type: ignore[arg-type]  # only read
        quantity=protocol.quantity,
        declared=declared,
    )
    wanted = set(protocol.region_texts)
    masks = {n: m for n, m in {**given, **resolved.masks}.items() if n in wanted}
    factor = protocol.truth_scale
    if factor != 1:
        truth = subsample_truth(truth, factor, protocol.quantity)
        masks = {n: subsample_truth(m, factor, protocol.quantity) for n, m in masks.items()}
    estimate = _sized(protocol, estimate, truth)
    alignment = None
    if protocol.align.kind != "none":
        if protocol.align.fit_on not in masks:
            raise Unavailable(
                f"the alignment is fitted on '{protocol.align.fit_on}', which is not to be had: "
                f"{resolved.unavailable.get(protocol.align.fit_on, 'no such region')}"
            )
        alignment = fit_alignment(
            estimate,
            truth,
            masks[protocol.align.fit_on],
            kind=protocol.align.kind,
            space=protocol.align.space or _own_space(protocol.quantity),
            quantity=protocol.quantity,
        )
        estimate = apply_alignment(estimate, alignment, protocol.quantity)
    if protocol.estimate.clip is not None:
        least, most = (np.float32(value) for value in protocol.estimate.clip)
        estimate = np.clip(estimate, least, most)
    low, high = estimate_range(protocol, items)
    if protocol.missing == "interpolate" and protocol.interpolate is not None:
        inside = (estimate >= np.float32(low)) & (estimate <= np.float32(high))
        estimate = np.where(inside, estimate, np.float32(np.nan))
        estimate = fill(estimate, protocol.interpolate, constant=protocol.interpolate_constant)
    prepared = Prepared(estimate, truth, masks, low, high, alignment, items)
    missing_here = {n: why for n, why in resolved.unavailable.items() if n in wanted}
    return prepared, missing_here


def estimate_range(protocol: Protocol, items: Mapping[str, Any]) -> tuple[float, float]:
    """Between which values an estimate counts as one."""
    low = SMALLEST if protocol.quantity == "depth" else -LARGEST
    allowed = protocol.estimate.range
    if allowed == "inputs" and protocol.quantity == "disparity" and "disparity_range" in items:
        allowed = items["disparity_range"]
    if isinstance(allowed, str):
        return low, LARGEST
    # The range of methods is given in pixels of the full size; a smaller truth has smaller values.
    scale = protocol.truth_scale if protocol.estimate.range == "inputs" else 1
    return max(low, float(allowed[0]) * scale), min(LARGEST, float(allowed[1]) * scale)


def limit_truth(protocol: Protocol, truth: Map, items: Mapping[str, Any]) -> Map:
    """The truth without the values and the border that the protocol leaves out."""
    limits = protocol.truth
    limited = limits.min_depth_m is not None or limits.max_depth_m is not None
    if protocol.crop or limited or protocol.quantity == "depth":
        truth = np.array(truth, np.float32)
    if protocol.quantity == "depth":
        low = max(limits.min_depth_m or 0.0, SMALLEST)
        high = LARGEST if limits.max_depth_m is None else limits.max_depth_m
        truth[~((truth >= np.float32(low)) & (truth <= np.float32(high)))] = np.nan
    elif limited:
        truth[~_depth_between(truth, limits.min_depth_m, limits.max_depth_m, items)] = np.nan
    if n := protocol.crop:
        truth[:n] = truth[-n:] = np.nan
        truth[:, :n] = truth[:, -n:] = np.nan
    return truth


def _depth_between(
    disparity: Map, low: float | None, high: float | None, items: Mapping[str, Any]
) -> Mask:
    from depthgauge.geometry.disparity import depth_from_disparity

    if "rig" not in items:
        raise Unavailable("a depth range on disparity needs the rig, which this sample lacks.")
    rig = items["rig"]
    focal = rig.cameras["left"].focal_px[0]
    depth = depth_from_disparity(disparity, focal, rig.baseline_m, rig.principal_offset_px)
    return np.asarray((depth >= (low or 0.0)) & (depth <= (high or np.inf)))


def _sized(protocol: Protocol, estimate: Map | None, truth: Map) -> Map:
    """The estimate at the truth's size; a cropped one gets its border back, as missing."""
    if estimate is None:
        return np.full(truth.shape, np.nan, np.float32)
    if estimate.ndim != truth.ndim or estimate.shape[2:] != truth.shape[2:]:
        raise WrongShape(
            f"the estimate is {'x'.join(map(str, estimate.shape))} but the truth is "
            f"{'x'.join(map(str, truth.shape))}; is it a map of {protocol.quantity}?"
        )
    n = protocol.crop
    inner = tuple(size - 2 * n for size in truth.shape[:2])
    if n and estimate.shape[:2] == inner:
        return pad_border(estimate, n)
    return resize(estimate, truth.shape[:2], protocol.estimate_resize, quantity=protocol.quantity)


def _own_space(quantity: str) -> Literal["depth", "disparity"]:
    return "depth" if quantity == "depth" else "disparity"
