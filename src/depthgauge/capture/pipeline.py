"""All steps of a session, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from depthgauge._registry import unknown
from depthgauge.capture.step_options import remembered
from depthgauge.capture.steps import STEPS, Progress, Step
from depthgauge.sessions import Session


def run_steps(
    session: Session,
    work: Path,
    *,
    until: str = STEPS[-1],
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress | None = None,
    again: bool = False,
) -> Iterator[Step]:
    """Does every step that is not done yet; yields each as soon as it is there.

    A rig without camera C has no unbalanced pair; its step `warp` is left out.

    Args:
        session: The session.
        work: The work folder.
        until: The last step to do.
        options: What steps are told beside their defaults, by step; None: what they were told
            when they were last done alone (`told.remembered`).
        progress: Told what is done.
        again: Do steps even if nothing has changed.
    """
    told = remembered(work) if options is None else options
    for name in (*told, until):
        if name not in STEPS:
            raise unknown("step", name, STEPS)
    for name in STEPS[: STEPS.index(until) + 1]:
        if name == "warp" and not (work / "rectify" / "LC.json").is_file():
            continue
        function = getattr(import_module(f"depthgauge.capture.{name}"), name)
        yield function(session, work, progress=progress, again=again, **told.get(name, {}))
