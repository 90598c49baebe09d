"""What an engine gets and gives, and where engines are found by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import nearest
from depthgauge.errors import BadData, MissingExtra
from depthgauge.types import Map, Mask

Stack = NDArray[np.uint8]
"""(T, H, W, C): rectified pictures of one camera, one for each pattern."""
GROUP = "depthgauge.spacetime_engines"
"""Entry points of other distributions: the name of an engine, and the object that is one."""
_HOMES = {"classical": "depthgauge.capture.spacetime.engines.classical"}


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The two rectified views of one scene under T patterns."""

    left: Stack
    right: Stack
    left_known: Mask
    """(H, W) where the left camera saw anything."""
    right_known: Mask

    @property
    def size(self) -> tuple[int, int, int]:
        """Patterns, height and width."""
        patterns, height, width = self.left.shape[:3]
        return patterns, height, width

    def rows(self, rows: slice) -> Pairs:
        """Only these rows."""
        known = self.left_known[rows], self.right_known[rows]
        return Pairs(self.left[:, rows], self.right[:, rows], *known)

    def mirrored(self) -> Pairs:
        """With the right view as the left one: both swapped, and left and right in each of them.

        Disparities stay what they are, and positive.
        """
        known = self.right_known[:, ::-1], self.left_known[:, ::-1]
        return Pairs(self.right[:, :, ::-1], self.left[:, :, ::-1], *known)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What an engine finds for the left view of pairs; NaN where nothing."""

    disparity: Map
    """In px."""
    variance: Map
    """Of that disparity, in px^2; NaN where it cannot be told, as with one pattern. A match that
    is not to be trusted has a large one: NaN is kept by later steps."""
    confidence: Map
    """0..1: how well the patterns agree at the match."""

    def mirrored(self) -> Found:
        """What was found in mirrored pairs, the right way round."""
        maps = (self.disparity, self.variance, self.confidence)
        return Found(*(np.ascontiguousarray(values[:, ::-1]) for values in maps))

    def rows(self, rows: slice) -> Found:
        """Only these rows."""
        return Found(self.disparity[rows], self.variance[rows], self.confidence[rows])


@runtime_checkable
class Engine(Protocol):
    """Anything that matches pairs; the step does the rest."""

    revision: int
    """Raised whenever its numbers may change."""
    uncertainty: str
    """Where its variances come from, in a few words."""
    margin_rows: int
    """Rows above and below that a row's disparities depend on."""

    def bytes_per_row(self, size: tuple[int, int, int], disparities: tuple[int, int]) -> int:
        """Memory that a row of pairs of this size needs while it is matched."""
        ...

    def match(self, pairs: Pairs, disparities: tuple[int, int]) -> Found:
        """Matches all rows of the pairs; both ends of the range are searched."""
        ...


def engine_named(name: str) -> Engine:
    """The engine of that name: `classical`, or one that another distribution brings.

    Raises:
        MissingExtra: None of that name is installed.
        BadData: What is installed under that name is no engine.
    """
    from importlib.metadata import entry_points

    if name in _HOMES:
        engine = import_module(_HOMES[name]).ENGINE
    else:
        found = {point.name: point for point in entry_points(group=GROUP)}
        if name not in found:
            known = sorted({*_HOMES, *found})
            parts = [
                f"no engine '{name}' is installed.",
                nearest(name, known),
                f"Known: {', '.join(known)}; a learned one comes in a distribution of its own, "
                f"through the entry point '{GROUP}'.",
            ]
            raise MissingExtra(" ".join(part for part in parts if part))
        engine = found[name].load()
    if not isinstance(engine, Engine):
        raise BadData(f"'{name}' of '{GROUP}' is no engine: it lacks match, margin_rows or others.")
    return engine
