"""The steps after something was done by hand: cleaning, check and audit, and what they changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge._progress import Progress
from depthgauge.capture.registry import STEPS
from depthgauge.capture.step_options import remembered
from depthgauge.capture.steps import has_step, read_step
from depthgauge.sessions import Session

AFTER = ("clean", "check", "warp", "audit")


@dataclass(frozen=True, slots=True)
class Reworked:
    """The audit's figures before and after."""

    before: dict[str, Any] | None
    """None if there was no audit, or it was of other maps."""
    after: dict[str, Any]
    removed: dict[str, int]
    """Values that cleaning removed by hand, by view."""
    warnings: tuple[str, ...]


def rework(
    session: Session, work: Path, by_hand: Path, progress: Progress | None = None
) -> Reworked:
    """Cleans a session's maps again, with what was removed by hand, and audits them.

    Steps keep the options that they were last given. `warp` is done if the session has a camera C.

    Args:
        session: The session.
        work: Its work folder; `refine` is done.
        by_hand: The list of removals.
        progress: Called with what is being done.
    """
    before = dict(read_step(work, "audit").figures) if has_step(work, "audit") else None
    options = remembered(work)
    options["clean"] = {**options.get("clean", {}), "by_hand": by_hand}
    warnings: list[str] = []
    done = {}
    for name in AFTER:
        step = STEPS[name]
        if all((work / file).is_file() for file in step.spec.needs_files):
            done[name] = step.run(session, work, progress=progress, **options.get(name, {}))
            warnings += done[name].warnings
    cleaned = done["clean"].figures
    removed = {side: int(cleaned[side]["removed"]["by hand"]) for side in ("left", "right")}
    return Reworked(before, dict(done["audit"].figures), removed, tuple(warnings))
