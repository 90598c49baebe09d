"""The regions of one sample, each computed on first use and then kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from depthgauge._registry import unknown
from depthgauge.errors import BadScoreId, Unavailable, WrongShape
from depthgauge.regions._checks import has_truth, same_size
from depthgauge.regions._region import REGIONS, Region
from depthgauge.regions._shared_maps import SampleMaps
from depthgauge.regions.expressions import Atom, Complement, Expression
from depthgauge.types import Map, Mask

_LISTED_LABELS = 20
_LABEL = re.compile(r"(?P<family>.+)_(?P<value>0|[1-9]\d*)")


class _Source(NamedTuple):
    """Where a mask comes from: a mask item, or one value of a label item."""

    item: str
    value: int | None = None


class RegionsOfSample:
    """Evaluates expressions for one sample."""

    def __init__(
        self,
        named: Mapping[str, Expression],
        truth: Map,
        items: Mapping[str, Any],
        things: SampleMaps,
        declared: frozenset[str],
    ) -> None:
        self._named = named
        self._truth = truth
        self._items = items
        self._things = things
        self._declared = declared
        self._known = has_truth(truth)
        self._masks: dict[str, Mask] = {}
        self._reasons: dict[str, Unavailable] = {}

    def check(self, expression: Expression) -> None:
        """Rejects unknown names and wrong parameters before anything is computed."""
        for atom in expression.atoms():
            if atom.name in REGIONS:
                REGIONS[atom.name].bind(atom.params)
            elif self._definition(atom.name) is None and self._source(atom.name) is None:
                names = set(self._all_names()) - {atom.name}
                # Names of the data are in no list that a command could show.
                own = sorted(names - set(REGIONS))
                said = [f"This data has {', '.join(own)}."] if own else []
                raise unknown("region", atom.name, names, said)
            elif atom.params:
                raise BadScoreId(f"region '{atom.name}' takes no parameters, but got '{atom}'.")

    def mask(self, name: str) -> Mask:
        """The mask of a named expression; Unavailable if the sample lacks what it needs."""
        return self._atom(Atom(name))

    def _evaluate(self, expression: Expression) -> Mask:
        if isinstance(expression, Atom):
            return self._atom(expression)
        if isinstance(expression, Complement):
            return self._known & ~self._evaluate(expression.part)
        masks = [self._evaluate(part) for part in expression.parts]
        result = masks[0].copy()
        for mask in masks[1:]:
            if expression.sign == "|":
                result |= mask
            else:
                result &= mask if expression.sign == "&" else ~mask
        return result

    def _atom(self, atom: Atom) -> Mask:
        if atom.name in REGIONS:
            made = REGIONS[atom.name]
            text = str(Atom(atom.name, made.fill(atom.params)))
            return self._once(text, lambda: self._registered(made, atom))
        definition = self._definition(atom.name)
        if definition is not None:
            return self._once(atom.name, lambda: self._evaluate(definition))
        return self._once(atom.name, lambda: self._from_item(atom.name))

    def _once(self, key: str, compute: Callable[[], Mask]) -> Mask:
        if key in self._reasons:
            raise self._reasons[key]
        if key not in self._masks:
            try:
                self._masks[key] = compute()
            except Unavailable as problem:
                self._reasons[key] = problem
                raise
        return self._masks[key]

    def _definition(self, name: str) -> Expression | None:
        """What the name stands for, unless it stands for itself (`glass = "glass"`)."""
        expression = self._named.get(name)
        itself = isinstance(expression, Atom) and expression.name == name
        return None if itself else expression

    def _registered(self, made: Region, atom: Atom) -> Mask:
        arguments = self._things.arguments(made)
        mask = np.asarray(made.compute(self._truth, **arguments, **made.bind(atom.params)), bool)
        return self._within(f"region '{atom}'", mask)

    def _from_item(self, name: str) -> Mask:
        source = self._source(name)
        if source is None or not self._has(source.item):
            item = f"{name}_mask" if source is None else source.item
            raise Unavailable(
                f"region '{name}' needs {item}, which this sample does not have.", [item]
            )
        array = np.asarray(self._items[source.item])
        mask = array != 0 if source.value is None else array == source.value
        return self._within(source.item, mask)

    def _within(self, what: str, mask: Mask) -> Mask:
        same_size(what, mask, self._truth)
        if mask.ndim != 2:
            raise WrongShape(f"{what} has shape {mask.shape}; a mask is (H, W).")
        return mask & self._known

    def _has(self, item: str) -> bool:
        # Accessing the value would read it from disk.
        return item in self._items

    def _source(self, name: str) -> _Source | None:
        """Which item makes the name a region; it may be one that only other samples have."""
        known = {*self._items, *self._declared}
        if f"{name}_mask" in known:
            return _Source(f"{name}_mask")
        label = _LABEL.fullmatch(name)
        if label and f"{label['family']}_labels" in known:
            return _Source(f"{label['family']}_labels", int(label["value"]))
        return _Source(name) if name.endswith("_mask") and name in known else None

    def _all_names(self) -> Iterator[str]:
        """All valid names, for the error message that lists them."""
        yield from {*REGIONS, *self._named}
        for item in {*self._items, *self._declared}:
            if item.endswith("_mask"):
                yield item.removesuffix("_mask")
            elif item.endswith("_labels"):
                yield from self._label_names(item)

    def _label_names(self, item: str) -> Iterator[str]:
        family = item.removesuffix("_labels")
        values = np.unique(np.asarray(self._items[item])) if self._has(item) else np.arange(1)
        # An instance map has hundreds of labels; the first ones show what the names look like.
        for value in values[np.isfinite(values) & (values >= 0)][:_LISTED_LABELS]:
            yield f"{family}_{int(value)}"
