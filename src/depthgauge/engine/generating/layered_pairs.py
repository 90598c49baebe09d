"""Makes the pairs of a layered set on any executor; finished pairs stay when it is stopped."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from depthgauge._progress import Progress
from depthgauge.datasets.layered import is_written
from depthgauge.engine.generating.made_things import begin_set, make_things, require_whole
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.io.text import read_json
from depthgauge.synth.render.mitsuba import mitsuba, working_variant
from depthgauge.synth.sets.layers import MOST, PairOptions, make_pair, sample_id, write_sheet

RECORD = "layers.json"
SHEET = "contact-sheet.png"


@dataclass(frozen=True)
class PairJobs(Jobs):
    """Pairs of one set; a job's id is the number of its pair."""

    root: Path
    options: PairOptions

    def do(self, job: Job) -> None:
        """Renders a pair and writes it."""
        make_pair(self.root, int(job.id), self.options)

    def is_done(self, job: Job) -> bool:
        """Whether its record, which is written last, is there."""
        return is_written(self.root, sample_id(int(job.id)))


@dataclass(frozen=True, slots=True)
class PairsMade:
    """What a call made."""

    samples: tuple[str, ...]
    sheet: Path
    facts: dict[str, Any]
    warnings: tuple[str, ...]


def make_pairs(
    out: Path,
    numbers: Sequence[int],
    options: PairOptions,
    *,
    workers: int = 0,
    cluster: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> PairsMade:
    """Makes those pairs that are not there, then the contact sheet.

    Args:
        out: The folder of the set.
        numbers: Which pairs.
        options: What they have in common.
        workers: Worker processes; 0: one for each core.
        cluster: The address of a dask scheduler, in place of worker processes.
        overwrite: Replaces a set that was made with other options.
        progress: Called as pairs are done.

    Raises:
        CannotWrite: The folder has a set of other options, or something else.
        MissingExtra: Mitsuba is not installed.
        BadData: Some pairs could not be made.
    """
    variant, warning = working_variant()
    mitsuba(variant)  # said at once, and not by every worker
    remove = partial(_remove, out) if overwrite else None
    begin_set(out, out / RECORD, options.to_json(), "pairs", remove=remove)
    root = out.resolve()
    broken = make_things(
        PairJobs(root, options),
        numbers,
        lambda number: f"pair {number}",
        root=root,
        workers=workers,
        cluster=cluster,
        progress=progress,
    )
    require_whole(broken, len(numbers), "pairs")
    names = tuple(sample_id(number) for number in numbers)
    sheet = out / SHEET
    write_sheet(out, names[:MOST], sheet)
    return PairsMade(names, sheet, _statistics(out, names), (warning,) if warning else ())


def _remove(out: Path) -> None:
    """Removes an older set and nothing else that may be in the folder."""
    for record in out.glob("*/sample.json"):
        shutil.rmtree(record.parent)
    for name in (SHEET, RECORD):
        (out / name).unlink(missing_ok=True)


def _statistics(out: Path, names: Sequence[str]) -> dict[str, Any]:
    """How many cameras were tried and kept, and why others were not."""
    tried, refused = 0, dict[str, int]()
    for name in names:
        facts = read_json(out / name / "sample.json")["facts"]
        tried += facts["cameras_tried"]
        for why, number in facts["cameras_refused"].items():
            refused[why] = refused.get(why, 0) + number
    return {"pairs": len(names), "cameras_tried": tried, "cameras_refused": refused}
