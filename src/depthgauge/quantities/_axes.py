"""Which axes of an array are those of a map: frameworks add some, and put channels first."""

from __future__ import annotations

from depthgauge.errors import WrongShape

_CHANNELS = {2: "flow", 3: "normals"}
"""Numbers of channels that a map of unknown quantity may have."""
_MOST_CHANNELS = 4
"""A longer axis never holds channels if the quantity is unknown."""


def map_axes(
    shape: tuple[int, ...],
    channels: int | None = None,
    quantity: str | None = None,
    *,
    channels_last: bool = False,
) -> tuple[int, ...]:
    """The axes of (height, width) or (height, width, channels), in this order.

    Those that are left out have length 1: (1, 1, H, W), (1, H, W) and (H, W, 1) are maps (H, W),
    and (2, H, W) is flow if the quantity is flow.

    Args:
        shape: Of the array.
        channels: The number of channels of its quantity; None: any number, or unknown.
        quantity: Its name; None if unknown.
        channels_last: Whether the order is known to be (height, width, channels), as in files that
            we write; such a shape is never ambiguous.

    Raises:
        WrongShape: It is not a map, or there are two ways to read it; both are named.

    >>> map_axes((1, 1, 480, 640), 1, "depth"), map_axes((2, 480, 640), 2, "flow")
    ((2, 3), (1, 2, 0))
    """
    axes = inner_axes(shape)
    if len(axes) == 2:
        return axes
    if len(axes) != 3:
        raise _refused(shape, quantity)
    sizes = (shape[axes[0]], shape[axes[1]], shape[axes[2]])
    if channels is None and quantity is not None:
        return axes
    allowed = tuple(_CHANNELS) if channels is None else (channels,)
    first, last = sizes[0] in allowed and channels != 1, sizes[2] in allowed
    if last and (channels_last or not (first or (sizes[0] == 1 and channels is None))):
        return axes
    if sizes[0] == 1 and (channels == 1 or (channels is None and sizes[2] > _MOST_CHANNELS)):
        return axes[1:]
    if last:
        raise _ambiguous(shape, sizes, quantity)
    if first and channels is not None:
        return (axes[1], axes[2], axes[0])
    if first:
        raise _unsaid(shape, sizes[0])
    raise _refused(shape, quantity)


def inner_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes without those of length 1 that stand around a map; three or two are left.

    >>> inner_axes((1, 1, 4, 5)), inner_axes((4, 5, 1))
    ((1, 2, 3), (0, 1))
    """
    axes = list(range(len(shape)))
    while len(axes) > 2 and shape[axes[-1]] == 1:
        axes.pop()
    while len(axes) > 3 and shape[axes[0]] == 1:
        axes.pop(0)
    return tuple(axes)


def _ambiguous(
    shape: tuple[int, ...], sizes: tuple[int, int, int], quantity: str | None
) -> WrongShape:
    name = quantity or _CHANNELS[sizes[2]]
    first = f"({sizes[0]}, height, width)"
    alone = sizes[0] == 1
    other = f"a batch of one map {first}" if alone else f"{quantity or _CHANNELS[sizes[0]]} {first}"
    return WrongShape(
        f"an array of shape {shape} is either {name} (height, width, {sizes[2]}) or {other}; give "
        f"{{'{name}': array}} with quantity='{name}' for the first, or transpose it."
    )


def _unsaid(shape: tuple[int, ...], channels: int) -> WrongShape:
    name = _CHANNELS[channels]
    return WrongShape(
        f"an array of shape {shape} is either {name} ({channels}, height, width), then say that "
        f"the quantity is {name}, or a batch of {channels} maps, then score one at a time."
    )


def _refused(shape: tuple[int, ...], quantity: str | None) -> WrongShape:
    if len(shape) > 2:
        what = f"of {quantity} " if quantity else ""
        return WrongShape(
            f"one map {what}is expected, this array has shape {shape}; of a batch, score one map "
            "at a time; channels are the last axis."
        )
    return WrongShape(
        "a map is (height, width), (height, width, 2) for flow or (height, width, 3) for "
        f"normals; this one has shape {shape}."
    )
