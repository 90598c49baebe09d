"""Borders between labelled surfaces as lines, traced along pixel edges between junctions.

An edge between two pixels joins two pixel corners. Lines start and end at corners where more than
two edges meet, and where the kind of border changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from depthgauge.types import Map, Mask

FOLD, SHARP, SMOOTH = 0, 1, 2
"""Kinds of borders; negative for an occlusion whose left side is closer."""
_SHORTEST_RUN = 5
"""In px; a shorter stretch of one kind takes the kind of its neighbour."""


@dataclass(frozen=True, slots=True, eq=False)
class Border:
    """One line between two surfaces."""

    corners: NDArray[np.float64]
    """(n, 2) x, y of the pixel corners along it; a closed line ends at its first corner."""
    kind: int
    """`FOLD`, or `SHARP` or `SMOOTH` with the sign of the closer side: right is positive."""
    tied: tuple[bool, bool]
    """Whether its start and its end are shared with other lines."""

    @property
    def loose(self) -> bool:
        """Whether it touches no other line and is not a loop."""
        return not any(self.tied) and not self.closed

    @property
    def closed(self) -> bool:
        """Whether it is a loop that touches no other line."""
        return bool((self.corners[0] == self.corners[-1]).all()) and not any(self.tied)


@dataclass(frozen=True, slots=True)
class _Edges:
    """All edges; forwards is down or to the right."""

    start: list[int]
    end: list[int]
    kind: list[int]
    """As seen when walking forwards."""
    at: dict[int, list[int]]
    """The edges that meet at each corner."""


def trace_borders(
    labels: NDArray[np.int32], steps: tuple[Map, Map], smooth: tuple[Mask, Mask]
) -> list[Border]:
    """The lines between surfaces.

    Args:
        labels: (H, W) numbers of surfaces; a border to 0 does not count.
        steps: Depth steps to the right neighbour and to the one below. 0 is a fold between two
            surfaces; a surface that hides a part of itself has steps inside.
        smooth: Whether the closer surface turns away, at the same places.
    """
    edges = _edges(labels, steps, smooth)
    width = labels.shape[1] + 1
    return [
        border
        for nodes, kinds, tied in _chains(edges)
        for border in _split(nodes, kinds, tied, width)
    ]


def _edges(labels: NDArray[np.int32], steps: tuple[Map, Map], smooth: tuple[Mask, Mask]) -> _Edges:
    width = labels.shape[1] + 1
    starts, ends, kinds = [], [], []
    # Walking down, the pixel to the right in the image is on the left hand.
    sides = ((labels[:, :-1], labels[:, 1:], -1, width), (labels[:-1], labels[1:], 1, 1))
    for (here, there, sign, length), step, turns in zip(sides, steps, smooth, strict=True):
        y, x = np.nonzero(((here != there) | (step != 0)) & (here > 0) & (there > 0))
        corner = y * width + x + (1 if length == width else width)
        nearer = -sign * np.sign(step[y, x]).astype(int)  # a step up to the right: left is closer
        starts.append(corner)
        ends.append(corner + length)
        kinds.append(nearer * np.where(turns[y, x], SMOOTH, SHARP))
    start, end, kind = (np.concatenate(part).tolist() for part in (starts, ends, kinds))
    at: dict[int, list[int]] = {}
    for index, (a, b) in enumerate(zip(start, end, strict=True)):
        at.setdefault(a, []).append(index)
        at.setdefault(b, []).append(index)
    return _Edges(start, end, kind, at)


def _chains(edges: _Edges) -> Iterator[tuple[list[int], list[int], tuple[bool, bool]]]:
    """Corners and kinds along the lines between junctions, then loops without junctions."""
    used = [False] * len(edges.start)
    ends = [corner for corner, met in edges.at.items() if len(met) != 2]
    for corner in ends:
        for edge in edges.at[corner]:
            if not used[edge]:
                nodes, kinds = _walk(edges, used, corner, edge)
                tied = len(edges.at[nodes[0]]) > 2, len(edges.at[nodes[-1]]) > 2
                yield nodes, kinds, tied
    for edge in range(len(used)):
        if not used[edge]:
            nodes, kinds = _walk(edges, used, edges.start[edge], edge)
            yield *_from_a_change(nodes, kinds), (False, False)


def _walk(edges: _Edges, used: list[bool], corner: int, edge: int) -> tuple[list[int], list[int]]:
    nodes, kinds = [corner], []
    while True:
        used[edge] = True
        forwards = edges.start[edge] == corner
        corner = edges.end[edge] if forwards else edges.start[edge]
        nodes.append(corner)
        kinds.append(edges.kind[edge] if forwards else -edges.kind[edge])
        onward = [e for e in edges.at[corner] if not used[e]]
        if len(edges.at[corner]) != 2 or not onward:
            return nodes, kinds
        edge = onward[0]


def _from_a_change(nodes: list[int], kinds: list[int]) -> tuple[list[int], list[int]]:
    """The loop, started where its kind changes, so that no stretch is cut in two."""
    for i in range(1, len(kinds)):
        if kinds[i] != kinds[i - 1]:
            return nodes[i:-1] + nodes[: i + 1], kinds[i:] + kinds[:i]
    return nodes, kinds


def _split(
    nodes: list[int], kinds: list[int], tied: tuple[bool, bool], width: int
) -> Iterator[Border]:
    row, column = np.divmod(np.array(nodes), width)
    corners = np.stack([column, row], axis=-1) - 0.5
    loop = nodes[0] == nodes[-1] and not any(tied)
    runs = _runs(kinds)
    for first, last, kind in runs:
        whole = loop and len(runs) == 1
        begins = tied[0] if first == 0 and not loop else not whole
        ends = tied[1] if last == len(kinds) and not loop else not whole
        yield Border(corners[first : last + 1], kind, (begins, ends))


def _runs(kinds: list[int]) -> list[tuple[int, int, int]]:
    """Stretches (first, last + 1, kind); short ones are absorbed by the longer neighbour."""
    change = [0, *(i for i in range(1, len(kinds)) if kinds[i] != kinds[i - 1]), len(kinds)]
    runs = [(a, b, kinds[a]) for a, b in pairwise(change)]
    while len(runs) > 1:
        sizes = [b - a for a, b, _ in runs]
        i = min(range(len(runs)), key=sizes.__getitem__)
        if sizes[i] >= _SHORTEST_RUN:
            break
        beside = [j for j in (i - 1, i + 1) if 0 <= j < len(runs)]
        runs[i] = (*runs[i][:2], runs[max(beside, key=sizes.__getitem__)][2])
        runs = _joined(runs)
    return runs


def _joined(runs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    found = runs[:1]
    for first, last, kind in runs[1:]:
        if kind == found[-1][2]:
            found[-1] = (found[-1][0], last, kind)
        else:
            found.append((first, last, kind))
    return found
