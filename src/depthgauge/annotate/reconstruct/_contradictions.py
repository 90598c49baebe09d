"""Which depth orders contradict each other: the shortest cycle of surfaces that cannot be."""

from __future__ import annotations

from dataclasses import dataclass

_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Edge:
    """A stroke says that `near` is closer than `far`."""

    near: int
    far: int
    stroke: int
    log_ratio: float
    """ln of the least factor between the scales of the far and the near surface."""


def contradiction(broken: Edge, edges: list[Edge]) -> tuple[int, ...]:
    """Strokes of the shortest cycle through an order that does not hold, that order's first.

    Around a cycle the least factors multiply; where the product is 1 or more, no scales do. Only
    the broken order itself where no cycle explains it (the separation then does).
    """
    best: dict[int, tuple[float, tuple[int, ...]]] = {
        broken.far: (broken.log_ratio, (broken.stroke,))
    }
    nodes = {edge.near for edge in edges} | {edge.far for edge in edges}
    for _ in range(len(nodes)):
        longer: dict[int, tuple[float, tuple[int, ...]]] = {}
        for edge in edges:
            if edge.near not in best:
                continue
            total, way = best[edge.near]
            reached = (total + edge.log_ratio, (*way, edge.stroke))
            if edge.far not in longer or reached[0] > longer[edge.far][0]:
                longer[edge.far] = reached
        if broken.near in longer and longer[broken.near][0] >= -_SLACK:
            return tuple(dict.fromkeys(longer[broken.near][1]))
        best = longer
    return (broken.stroke,)
