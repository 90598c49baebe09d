"""Pairs of points for ordinal metrics: annotated pairs, else sampled ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from depthgauge.errors import Misuse, Unavailable
from depthgauge.geometry.pairs import (
    DepthPairs,
    NormalPairs,
    clear_depth_pairs,
    keyed_normal_pairs,
    sample_depth_pairs,
    sample_normal_pairs,
)
from depthgauge.regions._shared_maps import shared_map
from depthgauge.types import Map


def _check(*, count: int, seed: int) -> None:
    if count < 1:
        raise Misuse(f"count is {count} but must be at least 1")
    if seed < 0:
        raise Misuse(f"seed is {seed} but must not be negative")


@shared_map("depth_pairs", needs=("items",), cite="Chen et al. 2016; 2020", check=_check)
def depth_pairs(
    truth: Map, *, items: Mapping[str, Any], count: int = 1000, seed: int = 0
) -> DepthPairs:
    """Pairs of pixels, one of which is deeper.

    All pairs that come with the sample (`relative_depth`); otherwise `count` pairs from its true
    depth, half of them anywhere and half on one row, drawn with `seed`; never two equal depths.
    """
    if "relative_depth" in items:
        return np.asarray(items["relative_depth"], np.int32).reshape(-1, 5)
    if "depth" not in items:
        raise Unavailable(
            "shared map 'depth_pairs' needs one of relative_depth, depth; this sample has none "
            "of them."
        )
    return sample_depth_pairs(items["depth"], count, seed)


def _check_margin(*, margin_percent: float, count: int, seed: int) -> None:
    _check(count=count, seed=seed)
    if not 0 <= margin_percent < math.inf:
        raise Misuse(f"margin_percent is {margin_percent:g} but must be 0 or more")


@shared_map(
    "clear_pairs",
    provides="depth_pairs",
    needs=("items",),
    cite="Chen et al. 2016; 2020",
    check=_check_margin,
)
def clear_pairs(
    truth: Map,
    *,
    items: Mapping[str, Any],
    margin_percent: float = 1.0,
    count: int = 1000,
    seed: int = 0,
) -> DepthPairs:
    """Pairs of pixels, one of which is clearly deeper: without ties.

    As `depth_pairs`, but the true depths of a pair differ by at least `margin_percent` of the
    smaller one. Smaller differences come from rounding and from the tolerance of whatever made the
    truth; an exact estimate would get them wrong by chance. Pairs that come with a sample and have
    an end without true depth are all used.
    """
    if "relative_depth" not in items:
        if "depth" not in items:
            raise Unavailable(
                "shared map 'clear_pairs' needs one of relative_depth, depth; this sample has none "
                "of them."
            )
        return sample_depth_pairs(items["depth"], count, seed, margin_percent)
    pairs = np.asarray(items["relative_depth"], np.int32).reshape(-1, 5)
    if "depth" not in items:
        return pairs
    return clear_depth_pairs(pairs, items["depth"], margin_percent)


@shared_map("normal_pairs", needs=("items",), cite="Chen et al. 2020", check=_check)
def normal_pairs(
    truth: Map, *, items: Mapping[str, Any], count: int = 100, seed: int = 0
) -> NormalPairs:
    """Pairs of pixels on planes that are parallel, orthogonal, or neither.

    All pairs that come with the sample (`relative_normals`); otherwise `count` pairs of each
    relation, drawn with `seed` on its `planes` with known relations (`plane_relations`). Each pair
    has a key, by which a metric takes equal numbers of each relation from a dataset.
    """
    if "relative_normals" in items:
        return keyed_normal_pairs(items["relative_normals"], seed)
    if "planes" not in items or "plane_relations" not in items:
        raise Unavailable(
            "shared map 'normal_pairs' needs relative_normals, or planes and plane_relations; "
            "this sample has neither."
        )
    return sample_normal_pairs(items["planes"], items["plane_relations"], count, seed)
