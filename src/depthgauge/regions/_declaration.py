"""What regions and shared maps share: a decorated function, what it needs and its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from depthgauge._declared import (
    choice_problems,
    keywords_of,
    name_problems,
    names_problems,
    refuse,
    revision_problems,
    signature_problems,
)
from depthgauge.errors import BadScoreId, Misuse
from depthgauge.quantities import QUANTITIES
from depthgauge.regions.expressions import number_text

Value: TypeAlias = int | float | str
"""What a parameter may be."""

_KINDS: dict[str, type[Value]] = {"int": int, "float": float, "str": str}
Check: TypeAlias = Callable[..., None]
"""Takes all parameters by keyword and raises Misuse if they make no sense."""

_WANTED = {int: "a whole number", float: "a number", str: "a word"}


@dataclass(frozen=True, slots=True)
class Declaration:
    """One registered function: how to compute it and what a table or a protocol says about it."""

    kind: ClassVar[str] = "thing"

    name: str
    needs: tuple[str, ...]
    """Items of the sample's inputs or truth that are passed by keyword (the truth itself under the
    name of its quantity), a shared map, `quantity`, or `items` (all of them)."""
    needs_any: tuple[str, ...]
    """Alternatives in order of preference: the first that the sample has is passed, the others are
    None (and are not read)."""
    of: tuple[str, ...]
    """Quantities for which it makes sense; empty: all of them."""
    cite: str
    revision: int
    """Raised whenever the code may give other values."""
    params: Mapping[str, Value | None]
    """Defaults in declared order; None if a value is required."""
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
        """Rejects parameters that would otherwise fail in the middle of a run."""
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


def declared(
    kind: str,
    name: str,
    function: Callable[..., Any],
    needs: Sequence[str],
    needs_any: Sequence[str],
    of: Sequence[str],
    cite: str,
    revision: int,
    check: Check | None,
) -> dict[str, Any]:
    """The fields of a `Declaration` except its name, checked.

    Raises:
        BadDeclaration: The declaration is wrong.
    """
    problems = [
        *name_problems(name),
        *names_problems("needs", needs),
        *names_problems("needs_any", needs_any),
        *names_problems("of", of),
        *revision_problems(revision),
        *signature_problems(function, 1),
    ]
    if not problems:
        problems += _parameter_problems(function, {*needs, *needs_any})
    refuse(kind, name, function, problems)
    defaults, kinds = _parameters(function, {*needs, *needs_any})
    return {
        "needs": tuple(needs),
        "needs_any": tuple(needs_any),
        "of": tuple(of),
        "cite": cite,
        "revision": revision,
        "params": defaults,
        "kinds": kinds,
        "doc": inspect.cleandoc(function.__doc__ or ""),
        "compute": function,
        "check": check,
    }


def check_quantities(made: Declaration) -> None:
    """Rejects a declaration for quantities that do not exist.

    Raises:
        BadDeclaration: It names one.
    """
    problems = (p for name in made.of for p in choice_problems("of", name, QUANTITIES))
    refuse(made.kind, made.name, made.compute, problems)


def _parameter_problems(function: Callable[..., Any], items: set[str]) -> Iterator[str]:
    keywords, _ = keywords_of(function)
    for name in sorted(items - keywords):
        yield f"it needs {name} but takes no keyword {name}"
    for argument in _own(function, items):
        if _kind(argument) not in _KINDS:
            yield f"its parameter {argument.name} must be an int, float or str; annotate it"


def _own(function: Callable[..., Any], items: set[str]) -> list[inspect.Parameter]:
    """The keyword-only parameters that are not items."""
    arguments = inspect.signature(function).parameters.values()
    return [a for a in arguments if a.kind is a.KEYWORD_ONLY and a.name not in items]


def _kind(argument: inspect.Parameter) -> Any:
    # A string under `from __future__ import annotations`, a class without it.
    return getattr(argument.annotation, "__name__", argument.annotation)


def _parameters(
    function: Callable[..., Any], items: set[str]
) -> tuple[dict[str, Value | None], dict[str, type[Value]]]:
    """Defaults and types of the parameters; None if a value is required."""
    own = _own(function, items)
    empty = inspect.Parameter.empty
    defaults = {a.name: None if a.default is empty else a.default for a in own}
    return defaults, {a.name: _KINDS[_kind(a)] for a in own}
