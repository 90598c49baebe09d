"""What a matching engine gets and returns, and the registry of all engines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from depthgauge._registry import GROUP, Registry, nearest
from depthgauge.errors import BadData, BadDeclaration, MissingExtra
from depthgauge.types import Map, Mask

Stack = NDArray[np.uint8] | NDArray[np.float32]
"""(T, H, W, C): rectified pictures of one camera, one for each pattern, in grey levels from 0 to
255; of photographs with more than 8 bits, float32 with fractions of a level."""
_OLD_GROUP = "depthgauge.spacetime_engines"
"""The older entry-point group of engines; its entry points name engines, not modules. It is still
read, with a warning."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The two rectified views of one scene under T patterns."""

    left: Stack
    right: Stack
    left_known: Mask
    """(H, W): where the left camera saw anything."""
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
        """The pairs with swapped views, each mirrored, so that the right view becomes the left one.

        Disparities do not change and stay positive.
        """
        known = self.right_known[:, ::-1], self.left_known[:, ::-1]
        return Pairs(self.right[:, :, ::-1], self.left[:, :, ::-1], *known)


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """What an engine finds for the left view of pairs; NaN where it finds nothing."""

    disparity: Map
    """In px."""
    variance: Map
    """Variance of that disparity, in px^2; NaN where it cannot be computed, as with one pattern. A
    match that cannot be trusted has a large one: later steps keep NaN."""
    confidence: Map
    """0..1: how well the patterns agree at the match."""

    def mirrored(self) -> Matches:
        """What was found in mirrored pairs, mirrored back."""
        maps = (self.disparity, self.variance, self.confidence)
        return Matches(*(np.ascontiguousarray(values[:, ::-1]) for values in maps))

    def rows(self, rows: slice) -> Matches:
        """Only these rows."""
        return Matches(self.disparity[rows], self.variance[rows], self.confidence[rows])


@runtime_checkable
class Engine(Protocol):
    """Anything that matches pairs; the step does the rest."""

    @property
    def revision(self) -> int:
        """Raised whenever its numbers may change."""
        ...

    @property
    def uncertainty(self) -> str:
        """Where its variances come from, in a few words."""
        ...

    @property
    def margin_rows(self) -> int:
        """Rows above and below that a row's disparities depend on."""
        ...

    def bytes_per_row(self, size: tuple[int, int, int], disparities: tuple[int, int]) -> int:
        """Memory that a row of pairs of this size needs while it is matched."""
        ...

    def match(self, pairs: Pairs, disparities: tuple[int, int]) -> Matches:
        """Matches all rows of the pairs; both ends of the range are searched."""
        ...


@runtime_checkable
class TwoViewEngine(Engine, Protocol):
    """An engine that finds both views at once, faster than one after the other."""

    def match_both(self, pairs: Pairs, disparities: tuple[int, int]) -> tuple[Matches, Matches]:
        """What `match` finds for the pairs, and for the mirrored pairs, mirrored back."""
        ...


def match_both(
    engine: Engine, pairs: Pairs, disparities: tuple[int, int]
) -> tuple[Matches, Matches]:
    """Matches of the left view and of the right one."""
    if isinstance(engine, TwoViewEngine):
        return engine.match_both(pairs, disparities)
    left = engine.match(pairs, disparities)
    return left, engine.match(pairs.mirrored(), disparities).mirrored()


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """What is known about an engine before it is used."""

    name: str
    line: str
    """What it is, in one sentence."""
    cite: str = ""


@dataclass(frozen=True, slots=True)
class MatchingEngine:
    """An engine's declaration, and the function that makes the engine."""

    spec: EngineSpec
    make: Callable[[], Engine]


def _collect(module: ModuleType) -> Iterator[tuple[str, MatchingEngine]]:
    spec = getattr(module, "SPEC", None)
    if isinstance(spec, EngineSpec):
        make = getattr(module, "engine", None)
        if not callable(make) or not spec.name or not spec.line:
            raise BadDeclaration(
                f"{module.__name__}: an engine needs a SPEC with a name and a line, and a function "
                "`engine`."
            )
        yield spec.name, MatchingEngine(spec, make)


ENGINES: Registry[MatchingEngine] = Registry(
    "matching engine", "depthgauge.capture.spacetime.engines", collect=_collect
)
"""All matching engines by name; a module joins by having a `SPEC` and a function `engine`, which
loads what the engine needs and returns it."""


def engine_named(name: str) -> Engine:
    """The engine of that name: `classical`, or one from another distribution.

    Raises:
        MissingExtra: None of that name is installed.
        BadData: What is installed under that name is not an engine.
    """
    engine = ENGINES[name].make() if name in ENGINES else _of_old_group(name)
    if not isinstance(engine, Engine):
        raise BadData(f"'{name}' is not a matching engine: it lacks match, margin_rows or others.")
    return engine


def _of_old_group(name: str) -> object:
    from importlib.metadata import entry_points

    found = {point.name: point for point in entry_points(group=_OLD_GROUP)}
    if name not in found:
        known = sorted({*ENGINES, *found})
        parts = [
            f"no engine '{name}' is installed.",
            nearest(name, known),
            f"Known: {', '.join(known)}; a learned engine comes in its own distribution, as a "
            f"plug-in of the entry-point group '{GROUP}'.",
        ]
        raise MissingExtra(" ".join(part for part in parts if part))
    warnings.warn(
        f"the entry-point group '{_OLD_GROUP}' is read for one more release; give the module of "
        f"'{found[name].value}' a SPEC and a function `engine`, and name it under "
        f'[project.entry-points."{GROUP}"].',
        DeprecationWarning,
        stacklevel=3,
    )
    return found[name].load()
