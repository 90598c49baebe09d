"""What a method declares, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ConfigDict

from depthgauge._declared import refuse, spec_problems
from depthgauge._options import Options
from depthgauge._registry import Registry
from depthgauge.quantities import QUANTITIES
from depthgauge.types import Inputs


class MethodOptions(Options):
    """Options of a method."""

    def short_name(self) -> str:
        """The default label of a method with these options; empty: its id."""
        return ""

    def takes(self) -> tuple[str, ...]:
        """Inputs that these options ask for, beside those that the method always needs."""
        return ()


class StoredOptions(MethodOptions):
    """Options whose class is in code that is not loaded here: the values alone."""

    model_config = ConfigDict(extra="allow")

    @classmethod
    def of(cls, values: Mapping[str, Any], given: Iterable[str]) -> StoredOptions:
        """These values, of which some were given and the others are defaults."""
        return cls.model_construct(set(given), **values)


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """What is known about a method before it runs."""

    id: str
    title: str
    quantities: tuple[str, ...]
    """What it can estimate; empty: anything."""
    needs: tuple[str, ...]
    """The inputs that it requires."""
    cite: str = ""
    revision: int = 1
    """Raised whenever its code may change an estimate."""
    options: type[MethodOptions] = MethodOptions
    text_option: str = ""
    """The option that takes the whole text after `id:`; empty: `name=value` pairs follow."""
    local: tuple[str, ...] = ()
    """Options that are specific to one machine and change no estimate (paths, time limits): shown
    but not hashed. Relative paths among them are made absolute when the method is found."""
    keeps: bool = True
    """Whether to store its estimates; False if they are files already."""
    gpu: bool = False
    """Whether it uses the graphics processor; such methods run one at a time."""
    whole_clips: bool = False
    """Whether it is given a clip as a whole, as `Frames`, and returns or yields one estimate per
    frame; other methods are called once per frame."""
    most_frames: int | None = None
    """It makes only so many frames of a clip, the first ones, and is scored on those; None: all."""
    steps: tuple[str, ...] = ()
    """Options that are the steps of a chain, in order; each takes one of several words, and
    `none`, where it is among them, leaves the step out. `components` exchanges them."""
    alignment: str = ""
    """For methods that make views: how these relate to the camera that is asked for, in words."""

    def can_estimate(self, quantity: str) -> bool:
        """Whether it estimates that quantity, or a single layer of it."""
        main = QUANTITIES[quantity].main if quantity in QUANTITIES else None
        single = main.like if main is not None and main.is_stack else quantity
        return not self.quantities or quantity in self.quantities or single in self.quantities


Function = Callable[[Inputs, Any], Any]
"""`estimate(inputs, options)` of a method module."""


@dataclass(frozen=True, slots=True)
class PackedFunction:
    """A function on its way to its own process; those in between must not load its module."""

    body: bytes
    """Pickled."""


@dataclass(frozen=True, slots=True)
class MethodKind:
    """A method without options: its declaration and its function."""

    spec: MethodSpec
    function: Function | None = field(compare=False)
    """None: it is not loaded in this process."""
    home: str | Callable[..., Any] | PackedFunction = ""
    """Where another process finds it: its id, the path of a file, or a function itself."""
    code: str = ""
    """SHA-256 of the file that it comes from; empty if its `revision` stands for its code."""


def _problems(spec: MethodSpec, module: object) -> Iterator[str]:
    yield from spec_problems(spec, module, "estimate")
    options: object = spec.options  # a plug-in may put anything there
    if not (isinstance(options, type) and issubclass(options, MethodOptions)):
        yield f"options is {options!r} but must be a class of MethodOptions"
        return
    for name, option in options.model_fields.items():
        if not option.description:
            yield f"write a sentence below its option {name}"


def _collect(module: object) -> Iterator[tuple[str, MethodKind]]:
    spec = getattr(module, "SPEC", None)
    if isinstance(spec, MethodSpec):
        refuse("method", spec.id, module, _problems(spec, module))
        yield spec.id, MethodKind(spec, module.estimate, home=spec.id)  # type: ignore[attr-defined]  # a module with a SPEC has it


METHODS: Registry[MethodKind] = Registry(
    "method", "depthgauge.methods", collect=_collect, groups=("nets",)
)
"""All methods by id; a module of this folder joins by having a `SPEC` and `estimate`."""
