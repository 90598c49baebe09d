"""What a method declares, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from depthgauge._registry import Registry
from depthgauge.types import Estimate, Inputs, Map


class MethodOptions(BaseModel):
    """Options of a method: a field each, with its default and a sentence below it.

    Numbers may be given as texts (`"5"`, from a command line) but not as true or false; `"none"`
    is None where a field may be None. Nothing is rounded and no key is ignored.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _from_text(cls, value: Any, info: ValidationInfo) -> Any:
        parts = _parts(cls.model_fields[str(info.field_name)].annotation)
        if isinstance(value, bool) and {int, float} & set(parts) and bool not in parts:
            raise ValueError(f"is {str(value).lower()} but must be a number")
        if value == "none" and NoneType in parts and not {str, "none"} & set(parts):
            return None
        return value

    def short_name(self) -> str:
        """What a method with these options is called where nobody says; empty: its id."""
        return ""


def _parts(annotation: Any) -> list[Any]:
    """The types and literals that a field may be: `int | None` is int and NoneType."""
    inner = get_args(annotation)
    return [part for each in inner for part in _parts(each)] if inner else [annotation]


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """What is known of a method before it is run."""

    id: str
    title: str
    quantities: tuple[str, ...]
    """What it can estimate; empty: anything."""
    needs: tuple[str, ...]
    """The inputs that it reads and cannot do without."""
    cite: str = ""
    revision: int = 1
    """Raised whenever its code may change an estimate."""
    options: type[MethodOptions] = MethodOptions
    text_option: str = ""
    """The option that takes the whole text after `id:`; empty: there stand `name=value` pairs."""
    local: tuple[str, ...] = ()
    """Options that belong to one machine and change no estimate (paths, time limits): shown but
    not hashed. Relative paths among them are made absolute where the method is named."""
    keeps: bool = True
    """Whether its estimates are worth storing; False where they are files already."""


Function = Callable[[Inputs, Any], Estimate | Map]
"""`estimate(inputs, options)` of a method module."""


@dataclass(frozen=True, slots=True)
class MethodKind:
    """A method without options: its declaration and its function."""

    spec: MethodSpec
    function: Function = field(compare=False)
    home: str | Callable[..., Any] = ""
    """Where another process finds it: its id here, the path of a file, or a function itself."""
    code: str = ""
    """SHA-256 of the file that it comes from; empty where its `revision` speaks for its code."""


def _collect(module: object) -> Iterator[tuple[str, MethodKind]]:
    spec = getattr(module, "SPEC", None)
    if isinstance(spec, MethodSpec):
        yield spec.id, MethodKind(spec, module.estimate, home=spec.id)  # type: ignore[attr-defined]  # a module with a SPEC has it


METHODS: Registry[MethodKind] = Registry("method", "depthgauge.methods", collect=_collect)
"""All methods by id; a module of this folder joins by having a `SPEC` and `estimate`."""
