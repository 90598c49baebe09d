"""What a generator declares, what it returns, and the registry of all of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from pydantic import Field

from depthgauge._options import Options
from depthgauge._progress import Progress
from depthgauge._registry import Registry
from depthgauge.errors import BadDeclaration

_GIVEN = ("out", "overwrite", "json", "quiet")
"""Options that every kind has on the command line."""


class GeneratorOptions(Options):
    """Options of a generator: one field each, with a sentence below it; all have a seed."""

    seed: int = Field(default=0, ge=0)
    """Seed of everything that is random."""


@dataclass(frozen=True, slots=True)
class GeneratorSpec:
    """What is known about a generator before it runs."""

    name: str
    """The KIND of `depthgauge make KIND`."""
    summary: str
    """One line on what it makes."""
    options: type[GeneratorOptions] = GeneratorOptions
    revision: int = 1
    """Raised whenever the same options may give other bytes."""
    details: str = ""
    """More for the help: paragraphs; one that begins with a backspace is shown as it is."""
    activity: str = "making"
    """What the progress bar says."""

    def __post_init__(self) -> None:
        problems = list(_problems(self))
        if problems:
            raise BadDeclaration(f"generator '{self.name}': {'; '.join(problems)}.")


def _problems(spec: GeneratorSpec) -> Iterator[str]:
    if not re.fullmatch(r"[a-z][a-z0-9-]*", spec.name):
        yield "a name consists of lower-case letters, digits and -"
    if not spec.summary or "\n" in spec.summary:
        yield "the summary must be one line"
    if spec.revision < 1:
        yield f"the revision is {spec.revision} but counts from 1"
    options: Any = spec.options  # a plug-in may pass anything
    if not (isinstance(options, type) and issubclass(options, GeneratorOptions)):
        yield "the options must be a class derived from GeneratorOptions"
        return
    fields = options.model_fields
    if taken := [name for name in fields if name in _GIVEN]:
        yield f"the command line already has {', '.join(taken)}"
    if required := [name for name, found in fields.items() if found.is_required()]:
        yield f"{', '.join(required)} must have a default"


@dataclass(frozen=True, slots=True)
class GeneratedData:
    """The result of a generator."""

    folder: Path
    samples: tuple[str, ...] = ()
    """Ids of the samples; empty if the folder is not a dataset."""
    summary: str = ""
    """What is in the folder, for people: `8 scenes of 480x360 with exact truth`."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """More facts for programs; plain JSON values."""
    warnings: tuple[str, ...] = ()
    """One sentence each."""
    next_command: tuple[str | Path, ...] = ()
    """Arguments of `depthgauge` that use the data."""

    def to_json(self) -> dict[str, Any]:
        """The body of `--json`."""
        samples = {"samples": list(self.samples)} if self.samples else {}
        return {"folder": str(self.folder), **samples, **self.facts}


class Make(Protocol):
    """The function `make` of a generator module."""

    def __call__(
        self, out: Path, options: Any, *, overwrite: bool, progress: Progress | None
    ) -> GeneratedData:
        """Writes data to a folder."""
        ...


@dataclass(frozen=True, slots=True)
class Generator:
    """A registered generator."""

    spec: GeneratorSpec
    make: Make = field(compare=False)


def _collect(module: ModuleType) -> Iterator[tuple[str, Generator]]:
    spec = getattr(module, "SPEC", None)
    if not isinstance(spec, GeneratorSpec):
        return
    make = getattr(module, "make", None)
    wanted = ["out", "options", "overwrite", "progress"]
    if not callable(make) or list(inspect.signature(make).parameters) != wanted:
        raise BadDeclaration(
            f"{module.__name__}: a generator needs a function make(out, options, *, overwrite, "
            "progress)."
        )
    yield spec.name, Generator(spec, make)


GENERATORS: Registry[Generator] = Registry(
    "kind of data to make",
    "depthgauge.synth.generators",
    collect=_collect,
    also=(
        "depthgauge.annotate.generator",
        "depthgauge.engine.generating.layers",
        "depthgauge.report.rig.generator",
    ),
)
"""All generators by name; those of higher floors are named, not imported."""


def generate(
    kind: str,
    out: Path | str,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> GeneratedData:
    """Makes data of a kind: what `depthgauge make KIND --out OUT` does.

    Args:
        kind: One of `GENERATORS`.
        out: The folder.
        overwrite: Replaces existing data.
        progress: Called as the work goes on.
        options: The options of the kind.

    Raises:
        UnknownName: There is no such kind.
        Misuse: An option is wrong; the message names every mistake.
        CannotWrite: The folder contains something else.
    """
    generator = GENERATORS[kind]
    checked = generator.spec.options.checked(options, kind)
    return generator.make(Path(out), checked, overwrite=overwrite, progress=progress)
