"""The machine that a pickle is a program for, without any means to call or import something.

Python's own unpickler can be restricted in what it imports, but a few bytes make it allocate
gigabytes (a memo index, a length, a shape). Here every length is compared with the file first, and
what NumPy arrays are made of is checked by `_pickle_values`. The steps are in `_pickle_steps`.
"""

from __future__ import annotations

import struct
from collections.abc import Sized
from typing import Any

from depthgauge.io.pickles._values import Builder, Name, Refused

_MOST_LINE = 1000
_MOST_KEYS = 10_000
_KEYS = (str, bytes, int, float, bool, type(None))
MARK = object()
"""Where a list, tuple or dict begins on the stack."""


class Machine:
    """A stack, a memo, and one method for each of the steps that data needs."""

    def __init__(self, body: bytes, builder: Builder) -> None:
        self.body = body
        self.builder = builder
        self.place = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    # --- reading

    def read(self, count: int) -> bytes:
        end = self.place + count
        if end > len(self.body):
            raise Refused("ends early; it is truncated, get it again")
        found = self.body[self.place : end]
        self.place = end
        return found

    def line(self, most: int = _MOST_LINE) -> bytes:
        end = self.body.find(b"\n", self.place, self.place + most + 1)
        if end < 0:
            raise Refused("has a line without an end; it is damaged")
        found = self.body[self.place : end]
        self.place = end + 1
        return found

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.read(struct.calcsize(form)))[0]

    def sized(self, form: str) -> bytes:
        return self.read(self.number(form))

    def text(self, form: str) -> str:
        return decoded_text(self.sized(form), "utf-8")

    # --- the stack

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is MARK:
            raise Refused("is damaged or not a pickle: it takes more than it holds")
        return self.stack.pop()

    def drop(self, _: Any) -> None:
        """Nothing is done with what was read or taken."""

    def top(self) -> Any:
        if not self.stack or self.stack[-1] is MARK:
            raise Refused("is damaged or not a pickle: it takes more than it holds")
        return self.stack[-1]

    def pop_to_mark(self) -> list[Any]:
        for start in range(len(self.stack) - 1, -1, -1):
            if self.stack[start] is MARK:
                found = self.stack[start + 1 :]
                del self.stack[start:]
                return found
        raise Refused("lacks the beginning of a list; it is damaged")

    def tuple_of(self, count: int) -> None:
        self.push(tuple([self.pop() for _ in range(count)][::-1]))

    # --- containers

    def append(self, values: list[Any]) -> None:
        target = self.top()
        if not isinstance(target, list):
            raise Refused("adds to something that is not a list; it is damaged")
        target.extend(values)

    def update(self, values: list[Any]) -> None:
        target = self.top()
        if not isinstance(target, dict):
            raise Refused("sets a key of something that is not a dict; it is damaged")
        target.update(pairs_of(values))
        _require_few(target)

    def setitem(self) -> None:
        value, key = self.pop(), self.pop()
        self.update([key, value])

    def append_one(self) -> None:
        value = self.pop()
        self.append([value])

    # --- the memo

    def put(self, index: int) -> None:
        # A dict: an index of two thousand million costs nothing.
        self.memo[index] = self.top()

    def get(self, index: int) -> None:
        if index not in self.memo:
            raise Refused("names something that it did not define; it is damaged")
        self.push(self.memo[index])

    # --- names

    def name(self) -> None:
        module, name = (decoded_text(self.line(), "utf-8") for _ in range(2))
        self.push(self.builder.find(module, name))

    def stack_name(self) -> None:
        name, module = self.pop(), self.pop()
        if not (isinstance(name, str) and isinstance(module, str)):
            raise Refused("has a name that is not text; it is damaged")
        self.push(self.builder.find(module, name))

    def reduce(self) -> None:
        values, called = self.pop(), self.pop()
        if not isinstance(called, Name) or called.call is None or not isinstance(values, tuple):
            raise Refused("calls something that is not a function; only plain data is read")
        try:
            self.push(called.call(*values))
        except TypeError:
            raise Refused(f"calls {called.title} in a way that NumPy does not") from None

    def build(self) -> None:
        state, thing = self.pop(), self.top()
        box = self.builder.fills_box(thing, state)
        if box is None:
            self.builder.set_state(thing, state)
            return
        self.stack[-1] = box
        for index, kept in self.memo.items():
            if kept is thing:
                self.memo[index] = box


def pairs_of(values: list[Any]) -> dict[Any, Any]:
    if len(values) % 2:
        raise Refused("has a key without a value; it is damaged")
    keys = values[::2]
    if not all(isinstance(key, _KEYS) or _is_pair(key) for key in keys):
        raise Refused("has a dict whose keys are neither text nor numbers nor pairs of numbers")
    _require_few(keys)
    return dict(zip(keys, values[1::2], strict=True))


def _is_pair(key: Any) -> bool:
    """Whether a key is a flat pair of numbers; a deeper tuple would be hashed at any depth."""
    return type(key) is tuple and len(key) == 2 and all(type(n) in (int, float) for n in key)


def _require_few(keys: Sized) -> None:
    # Numbers can be chosen so that all have one hash, and then every key costs all before it.
    if len(keys) > _MOST_KEYS:
        raise Refused(f"has a dict of more than {_MOST_KEYS} keys; store numbers as NumPy arrays")


def decoded_text(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding)
    except UnicodeDecodeError:
        raise Refused("holds text that is damaged") from None
