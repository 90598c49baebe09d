"""All steps of a session, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from depthgauge._progress import Progress
from depthgauge._registry import unknown
from depthgauge.capture.registry import STEPS, step_names
from depthgauge.capture.step_options import remembered
from depthgauge.capture.steps import Step, is_outdated
from depthgauge.sessions import Session


def run_steps(
    session: Session,
    work: Path,
    *,
    until: str | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    defaults: bool = False,
    progress: Progress | None = None,
    again: bool = False,
) -> Iterator[Step]:
    """Does every step that is not done yet; yields each as soon as it is done.

    A step is repeated with the options that it was last given, by any caller. A step that is
    impossible for this session (`warp` for a rig without camera C) is left out.

    Args:
        session: The session.
        work: The work folder.
        until: The last step to do; None: all.
        options: New options by step; other options of that step keep their last values.
        defaults: Forget earlier options of the steps.
        progress: Called with what is being done.
        again: Do steps even if nothing has changed.

    Raises:
        UnknownName: `until` or a key of `options` is not the name of a step.
    """
    names, given = step_names(), dict(options or {})
    for name in (*given, *([until] if until else [])):
        if name not in names:
            raise unknown("step", name, names)
    kept = {} if defaults else remembered(work)
    for name in names[: names.index(until) + 1] if until else names:
        step = STEPS[name]
        if all((work / file).is_file() for file in step.spec.needs_files):
            told = {**kept.get(name, {}), **given.get(name, {})}
            yield step.run(session, work, progress=progress, again=again, **told)


def outdated_steps(work: Path) -> tuple[str, ...]:
    """Steps that are done but were made from something that has changed since."""
    return tuple(name for name in step_names() if is_outdated(work, name))
