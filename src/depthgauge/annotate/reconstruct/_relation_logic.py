"""Whether relations between planes can all hold together, and which of them cannot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from depthgauge.annotate.reconstruct._orthogonal_frames import satisfied
from depthgauge.annotate.records.annotation import Relation

Pair = tuple[int, int]

_BUDGET = 20_000
"""Steps of the search for three colours; planes of a photograph need a few dozen."""
_DEEPEST = 200
"""Larger webs are neither searched with backtracking nor tried numerically."""


@dataclass(frozen=True)
class Groups:
    """Groups of parallel planes, and which groups are orthogonal."""

    of: dict[str, int]
    """Name of a plane -> number of its group, from 0."""
    pairs: tuple[Pair, ...]
    """Groups that are orthogonal; a group paired with itself is a contradiction."""

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(set(self.of.values()))


def grouped(names: Sequence[str], relations: Sequence[Relation]) -> Groups:
    """Merges parallel planes into groups."""
    parent = {name: name for name in names}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for relation in relations:
        if relation.kind == "parallel":
            parent[root(relation.second)] = root(relation.first)
    numbers: dict[str, int] = {}
    of = {name: numbers.setdefault(root(name), len(numbers)) for name in names}
    pairs = {
        (min(i, j), max(i, j))
        for relation in relations
        if relation.kind == "orthogonal"
        for i, j in [(of[relation.first], of[relation.second])]
    }
    return Groups(of, tuple(sorted(pairs)))


def can_hold(names: Sequence[str], relations: Sequence[Relation]) -> bool:
    """Whether any normals exist for which all relations hold.

    Three-colouring finds what three axes can satisfy. What no frame can satisfy (four mutually
    orthogonal planes, a plane orthogonal to an odd ring) shows up in the neighbours of each plane,
    whose normals all lie in one plane. The rest of larger webs is tried numerically.
    """
    named = {name for relation in relations for name in (relation.first, relation.second)}
    groups = grouped([name for name in names if name in named], relations)
    if any(i == j for i, j in groups.pairs):
        return False
    beside = neighbours(groups.count, groups.pairs)
    if not all(_two_colours(near, beside) for near in beside):
        return False
    return three_colours(beside) is not None or _found_by_trying(groups)


def contradiction(names: Sequence[str], relations: Sequence[Relation]) -> list[Relation]:
    """A smallest set that cannot hold together: without any one of them, the rest can."""
    return _explained(names, [], False, list(relations))


def three_colours(beside: Sequence[set[int]]) -> list[int] | None:
    """A colour 0, 1 or 2 for each group so that neighbours differ; None if none was found."""
    colours = [-1] * len(beside)
    related = {node for node, near in enumerate(beside) if near}
    if not _coloured_at_once(colours, beside, related):
        for node in related:
            colours[node] = -1
        if len(related) > _DEEPEST or not _coloured(colours, beside, related, [_BUDGET]):
            return None
    return [max(colour, 0) for colour in colours]


def _choices(node: int, colours: Sequence[int], beside: Sequence[set[int]]) -> list[int]:
    taken = {colours[other] for other in beside[node]}
    return [colour for colour in range(3) if colour not in taken]


def _hardest(left: set[int], colours: Sequence[int], beside: Sequence[set[int]]) -> int:
    return min(left, key=lambda n: (len(_choices(n, colours, beside)), -len(beside[n]), n))


def _coloured_at_once(colours: list[int], beside: Sequence[set[int]], left: set[int]) -> bool:
    """Hardest first: nearly every web that can be coloured needs no backtracking."""
    left = set(left)
    while left:
        node = _hardest(left, colours, beside)
        choices = _choices(node, colours, beside)
        if not choices:
            return False
        colours[node] = choices[0]
        left.discard(node)
    return True


def _coloured(
    colours: list[int], beside: Sequence[set[int]], left: set[int], budget: list[int]
) -> bool:
    """The same with backtracking, until the budget is spent."""
    budget[0] -= 1
    if not left or budget[0] < 0:
        return not left
    node = _hardest(left, colours, beside)
    for colour in _choices(node, colours, beside):
        colours[node] = colour
        if _coloured(colours, beside, left - {node}, budget):
            return True
        colours[node] = -1
    return False


def neighbours(count: int, pairs: Sequence[Pair]) -> list[set[int]]:
    """The groups that are orthogonal to each group."""
    beside: list[set[int]] = [set() for _ in range(count)]
    for i, j in pairs:
        beside[i].add(j)
        beside[j].add(i)
    return beside


def _two_colours(nodes: set[int], beside: Sequence[set[int]]) -> bool:
    colours: dict[int, int] = {}
    for start in nodes:
        if start in colours:
            continue
        colours[start] = 0
        waiting = [start]
        while waiting:
            node = waiting.pop()
            for other in beside[node] & nodes:
                if other not in colours:
                    colours[other] = 1 - colours[node]
                    waiting.append(other)
                elif colours[other] == colours[node]:
                    return False
    return True


def _found_by_trying(groups: Groups) -> bool:
    if groups.count > _DEEPEST:
        return False
    rng = np.random.default_rng(0)
    for _ in range(20):
        start = rng.standard_normal((groups.count, 3))
        start /= np.linalg.norm(start, axis=1, keepdims=True)
        if satisfied(start, groups.pairs, ()) is not None:
            return True
    return False


def _explained(
    names: Sequence[str], base: list[Relation], added: bool, candidates: list[Relation]
) -> list[Relation]:
    """QuickXplain (Junker 2004): few checks even for many relations."""
    if added and not can_hold(names, base):
        return []
    if len(candidates) == 1:
        return candidates
    half = len(candidates) // 2
    first, second = candidates[:half], candidates[half:]
    of_second = _explained(names, base + first, bool(first), second)
    of_first = _explained(names, base + of_second, bool(of_second), first)
    return of_first + of_second
