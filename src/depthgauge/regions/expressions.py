"""Region expressions: `visible & textureless`, `all - border:10`, `material_2 | material_3`.

    name[:p1,p2]    a region, with parameters (numbers or words) if it has any
    ~a              the pixels with truth that are not in a
    a & b           the pixels of both
    a - b           the pixels of a that are not in b
    a | b           the pixels of either
    ( )             grouping

Precedence: `~` binds tightest, then `&`, then `-`, then `|`, so `a | b - c & ~d` means
`a | (b - (c & (~d)))`; `-` is left-associative: `a - b - c` is `(a - b) - c`. Names are letters,
digits and `_`, so `a-b` is a difference too. Nothing is evaluated here, and `eval` is not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, TypeAlias

from depthgauge.errors import BadScoreId

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<sign>[&|~():,\-])"
    r"|(?P<other>\S))"
)
_BINDING = {"|": 1, "-": 2, "&": 3}
_TIGHTEST = 4
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class Atom:
    """A region by its name, with the parameters after the colon."""

    name: str
    params: tuple[str, ...] = ()

    def names(self) -> frozenset[str]:
        """The names of all regions used."""
        return frozenset({self.name})

    def atoms(self) -> Iterator[Atom]:
        """All regions used, from left to right."""
        yield self

    def __str__(self) -> str:
        return f"{self.name}:{','.join(self.params)}" if self.params else self.name


@dataclass(frozen=True, slots=True)
class Complement:
    """The pixels with truth that are not in the part."""

    part: Expression

    def names(self) -> frozenset[str]:
        """The names of all regions used."""
        return self.part.names()

    def atoms(self) -> Iterator[Atom]:
        """All regions used, from left to right."""
        return self.part.atoms()

    def __str__(self) -> str:
        return "~" + _grouped(self.part, _TIGHTEST)


@dataclass(frozen=True, slots=True)
class Operation:
    """Two or more parts joined by one sign; a difference removes all later parts from the first."""

    sign: str
    parts: tuple[Expression, ...]

    def names(self) -> frozenset[str]:
        """The names of all regions used."""
        return frozenset().union(*(part.names() for part in self.parts))

    def atoms(self) -> Iterator[Atom]:
        """All regions used, from left to right."""
        for part in self.parts:
            yield from part.atoms()

    def __str__(self) -> str:
        tighter = _BINDING[self.sign] + 1
        return f" {self.sign} ".join(_grouped(part, tighter) for part in self.parts)


Expression: TypeAlias = Atom | Complement | Operation
"""A parsed expression; `str()` of it is canonical: equal for texts with the same tree."""


@lru_cache(maxsize=1024)
def parse(text: str) -> Expression:
    """Reads an expression.

    >>> str(parse("(a&b)&c|~d-border:10.0"))
    'a & b & c | ~d - border:10'

    Raises:
        BadScoreId: The text is not an expression; the message says where and what was expected.
    """
    return _Parser(text).whole()


def replace_atoms(expression: Expression, change: Callable[[Atom], Atom]) -> Expression:
    """The same expression with every atom changed."""
    if isinstance(expression, Atom):
        return change(expression)
    if isinstance(expression, Complement):
        return Complement(replace_atoms(expression.part, change))
    return Operation(expression.sign, tuple(replace_atoms(p, change) for p in expression.parts))


def number_text(value: float) -> str:
    """The shortest usual text of a number, as in score ids, without losing digits.

    >>> number_text(10.0), number_text(0.05), number_text(1234567.0)
    ('10', '0.05', '1234567.0')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def _grouped(part: Expression, binding: int) -> str:
    """The part's text, in parentheses if it binds less tightly than `binding`."""
    loose = isinstance(part, Operation) and _BINDING[part.sign] < binding
    return f"({part})" if loose else str(part)


def _join(sign: str, parts: list[Expression]) -> Expression:
    """One flat operation, so that texts which only group differently give the same tree."""
    flat: list[Expression] = []
    for index, part in enumerate(parts):
        same = isinstance(part, Operation) and part.sign == sign
        # a - (b - c) is not a - b - c; every other grouping of one sign can be dropped.
        if isinstance(part, Operation) and same and (sign != "-" or index == 0):
            flat.extend(part.parts)
        else:
            flat.append(part)
    return Operation(sign, tuple(flat))


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(text: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or "other"  # one of the groups always matches
        yield _Token(kind, found[kind], found.start(kind))


class _Parser:
    """Recursive descent, one method per rule; limited in depth, since texts come from outside."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    def whole(self) -> Expression:
        expression = self._union()
        if self._peek() is not None:
            self._fail("an operator (&, |, -) or the end")
        return expression

    def _union(self) -> Expression:
        return self._chain("|", self._difference)

    def _difference(self) -> Expression:
        return self._chain("-", self._intersection)

    def _intersection(self) -> Expression:
        return self._chain("&", self._factor)

    def _chain(self, sign: str, part: Callable[[], Expression]) -> Expression:
        parts = [part()]
        while self._take(sign):
            parts.append(part())
        return parts[0] if len(parts) == 1 else _join(sign, parts)

    def _factor(self) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail(f"at most {_DEEPEST} nested groups")
        expression = self._unnested()
        self._depth -= 1
        return expression

    def _unnested(self) -> Expression:
        if self._take("~"):
            return Complement(self._factor())
        if self._take("("):
            expression = self._union()
            if not self._take(")"):
                self._fail("an operator (&, |, -) or ')'")
            return expression
        return self._atom()

    def _atom(self) -> Atom:
        token = self._peek()
        if token is None or token.kind != "name":
            self._fail("a region's name, '~' or '('")
        self._next += 1
        params: list[str] = []
        if self._take(":"):
            params.append(self._param())
            while self._take(","):
                params.append(self._param())
        return Atom(token.text, tuple(params))

    def _param(self) -> str:
        sign = "-" if self._take("-") else ""
        token = self._peek()
        if token is None or token.kind not in (("number",) if sign else ("number", "name")):
            self._fail("a parameter (a number or a word)")
        self._next += 1
        return number_text(float(sign + token.text)) if token.kind == "number" else token.text

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self, sign: str) -> bool:
        token = self._peek()
        taken = token is not None and token.kind == "sign" and token.text == sign
        self._next += taken
        return taken

    def _fail(self, expected: str) -> NoReturn:
        token = self._peek()
        found, at = ("the end", len(self._text)) if token is None else (f"'{token.text}'", token.at)
        shown = self._text if len(self._text) <= 200 else self._text[:200] + "..."
        raise BadScoreId(
            f"region expression '{shown}', position {at + 1}: expected {expected}, found {found}."
        )
