"""A scale for each continuous surface, so that the closer side of each occlusion is closer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from depthgauge.annotate.reconstruct._depth_pairs import Group, Pairs, groups_of, order_pairs
from depthgauge.annotate.reconstruct._order_cycles import GivenUp, Orders, cheapest_to_give_up
from depthgauge.annotate.reconstruct.segmentation import FOLD, Segmentation
from depthgauge.errors import Misuse
from depthgauge.types import Map, Mask

Array = NDArray[np.float64]

_EQUAL = 1e-6
"""A smaller relative difference in depth counts as zero."""
_HELD = 1e-3
"""The share of the separation from which an order holds; slack may have taken the rest."""
_CLEARLY = 0.02
"""Share of the depth: being behind by more cannot be explained by drifting normals."""
_SEVERAL = 3
"""If fewer pairs of a stroke are behind, it is an accident of pixels."""
_NAMED = 12
"""At most this many contradictions are explained; the number of the others is given."""
_STOPPED = (
    "The depth orders contradict each other in too many ways to find the fewest to give up; those "
    "that were found first are given up. Remove or reverse some of these strokes."
)
_NEAR_PX = 3
"""This close to another occlusion, what lies beyond a line may belong to neither side."""


@dataclass(frozen=True)
class ScaleOptions:
    """How far apart surfaces are kept."""

    separation: float = 0.01
    """The smallest difference in depth at an occlusion. The geometric mean of a surface's depth is
    1 before scaling, so this is about one percent of its depth."""
    least_scale: float = 1.0
    """The smallest scale of a surface."""
    left_out: float = 0.1
    """If not all orders can hold: the share of each stroke's pixels, the most demanding ones, that
    is left out. Orders count as contradictory only if that does not help."""

    def __post_init__(self) -> None:
        for name in ("separation", "least_scale"):
            value = getattr(self, name)
            if not 0 < value < math.inf:
                raise Misuse(f"{name} is {value:g}; it must be positive and finite")
        if not 0 <= self.left_out < 1:
            raise Misuse(f"left_out is {self.left_out:g}; it is a share, from 0 to below 1")


@dataclass(frozen=True)
class SurfaceScales:
    """The scale of each continuous surface, and the orders that cannot hold."""

    scales: Mapping[int, float]
    violated: tuple[str, ...]
    """Ids of the strokes whose order does not hold, in the order of the strokes."""
    notes: tuple[str, ...]


def surface_scales(
    depth: Map,
    segmentation: Segmentation,
    strokes: tuple[str, ...],
    options: ScaleOptions | None = None,
    late: Callable[[], bool] | None = None,
) -> SurfaceScales:
    """Solves the linear program of eq. (3)-(5); with the least slack if orders contradict.

    Args:
        depth: (H, W), each surface up to its scale.
        segmentation: Its occlusions say which side is closer.
        strokes: Ids of the strokes, as numbered by the segmentation.
        options: Separation and smallest scale.
        late: Asked during the search for contradictions, which ends early when it says yes.
    """
    settings = options or ScaleOptions()
    surfaces = [int(s) for s in np.unique(segmentation.continuous) if s > 0]
    pairs = order_pairs(segmentation, np.where(_junctions(segmentation), np.nan, depth))
    groups = groups_of(pairs)
    across = [g for g in groups if g.near != g.far]
    found = _solved(surfaces, across, settings)
    notes: list[str] = []
    left_out = found is None
    if found is None:
        # Lines are accurate to about a pixel, which matters where surfaces nearly touch.
        across = [g for g in groups_of(pairs, settings.left_out) if g.near != g.far]
        found = _solved(surfaces, across, settings)
        notes.append(
            f"The depth orders cannot all hold at every pixel; {100 * settings.left_out:g} % of "
            "each stroke, where surfaces touch or nearly touch, were left out."
        )
    given_up = None
    if found is None:
        given_up = _given_up(surfaces, across, late)
        held = [g for i, g in enumerate(across) if i not in given_up.orders]
        found = _solved(surfaces, held, settings)
        if not given_up.complete:
            notes.append(_STOPPED)
    if found is None:
        found = _with_slack(surfaces, across, settings)
    scales = dict(zip(surfaces, found.tolist(), strict=True))
    broken = [g for g in across if _margin(g, scales) < _HELD * settings.separation]
    partly = _partly_behind(pairs, scales, {g.stroke for g in broken}) if left_out else {}
    inside = [g for g in groups if g.near == g.far and _mostly_behind(g, pairs)]
    notes += [
        *_broken_notes(across, broken, given_up, scales, strokes),
        *_partly_notes(partly, strokes),
        *_inside_notes(inside, strokes),
    ]
    bad = sorted({g.stroke for g in [*broken, *inside]} | set(partly))
    return SurfaceScales(scales, tuple(strokes[s] for s in bad), tuple(notes))


def _junctions(segmentation: Segmentation) -> Mask:
    """Occlusion pixels near another stroke, for strokes that are mostly not near any."""
    from scipy import ndimage

    occlusion = segmentation.kind > FOLD
    stroke = np.where(occlusion, segmentation.stroke, -1)
    size = 2 * _NEAR_PX + 1
    highest = ndimage.maximum_filter(stroke, size)
    lowest = ndimage.minimum_filter(np.where(occlusion, stroke, np.iinfo(stroke.dtype).max), size)
    near: Mask = occlusion & ((highest != stroke) | (lowest != stroke))
    count = int(stroke.max(initial=-1)) + 1
    all_px = np.bincount(stroke[occlusion], minlength=count)
    near_px = np.bincount(stroke[near], minlength=count)
    near[near] = (2 * near_px < all_px)[stroke[near]]
    return near


def _partly_behind(
    pairs: Pairs, scales: Mapping[int, float], known: set[int]
) -> dict[int, tuple[int, int, float]]:
    """Strokes that hold except for what was left out: pairs clearly behind, all pairs, how far."""
    across = pairs.near != pairs.far
    near = np.array([scales[s] for s in pairs.near.tolist()]) * pairs.near_depth
    far = np.array([scales[s] for s in pairs.far.tolist()]) * pairs.far_depth
    behind = (near - far) / far
    found = {}
    for stroke in np.unique(pairs.stroke[across & (behind > _CLEARLY)]).tolist():
        there = behind[across & (pairs.stroke == stroke)]
        count = int(np.count_nonzero(there > _CLEARLY))
        if stroke not in known and count >= _SEVERAL:
            found[stroke] = (count, len(there), float(there.max()))
    return found


def _mostly_behind(group: Group, pairs: Pairs) -> bool:
    """Whether the closer side of a line within one surface is clearly behind along most of it."""
    at = (pairs.stroke == group.stroke) & (pairs.near == group.near) & (pairs.far == group.far)
    near, far = pairs.near_depth[at], pairs.far_depth[at]
    return bool(np.median((near - far) / far) > _CLEARLY)


def _solved(surfaces: list[int], groups: list[Group], options: ScaleOptions) -> Array | None:
    """Scales in the order of the surfaces; None if no scales satisfy all orders."""
    from scipy.optimize import linprog

    count = len(surfaces)
    if not groups:
        return np.full(count, options.least_scale)
    matrix, owner = _rows(surfaces, groups)
    limit = np.full(len(owner), -options.separation)
    bounds = [(options.least_scale, None)] * count
    plain = linprog(np.ones(count), matrix, limit, bounds=bounds, method="highs")
    return np.asarray(plain.x, np.float64) if plain.status == 0 else None


def _with_slack(surfaces: list[int], groups: list[Group], options: ScaleOptions) -> Array:
    """The least total slack first, then the least sum of scales with no more slack."""
    from scipy import sparse
    from scipy.optimize import linprog

    matrix, owner = _rows(surfaces, groups)
    count, rows = len(surfaces), len(owner)
    limit = np.full(rows, -options.separation)
    slack = sparse.csr_array((-np.ones(rows), (np.arange(rows), owner)), shape=(rows, len(groups)))
    wide = sparse.hstack([matrix, slack]).tocsr()
    bounds = [(options.least_scale, None)] * count + [(0.0, None)] * len(groups)
    cost = np.concatenate([np.zeros(count), np.ones(len(groups))])
    first = linprog(cost, wide, limit, bounds=bounds, method="highs")
    if first.status != 0:
        return np.full(count, options.least_scale)
    most = first.fun * (1 + 1e-6) + 1e-9
    capped = sparse.vstack([wide, sparse.csr_array(cost[None, :])]).tocsr()
    second = linprog(1.0 - cost, capped, np.append(limit, most), bounds=bounds, method="highs")
    best = second if second.status == 0 else first
    return np.asarray(best.x[:count], np.float64)


def _rows(surfaces: list[int], groups: list[Group]) -> tuple[object, NDArray[np.int64]]:
    """X_near z_near - X_far z_far of every binding pair, and the group of each row."""
    from scipy import sparse

    column = {surface: i for i, surface in enumerate(surfaces)}
    sizes = [len(g.near_depth) for g in groups]
    owner = np.repeat(np.arange(len(groups)), sizes)
    row = np.arange(len(owner))
    near = np.repeat([column[g.near] for g in groups], sizes)
    far = np.repeat([column[g.far] for g in groups], sizes)
    values = np.concatenate(
        [np.concatenate([g.near_depth for g in groups]), *[-g.far_depth for g in groups]]
    )
    places = (np.concatenate([row, row]), np.concatenate([near, far]))
    return sparse.csr_array((values, places), shape=(len(owner), len(surfaces))), owner


def _margin(group: Group, scales: Mapping[int, float]) -> float:
    """The smallest difference in depth by which the closer side is closer."""
    return float(
        (scales[group.far] * group.far_depth - scales[group.near] * group.near_depth).min()
    )


def _violation(group: Group, scales: Mapping[int, float]) -> float:
    """How far the closer side is behind, as a share of the far side's depth; negative: in front."""
    near = scales[group.near] * group.near_depth
    far = scales[group.far] * group.far_depth
    return float(((near - far) / far).max())


