"""Makes scenes of camera rigs on any executor; finished scenes stay when it is stopped."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from depthgauge._progress import Progress
from depthgauge.datasets._stereogen import names
from depthgauge.datasets.stereogenbench import DatasetCard, write_croissant, write_lists
from depthgauge.engine.generating.made_things import begin_set, make_things, require_whole
from depthgauge.engine.generating.rig_review import is_held
from depthgauge.engine.generating.rig_sheet import write_sheet
from depthgauge.engine.running.jobs import Job, Jobs
from depthgauge.errors import CannotWrite
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
    begin_set(
        out,
        out / record_name(options),
        options.to_json(),
        f"{options.shoot.family} scenes of {options.split}",
        remove=partial(_remove, out, options) if overwrite else None,
        others="metadata/rig-*.json",
    )
    root = out.resolve()
    broken = make_things(
        SceneJobs(root, options),
        numbers,
        scene_id,
        root=root,
        workers=workers,
        cluster=cluster,
        progress=progress,
    )
    rows = finish(out)
    require_whole(broken, len(numbers), "scenes")
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


def _remove(out: Path, options: SceneOptions) -> None:
    """Removes one part and nothing else."""
    subsets = ("",) if options.split == names.TRAIN else (names.SEEN, names.UNSEEN)
    for subset in subsets:
        folder = out / options.split / subset / options.shoot.family
        for record in sorted(folder.glob(f"*/scene_*/{names.BASELINE}")):
            shutil.rmtree(record.parent)
    (out / record_name(options)).unlink()
