"""The truth at another resolution: items that begin with its name, under their plain names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from depthgauge.errors import Unavailable, WrongShape
from depthgauge.types import Map


class Finer(Mapping[str, Any]):
    """The items `high_disparity`, `high_fine_mask` ... as `disparity`, `fine_mask` ...

    Nothing is read before it is asked for.
    """

    def __init__(self, items: Mapping[str, Any], resolution: str) -> None:
        self._items = items
        self._prefix = f"{resolution}_"

    def __getitem__(self, name: str) -> Any:
        return self._items[self._prefix + name]

    def __contains__(self, name: object) -> bool:
        return f"{self._prefix}{name}" in self._items

    def __iter__(self) -> Iterator[str]:
        return (n.removeprefix(self._prefix) for n in self._items if n.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Sizeless(Mapping[str, Any]):
    """The inputs that have no size of their own: cameras, ranges, parameters; no pictures."""

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self._inputs = inputs
        self._names = [n for n in inputs if not n.endswith("image") and n != "views"]

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._inputs[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def size_factor(plain: Map, fine: Map, resolution: str) -> int:
    """How many of the finer truth's pixels make one of the plain truth's along each axis.

    Raises:
        WrongShape: It is no whole number.
        Unavailable: The finer truth is no larger.
    """
    (height, width), (tall, wide) = plain.shape[:2], fine.shape[:2]
    factor = int(tall // height)
    if factor < 1:
        raise Unavailable(f"the truth at resolution '{resolution}' is smaller than the plain one.")
    if (tall, wide) != (factor * height, factor * width):
        raise WrongShape(
            f"the truth at resolution '{resolution}' is {wide}x{tall}, which is no whole multiple "
            f"of {width}x{height}."
        )
    return factor