def _in_words(violation: float) -> str:
    if violation < _EQUAL:
        return "both sides come out equally far"
    return f"its closer side comes out behind by up to {100 * violation:.2g} % of the depth"


def _given_up(surfaces: list[int], groups: list[Group], late: Callable[[], bool] | None) -> GivenUp:
    """Which orders must not hold so that the others can: the shortest lines in all."""
    column = {surface: i for i, surface in enumerate(surfaces)}
    return cheapest_to_give_up(
        Orders(
            np.array([column[g.near] for g in groups]),
            np.array([column[g.far] for g in groups]),
            np.array([g.log_ratio for g in groups]),
            np.array([float(g.length) for g in groups]),
        ),
        late,
    )


def _broken_notes(
    groups: list[Group],
    broken: list[Group],
    given_up: GivenUp | None,
    scales: Mapping[int, float],
    strokes: tuple[str, ...],
) -> list[str]:
    notes: dict[tuple[int, ...], str] = {}
    place = {id(group): i for i, group in enumerate(groups)}
    for group in broken:
        cycle = (place[id(group)],) if given_up is None else given_up.cycle_of(place[id(group)])
        together = tuple(dict.fromkeys(groups[i].stroke for i in cycle))
        named = ", ".join(f"'{strokes[s]}'" for s in together)
        notes.setdefault(
            tuple(sorted(together)),
            f"The depth orders of stroke(s) {named} contradict each other; that of "
            f"'{strokes[group.stroke]}' does not hold: "
            f"{_in_words(_violation(group, scales))}. Check which sides are closer or, if the "
            "difference is small, the normals of these surfaces.",
        )
    texts = list(notes.values())
    more = len(texts) - _NAMED
    return texts if more <= 0 else [*texts[:_NAMED], f"{more} more contradictions of depth orders."]


def _partly_notes(
    partly: Mapping[int, tuple[int, int, float]], strokes: tuple[str, ...]
) -> list[str]:
    return [
        f"The depth order of stroke '{strokes[stroke]}' does not hold at {count} of its {of} "
        f"pixels, which were left out: its closer side comes out behind by up to "
        f"{100 * behind:.2g} % of the depth. Check which side is closer there."
        for stroke, (count, of, behind) in partly.items()
    ]


def _inside_notes(groups: list[Group], strokes: tuple[str, ...]) -> list[str]:
    return [
        f"Along stroke '{strokes[g.stroke]}' both sides are one surface, on which its closer side "
        "is behind; extend the line until it cuts the surface, reverse it, or change normals."
        for g in groups
    ]
