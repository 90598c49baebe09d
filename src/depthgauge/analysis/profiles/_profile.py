"""What a profile is: weights on scores, each with the reason for it, in a TOML file.

id = "automotive"
title = "Driver assistance"

[[weights]]
aspect = "object boundaries are not lost"
scores = ["foreground_thinning*"]
weight = 3
why = "An object that seems smaller than it is may be hit."
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from depthgauge._registry import nearest, unknown
from depthgauge.errors import BadProtocol, Problem
from depthgauge.io.text import read_toml

RUNTIME = "runtime"
"""The score id of a method's median time per sample, if the board has no such column."""
PEAK_MEMORY = "peak_memory"
"""The score id of a method's peak memory, if the board has no such column."""

_Text = Annotated[str, Field(strict=True, min_length=1)]


class Weight(BaseModel):
    """One thing that matters, and which scores measure it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    aspect: _Text
    """What matters, in a few words."""
    scores: tuple[_Text, ...] = Field(min_length=1)
    """Patterns of score ids: `*` stands for anything. All that match share the weight."""
    weight: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
    """Only its ratio to the other weights matters."""
    enough: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None = None
    """The value that is good enough, in the scores' unit: better values gain nothing."""
    why: _Text
    """A sentence."""


class Profile(BaseModel):
    """The priorities of one application."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(strict=True, pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: _Text
    about: str = ""
    cite: str = ""
    weights: tuple[Weight, ...] = Field(min_length=1)

    @field_validator("weights")
    @classmethod
    def _aspects_differ(cls, weights: tuple[Weight, ...]) -> tuple[Weight, ...]:
        seen = [weight.aspect for weight in weights]
        if twice := sorted({aspect for aspect in seen if seen.count(aspect) > 1}):
            raise ValueError(f"has the aspect '{twice[0]}' twice")
        return weights


def load_profile(path: str | Path) -> Profile:
    """Reads a profile; every mistake in it is reported at once.

    Raises:
        BadFile: It cannot be read, or is not TOML.
        BadProtocol: It has mistakes.
    """
    path = Path(path)
    raw = read_toml(path)
    try:
        return Profile.model_validate(raw)
    except ValidationError as error:
        raise BadProtocol(str(path), _problems(error)) from None


def _problems(error: ValidationError) -> list[Problem]:
    """One problem for each place; a list with a wrong element is not reported itself."""
    found = [_problem(each) for each in error.errors(include_url=False)]
    inner = [problem.where for problem in found]
    return [p for p in found if not any(where.startswith(f"{p.where}[") for where in inner)]


def _problem(found: Any) -> Problem:
    *place, key = found["loc"]
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in found["loc"]).lstrip(".")
    if found["type"] == "extra_forbidden":
        known = Weight.model_fields if place else Profile.model_fields
        return Problem(where, "is not a key", nearest(str(key), known))
    if found["type"] == "missing":
        return Problem(where, "is missing")
    if found["type"] == "value_error":
        return Problem(where, found["msg"].removeprefix("Value error, "))
    wanted = found["msg"].removeprefix("Input should be ")
    return Problem(where, f"is {found['input']!r} but must be {wanted}")


class _Profiles(Mapping[str, Profile]):
    """The profiles of this folder by id, which is the file's name; read when requested."""

    def __init__(self, folder: Path) -> None:
        self._paths = {path.stem: path for path in sorted(folder.glob("*.toml"))}
        self._read: dict[str, Profile] = {}

    def __getitem__(self, name: str) -> Profile:
        if name not in self._paths:
            raise unknown("profile", name, self._paths)
        if name not in self._read:
            self._read[name] = load_profile(self._paths[name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


PROFILES: Mapping[str, Profile] = _Profiles(Path(__file__).parent)
"""Every profile that comes with the package."""


def find_profile(name: str | Path | Profile) -> Profile:
    """A profile by its id or by the path of its file.

    Raises:
        UnknownName: There is no such profile.
    """
    if isinstance(name, Profile):
        return name
    text = str(name)
    if text.endswith(".toml") or "/" in text:
        return load_profile(text)
    return PROFILES[text]
