"""What a quantity declares: its unit, its parts, and how values are read, resized and compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from depthgauge._registry import Registry
from depthgauge.errors import Misuse, WrongShape
from depthgauge.types import Map, Mask, is_known

Axis = Literal["frame", "layer", "y", "x", "c"]
ErrorKind = Literal["difference", "length", "angle", "channels", "matched"]
"""How two values of a pixel are compared:

- `difference`: one number, e = estimate - truth;
- `length`: a vector, e is the length of the difference;
- `angle`: a direction, e is the angle in degrees;
- `channels`: several numbers side by side, |e| is the mean over them;
- `matched`: lines or instances; a single pixel has no error.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One named map (or number) of a quantity.

    "Known" is a question to one part: a pixel without a second layer still has a first.
    """

    name: str
    """Its item in a truth and its file in an estimates folder: `<name>.npy`."""
    axes: tuple[Axis, ...] = ("y", "x")
    """Empty for a single number, such as a focal length."""
    channels: int | None = 1
    """Length of the axis `c`; None: any number of channels."""
    channel_names: tuple[str, ...] = ()
    """What the channels are called in an EXR file."""
    resize: Literal["keep", "x", "xy"] = "keep"
    """How values change when a map is resized: not, with its width, or as pairs (u, v)."""
    like: str = ""
    """The quantity whose metrics, range and resizing it has; empty: the quantity's own."""
    required: bool = True
    """False if an estimate may come without it."""
    positive: bool = False
    """Whether a single number must be above 0."""
    picture: bool = False
    """Whether it is a picture as it is shown, from 0 to 1: whole numbers are codes of 8 or 16 bits,
    and code 0 is black, not missing."""

    @property
    def is_map(self) -> bool:
        """Whether it has a value per pixel."""
        return "y" in self.axes

    @property
    def is_stack(self) -> bool:
        """Whether it has several maps, such as layers."""
        return self.is_map and self.axes[0] != "y"

    def is_known(self, values: Map) -> Mask:
        """Where a map of this part has a value: all of its channels are finite.

        Of a part with layers, where any layer has one.
        """
        if self.is_stack:
            return np.asarray(np.any([is_known(layer) for layer in values], axis=0))
        return is_known(values)

    def scale(self, values: Map, along_x: float, along_y: float) -> Map:
        """Scales, in place, the values of a map that was resized by these factors."""
        if self.resize == "x":
            values *= np.float32(along_x)
        elif self.resize == "xy":
            if values.ndim < 3 or values.shape[-1] % 2:
                raise WrongShape(
                    f"{self.name} needs pairs (u, v) of channels, found {values.shape}"
                )
            values[..., 0::2] *= np.float32(along_x)
            values[..., 1::2] *= np.float32(along_y)
        return values

    def check(self, values: Map, what: str) -> None:
        """Rejects a map with another number of channels.

        Raises:
            WrongShape: `what` names the map in its sentence.
        """
        found = values.shape[-1] if values.ndim == 3 else 1
        if self.channels is not None and found != self.channels:
            raise WrongShape(
                f"{what} has {self.channels} channel(s) but this map has {found}; "
                "is it a map of another quantity?"
            )


CONFIDENCE = Part("confidence", required=False)
"""How sure a method is of each pixel; any estimate may have it."""


