"""Fine structures of the truth: the shared map, and its parts as regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from depthgauge.geometry._checks import need_gaps, need_jump, need_length
from depthgauge.geometry.discontinuities.edges import front
from depthgauge.geometry.discontinuities.structures import (
    Structures,
    find_structures,
    structures_from_masks,
)
from depthgauge.regions._region import region
from depthgauge.regions._shared_maps import shared_map
from depthgauge.regions.objects import mask_of
from depthgauge.types import Map, Mask

_CITE = "Honauer 2019, 4.2.3"


def _check(
    *,
    jump: float,
    reach: int,
    width: int = 0,
    least: int = 0,
    gaps: str = "open",
    name: str = "",
) -> None:
    need_jump(jump)
    need_length("reach", reach)
    need_length("width", width)
    need_length("least", least)
    need_gaps(gaps)


@shared_map("structures", needs=("quantity",), cite=_CITE, revision=2, check=_check)
def structures(
    truth: Map,
    *,
    quantity: str,
    jump: float = 1.0,
    width: int = 10,
    reach: int = 10,
    least: int = 5,
    gaps: str = "background",
) -> Structures:
    """Thin parts of the foreground, with the background around them.

    A fine structure M_r is at most `width` px wide: along a row, a column or a diagonal there is a
    rise of more than `jump` (px of disparity and of the length of flow, m of depth) on one side and
    the opposite fall on the other. It may be slanted. It must stand out from anything wider by
    three quarters of `width`, so that the corners of large objects do not count. A part that
    touches the image's border has only one edge and is not a fine structure. The surroundings M_s
    are the pixels within `reach` px that are behind it by more than `jump`.

    With `gaps` = `background`, missing truth in a row counts as what is behind, as in `edges`; with
    `open`, a part that touches it has only one edge. A structure of fewer than `least` px within
    `reach` of missing truth is a speck of the measurement and does not count.

    For light fields use `structures:0.1`.
    """
    order = front(truth, quantity)
    return find_structures(
        truth, order, jump=jump, width=width, reach=reach, least=least, gaps=gaps
    )


@shared_map(
    "structures_from_views",
    provides="structures",
    needs=("right_disparity",),
    of=("disparity",),
    cite=_CITE,
    check=_check,
)
def from_views(
    truth: Map,
    *,
    right_disparity: Map,
    jump: float = 1.0,
    width: int = 10,
    reach: int = 10,
    least: int = 5,
) -> Structures:
    """Fine structures of a truth with gaps, if the sample also has that of the right view.

    Like `structures`, but what the right view shows between the two pixels beside a gap, and behind
    both, counts as what the gap hides.
    """
    return find_structures(
        truth,
        truth,
        jump=jump,
        width=width,
        reach=reach,
        least=least,
        right_disparity=right_disparity,
    )


@shared_map(
    "structures_from_mask",
    provides="structures",
    needs=("quantity", "items"),
    cite=_CITE,
    check=_check,
)
def from_mask(
    truth: Map,
    *,
    quantity: str,
    items: Mapping[str, Any],
    name: str,
    jump: float = 0.0,
    reach: int = 10,
) -> Structures:
    """Fine structures whose mask the sample has: `<name>_mask`.

    Their surroundings are the sample's `<name>_surrounding_mask`; without it, they are the pixels
    within `reach` px that are behind the nearest pixel of a structure by more than `jump`.
    """
    mask = mask_of(items, name, truth)
    given = f"{name}_surrounding"
    around = mask_of(items, given, truth) if f"{given}_mask" in items else None
    order = front(truth, quantity)
    return structures_from_masks(mask, around, truth, order, jump=jump, reach=reach)


@region("fine_structures", needs=("structures",), cite=_CITE)
def fine_structures(truth: Map, *, structures: Structures) -> Mask:
    """Pixels of fine structures (M_r)."""
    return structures.mask


@region("fine_surroundings", needs=("structures",), cite=_CITE)
def fine_surroundings(truth: Map, *, structures: Structures) -> Mask:
    """Background around fine structures (M_s), where they may look fatter than they are."""
    return structures.surrounding
