"""Makes the pairs of a layered set on any executor; finished pairs stay when it is stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depthgauge import io
from depthgauge._progress import Progress
from depthgauge.datasets.layered import is_written
from depthgauge.engine.running.executors import EXECUTORS
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.engine.running.run import Where, default_workers
from depthgauge.errors import BadData, CannotWrite
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
    _begin(out, options, overwrite)
    jobs = PairJobs(out.resolve(), options)
    wanted = [Job(str(number)) for number in numbers]
    left = [job for job in wanted if not jobs.is_done(job)]
    where = Where(min(workers or default_workers(), max(1, len(left))), cluster)
    broken = _do(jobs, left, where, len(wanted), progress)
    if broken:
        more = f" ({len(broken)} of {len(wanted)} pairs)" if len(broken) > 1 else ""
        raise BadData(f"{broken[0]}{more}; finished pairs are kept; run the same command again.")
    names = tuple(sample_id(int(job.id)) for job in wanted)
    sheet = out / SHEET
    write_sheet(out, names[:MOST], sheet)
    return PairsMade(names, sheet, _statistics(out, names), (warning,) if warning else ())


def _begin(out: Path, options: PairOptions, overwrite: bool) -> None:
    """Writes the record of the set, or compares it with the one that is there."""
    record, body = out / RECORD, json.loads(json.dumps(options.to_json()))
    if out.exists() and not out.is_dir():
        raise CannotWrite(f"{out}: is a file; give a folder.")
    if overwrite and record.is_file():
        _remove(out)
    if record.is_file():
        found = read_json(record)
        if found != body:
            known = found if isinstance(found, dict) else {}
            keys = ", ".join(key for key in body if known.get(key) != body[key])
            raise CannotWrite(
                f"{out}: has pairs made with other options ({keys}); give --overwrite to replace "
                "them, or another folder."
            )
        return
    if out.is_dir() and any(out.iterdir()):
        raise CannotWrite(f"{out}: has other files in it; give an empty or a new folder.")
    out.mkdir(parents=True, exist_ok=True)
    io.write_text(record, json.dumps(body, indent=1) + "\n")


def _remove(out: Path) -> None:
    """Removes an older set and nothing else that may be in the folder."""
    for record in out.glob("*/sample.json"):
        shutil.rmtree(record.parent)
    for name in (SHEET, RECORD):
        (out / name).unlink(missing_ok=True)


def _do(
    jobs: PairJobs, left: Sequence[Job], where: Where, count: int, progress: Progress | None
) -> list[str]:
    """Runs the jobs; returns why some were not done."""
    done, broken = count - len(left), []
    if progress is not None:
        progress("starting", done, count)
    if not left:
        return []
    name, given = where.choice()
    executor = EXECUTORS[name]
    checked = executor.spec.options.checked(given, f"executor '{name}'")
    with closing(executor.run(jobs, left, checked)) as events:  # type: ignore[type-var]  # generators
        for event in events:
            done += 1
            title = f"pair {event.task}"
            if event.broken:
                broken.append(f"{title}: {event.broken.rstrip('.')}")
            elif not jobs.is_done(Job(event.task)):
                raise BadData(
                    f"{jobs.root}: a worker wrote its pair elsewhere; the folder must be on "
                    "storage that all machines share, under the same path."
                )
            if progress is not None:
                progress(title, done, count)
    return broken


def _statistics(out: Path, names: Sequence[str]) -> dict[str, Any]:
    """How many cameras were tried and kept, and why others were not."""
    tried, refused = 0, dict[str, int]()
    for name in names:
        facts = read_json(out / name / "sample.json")["facts"]
        tried += facts["cameras_tried"]
        for why, number in facts["cameras_refused"].items():
            refused[why] = refused.get(why, 0) + number
    return {"pairs": len(names), "cameras_tried": tried, "cameras_refused": refused}
