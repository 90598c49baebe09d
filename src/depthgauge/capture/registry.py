"""A capture step is a plug-in: a `SPEC` and a function `plan`, in its own module or folder.

    class CountOptions(Options):
        least_px: float = Field(default=0.0, ge=0.0)
        \"\"\"Smaller disparities are not counted.\"\"\"

    SPEC = StepSpec("count", "Count", "Counts the labels.", options=CountOptions, after=("check",))

    def plan(task: StepTask, options: CountOptions) -> StepPlan:
        def make(folder: Path) -> StepOutput:
            disparity = io.read_map(task.before["check"].folder / "disp_00.npy")
            return StepOutput({"labels": int((disparity >= options.least_px).sum())})

        return StepPlan(make)

Steps of this folder and of the entry-point group `depthgauge.plugins` are found automatically. The
command `depthgauge capture count`, its place in `capture run`, the keywords of the Python function,
the key that says whether the step must be done again, and its section of the session's page all
come from the `SPEC`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from depthgauge._options import Options, signature_from
from depthgauge._progress import Progress, no_progress
from depthgauge._registry import PluginWarning, Registry, issue
from depthgauge.capture.step_options import plain_options, remember, remembering
from depthgauge.capture.steps import Step, StepOutput, do_step, has_step, read_step
from depthgauge.errors import BadDeclaration
from depthgauge.sessions import Session

_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class StepSpec:
    """What is known about a step before it is done."""

    name: str
    """The name of its command and of its folder in the work folder."""
    title: str
    """The heading of its section in the session's page."""
    line: str
    """What it does, in one sentence."""
    about: str = ""
    """More for `--help`; paragraphs are separated by empty lines."""
    options: type[Options] = Options
    revision: int = 1
    """Raised whenever its code may change a value."""
    after: tuple[str, ...] = ()
    """The steps whose files it reads."""
    after_if_done: tuple[str, ...] = ()
    """The steps whose files it reads if they are done; it works without them."""
    needs_files: tuple[str, ...] = ()
    """Files of earlier steps (`rectify/LC.json`) that some sessions do not have; `capture run`
    leaves the step out if one is missing."""

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise BadDeclaration(f"step '{self.name}': {problem}.")


def _problem(spec: StepSpec) -> str:
    """The first mistake of a declaration; empty if there is none."""
    if not _NAME.fullmatch(spec.name):
        return "its name must be lower-case letters, digits and hyphens"
    if not spec.title or not spec.line or "\n" in spec.line:
        return "it needs a title and a line that says what it does"
    options: object = spec.options
    if not (isinstance(options, type) and issubclass(options, Options)):
        return f"options must be a class of Options, not {options!r}"
    if spec.revision < 1:
        return f"revision must be 1 or more, not {spec.revision}"
    for name, field in spec.options.model_fields.items():
        if field.is_required():
            return f"option '{name}' has no default, so `capture run` cannot do the step"
        if not field.description:
            return f"option '{name}' has no docstring below it"
        if name in _OWN:
            return f"option '{name}' must have another name; every step has a parameter '{name}'"
    return ""


_OWN = ("session", "work", "options", "progress", "again")


@dataclass(frozen=True, slots=True)
class StepTask:
    """The input of a step."""

    session: Session
    work: Path
    before: Mapping[str, Step]
    """The steps of `after`, and those of `after_if_done` that are done."""
    progress: Progress
    again: bool
    """Do it even if nothing has changed; nothing stored earlier may be used."""


@dataclass(frozen=True, slots=True)
class StepPlan:
    """What a step reads, and the function that does the work."""

    make: Callable[[Path], StepOutput]
    """Fills the given folder. An interrupted attempt with the same key may have left
    files there."""
    files: Sequence[Path] = ()
    """Files that it reads besides those of earlier steps; their content is part of the key."""
    pictures: Sequence[Path] = ()
    """Files that no later step depends on: when they change, this step is repeated but the steps
    after it are not."""
    options: Mapping[str, Any] | None = None
    """What `step.json` records and the key depends on; None: the step's options, paths by name."""
    revision: int | None = None
    """Replaces the revision in `SPEC` if the values depend on an engine with its own revision."""


Plan = Callable[[StepTask, Any], StepPlan]
"""`plan(task, options)` of a step's module. It is called even if the step is done already, so it
reads as little as possible."""


@dataclass(frozen=True, slots=True)
class CaptureStep:
    """A step: its declaration, and the function that does it."""

    spec: StepSpec
    run: Callable[..., Step]
    """`run(session, work, *, progress=None, again=False, ...)`; the other keywords are the step's
    options."""


def step_function(spec: StepSpec, plan: Plan) -> Callable[..., Step]:
    """The function that does a step, with the step's options as keywords.

    It does the step unless it was already done from the same inputs, and remembers the options, so
    that `run_steps` does not undo them, also after the step was killed.
    """

    def run(
        session: Session,
        work: Path,
        options: Options,
        progress: Progress | None = None,
        again: bool = False,
    ) -> Step:
        optional = [name for name in spec.after_if_done if has_step(work, name)]
        before = {name: read_step(work, name) for name in (*spec.after, *optional)}
        found = plan(StepTask(session, work, before, progress or no_progress, again), options)

        def make(folder: Path) -> StepOutput:
            with remembering(work, spec.name, options):
                return found.make(folder)

        done = do_step(
            work,
            spec.name,
            make,
            options=plain_options(options) if found.options is None else found.options,
            revision=spec.revision if found.revision is None else found.revision,
            after=before.values(),
            files=found.files,
            pictures=found.pictures,
            again=again,
        )
        remember(work, spec.name, options)
        return done

    run.__name__ = run.__qualname__ = spec.name.replace("-", "_")
    run.__module__ = plan.__module__
    run.__doc__ = plan.__doc__ or spec.line
    return signature_from(spec.options)(run)


def _collect(module: ModuleType) -> Iterator[tuple[str, CaptureStep]]:
    spec = getattr(module, "SPEC", None)
    if isinstance(spec, StepSpec):
        plan = getattr(module, "plan", None)
        if not callable(plan):
            raise BadDeclaration(f"{module.__name__} has a SPEC but no function `plan`.")
        yield spec.name, CaptureStep(spec, step_function(spec, plan))


STEPS: Registry[CaptureStep] = Registry("step", "depthgauge.capture", collect=_collect)
"""All steps by name; a module or folder beside this one joins by having a `SPEC` and `plan`."""


def step_names() -> tuple[str, ...]:
    """The names of all steps, each after the steps that it depends on.

    A plug-in whose place cannot be found, because it comes after a step that does not exist or
    that comes after it, is left out with a warning.
    """
    left = {name: STEPS[name].spec for name in STEPS}
    order: list[str] = []
    while ready := [name for name, spec in left.items() if _is_ready(spec, order, left)]:
        order += ready  # steps that could come in any order come by name
        left = {name: spec for name, spec in left.items() if name not in ready}
    for name, spec in left.items():
        issue([PluginWarning(f"The step '{name}' is left out: {_blocked(spec, order)}.")])
    return tuple(order)


def _is_ready(spec: StepSpec, done: Sequence[str], left: Mapping[str, StepSpec]) -> bool:
    return set(spec.after) <= set(done) and not set(spec.after_if_done) & set(left)


def _blocked(spec: StepSpec, done: Sequence[str]) -> str:
    names = ", ".join(repr(n) for n in (*spec.after, *spec.after_if_done) if n not in done)
    return f"it comes after {names}, which does not exist or comes after '{spec.name}'"
