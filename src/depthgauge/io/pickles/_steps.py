"""The steps of a pickle that data needs; all others are rejected."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Any

from depthgauge.io.pickles._machine import MARK, Machine, decoded_text, pairs_of
from depthgauge.io.pickles._values import Box, Builder, Kind, Name, Refused

MOST_STEPS = 1_000_000
"""A dict of arrays has some fifty; longer programs are lists of many numbers."""
_STOP = 0x2E
_MOST_INTEGER_BYTES = 16
_MOST_DIGITS = 40
_ESCAPED = re.compile(
    rb"""(?:[^\\]|\\(?:[\\'"abfnrtv]|x[0-9a-fA-F]{2}|[0-3][0-7]{0,2}|[4-7][0-7]?(?![0-7])))*+""",
    re.DOTALL,
)


def run(body: bytes, builder: Builder) -> Any:
    """What a pickle describes.

    Raises:
        Refused: It is damaged, or more than data.
    """
    value = _steps(Machine(body, builder))
    if isinstance(value, Box):
        value = value.value
    _require_plain(value)
    return value


def _steps(machine: Machine) -> Any:
    for _ in range(MOST_STEPS):
        code = machine.read(1)[0]
        if code == _STOP:
            return machine.pop()
        step = _STEPS.get(code)
        if step is None:
            what = _REFUSED.get(code, f"a step of kind {bytes([code])!r}")
            raise Refused(f"contains {what}; only plain data is read")
        step(machine)
    raise Refused(f"has more than {MOST_STEPS} steps; store lists of numbers as NumPy arrays")


def _require_plain(value: Any) -> None:
    """Whether all of a value is data, and not a name or type that was left lying about."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, (Name, Kind, Box)):
            raise Refused("holds a NumPy type or function by itself, which is not data")
        if isinstance(thing, (list, tuple, dict)) and id(thing) not in seen:
            seen.add(id(thing))
            waiting.extend(thing.values() if isinstance(thing, dict) else thing)


def _integer(body: bytes) -> int:
    if len(body) > _MOST_INTEGER_BYTES:
        raise Refused(f"holds a whole number of {len(body)} bytes")
    return int.from_bytes(body, "little", signed=True)


def _decimal(line: bytes, kind: Callable[[str], Any]) -> Any:
    text = decoded_text(line.removesuffix(b"L"), "ascii")
    try:
        if len(text) > _MOST_DIGITS:
            raise ValueError
        return kind(text)
    except ValueError:
        raise Refused(f"holds an invalid number: {text[:40]!r}") from None


def _int_line(machine: Machine) -> None:
    line = machine.line()
    truths = {b"00": False, b"01": True}
    machine.push(truths[line] if line in truths else _decimal(line, int))


def _string_line(machine: Machine) -> None:
    """Text in quotes, with the escapes of Python 2."""
    line = machine.line(len(machine.body)).strip()
    if len(line) < 2 or line[:1] not in (b"'", b'"') or line[-1:] != line[:1]:
        raise Refused("holds text without quotes; it is damaged")
    if _ESCAPED.fullmatch(line[1:-1]) is None:
        raise Refused("holds text that is damaged")
    machine.push(codecs.escape_decode(line[1:-1])[0].decode("latin-1"))


def _unicode_line(machine: Machine) -> None:
    machine.push(decoded_text(machine.line(len(machine.body)), "raw-unicode-escape"))


def _index_line(machine: Machine) -> int:
    index: int = _decimal(machine.line(), int)
    return index


def _protocol(machine: Machine) -> None:
    version = machine.number("<B")
    if version > 5:
        raise Refused(f"is a pickle of version {version}; up to 5 is known")


_Step = Callable[[Machine], None]
_STEPS: dict[int, _Step] = {
    0x80: _protocol,
    0x95: lambda m: m.drop(m.number("<Q")),  # a frame's length is of no use here
    ord("("): lambda m: m.push(MARK),
    ord("0"): lambda m: m.drop(m.pop()),
    ord("1"): lambda m: m.drop(m.pop_to_mark()),
    ord("2"): lambda m: m.push(m.top()),
    ord("N"): lambda m: m.push(None),
    0x88: lambda m: m.push(True),
    0x89: lambda m: m.push(False),
    ord("I"): _int_line,
    ord("L"): lambda m: m.push(_decimal(m.line(), int)),
    ord("F"): lambda m: m.push(_decimal(m.line(), float)),
    ord("J"): lambda m: m.push(m.number("<i")),
    ord("K"): lambda m: m.push(m.number("<B")),
    ord("M"): lambda m: m.push(m.number("<H")),
    0x8A: lambda m: m.push(_integer(m.sized("<B"))),
    0x8B: lambda m: m.push(_integer(m.sized("<I"))),
    ord("G"): lambda m: m.push(m.number(">d")),
    ord("S"): _string_line,
    ord("T"): lambda m: m.push(m.sized("<I").decode("latin-1")),
    ord("U"): lambda m: m.push(m.sized("<B").decode("latin-1")),
    ord("B"): lambda m: m.push(m.sized("<I")),
    ord("C"): lambda m: m.push(m.sized("<B")),
    0x8E: lambda m: m.push(m.sized("<Q")),
    0x96: lambda m: m.push(m.sized("<Q")),
    ord("V"): _unicode_line,
    ord("X"): lambda m: m.push(m.text("<I")),
    0x8C: lambda m: m.push(m.text("<B")),
    0x8D: lambda m: m.push(m.text("<Q")),
    ord("]"): lambda m: m.push([]),
    ord("l"): lambda m: m.push(m.pop_to_mark()),
    ord("a"): Machine.append_one,
    ord("e"): lambda m: m.append(m.pop_to_mark()),
    ord(")"): lambda m: m.push(()),
    ord("t"): lambda m: m.push(tuple(m.pop_to_mark())),
    0x85: lambda m: m.tuple_of(1),
    0x86: lambda m: m.tuple_of(2),
    0x87: lambda m: m.tuple_of(3),
    ord("}"): lambda m: m.push({}),
    ord("d"): lambda m: m.push(pairs_of(m.pop_to_mark())),
    ord("s"): Machine.setitem,
    ord("u"): lambda m: m.update(m.pop_to_mark()),
    ord("p"): lambda m: m.put(_index_line(m)),
    ord("q"): lambda m: m.put(m.number("<B")),
    ord("r"): lambda m: m.put(m.number("<I")),
    0x94: lambda m: m.put(len(m.memo)),
    ord("g"): lambda m: m.get(_index_line(m)),
    ord("h"): lambda m: m.get(m.number("<B")),
    ord("j"): lambda m: m.get(m.number("<I")),
    ord("c"): Machine.name,
    0x93: Machine.stack_name,
    ord("R"): Machine.reduce,
    ord("b"): Machine.build,
}
_REFUSED = {
    ord("i"): "an object of a class",
    ord("o"): "an object of a class",
    0x81: "an object of a class",
    0x92: "an object of a class",
    ord("P"): "a thing that another program keeps",
    ord("Q"): "a thing that another program keeps",
    0x82: "a registered class",
    0x83: "a registered class",
    0x84: "a registered class",
    0x8F: "a set",
    0x90: "a set",
    0x91: "a set",
    0x97: "a buffer outside of the file",
    0x98: "a buffer outside of the file",
}
