"""Discontinuities of the truth: the shared map, and its parts as regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from depthgauge.geometry._checks import need_gaps, need_jump, need_length, need_window
from depthgauge.geometry.discontinuities.edges import Edges, edges_from_mask, find_edges, front
from depthgauge.regions._region import region
from depthgauge.regions._shared_maps import shared_map
from depthgauge.regions.objects import objects_of
from depthgauge.types import Map, Mask

_CITE = "Honauer 2019, 4.2.2"


def _check(*, jump: float, reach: int, window: int, gaps: str = "open", name: str = "") -> None:
    need_jump(jump)
    need_length("reach", reach)
    need_window(window)
    need_gaps(gaps)


@shared_map("edges", needs=("quantity",), cite=_CITE, revision=2, check=_check)
def edges(
    truth: Map,
    *,
    quantity: str,
    jump: float = 1.0,
    reach: int = 10,
    window: int = 5,
    gaps: str = "background",
) -> Edges:
    """Depth discontinuities with both sides, each continued across the edge.

    Two 4-neighbours whose truth differs by more than `jump` (px of disparity and flow, m of depth)
    form a discontinuity, M_d. The nearby foreground M_f and the nearby background M_b are the
    pixels within `reach` px of the boundary on its two sides, so each is `reach` px wide; the side
    of the nearest pixel of M_d decides. In front is the larger disparity, the smaller depth, or the
    faster flow. The foreground map f continues the foreground into M_b, and the background map b
    continues the background into M_f, both linearly, by the gradient in the `window` around the
    pixel on the other side.

    Beside objects, measured truth is missing where the other camera does not see the background.
    With `gaps` = `background`, a gap in a row counts as what is behind: as the farther of the two
    pixels beside it, or as a hole in a surface if the slopes beside it lead across. With `open`,
    missing truth is never part of a discontinuity.

    For light fields, whose disparities are between neighbouring views, use `edges:0.1`.
    """
    order = front(truth, quantity)
    return find_edges(truth, order, jump=jump, reach=reach, window=window, gaps=gaps)


@shared_map(
    "edges_from_views",
    provides="edges",
    needs=("right_disparity",),
    of=("disparity",),
    cite=_CITE,
    check=_check,
)
def from_views(
    truth: Map, *, right_disparity: Map, jump: float = 1.0, reach: int = 10, window: int = 5
) -> Edges:
    """Discontinuities of a truth with gaps, if the sample also has that of the right view.

    Like `edges`, but what the right view shows between the two pixels beside a gap, and behind
    both, counts as what the gap hides.
    """
    return find_edges(
        truth, truth, jump=jump, reach=reach, window=window, right_disparity=right_disparity
    )


@shared_map(
    "edges_from_mask",
    provides="edges",
    needs=("quantity", "items"),
    cite=_CITE,
    revision=2,
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
    window: int = 5,
) -> Edges:
    """Discontinuities at the outlines of objects whose mask the sample has.

    Like `edges`, but a discontinuity is where one of two neighbours is in `<name>_mask` and the
    other is not, or where they have two labels of `<name>_labels`, and their truth differs by more
    than `jump`. The truth decides which of the two is in front.
    """
    objects = objects_of(items, name, truth)
    order = front(truth, quantity)
    return edges_from_mask(objects, truth, order, jump=jump, reach=reach, window=window)


@region("jump_edges", needs=("edges",), cite=_CITE)
def jump_edges(truth: Map, *, edges: Edges) -> Mask:
    """Pixels of discontinuities (M_d): both sides of every jump, without their surroundings.

    The region `discontinuities` is wider and has its own parameters.
    """
    return edges.edge


@region("near_foreground", needs=("edges",), cite=_CITE)
def near_foreground(truth: Map, *, edges: Edges) -> Mask:
    """Foreground near a discontinuity (M_f), where it may look thinner than it is."""
    return edges.foreground


@region("near_background", needs=("edges",), cite=_CITE)
def near_background(truth: Map, *, edges: Edges) -> Mask:
    """Background near a discontinuity (M_b), where the foreground may look fatter than it is."""
    return edges.background