@dataclass(frozen=True)
class Quantity:
    """A kind of estimate. `SPEC = Quantity(...)` in a module of this folder registers one."""

    name: str
    about: str
    """One line for people."""
    unit: str
    """Unit of values inside the package; empty for plain numbers."""
    parts: tuple[Part, ...]
    """What a truth and an estimate consist of, the main map first."""
    error: ErrorKind
    default_metrics: tuple[str, ...] = ()
    """Score ids that `score` shows by default."""
    space: Literal["depth", "disparity"] | None = None
    """In which its values are distances, so that an alignment can find a scale; None: neither."""
    nearer: Literal["larger", "smaller"] | None = None
    """Which values are closer to the camera; None if the values do not show it."""
    positive: bool = False
    """Whether values of zero and below mean missing."""
    bounds: tuple[float, float] | None = None
    """The possible values, if there are limits: probabilities are from 0 to 1."""
    range_input: str = ""
    """The input of a sample that says which values are possible."""
    between_views: bool = False
    """Whether it is the shift between two views, so that one view can be checked by the other."""
    from_depth: bool = False
    """Whether it can be computed from depth and a camera."""
    scale_free: bool = False
    """Whether it is often known up to a scale only."""
    value_rule: str = ""
    """How its sign is defined, for advice about files."""
    guessed_for: tuple[int, ...] = ()
    """Numbers of channels for which this is the default quantity of a map."""
    png: Literal["codes", "flow"] = "codes"
    """How a 16-bit PNG stores it: code / scale, or as KITTI's flow."""
    code_scales: tuple[tuple[float, str], ...] = ()
    """Whole numbers per unit that files of it are known to have, and whose they are; where there
    are several, a file that says none is not read before somebody does."""
    example_channels: int = 0
    """Channels of a made-up map where the main part allows any number."""
    cite: str = ""
    revision: int = 1
    """Raised whenever a change of these rules may change a score."""

    def __post_init__(self) -> None:
        problems = list(_problems(self))
        if problems:
            raise Misuse(f"quantity '{self.name}': {'; '.join(problems)}.")

    @property
    def main(self) -> Part:
        """The part that a bare array stands for."""
        return self.parts[0]

    @property
    def channels(self) -> int | None:
        """How many channels its main map has; None: any number."""
        return self.main.channels

    @property
    def has_pixel_errors(self) -> bool:
        """Whether a single pixel has an error, so that there are curves and error maps."""
        return self.error != "matched"

    @property
    def own_space(self) -> Literal["depth", "disparity"]:
        """The space of an alignment that does not name one."""
        return self.space or "disparity"

    def part(self, name: str) -> Part:
        """A part by its name; a layer or frame of one as `layers:2`.

        Raises:
            Misuse: There is no part of that name.
        """
        plain, colon, number = name.partition(":")
        for part in (*self.parts, CONFIDENCE):
            if part.name == plain and (not colon or (part.is_stack and number.isdecimal())):
                return part
        known = ", ".join(part.name for part in self.parts)
        raise Misuse(f"{self.name} has no part '{name}'; it has {known}.")

    def of_part(self, name: str = "") -> Quantity:
        """The rules that a part is scored by: those of the quantity that it is like, or its own.

        Args:
            name: The part, or `layers:2` for one layer; empty for the main one.
        """
        part = self.part(name) if name else self.main
        if part.like:
            return QUANTITIES[part.like]
        return self if part == self.main else replace(self, parts=(part,))

    def map_of(self, items: Mapping[str, Any], name: str = "") -> Map:
        """The map of a part among the items of a truth or of an estimate.

        A layer that is not there is missing everywhere: other pixels may have more layers.
        """
        part = self.part(name) if name else self.main
        values: Map = items[part.name]
        if part.axes[0] == "y":
            return values
        number = int(name.partition(":")[2] or 1)
        if number > len(values):
            return np.full(values.shape[1:], np.nan, np.float32)
        layer: Map = values[number - 1]
        return layer

    def scale(self, values: Map, along_x: float, along_y: float) -> Map:
        """Scales, in place, the values of a main map that was resized by these factors."""
        return self.main.scale(values, along_x, along_y)

    def front(self, values: Map) -> Map:
        """How far in front each pixel is, on a scale without a unit: larger is closer.

        Raises:
            Misuse: Values of this quantity do not show it.
        """
        if self.nearer is not None and values.ndim == 2:
            return values if self.nearer == "larger" else -values
        if self.error == "length" and values.ndim == 3 and values.shape[2] == self.channels:
            # What moves more is assumed to be closer, as with a moving camera.
            return np.hypot(values[..., 0], values[..., 1])
        raise Misuse(
            f"front and back are of (H, W) disparity or depth or of (H, W, 2) flow, not of "
            f"{self.name} of shape {values.shape}"
        )


def _problems(declared: Quantity) -> Iterator[str]:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", declared.name):
        yield "a name has lower-case letters, digits and _"
    if not declared.parts or not declared.parts[0].is_map:
        yield "the first part must be a map with the axes y and x"
    names = [part.name for part in declared.parts]
    if len(set(names)) != len(names):
        yield "two parts have one name"
    if declared.revision < 1:
        yield f"revision is {declared.revision} but counts from 1"
    for part in declared.parts:
        if ("c" in part.axes) != (part.channels != 1) and part.is_map:
            yield f"part '{part.name}' has {part.channels} channel(s) and the axes {part.axes}"


def _collect(module: object) -> Iterator[tuple[str, Quantity]]:
    found = getattr(module, "SPEC", None)
    if isinstance(found, Quantity):
        yield found.name, found


QUANTITIES: Registry[Quantity] = Registry("quantity", "depthgauge.quantities", collect=_collect)
"""All quantities by name; a module of this folder joins by having a `SPEC`."""


def quantity(name: str) -> Quantity:
    """What is known of a quantity.

    Raises:
        UnknownName: No quantity has this name.
    """
    return QUANTITIES[name]


def guess(channels: int) -> str:
    """The default quantity of a map with this number of channels.

    >>> guess(1), guess(2), guess(3)
    ('disparity', 'flow', 'normals')
    """
    for name, declared in QUANTITIES.items():
        if channels in declared.guessed_for:
            return name
    return guess(1)
