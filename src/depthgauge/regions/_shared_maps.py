"""Shared maps: what several regions and metrics need, computed once per sample.

    @shared_map("edges", needs=("quantity",), cite="Honauer 2019")
    def edges(truth, *, quantity, jump: float = 1.0, reach: int = 10) -> Edges: ...

A region or a metric that says `needs=("edges",)` gets it by keyword. Its parameters are set once
for everything that uses it, in the benchmark (`[derived] edges = "edges:0.1"`), and are part of the
protocol's hash. A shared map may have several makers: one that is registered with
`provides="edges"` can replace the default one (`edges = "edges_from_mask:objects"`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from depthgauge._registry import Registry, unknown
from depthgauge.errors import BadScoreId, Unavailable
from depthgauge.regions._declaration import Check, Declaration, check_quantities, declared
from depthgauge.regions.expressions import Atom, parse
from depthgauge.types import Map


@dataclass(frozen=True, slots=True)
class SharedMap(Declaration):
    """One registered function that computes a shared map."""

    kind: ClassVar[str] = "shared map"

    provides: str
    """The name under which regions and metrics ask for it."""


SHARED_MAPS: Registry[SharedMap] = Registry(
    "shared map", "depthgauge.regions", check=check_quantities
)
"""Every shared map of this folder and of plug-ins."""


def shared_map(
    name: str,
    *,
    provides: str = "",
    needs: Sequence[str] = (),
    needs_any: Sequence[str] = (),
    of: Sequence[str] = (),
    cite: str = "",
    revision: int = 1,
    check: Check | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the decorated function and returns it unchanged.

    Args:
        name: Its name in benchmarks.
        provides: The shared map that it gives; its own name by default.
        needs: Items and shared maps that it cannot be computed without.
        needs_any: Alternative items; it gets the first that the sample has.
        of: Quantities for which it makes sense; all by default.
        cite: Where the definition comes from.
        revision: Raise it whenever the code may give another result.
        check: Takes all parameters by keyword and raises Misuse if they make no sense.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        made = SharedMap(
            name=name,
            provides=provides or name,
            **declared("shared map", name, function, needs, needs_any, of, cite, revision, check),
        )
        SHARED_MAPS.add(name, made, function.__module__)
        return function

    return register


def derived(name: str, *, makes: str = "", **declaration: Any) -> Callable[..., Any]:
    """The former name of `shared_map`, which works for one more release."""
    text = "'derived' is called 'shared_map' now, and its 'makes' is called 'provides'."
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    return shared_map(name, provides=makes, **declaration)


def is_shared_map(name: str) -> bool:
    """Whether a name is that of a shared map."""
    return name in SHARED_MAPS and SHARED_MAPS[name].provides == name


def maker_of(thing: str, text: str) -> tuple[SharedMap, tuple[str, ...]]:
    """The maker that a text names, and its parameters as words.

    Raises:
        BadScoreId: The text is not a single name with parameters, or provides another map.
        UnknownName: There is no such maker.
    """
    if not is_shared_map(thing):
        raise unknown("shared map", thing, filter(is_shared_map, SHARED_MAPS))
    atom = parse(text)
    if not isinstance(atom, Atom):
        raise BadScoreId(f"'{text}' is a region expression; {thing} needs a single maker.")
    maker = SHARED_MAPS[atom.name]
    if maker.provides != thing:
        others = ", ".join(sorted(n for n in SHARED_MAPS if SHARED_MAPS[n].provides == thing))
        raise BadScoreId(f"'{atom.name}' makes {maker.provides}, not {thing}; {others} do.")
    maker.bind(atom.params)
    return maker, atom.params


def closure(needs: Iterable[str], makers: Mapping[str, str]) -> dict[str, str]:
    """Every shared map behind some needs, with its full text, all parameters filled in."""
    found: dict[str, str] = {}
    waiting = [name for name in needs if is_shared_map(name)]
    while waiting:
        thing = waiting.pop()
        if thing not in found:
            maker, words = maker_of(thing, makers.get(thing, thing))
            found[thing] = str(Atom(maker.name, maker.fill(words)))
            waiting += [name for name in (*maker.needs, *maker.needs_any) if is_shared_map(name)]
    return dict(sorted(found.items()))


class SampleMaps(Mapping[str, Any]):
    """The shared maps of one sample, each computed on first use and then cached.

    Args:
        truth: The map of the benchmark's quantity.
        items: The sample's inputs and truth by name.
        quantity: The benchmark's quantity.
        makers: A text for each map that is not computed in the default way.
    """

    def __init__(
        self,
        truth: Map,
        items: Mapping[str, Any],
        quantity: str,
        makers: Mapping[str, str] | None = None,
    ) -> None:
        self._truth = truth
        self._items = items
        self._quantity = quantity
        self._makers = dict(makers or {})
        self._made: dict[str, Any] = {}
        self._reasons: dict[str, Unavailable] = {}

    def __getitem__(self, name: str) -> Any:
        """The map; KeyError if there is no such map, Unavailable if the sample cannot have it."""
        if not is_shared_map(name):
            raise KeyError(name)
        if name in self._reasons:
            raise self._reasons[name]
        if name not in self._made:
            try:
                self._made[name] = self._make(name)
            except Unavailable as problem:
                self._reasons[name] = problem
                raise
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        """Whether this sample has the map; checking computes it."""
        try:
            self[str(name)]
        except (KeyError, Unavailable):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return (name for name in SHARED_MAPS if is_shared_map(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def arguments(self, made: Declaration) -> dict[str, Any]:
        """The keywords that a registered function is called with, besides its parameters.

        Raises:
            Unavailable: The sample does not have what it needs.
        """
        if made.of and self._quantity not in made.of:
            raise Unavailable(
                f"{made.kind} '{made.name}' is for {', '.join(made.of)}, not for {self._quantity}."
            )
        needed = {name: self._needed(made, name) for name in made.needs}
        return {**needed, **self._alternatives(made)}

    def _make(self, name: str) -> Any:
        maker, words = maker_of(name, self._makers.get(name, name))
        return maker.compute(self._truth, **self.arguments(maker), **maker.bind(words))

    def _needed(self, made: Declaration, name: str) -> Any:
        if name == "quantity":
            return self._quantity
        if name == "items":
            return self._items
        if is_shared_map(name):
            return self[name]
        if name == self._quantity and name not in self._items:
            return self._truth
        # Accessing the value would read it from disk.
        if name not in self._items:
            raise Unavailable(
                f"{made.kind} '{made.name}' needs {name}, which this sample does not have.",
                [name],
            )
        return self._items[name]

    def _alternatives(self, made: Declaration) -> dict[str, Any]:
        if not made.needs_any:
            return {}
        found = next((name for name in made.needs_any if name in self._items), None)
        if found is None:
            raise Unavailable(
                f"{made.kind} '{made.name}' needs one of {', '.join(made.needs_any)}; this sample "
                "has none of them.",
                made.needs_any,
            )
        return {name: self._items[name] if name == found else None for name in made.needs_any}
