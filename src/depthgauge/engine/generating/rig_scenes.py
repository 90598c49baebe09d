"""Makes scenes of camera rigs on any executor; finished scenes stay when it is stopped."""

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
from depthgauge.datasets._stereogen import names
from depthgauge.datasets.stereogenbench import DatasetCard, write_croissant, write_lists
from depthgauge.engine.generating.rig_review import is_held
from depthgauge.engine.generating.rig_sheet import write_sheet
from depthgauge.engine.running.executors import EXECUTORS
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.engine.running.run import Where, default_workers
from depthgauge.errors import BadData, CannotWrite
from depthgauge.io.text import read_json
from depthgauge.synth.sets.rig import SceneOptions, folder_of, make_scene, scene_id

SHEET = "contact-sheet.html"
_CARD = (
    "Scenes of six calibrated cameras in a row around a moving subject, rendered by depthgauge: "
    "colour, metric depth, baselines and poses."
)


@dataclass(frozen=True)
class SceneJobs(Jobs):
    """Scenes of one part of a set; a job's id is the number of its scene."""

    root: Path
    options: SceneOptions

    def do(self, job: Job) -> None:
        """Proposes, renders and writes a scene."""
        try:
            make_scene(self.root, int(job.id), self.options)
        except OSError as error:
            raise CannotWrite(f"{self.root}: {error.strerror or error}") from error

    def is_done(self, job: Job) -> bool:
        """Whether it is finished, or was moved to the holdout."""
        number = int(job.id)
        if folder_of(self.root, number, self.options) is not None:
            return True
        return is_held(self.root, number, self.options)


@dataclass(frozen=True, slots=True)
class ScenesMade:
    """What a call made."""

    scenes: tuple[str, ...]
    """Paths of the scenes below the folder."""
    rows: tuple[dict[str, Any], ...]
    """The manifest of the whole folder."""
    sheet: Path


def record_name(options: SceneOptions) -> str:
    """Where the options of a part are kept.

    >>> record_name(SceneOptions("train"))
    'metadata/rig-train-Uniform.json'
    """
    return f"metadata/rig-{options.split}-{options.shoot.family}.json"


def make_scenes(
    out: Path,
    numbers: Sequence[int],
    options: SceneOptions,
    *,
    workers: int = 0,
    cluster: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ScenesMade:
    """Makes those scenes that are not there, then the lists, the metadata and the contact sheet.

    Args:
        out: The folder of the set; it may have other parts (splits, families).
        numbers: Which scenes.
        options: What they have in common.
        workers: Worker processes; 0: one for each core.
        cluster: The address of a dask scheduler, in place of worker processes.
        overwrite: Replaces a part that was made with other options.
        progress: Called as scenes are done.

    Raises:
        CannotWrite: The folder has a part of other options, or something else.
        BadData: Some scenes could not be made.
    """
    _begin(out, options, overwrite)
    jobs = SceneJobs(out.resolve(), options)
    wanted = [Job(str(number)) for number in numbers]
    left = [job for job in wanted if not jobs.is_done(job)]
    where = Where(min(workers or default_workers(), max(1, len(left))), cluster)
    broken = _do(jobs, left, where, len(wanted), progress)
    rows = finish(out)
    if broken:
        more = f" ({len(broken)} of {len(wanted)} scenes)" if len(broken) > 1 else ""
        raise BadData(f"{broken[0]}{more}; finished scenes are kept; run the same command again.")
    folders = [folder_of(out, number, options) for number in numbers]
    paths = tuple(f.relative_to(out).as_posix() for f in folders if f is not None)
    return ScenesMade(paths, tuple(rows), out / SHEET)


def finish(out: Path) -> list[dict[str, Any]]:
    """Writes manifest, descriptions, Croissant metadata and the contact sheet of a folder.

    Returns:
        The rows of the manifest.
    """
    rows = write_lists(out)
    if rows:
        write_croissant(out, DatasetCard(out.resolve().name, _CARD))
        write_sheet(out, rows, out / SHEET)
    return rows


def _begin(out: Path, options: SceneOptions, overwrite: bool) -> None:
    """Writes the record of a part, or compares it with the one that is there."""
    if out.exists() and not out.is_dir():
        raise CannotWrite(f"{out}: is a file; give a folder.")
    record, body = out / record_name(options), json.loads(json.dumps(options.to_json()))
    if overwrite and record.is_file():
        _remove(out, options)
    if record.is_file():
        found = read_json(record)
        if found != body:
            known = found if isinstance(found, dict) else {}
            keys = ", ".join(key for key in body if known.get(key) != body[key])
            raise CannotWrite(
                f"{out}: has {options.shoot.family} scenes of {options.split} made with other "
                f"options ({keys}); give --overwrite to replace them, or another folder."
            )
        return
    ours = any(out.glob("metadata/rig-*.json"))
    if out.is_dir() and any(out.iterdir()) and not ours:
        raise CannotWrite(f"{out}: has other files in it; give an empty or a new folder.")
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        io.write_text(record, json.dumps(body, indent=1) + "\n")
    except OSError as error:
        raise CannotWrite(f"{out}: {error.strerror or error}; give another folder.") from error


def _remove(out: Path, options: SceneOptions) -> None:
    """Removes one part and nothing else."""
    subsets = ("",) if options.split == names.TRAIN else (names.SEEN, names.UNSEEN)
    for subset in subsets:
        folder = out / options.split / subset / options.shoot.family
        for record in sorted(folder.glob(f"*/scene_*/{names.BASELINE}")):
            shutil.rmtree(record.parent)
    (out / record_name(options)).unlink()


def _do(
    jobs: SceneJobs, left: Sequence[Job], where: Where, count: int, progress: Progress | None
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
            title = scene_id(int(event.task))
            if event.broken:
                broken.append(f"{title}: {event.broken.rstrip('.')}")
            elif not jobs.is_done(Job(event.task)):
                raise BadData(
                    f"{jobs.root}: a worker wrote its scene elsewhere; the folder must be on "
                    "storage that all machines share, under the same path."
                )
            if progress is not None:
                progress(title, done, count)
    return broken
