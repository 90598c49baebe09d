"""What a region is: a decorated function from the truth (and what else it needs) to a mask.

    @region("textureless", needs=("left_image",), cite="Scharstein & Szeliski 2002")
    def textureless(truth, *, left_image, window: int = 3, threshold: float = 4.0) -> Mask: ...

The first argument is the truth map of the benchmark's quantity, (H, W) or (H, W, C), NaN where
missing. Every other argument is keyword-only: one for each name in `needs` and `needs_any`, and the
rest are parameters, in the order in which an expression gives them (`textureless:3,4`). A parameter
without a default has to be given. Whatever the function says of a pixel without truth is ignored.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from depthgauge._registry import Registry
from depthgauge.errors import BadScoreId
from depthgauge.regions.expressions import number_text
from depthgauge.types import Mask

Value: TypeAlias = int | float | str
"""What a parameter may be."""

_KINDS: dict[str, type[Value]] = {"int": int, "float": float, "str": str}
_WANTED = {int: "a whole number", float: "a number", str: "a word"}


@dataclass(frozen=True, slots=True)
class Region:
    """One registered region: how to compute it and what a table or a protocol says of it."""

    name: str
    needs: tuple[str, ...]
    """Items of the sample's inputs or truth (or `quantity`) that are passed by keyword."""
    needs_any: tuple[str, ...]
    """Alternatives in order of preference: the first that the sample has is passed, the others are
    None (and are not read)."""
    cite: str
    revision: int
    """Raised whenever the code may give other pixels."""
    params: Mapping[str, Value | None]
    """Defaults in declared order; None where a value has to be given."""
    kinds: Mapping[str, type[Value]]
    doc: str
    compute: Callable[..., Mask]

    def bind(self, words: Sequence[str]) -> dict[str, Value]:
        """The parameters' values for the words of an expression, with defaults filled in."""
        if len(words) > len(self.params):
            takes = f"only {', '.join(self.params)}" if self.params else "no parameters"
            raise BadScoreId(
                f"region '{self.name}' takes {takes}, but '{self.name}:{','.join(words)}' gives "
                f"{len(words)}."
            )
        values = dict(self.params)
        for param, word in zip(self.params, words, strict=False):
            values[param] = self._value(param, word)
        for param, value in values.items():
            if value is None:
                raise BadScoreId(f"region '{self.name}' needs its {param}: {self.name}:<{param}>.")
        return {param: value for param, value in values.items() if value is not None}

    def fill(self, words: Sequence[str]) -> tuple[str, ...]:
        """The same words, with the defaults of all parameters that were left out."""
        values = self.bind(words).values()
        return tuple(v if isinstance(v, str) else number_text(v) for v in values)

    def _value(self, param: str, word: str) -> Value:
        kind = self.kinds[param]
        if kind is str:
            return word
        try:
            number = float(word)
        except ValueError:
            number = float("nan")
        # `is_integer` is False for NaN and infinities as well.
        if kind is int and number.is_integer():
            return int(number)
        if kind is float and abs(number) < float("inf"):
            return number
        raise BadScoreId(f"region '{self.name}': {param} is {_WANTED[kind]}, not '{word}'.")


REGIONS: Registry[Region] = Registry("region", "depthgauge.regions")
"""Every region of this folder and of the entry points `depthgauge.regions`."""


def region(
    name: str,
    *,
    needs: Sequence[str] = (),
    needs_any: Sequence[str] = (),
    cite: str = "",
    revision: int = 1,
) -> Callable[[Callable[..., Mask]], Callable[..., Mask]]:
    """Registers the decorated function under that name and returns it unchanged.

    Args:
        name: What expressions call it.
        needs: Items without which it cannot be computed.
        needs_any: Items of which it takes the first that is there.
        cite: Where the definition comes from.
        revision: To be raised whenever the code may give other pixels.
    """

    def register(function: Callable[..., Mask]) -> Callable[..., Mask]:
        params, kinds = _declared(function, {*needs, *needs_any})
        made = Region(
            name=name,
            needs=tuple(needs),
            needs_any=tuple(needs_any),
            cite=cite,
            revision=revision,
            params=params,
            kinds=kinds,
            doc=inspect.cleandoc(function.__doc__ or ""),
            compute=function,
        )
        REGIONS.add(name, made, function.__module__)
        return function

    return register


def _declared(
    function: Callable[..., Mask], items: set[str]
) -> tuple[dict[str, Value | None], dict[str, type[Value]]]:
    """Defaults and types of everything keyword-only that is no item."""
    defaults: dict[str, Value | None] = {}
    kinds: dict[str, type[Value]] = {}
    keywords = [
        argument
        for argument in inspect.signature(function).parameters.values()
        if argument.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    if lost := items - {argument.name for argument in keywords}:
        raise TypeError(f"{function.__name__} takes no keyword {', '.join(sorted(lost))}")
    for argument in keywords:
        if argument.name in items:
            continue
        # A string under `from __future__ import annotations`, a class without it.
        kind = getattr(argument.annotation, "__name__", argument.annotation)
        if kind not in _KINDS:
            raise TypeError(f"{function.__name__}: {argument.name} must be an int, float or str")
        required = argument.default is inspect.Parameter.empty
        defaults[argument.name] = None if required else argument.default
        kinds[argument.name] = _KINDS[kind]
    return defaults, kinds
