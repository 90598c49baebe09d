"""What regions and derived things share: a decorated function, what it needs and its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from depthgauge.errors import BadScoreId, Misuse
from depthgauge.regions.expressions import number_text

Value: TypeAlias = int | float | str
"""What a parameter may be."""

_KINDS: dict[str, type[Value]] = {"int": int, "float": float, "str": str}
Check: TypeAlias = Callable[..., None]
"""Takes all parameters by keyword and raises Misuse where they make no sense."""

_WANTED = {int: "a whole number", float: "a number", str: "a word"}


@dataclass(frozen=True, slots=True)
class Computed:
    """One registered function: how to compute it and what a table or a protocol says of it."""

    kind: ClassVar[str] = "thing"

    name: str
    needs: tuple[str, ...]
    """Items of the sample's inputs or truth that are passed by keyword; or `quantity`, or `items`
    (all of them), or a derived thing."""
    needs_any: tuple[str, ...]
    """Alternatives in order of preference: the first that the sample has is passed, the others are
    None (and are not read)."""
    cite: str
    revision: int
    """Raised whenever the code may give other values."""
    params: Mapping[str, Value | None]
    """Defaults in declared order; None where a value has to be given."""
    kinds: Mapping[str, type[Value]]
    doc: str
    compute: Callable[..., Any]
    check: Check | None

    def bind(self, words: Sequence[str]) -> dict[str, Value]:
        """The parameters' values for the words of an expression, with defaults filled in."""
        if len(words) > len(self.params):
            takes = f"only {', '.join(self.params)}" if self.params else "no parameters"
            raise BadScoreId(
                f"{self.kind} '{self.name}' takes {takes}, but '{self.name}:{','.join(words)}' "
                f"gives {len(words)}."
            )
        values = dict(self.params)
        for param, word in zip(self.params, words, strict=False):
            values[param] = self._value(param, word)
        for param, value in values.items():
            if value is None:
                raise BadScoreId(
                    f"{self.kind} '{self.name}' needs its {param}: {self.name}:<{param}>."
                )
        bound = {param: value for param, value in values.items() if value is not None}
        self._judge(bound)
        return bound

    def fill(self, words: Sequence[str]) -> tuple[str, ...]:
        """The same words, with the defaults of all parameters that were left out."""
        values = self.bind(words).values()
        return tuple(v if isinstance(v, str) else number_text(v) for v in values)

    def _judge(self, values: Mapping[str, Value]) -> None:
        """Refuses parameters now that would fail in the middle of a run."""
        if self.check is None:
            return
        try:
            self.check(**values)
        except Misuse as problem:
            raise BadScoreId(f"{self.kind} '{self.name}': {problem}.") from None

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
        raise BadScoreId(f"{self.kind} '{self.name}': {param} is {_WANTED[kind]}, not '{word}'.")


def declaration(
    function: Callable[..., Any],
    needs: Sequence[str],
    needs_any: Sequence[str],
    check: Check | None,
) -> dict[str, Any]:
    """What a function says of itself: the fields of `Computed` that are not given by hand."""
    params, kinds = _declared(function, {*needs, *needs_any})
    return {
        "needs": tuple(needs),
        "needs_any": tuple(needs_any),
        "params": params,
        "kinds": kinds,
        "doc": inspect.cleandoc(function.__doc__ or ""),
        "compute": function,
        "check": check,
    }


def _declared(
    function: Callable[..., Any], items: set[str]
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
